"""A site's own month, as Slurm's sacct prints it, as jobs."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from models.jobs import machine as machines
from models.jobs.jobs import Jobs
from models.jobs.trace import Origin, Trace
from models.point import Parameters, Point
from models.workloads import replayed, resampling
from models.workloads.sacct import Table, read, select, users_of

FILTERS = ("start", "end", "partition", "user", "arrival", "requeued", "zero_runtime", "oversized")


def fills(workload: Parameters) -> tuple[str, ...]:
    """Return the columns of its jobs."""
    return ("requested", "memory", "user")


def is_stochastic(workload: Parameters) -> bool:
    """Tell whether replications differ: a log has no chance in it unless it is resampled."""
    return resampling.wanted(workload) is not None


def user_names(workload: Parameters) -> tuple[str, ...]:
    """Return the names of the users: number n of its jobs is the n-th."""
    path = str(workload["path"])
    return users_of(_table(path, replayed.of_file(path)))


@lru_cache(maxsize=2)
def _table(path: str, state: object) -> Table:
    """Read a file once for all tasks of a process that use it, and again when it has changed."""
    return read(path)


@replayed.kept
def open_trace(point: Point) -> Trace:
    """Return the jobs of a workload's file that its filters keep and some host can take.

    ``workload`` is that of conf/workload/logs/sacct.yaml, ``machine`` in `models.jobs.machine.of`: sacct does
    not say how large the machine was. The load rescales the time between submissions, nothing else.

    Raises
    ------
    ValueError
        With one line that says what is wrong.
    """
    workload, machine = point.workload, point.machine
    path = str(workload["path"])
    table = _table(path, replayed.of_file(path))
    filters = {name: workload[name] for name in FILTERS if workload.get(name) is not None}
    if replayed.names_no_machine(machine):
        at_once = select(table, machine_size=None, **filters).at_once
        raise ValueError(
            f"{table.name}: sacct does not say how large the machine is (its jobs had {at_once:,} processors "
            "at once); add machine.processors=..., or take a machine with hosts, e.g. grid.machine=[o2k]"
        )
    hosts = machines.of(machine)
    chosen = select(table, machine_size=hosts.largest, **filters)
    account, *further = chosen.describe()
    notes = [account, *further, *replayed.notes_of_pool(table.name, chosen.at_once, hosts)]
    memory = np.zeros(chosen.rows.size, np.int64)
    if hosts.has_memory:
        memory = np.ceil(table.memory[chosen.rows]).astype(np.int64)
        if none := int((memory == 0).sum()):
            notes.append(f"{table.name}: {none:,} jobs that asked for no memory take none")
    jobs = Jobs(
        chosen.arrival,
        chosen.runtime,
        table.requested[chosen.rows],
        chosen.size,
        memory,
        user=chosen.user,
    )
    read_jobs = Trace(
        table.name,
        jobs,
        hosts,
        tuple(notes),
        rows=chosen.rows,
        ids=table.job,
        users=users_of(table),
        origin=Origin(table.name, "Slurm's sacct", account, zero=chosen.first),
        waited=chosen.waited,
        own_machine=replayed.may_be_its_own(hosts, chosen.at_once, None),
    )
    return replayed.trace_of(point, read_jobs, table.line[chosen.rows])
