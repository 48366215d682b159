"""The jobs of one pool as the scheduler knows them: each holds a start, and the two steps that go with it.

While it waits a job goes by its position (`waiting.Waiting`), here and wherever jobs are placed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, from_dtype, int64, types, void
from numpy.typing import NDArray

from models.arrays import Floats, Ints
from models.backfill.conservative.steps import NOWHERE, NUMBER, NUMBERS, STEPS, Numbers, Records, Steps
from models.backfill.conservative.waiting import (
    MASK,
    NOBODY,
    SHIFT,
    WAITING,
    ZONES,
    Waiting,
    accumulate,
    index_first,
    look_at,
    no_index,
    zone,
)
from models.jobs.jobs import Jobs
from models.kernels.bits import ONE, ZERO
from models.kernels.compiling import part
from models.kernels.types import FLOATS, INTS

HELD_JOB = np.dtype(
    [
        ("requested", "f8"), ("planned", "f8"), ("first", "u4"), ("last", "u4"),
        ("next_there", "u4"), ("last_there", "u4"),
    ]
)  # fmt: skip
"""What is looked at of a job that waits: half a line of the cache.

requested
    As submitted; in seconds.
planned
    The start that it holds, in seconds.
first, last
    The step that begins at that start, and the one that begins at the expected end.
next_there, last_there
    The positions of its neighbours in the list of those that start where it does, or `steps.NOWHERE`.
"""

SIZE = np.dtype(np.int32)


class HeldJobs(NamedTuple):
    """All jobs in order of submission, none longer than requested, and those that wait by their positions.

    Those that wait have places of their own, side by side, because they lie far apart among all. Every array
    has the shape (n_jobs,).

    Parameters
    ----------
    submit, runtime, requested : ndarray of float, seconds
    processors : ndarray of int
    start, end : ndarray of float, seconds
        Filled in.
    promised : ndarray of float, seconds
        NaN; filled in for those that have to wait, with the first start that they were given.
    until : ndarray of int
        The step that begins at the expected end of a job that runs.
    held : ndarray of `HELD_JOB`
        By position, see `waiting.Waiting`.
    size : ndarray of `SIZE`
        Processors, by position: nothing is asked for as often, so they are closest together.
    """

    submit: Floats
    runtime: Floats
    requested: Floats
    processors: Ints
    start: Floats
    end: Floats
    promised: Floats
    until: Numbers
    held: Records
    size: NDArray[np.int32]


HELD = types.NamedTuple(
    [*[FLOATS] * 3, INTS, *[FLOATS] * 3, NUMBERS, from_dtype(HELD_JOB)[::1], from_dtype(SIZE)[::1]],
    HeldJobs,
)


def none_held(jobs: Jobs) -> HeldJobs:
    """Return jobs of which none is submitted yet."""
    n = len(jobs)
    start, end, promised = (np.full(n, np.nan) for _ in range(3))
    until, held, size = np.zeros(n, np.uint32), np.zeros(n, HELD_JOB), np.zeros(n, SIZE)
    return HeldJobs(
        jobs.submit, jobs.runtime, jobs.requested, jobs.size, start, end, promised, until, held, size
    )


@part(void(HELD, STEPS, NUMBER, NUMBER))
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


@part(void(HELD, STEPS, NUMBER))
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


@part(void(HELD, STEPS, WAITING, NUMBER, int64))
def give_back(jobs: HeldJobs, steps: Steps, waiting: Waiting, at: int, size: int) -> None:
    """Free processors in a step; who starts at its end and now has room in it is to be looked at.

    O(jobs that start there).
    """
    held, step = jobs.held, steps.step
    free = step[at].free + size
    step[at].free = free
    job = step[step[at].after].starting
    while job != NOWHERE:
        if jobs.size[job] <= free:
            look_at(waiting, job)
        job = held[job].next_there


@part(int64(HELD, WAITING, int64))
def close_up(jobs: HeldJobs, waiting: Waiting, n: int) -> int:
    """Leave no empty positions among the first `n` given so far, and return how many there are then.

    O(n). Where they have been stays in `waiting.moved_to` for `in_order`, and the index has to be made anew.
    """
    held, size = jobs.held, jobs.size
    kept = 0
    for word in range((n + MASK) >> SHIFT):
        looked_at, may_fit = waiting.looked_at[word], waiting.may_fit[word]
        waiting.looked_at[word] = waiting.may_fit[word] = ZERO
        for old in range(word << SHIFT, min((word + 1) << SHIFT, n)):
            job = waiting.job[old]
            if job != NOBODY:
                waiting.job[old] = NOBODY
                waiting.job[kept] = job
                waiting.moved_to[old] = kept
                size[kept] = size[old]
                held[kept].requested = held[old].requested
                held[kept].planned = held[old].planned
                held[kept].first, held[kept].last = held[old].first, held[old].last
                held[kept].next_there, held[kept].last_there = held[old].next_there, held[old].last_there
                if looked_at >> np.uint64(old & MASK) & ONE != ZERO:
                    look_at(waiting, kept)
                if may_fit >> np.uint64(old & MASK) & ONE != ZERO:
                    waiting.may_fit[kept >> SHIFT] |= ONE << np.uint64(kept & MASK)
                kept += 1
    for word in range((kept + MASK) >> SHIFT, ((n + MASK) >> SHIFT) + 1):
        no_index(waiting, word)
    return kept


@part(void(HELD, STEPS, WAITING, int64, NUMBER, INTS, int64))
def in_order(
    jobs: HeldJobs, steps: Steps, waiting: Waiting, n: int, first: int, heap: Ints, n_running: int
) -> None:  # fmt: skip
    """Give the steps new numbers in the order of time, from 0, and tell the `n` jobs that wait.

    O(steps + n + running jobs).

    Parameters
    ----------
    jobs, steps, waiting : see there; positions have just been closed up
    n : positions
    first : the first step
    heap, n_running : those that run
    """
    held, step, ordered, number = jobs.held, steps.step, steps.ordered, steps.number
    n_steps = 0
    at = first
    while at != NOWHERE:
        number[at] = n_steps
        ordered[n_steps].time = step[at].time
        ordered[n_steps].free = step[at].free
        ordered[n_steps].n_holders = step[at].n_holders
        ordered[n_steps].starting = step[at].starting
        ordered[n_steps].hole = step[at].hole
        n_steps += 1
        at = step[at].after
    for i in range(n_steps):
        step[i].time = ordered[i].time
        step[i].free = ordered[i].free
        step[i].n_holders = ordered[i].n_holders
        step[i].before, step[i].after = i - 1, i + 1
        starting, hole = ordered[i].starting, ordered[i].hole
        step[i].starting = NOWHERE if starting == NOWHERE else waiting.moved_to[starting]
        step[i].hole = hole
        if hole != NOWHERE:
            steps.hole[hole].step = i
    step[0].before = step[n_steps - 1].after = NOWHERE
    steps.spare[0], steps.spare[1] = NOWHERE, n_steps
    for i in range(n):
        held[i].first, held[i].last = number[held[i].first], number[held[i].last]
        later, earlier = held[i].next_there, held[i].last_there
        if later != NOWHERE:
            held[i].next_there = waiting.moved_to[later]
        if earlier != NOWHERE:
            held[i].last_there = waiting.moved_to[earlier]
    for i in range(n_running):
        jobs.until[heap[i]] = number[jobs.until[heap[i]]]


@part(void(HELD, WAITING, int64, float64))
def index_anew(jobs: HeldJobs, waiting: Waiting, n: int, now: float) -> None:
    """Make the index of the `n` jobs that wait now, without empty positions.

    O(n + (n / 64 + zones) x classes + n / 64 x zones).
    """
    held = jobs.held
    last = now
    for i in range(n):
        last = max(last, held[i].planned)
    waiting.grid[0] = now
    waiting.grid[1] = ZONES / max(last - now, 1.0)
    shortest = waiting.shortest
    for z in range(ZONES):
        for c in range(shortest.shape[1]):
            shortest[z, c] = np.inf
    for word in range((n + MASK) >> SHIFT):
        no_index(waiting, word)
        for i in range(word << SHIFT, min((word + 1) << SHIFT, n)):
            requested = held[i].requested
            z, c = zone(waiting, held[i].planned), waiting.class_of_size[jobs.size[i]]
            shortest[z, c] = min(shortest[z, c], requested)
            index_first(waiting, i, c, requested, z)
        accumulate(waiting, word)
    for z in range(ZONES - 1, -1, -1):
        for c in range(shortest.shape[1]):
            if c > 0:
                shortest[z, c] = min(shortest[z, c], shortest[z, c - 1])
            if z < ZONES - 1:
                shortest[z, c] = min(shortest[z, c], shortest[z + 1, c])
