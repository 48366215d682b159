"""The jobs of one pool as the scheduler knows them: each holds a start, and the two steps that go with it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, from_dtype, int64, types, void

from models.arrays import Floats
from models.backfill.conservative.steps import NOWHERE, STEPS, Records, Steps
from models.backfill.conservative.waiting import (
    MASK,
    NOBODY,
    SHIFT,
    WAITING,
    ZONES,
    Waiting,
    index,
    keep_only,
    look_at,
    zone,
)
from models.jobs.jobs import Jobs
from models.kernels.bits import ONE, ZERO
from models.kernels.compiling import part
from models.kernels.types import FLOATS

HELD_JOB = np.dtype(
    [
        ("requested", "f8"), ("planned", "f8"), ("size", "i4"), ("position", "i4"), ("first", "i4"),
        ("last", "i4"), ("next_there", "i4"), ("last_there", "i4"),
    ]
)  # fmt: skip
"""What is looked at of a job that waits: it is together, for those who wait lie far apart among all.

requested, size
    As submitted; in seconds.
planned
    The start that it holds, in seconds.
position
    See `waiting.Waiting`.
first, last
    The step that begins at that start, and the one that begins at the expected end.
next_there, last_there
    Its neighbours in the list of those that start where it does, or `steps.NOWHERE`.
"""


class HeldJobs(NamedTuple):
    """The jobs in order of submission, none longer than requested; every array has the shape (n_jobs,).

    Parameters
    ----------
    submit, runtime : ndarray of float, seconds
    start, end : ndarray of float, seconds
        Filled in.
    promised : ndarray of float, seconds
        NaN; filled in for those that have to wait, with the first start that they were given.
    held : ndarray of `HELD_JOB`
    """

    submit: Floats
    runtime: Floats
    start: Floats
    end: Floats
    promised: Floats
    held: Records


HELD = types.NamedTuple([FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, from_dtype(HELD_JOB)[::1]], HeldJobs)


def none_held(jobs: Jobs) -> HeldJobs:
    """Return jobs of which none is submitted yet."""
    n = len(jobs)
    start, end, promised = (np.full(n, np.nan) for _ in range(3))
    held = np.zeros(n, HELD_JOB)
    held["requested"], held["size"] = jobs.requested, jobs.size
    return HeldJobs(jobs.submit, jobs.runtime, start, end, promised, held)


@part(void(HELD, STEPS, int64, int64))
def hold(jobs: HeldJobs, steps: Steps, job: int, at: int) -> None:
    """Let a job hold the start at the beginning of a step. O(1)."""
    held, step = jobs.held, steps.step
    other = step[at].starting
    held[job].first = at
    held[job].planned = step[at].time
    held[job].next_there = other
    held[job].last_there = NOWHERE
    if other != NOWHERE:
        held[other].last_there = job
    step[at].starting = job
    step[at].n_holders += 1


@part(void(HELD, STEPS, int64))
def give_up(jobs: HeldJobs, steps: Steps, job: int) -> None:
    """Take a job out of the list of those that start where it does. O(1)."""
    held = jobs.held
    earlier, later = held[job].last_there, held[job].next_there
    if earlier != NOWHERE:
        held[earlier].next_there = later
    else:
        steps.step[held[job].first].starting = later
    if later != NOWHERE:
        held[later].last_there = earlier


@part(void(HELD, STEPS, WAITING, int64, int64))
def give_back(jobs: HeldJobs, steps: Steps, waiting: Waiting, at: int, size: int) -> None:
    """Free processors in a step; who starts at its end and now has room in it is to be looked at.

    O(jobs that start there).
    """
    held, step = jobs.held, steps.step
    free = step[at].free + size
    step[at].free = free
    job = step[step[at].after].starting
    while job != NOWHERE:
        if held[job].size <= free:
            look_at(waiting, held[job].position)
        job = held[job].next_there


@part(int64(HELD, WAITING, int64))
def close_up(jobs: HeldJobs, waiting: Waiting, n: int) -> int:
    """Leave no empty positions among the first `n` given so far, and return how many there are then.

    O(n), and O(classes + zones) for each word. The index has to be made anew then, see `index_anew`.
    """
    kept = 0
    for word in range((n + MASK) >> SHIFT):
        looked_at, may_fit = waiting.looked_at[word], waiting.may_fit[word]
        waiting.looked_at[word] = waiting.may_fit[word] = ZERO
        keep_only(waiting, word, ZERO)
        for old in range(word << SHIFT, min((word + 1) << SHIFT, n)):
            job = waiting.job[old]
            if job != NOBODY:
                waiting.job[old] = NOBODY
                waiting.job[kept] = job
                jobs.held[job].position = kept
                if looked_at >> np.uint64(old & MASK) & ONE != ZERO:
                    look_at(waiting, kept)
                if may_fit >> np.uint64(old & MASK) & ONE != ZERO:
                    waiting.may_fit[kept >> SHIFT] |= ONE << np.uint64(kept & MASK)
                kept += 1
    return kept


@part(void(HELD, WAITING, int64, float64))
def index_anew(jobs: HeldJobs, waiting: Waiting, n: int, now: float) -> None:
    """Make the index of the `n` jobs that wait now, without empty positions.

    O((n + zones) x classes + n x zones).
    """
    held = jobs.held
    last = now
    for i in range(n):
        last = max(last, held[waiting.job[i]].planned)
    waiting.grid[0] = now
    waiting.grid[1] = ZONES / max(last - now, 1.0)
    shortest = waiting.shortest
    for z in range(ZONES):
        for c in range(shortest.shape[1]):
            shortest[z, c] = np.inf
    for i in range(n):
        job = waiting.job[i]
        size, requested, planned = held[job].size, held[job].requested, held[job].planned
        index(waiting, i, size, requested, planned)
        z, c = zone(waiting, planned), waiting.class_of_size[size]
        shortest[z, c] = min(shortest[z, c], requested)
    for z in range(ZONES - 1, -1, -1):
        for c in range(shortest.shape[1]):
            if c > 0:
                shortest[z, c] = min(shortest[z, c], shortest[z, c - 1])
            if z < ZONES - 1:
                shortest[z, c] = min(shortest[z, c], shortest[z + 1, c])
