"""Generated months of the NCSA Origin 2000 (Chiang and Vernon 2001), October 1999 to March 2000.

The logs were never published. A month consists of twelve classes of jobs: their numbers are exactly Table
4's, and each class is bent until its processor and memory demand print as in Table 4 (`calibration`). All
other distributions follow the text where it has numbers (sections 2.4 and 3), else the assumptions in
conf/workload/chiang2001/_o2k.yaml.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from models.jobs import machine as machines
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.trace import Trace
from models.point import Parameters, Point, Seed
from models.workloads import memory
from models.workloads.o2k.assumptions import HOUR, Assumptions
from models.workloads.o2k.calibration import Tilts
from models.workloads.o2k.job_classes import SIZE_CLASSES
from models.workloads.o2k.month import generate

MISS = 0.01
"""Relative error of a demand: more than rounding to whole seconds and MB can cause."""

KEPT = 128
"""Months, of half a megabyte each: six months in twenty replications. A worker returns to each of them with
every policy, and bending one to its demands takes longer than most policies need to schedule it."""


def fills(workload: Parameters) -> tuple[str, ...]:
    """Return the columns of its jobs: users only where they submit in a closed loop."""
    loop = workload.get("closed_loop")
    users = ("user",) if isinstance(loop, Mapping) and loop.get("limit") is not None else ()
    return ("requested", "memory", *users)


def is_stochastic(workload: Parameters) -> bool:
    """Return whether replications differ: each is a month of its own."""
    return True


def open_trace(point: Point) -> Trace:
    """Return the jobs of a month, and of the days before it; ``ValueError`` with one line for a mistake.

    ``workload`` has the keys of conf/workload/chiang2001/_o2k.yaml. ``machine`` has hosts with memory, one
    of them large enough for any job of Table 1; Table 4's demands refer to the Origin 2000, whatever the
    machine. The load is the processor demand over the machine's capacity: it rescales the time between
    submissions, nothing else. Each seed gives a month of its own, the same whatever the machine and the load.
    """
    load = point.load
    hosts = _hosts(point.workload, point.machine)
    assumed, jobs, n_before, tilts = _generated(json.dumps(dict(point.workload)), point.seed)
    month, measured = assumed.month, slice(n_before, None)
    natural = float(jobs.size[measured] @ jobs.runtime[measured]) / (hosts.total * month.hours * HOUR)
    notes = [
        f"{month.name}: {month.overall_jobs:,} jobs as in Table 4, {n_before:,} before; load {natural:.3f} "
        f"on {hosts.total:,} processors"
    ]
    if missed := [name for name, tilt in tilts.items() if tilt.miss > MISS]:
        notes.append(
            f"{month.name}: no jobs within the limits meet the demands of {', '.join(missed)}; the nearest "
            "are used"
        )
    jobs, of_memory = memory.of_log(month.name, jobs, point.workload)
    notes += of_memory
    until = float((assumed.warmup_days + month.days) * 24 * HOUR)
    if load is None:
        return Trace(month.name, jobs, hosts, tuple(notes), measured, until)
    notes.append(
        f"{month.name}: load {load:g} rescales all submission times; Table 4's demands no longer hold"
    )
    stretch = natural / load
    rescaled = replace(jobs, submit=jobs.submit * stretch)
    return Trace(month.name, rescaled, hosts, tuple(notes), measured, until * stretch)


@lru_cache(maxsize=KEPT)
def _generated(workload_text: str, seed: Seed) -> tuple[Assumptions, Jobs, int, dict[str, Tilts]]:
    """Return a month's assumptions, jobs, number of jobs before it, and tilts, see `generate`.

    Kept for the tasks that follow: all policies contend with the same jobs. The workload comes as JSON.
    """
    assumed = Assumptions.of(json.loads(workload_text))
    return assumed, *generate(assumed, seed)


def _hosts(workload: Parameters, machine: Parameters) -> Machine:
    hosts = machines.of(machine)
    processors, memory = (np.array([largest]) for largest in SIZE_CLASSES["lj"])
    if hosts.takes(processors, memory)[0]:
        return hosts
    raise ValueError(
        f"workload {workload.get('name', '')} has jobs of {processors[0]} processors and of 16 GB, and "
        f"machine {machine.get('name', '')} has no host with both; give grid.machine=[o2k]"
    )
