"""Generated work of Livermore's Cray T3D (Jette 1997): interactive sessions by day, batch jobs for the night.

There is no public copy of the log. The numbers in the paper and on the log's page are exact in the mean: in
the three weeks from 23 July 1996 on there are 2,659 interactive jobs with 44.5 million and 1,328 batch jobs
with 289.5 million CPU seconds (`reference`), no job exceeds the limits of its queue, and sizes are powers of
two. Where they give no number, conf/workload/jette1997/t3d.yaml names the assumption.

References
----------
M. A. Jette, "Performance characteristics of gang scheduling in multiprogrammed environments", Supercomputing
1997.
"""

import json
from functools import lru_cache

import numpy as np

from models.counting import counted
from models.jobs import machine as machines
from models.jobs.machine import Machine
from models.jobs.trace import Trace
from models.point import Parameters, Point
from models.workloads import memory, replayed
from models.workloads.t3d.drawing import draw
from models.workloads.t3d.keys import SEQUENCE, Keys
from models.workloads.t3d.site import Site


def fills(workload: Parameters) -> tuple[str, ...]:
    """Return the columns of its jobs: feedback unless ``repetition`` is a sequence."""
    feedback = () if workload.get("repetition") == SEQUENCE else ("feedback",)
    return ("requested", "memory", "user", "job_class", *feedback)


def is_stochastic(workload: Parameters) -> bool:
    """Return whether replications differ: each is a period of its own."""
    return True


@replayed.kept
def open_trace(point: Point) -> Trace:
    """Return the jobs of some months or weeks, with the days before them: conf/workload/jette1997/t3d.yaml.

    Time 0 is the Monday with which the days before them begin. ``machine`` has a host with the processors and
    the memory of any job. The load is the workload's mean demand over the measured period, as a fraction
    of the machine: it changes the number of sessions and batch jobs, not the jobs themselves. Each seed gives
    different jobs, which do not depend on the machine.

    Raises
    ------
    ValueError
        With one line that names the mistake.
    """
    keys = _keys(json.dumps(dict(point.workload)))
    hosts = _hosts(keys, point)
    site = Site.of(keys)
    capacity = hosts.total * site.seconds
    factor = 1.0
    if point.load is not None:
        if keys.interactive.closed_users is not None:
            raise ValueError(
                f"{keys.name}: the load of {keys.interactive.closed_users} users who wait for every answer "
                "cannot be set; give grid.load=[null], and another number of users "
                "(workload.interactive.closed_users) or of batch jobs (workload.batch.demand)"
            )
        factor = point.load * capacity / site.expected_work
    jobs, n_before = draw(keys, site, factor, point.seed)
    if n_before == len(jobs):
        raise ValueError(
            f"{keys.name}: no job is submitted from {keys.first_day} on; make the period longer "
            "(workload.weeks, workload.months), or the load higher"
        )
    measured = slice(n_before, None)
    offered = float(jobs.size[measured] @ jobs.runtime[measured]) / capacity
    notes = [
        f"{keys.name}: {counted(len(jobs) - n_before, 'job')} in {counted(site.days, 'day')} from "
        f"{keys.first_day} on, {n_before:,} before; load {offered:.3f} on {counted(hosts.total, 'processor')}"
    ]
    if point.load is not None:
        notes.append(
            f"{keys.name}: load {point.load:g} is reached on average, by {factor:.3g} times as many sessions "
            "and batch jobs"
        )
    jobs, of_memory = memory.of_log(keys.name, jobs, point.workload)
    return Trace(keys.name, jobs, hosts, (*notes, *of_memory), measured, float(site.until))


@lru_cache(maxsize=4)
def _keys(workload_text: str) -> Keys:
    """Return a workload's keys, checked; kept for the tasks that follow. The workload comes as JSON."""
    return Keys.of(json.loads(workload_text))


def _hosts(keys: Keys, point: Point) -> Machine:
    hosts = machines.of(point.machine)
    size, kilobytes = keys.largest_job
    if hosts.takes(np.array([size]), np.array([kilobytes]))[0]:
        return hosts
    raise ValueError(
        f"{keys.name} has jobs of {size} processors with up to {kilobytes // 1024:,} MB, but machine "
        f"{point.machine.get('name', '')} has no host with both; give grid.machine=[t3d] unchanged, or "
        "jobs of fewer processors (workload.batch.queues, workload.interactive.largest)"
    )
