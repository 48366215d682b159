"""The jobs of one pool as the scheduler knows them: each holds a start, and the two steps that go with it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import int64, void

from models.arrays import Floats, Ints
from models.backfill.conservative.steps import NOWHERE, STEPS, Steps
from models.backfill.conservative.waiting import WAITING, Waiting, look_at
from models.jobs.jobs import Jobs
from models.kernels.compiling import part
from models.kernels.types import record


class HeldJobs(NamedTuple):
    """The jobs in order of submission, none longer than requested; every array has the shape (n_jobs,).

    Parameters
    ----------
    submit, runtime, requested : ndarray of float, seconds
    size : ndarray of int
    start, end : ndarray of float, seconds
        Filled in.
    promised : ndarray of float, seconds
        NaN; filled in for those that have to wait, with the first start that they were given.
    planned : ndarray of float, seconds
        The start that a job holds.
    first, last : ndarray of int
        The step that begins at that start, and the one that begins at the expected end.
    next_there, last_there : ndarray of int
        The neighbours of a waiting job in the list of those that start where it does, or `steps.NOWHERE`.
    position : ndarray of int
        See `waiting.Waiting`.
    since, until : ndarray of float, seconds
        Between them a waiting job may fit before its start, because something has become free there; inf and
        -inf where it is known not to.
    source : ndarray of int
        The step that began at `since`.
    """

    submit: Floats
    runtime: Floats
    requested: Floats
    size: Ints
    start: Floats
    end: Floats
    promised: Floats
    planned: Floats
    first: Ints
    last: Ints
    next_there: Ints
    last_there: Ints
    position: Ints
    since: Floats
    until: Floats
    source: Ints


HELD = record(HeldJobs)


def none_held(jobs: Jobs) -> HeldJobs:
    """Return jobs of which none is submitted yet."""
    n = len(jobs)
    start, end, promised = (np.full(n, np.nan) for _ in range(3))
    first, last, next_there, last_there, position = (np.full(n, NOWHERE, np.int64) for _ in range(5))
    return HeldJobs(
        jobs.submit, jobs.runtime, jobs.requested, jobs.size, start, end, promised, np.empty(n),
        first, last, next_there, last_there, position,
        since=np.full(n, np.inf), until=np.full(n, -np.inf), source=np.zeros(n, np.int64),
    )  # fmt: skip


@part(void(HELD, STEPS, int64, int64))
def hold(jobs: HeldJobs, steps: Steps, job: int, at: int) -> None:
    """Let a job hold the start at the beginning of a step. O(1)."""
    other = steps.starting[at]
    jobs.first[job] = at
    jobs.planned[job] = steps.time[at]
    jobs.next_there[job] = other
    jobs.last_there[job] = NOWHERE
    if other != NOWHERE:
        jobs.last_there[other] = job
    steps.starting[at] = job
    steps.n_holders[at] += 1


@part(void(HELD, STEPS, int64))
def give_up(jobs: HeldJobs, steps: Steps, job: int) -> None:
    """Take a job out of the list of those that start where it does. O(1)."""
    earlier, later = jobs.last_there[job], jobs.next_there[job]
    if earlier != NOWHERE:
        jobs.next_there[earlier] = later
    else:
        steps.starting[jobs.first[job]] = later
    if later != NOWHERE:
        jobs.last_there[later] = earlier


@part(void(HELD, STEPS, WAITING, int64, int64))
def give_back(jobs: HeldJobs, steps: Steps, waiting: Waiting, at: int, size: int) -> None:
    """Free processors in a step; who starts at its end and now has room in it is to be looked at.

    O(jobs that start there).
    """
    steps.free[at] += size
    job = steps.starting[steps.after[at]]
    while job != NOWHERE:
        if jobs.size[job] <= steps.free[at]:
            look_at(waiting, jobs.position[job])
        job = jobs.next_there[job]
