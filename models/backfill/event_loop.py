"""The event loop of a space-shared machine, and the scalars of every scheduler on it.

A scheduler is a *system*: a named tuple of its tables, whose first field `state` is one record of scalars.
Its `jobs` are a `JobTable`, its `heap` has the running jobs by their ends (`models.kernels.ends`). The loop
proceeds from instant to instant and calls parts (`end_job`, …), of which each system has its own, declared
with `part_of`: they are chosen by the type of the system when the loop is compiled, at no cost at run time.

For the order of events at one instant see `models.kernels.ties`. A job with a planned start
(`models.backfill.conservative`) starts first of all.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from models.kernels import ends, progress
from models.kernels.compiling import by_type, part
from models.kernels.standstill import count_repeated, stands_still
from models.kernels.ties import next_end, next_submission, takes_end, takes_submission

COMMON = {
    "now": np.float64, "next_start": np.float64, "arrived": np.int64, "first_new": np.int64,
    "n_running": np.int64, "n_waiting": np.int64, "n_ended": np.int64, "n_events": np.int64,
    "repeated": np.int64, "instant": np.bool_,
}  # fmt: skip
"""Scalars of every system.

now, next_start
    This instant, and the next planned start; seconds.
arrived, first_new
    Jobs submitted so far, and before this instant.
n_running, n_waiting
    Jobs in execution and in the queue.
n_ended, n_events
    Ends, and all events, of this step.
repeated
    Steps at this instant before this one, see `models.kernels.standstill`.
instant
    Whether all events of an instant come before one pass, see `models.kernels.ties`.
"""


def state_type(**more: type) -> np.dtype:
    """Return the type of the record of a system that has more scalars than `COMMON`."""
    return np.dtype([*COMMON.items(), *more.items()], align=True)


def initial_state(kind: np.dtype, instant: bool, **values: float) -> np.ndarray:
    """Return the record of a system before its first event: zeros except for these values."""
    state = progress.record(kind)
    state["next_start"] = np.inf
    state["instant"] = instant
    for name, value in values.items():
        state[name] = value
    return state


_IMPLEMENTATIONS: dict[tuple[str, Any], Callable] = {}


def part_of(system: type) -> Callable[[Callable], Callable]:
    """Declare a function to be the part of the loop with its name for a type of system."""

    def declare(function: Callable) -> Callable:
        _IMPLEMENTATIONS[function.__name__, system] = function
        return function

    return declare


def _part(name: str, default: Callable | None = None) -> Callable:
    """Return a part of the loop, chosen by the type of its first argument, the system."""

    def choose(system: Any, *_: Any) -> Any:
        return _IMPLEMENTATIONS.get((name, getattr(system, "instance_class", None)), default)

    return by_type(choose)


def nothing(system):
    """Do nothing at the beginning of an instant."""


begin_instant = _part("begin_instant", nothing)
"""(system): bring it to `state.now`, and start jobs whose planned start has come; optional."""
end_job = _part("end_job")
"""(system): remove the job that ends next from the machine, see `next_to_end`."""
submit_job = _part("submit_job")
"""(system): add job `state.arrived` to the queue, or start it; the loop counts it afterwards."""
schedule_jobs = _part("schedule_jobs")
"""(system, functions): start every waiting job that may start, in one pass."""


@part()
def run_job(system, job, host, length):
    """Let a job run on a host for `length` seconds from now on. O(log running jobs)."""
    state, jobs, j = system.state[0], system.jobs, np.uint64(job)
    jobs.start[j] = state.now
    jobs.end[j] = state.now + length
    jobs.host[j] = host
    ends.push(jobs.end, system.heap, state.n_running, job)
    state.n_running += 1


@part()
def next_to_end(system):
    """Remove the job that ends next from the running ones, and return it. O(log running jobs)."""
    state = system.state[0]
    job = ends.pop(system.jobs.end, system.heap, state.n_running)
    state.n_running -= 1
    return job


@part()
def run_events(system, functions):
    """Simulate jobs to their last end.

    Parameters
    ----------
    system : named tuple, before the first submission
    functions : tuple of compiled functions
        The functions that a pass calls: orders of priority.
    """
    state, jobs = system.state[0], system.jobs
    while True:
        next_submit = next_submission(jobs.submit, state.arrived)
        now = min(next_submit, next_end(jobs.end, system.heap, state.n_running), state.next_start)
        state.repeated = count_repeated(state.repeated, state.now, now)
        if now == np.inf or stands_still(state.repeated, state.arrived):
            break
        state.now = now
        begin_instant(system)
        state.n_ended = 0
        while takes_end(
            state.instant, now, next_end(jobs.end, system.heap, state.n_running), next_submit, state.n_ended
        ):
            end_job(system)
            state.n_ended += 1
        state.n_events = state.n_ended
        state.first_new = state.arrived
        while takes_submission(
            state.instant, now, next_submission(jobs.submit, state.arrived), state.n_events
        ):
            submit_job(system)
            state.arrived += 1
            state.n_events += 1
        schedule_jobs(system, functions)
