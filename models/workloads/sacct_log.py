"""A site's own month, as Slurm's sacct prints it, as jobs for backfilling."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from models.family import Parameters, Seed
from models.jobs import machine as machines
from models.jobs.jobs import Jobs
from models.workloads import estimates, replayed
from models.workloads.sacct import Table, read, select
from models.workloads.sources import Source

ENDLESS = False

FILTERS = ("start", "end", "partition", "user", "arrival", "requeued", "zero_runtime", "oversized")


def has_chance(workload: Parameters) -> bool:
    """Tell whether replications differ: only in requested times that are drawn."""
    return estimates.wanted(workload)


@lru_cache(maxsize=2)
def _table(path: str) -> Table:
    """Read a file once for all tasks of a process that use it."""
    return read(path)


def open_source(workload: Parameters, machine: Parameters, load: float | None, seed: Seed) -> Source:
    """Return the jobs of a workload's file that its filters keep and some host can take.

    Parameters
    ----------
    workload : mapping
        See conf/workload/sacct.yaml.
    machine : mapping
        See `models.jobs.machine.of`; sacct does not say how large the machine was.
    load : float or None
        Offered load as a fraction of all processors: rescales the time between arrivals, nothing else.
    seed : tuple of int
        For requested times that are drawn.

    Raises
    ------
    ValueError
        With one line that says what is wrong.
    """
    estimates.wanted(workload)
    table = _table(str(workload["path"]))
    filters = {name: workload[name] for name in FILTERS if workload.get(name) is not None}
    if machine.get("hosts") is None and machine.get("n_pes", 0) is None:
        at_once = select(table, machine_size=None, **filters).at_once
        raise ValueError(
            f"{table.name}: sacct does not say how large the machine is (its jobs had {at_once:,} processors "
            "at once); add machine.n_pes=..., or take a machine with hosts, for instance grid.machine=[o2k]"
        )
    hosts = machines.of(machine)
    chosen = select(table, machine_size=hosts.largest, **filters)
    notes = chosen.describe()
    memory = np.zeros(chosen.rows.size, np.int64)
    if hosts.limits_memory:
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
    line = table.line[chosen.rows]
    return replayed.source_of(table.name, jobs, line, hosts, workload, load, seed, notes)
