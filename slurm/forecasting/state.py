"""A queue at an instant: which jobs run and which wait, at any time of a log."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.jobs import Jobs
from models.jobs.requests import Requests
from models.jobs.trace import Trace
from slurm.forecasting.drawing import Past
from sweep.errors import SweepError

MOMENT_S = 1e-3
"""Seconds after its submission until which a job that starts at once counts as waiting."""


@dataclass(frozen=True, eq=False)
class State:
    """The jobs of a queue, seconds from its instant.

    Parameters
    ----------
    jobs : Jobs
        Running jobs in order of their starts, then waiting ones in order of submission.
    start : ndarray of float, shape (n_running,), seconds
    nodes : tuple of mappings of int to int
        CPUs of each running job by node; empty where unknown.
    names : tuple of str
        Names of all jobs.
    planned : ndarray of float, shape (n_waiting,), seconds
        Starts that the scheduler itself expects; NaN for none.
    past : Past
    zero : float
        Unix seconds of the instant.
    users : tuple of str
        The n-th is the name of user number n, if names are known.
    rows : ndarray of int
        Positions of the jobs in the trace, if they come from one.
    """

    jobs: Jobs
    start: Floats
    nodes: tuple[Mapping[int, int], ...]
    names: tuple[str, ...]
    planned: Floats
    past: Past
    zero: float
    users: tuple[str, ...] = ()
    rows: Ints | None = None

    @property
    def n_running(self) -> int:
        """Number of running jobs."""
        return len(self.start)

    @property
    def n_waiting(self) -> int:
        """Number of waiting jobs."""
        return len(self.jobs) - len(self.start)

    @cached_property
    def elapsed(self) -> Floats:
        """Seconds that each job has run."""
        return np.concatenate([-self.start, np.zeros(self.n_waiting)])

    def with_job(self, name: str, requested: float, size: int, user: int, **request: Any) -> "State":
        """Return this queue with one more job at its end; `request` has columns of `Requests`."""
        one, memory = np.array([size]), np.zeros(1, np.int64)
        job = replace(
            self.past.jobs.part(slice(-1, None)),
            submit=np.zeros(1),
            requested=np.array([requested]),
            size=one,
            memory=memory,
            used_memory=None if self.jobs.used_memory is None else memory,
        )
        if job.user is not None:
            job = replace(job, user=np.array([user]))
        if job.request is not None:
            columns = {
                key: np.array([value], type(value) if type(value) is not str else object)
                for key, value in request.items()
            }
            job = replace(job, request=Requests.of(one, memory, **columns))
        jobs = joined(self.jobs, job)
        return replace(self, jobs=jobs, names=(*self.names, name), planned=np.append(self.planned, np.nan))

    def changed(self, job: int, of_jobs: Mapping[str, Any], of_request: Mapping[str, Any]) -> "State":
        """Return this queue with other values of one job, in columns of `Jobs` and of `Requests`."""
        columns = _with(self.jobs, job, of_jobs)
        if self.jobs.request is not None:
            columns["request"] = replace(self.jobs.request, **_with(self.jobs.request, job, of_request))
        return replace(self, jobs=replace(self.jobs, **columns))


def _with(table: Jobs | Requests, job: int, values: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: getattr(table, name).copy() for name in values}
    for name, value in values.items():
        found[name][job] = value
    return found


def joined(jobs: Jobs, further: Jobs) -> Jobs:
    """Return a queue's jobs followed by further ones; dependencies are kept, and no heterogeneous job has
    components of both."""
    if not len(further):
        return jobs
    both = Jobs.concatenated([jobs, further])
    if jobs.request is None or both.request is None:
        return both
    after = np.append(jobs.request.after, np.full(len(further), -1))
    of_job = both.request.het_job.copy()
    later = of_job[len(jobs) :]
    later[later >= 0] += jobs.request.het_job.max(initial=-1) + 1
    return replace(both, request=replace(both.request, after=after, het_job=of_job))


def past_of(trace: Trace, at: float) -> Past:
    """Return what is known about a log's jobs at an instant, in seconds from its first submission."""
    n = int(np.searchsorted(trace.jobs.submit, at))
    jobs = trace.jobs.part(slice(n))
    waited = np.full(n, np.nan) if trace.waited is None else trace.waited[:n]
    start = jobs.submit + waited - at
    return Past(replace(jobs, submit=jobs.submit - at), np.where(start >= -MOMENT_S, np.inf, start))


def of_log(trace: Trace, at: float) -> State:
    """Return the queue at an instant of a log that has recorded waits.

    If its clocks let more jobs run than the machine has processors for, those that began last count as
    running.
    """
    if trace.waited is None or np.isnan(trace.waited).all():
        raise SweepError(
            f"{trace.name}: no waits are recorded, so its queue is unknown at any time; give a log with "
            "waits, or queue=FILE as squeue --json prints it"
        )
    past = past_of(trace, at)
    runs = np.flatnonzero((past.start < 0) & ~past.ended)
    runs = runs[np.argsort(past.start[runs], kind="stable")]
    used = np.cumsum(past.jobs.size[runs][::-1])[::-1]
    runs = runs[used <= trace.machine.total]
    rows = np.concatenate([runs, np.flatnonzero(np.isinf(past.start))])
    n_waiting = len(rows) - len(runs)
    zero = 0.0 if trace.origin is None or trace.origin.zero is None else trace.origin.zero
    return State(
        past.jobs.part(rows),
        past.start[runs],
        ({},) * len(runs),
        tuple(_name(trace, row) for row in rows.tolist()),
        np.full(n_waiting, np.nan),
        past,
        zero + at,
        trace.users,
        rows,
    )


def _name(trace: Trace, row: int) -> str:
    at = row if trace.rows is None else int(trace.rows[row])
    if trace.ids is not None:
        return str(trace.ids[at])
    return str(at + 1 if trace.log is None else trace.log.columns["job"][at])
