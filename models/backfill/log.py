"""A log in the Standard Workload Format as jobs for backfilling: with requested times, and memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from models.backfill import machine as machines
from models.backfill.arrays import Floats, Ints
from models.backfill.jobs import Jobs
from models.backfill.machine import Machine
from models.family import Parameters
from models.workloads.log_replay import FILTERS
from models.workloads.swf import Log, SwfError, read, select


@dataclass(frozen=True, eq=False)
class LogJobs:
    """The jobs of a log that are simulated, and where they come from.

    Parameters
    ----------
    log : Log
    rows : ndarray of int, shape (n_jobs,)
        Of the log's columns.
    jobs : Jobs
        The first is submitted at 0.
    machine : Machine
    notes : tuple of str
        What a user should hear.
    """

    log: Log
    rows: Ints
    jobs: Jobs
    machine: Machine
    notes: tuple[str, ...]


@lru_cache(maxsize=2)
def _log(path: str) -> Log:
    """Read a log once for all tasks of a process that use it."""
    return read(path)


def open_log(workload: Parameters, machine: Parameters, load: float | None) -> LogJobs:
    """Return the jobs of a workload's log that its filters keep and some host can take.

    Parameters
    ----------
    workload : mapping
        See conf/workload/swf.yaml.
    machine : mapping
        See `models.backfill.machine.of`.
    load : float or None
        Offered load as a fraction of all processors: rescales the time between submissions, nothing else.

    Raises
    ------
    SwfError, ValueError
        With one line that says what is wrong.
    """
    log = _log(str(workload["path"]))
    hosts = machines.of(machine, log.max_processors)
    filters = {name: workload[name] for name in FILTERS if workload.get(name) is not None}
    chosen = select(log, machine_size=hosts.largest, **filters)
    notes = list(chosen.describe())
    by_line = np.argsort(log.line)
    rows = by_line[np.searchsorted(log.line, chosen.jobs.line, sorter=by_line)]
    requested = np.where(chosen.jobs.requested_time > 0, chosen.jobs.requested_time, np.nan)
    memory = np.zeros(len(rows), np.int64)
    if hosts.limits_memory:
        memory = _memory(log, rows, chosen.jobs.size, notes)
    jobs = Jobs(chosen.jobs.arrival, chosen.jobs.runtime, requested, chosen.jobs.size, memory)

    fits = hosts.takes(jobs.size, jobs.memory)
    if not fits.all():
        lost = int((~fits).sum())
        if workload.get("oversized", "drop") != "drop" or lost == len(fits):
            first = int(np.argmin(fits))
            raise SwfError(
                f"{log.name}: line {chosen.jobs.line[first]} asks for {jobs.size[first]} processors with "
                f"{jobs.memory[first]:,} KB, which no host has; add workload.oversized=drop or take a "
                "machine with more memory"
            )
        notes.append(f"{log.name}: {lost:,} more dropped, whose memory no host has (oversized=drop)")
        jobs, rows = jobs.part(fits), rows[fits]
    natural = _load(log, jobs, hosts)
    notes.append(f"{log.name}: load {natural:.3f} on {hosts.total:,} processors as it is")
    stretch = 1.0 if load is None else natural / load
    submit = (jobs.submit - jobs.submit[0]) * stretch
    return LogJobs(
        log, rows, Jobs(submit, jobs.runtime, jobs.requested, jobs.size, jobs.memory), hosts, tuple(notes)
    )


def _memory(log: Log, rows: Ints, size: Ints, notes: list[str]) -> Ints:
    """Return KB of whole jobs: requested, else used, else none (section 2.1 counts what is requested)."""
    requested, used = log.columns["requested_memory"][rows], log.columns["memory"][rows]
    each: Floats = np.where(requested > 0, requested, np.maximum(used, 0))
    by_use, none = int(((requested <= 0) & (used > 0)).sum()), int((each == 0).sum())
    if by_use:
        notes.append(f"{log.name}: {by_use:,} jobs without requested memory take what they used")
    if none:
        notes.append(f"{log.name}: {none:,} jobs whose memory is unknown take none")
    return np.ceil(each * size).astype(np.int64)


def _load(log: Log, jobs: Jobs, machine: Machine) -> float:
    """Return the work over what all hosts can do between the first and the last submission."""
    period = float(jobs.submit[-1] - jobs.submit[0])
    if period <= 0:
        raise SwfError(f"{log.name}: all {len(jobs)} jobs are submitted at once, so that it has no load")
    return float(jobs.size @ jobs.runtime) / (machine.total * period)
