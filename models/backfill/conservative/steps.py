"""What is free from now on, on one pool: a step function of time as a linked list.

A step begins where a job starts or is expected to end, and is there as long as some job does. So a job knows
its two steps, and whoever moves by a little walks from there; nobody searches the whole list for a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, int64, void

from models.arrays import Floats, Ints
from models.kernels.compiling import part
from models.kernels.types import record

NOWHERE = -1


class Steps(NamedTuple):
    """The steps by their numbers, in no order; every array has room for all that there can be at once.

    Parameters
    ----------
    time : ndarray of float, seconds
        When a step begins; it lasts to the beginning of the next one, the last for ever. NaN: no step.
    free : ndarray of int
        Processors that are free then.
    before, after : ndarray of int
        Its neighbours, or `NOWHERE`. Step 0 is the first one at the beginning.
    n_holders : ndarray of int
        How many jobs start there or are expected to end there.
    starting : ndarray of int
        One of the waiting jobs that start there, or `NOWHERE`; they are a list, see `pool.HeldJobs`.
    spare, n_spare : ndarray of int
        Numbers of no step, the next to be taken last; and how many.
    """

    time: Floats
    free: Ints
    before: Ints
    after: Ints
    n_holders: Ints
    starting: Ints
    spare: Ints
    n_spare: Ints


STEPS = record(Steps)


def all_free(processors: int, n_jobs: int) -> Steps:
    """Return one step for ever, and room for two of each job and two more for one that moves."""
    room = 2 * n_jobs + 4
    time, free = np.full(room, np.nan), np.zeros(room, np.int64)
    time[0], free[0] = -np.inf, processors
    before, after, starting = (np.full(room, NOWHERE, np.int64) for _ in range(3))
    n_holders, spare = np.zeros(room, np.int64), np.arange(room, dtype=np.int64)[::-1].copy()
    return Steps(time, free, before, after, n_holders, starting, spare, np.array([room - 1]))


@part(int64(STEPS, int64, float64))
def begin_at(steps: Steps, at: int, instant: float) -> int:
    """Let a step begin at an instant later than the beginning of step `at` and before that of the next one.

    O(1).
    """
    steps.n_spare[0] -= 1
    made = steps.spare[steps.n_spare[0]]
    following = steps.after[at]
    steps.time[made] = instant
    steps.free[made] = steps.free[at]
    steps.before[made] = at
    steps.after[made] = following
    steps.after[at] = made
    if following != NOWHERE:
        steps.before[following] = made
    steps.n_holders[made] = 0
    steps.starting[made] = NOWHERE
    return made


@part(void(STEPS, int64))
def let_go(steps: Steps, at: int) -> None:
    """One job fewer starts or ends there: without any, a step but the first is like the one before. O(1)."""
    steps.n_holders[at] -= 1
    previous, following = steps.before[at], steps.after[at]
    if steps.n_holders[at] == 0 and previous != NOWHERE:
        steps.after[previous] = following
        if following != NOWHERE:
            steps.before[following] = previous
        steps.time[at] = np.nan
        steps.spare[steps.n_spare[0]] = at
        steps.n_spare[0] += 1


@part(int64(STEPS, int64, float64))
def forget(steps: Steps, first: int, now: float) -> int:
    """Drop what lies before now, and return the first step that is left. O(1) on average."""
    while steps.after[first] != NOWHERE and steps.time[steps.after[first]] <= now:
        following = steps.after[first]
        steps.before[following] = NOWHERE
        steps.time[first] = np.nan
        steps.spare[steps.n_spare[0]] = first
        steps.n_spare[0] += 1
        first = following
    steps.time[first] = now
    return first


@part(int64(STEPS, int64, float64, int64, float64))
def first_fit(steps: Steps, at: int, until: float, size: int, duration: float) -> int:
    """Return the first step from `at` on from which a job fits for its whole duration, or `NOWHERE` if it
    would not be over by `until`. O(steps).
    """
    found = NOWHERE
    while at != NOWHERE:
        if found != NOWHERE and steps.time[found] + duration <= steps.time[at]:
            return found
        if steps.time[at] >= until:
            return NOWHERE
        if steps.free[at] < size:
            found = NOWHERE
        elif found == NOWHERE:
            found = at
        at = steps.after[at]
    return found


@part(int64(STEPS, int64, int64))
def pushed_forward(steps: Steps, at: int, size: int) -> int:
    """Return the first step of those right before `at` that all have room for a job. O(their number)."""
    while steps.before[at] != NOWHERE and steps.free[steps.before[at]] >= size:
        at = steps.before[at]
    return at


@part(int64(STEPS, int64, float64, int64))
def take(steps: Steps, at: int, end: float, size: int) -> int:
    """Take processors away from the beginning of a step to `end`, and return the step that begins there.

    O(steps between).
    """
    while steps.after[at] != NOWHERE and steps.time[steps.after[at]] <= end:
        steps.free[at] -= size
        at = steps.after[at]
    if steps.time[at] == end:
        return at
    made = begin_at(steps, at, end)
    steps.free[at] -= size
    return made
