"""Waiting jobs in no order: who goes first, and who may start at all.

Priorities that change with time change for all at each pass, so that a sorted queue would cost more than
looking through all that wait for the few who matter. What a look needs stands side by side for that, and is
gone through in loops without branches. A job that fits on no host is looked at again only where something has
become free.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import float64, int64, void

from models.arrays import Floats, Ints
from models.backfill.priority.order import (
    KB_IN_MEMORY_UNIT,
    PRIORITY,
    SECONDS_IN_HOUR,
    WEIGHTS,
    added_up,
)
from models.backfill.priority.passing import COLUMNS, Columns
from models.backfill.priority.weights import Weights
from models.kernels.compiling import part
from models.kernels.types import FLOATS, INTS, record

NOBODY = -1

BLOCK_BITS = 6
BLOCK = 2**BLOCK_BITS
"""So many places are told in one look that nobody there may start."""

NO_ROOM, OPEN, BLOCKED = range(3)
"""A job fits on no host; it may fit on one; it does, but would run into the start that is given."""


class Crowd(NamedTuple):
    """Those that wait, at the first places of arrays with room for all jobs.

    Parameters
    ----------
    job, size, need, bypassed : ndarray of int
        Who waits at a place, and of that job what `passing.Columns` has.
    submit, requested, key, rank : ndarray of float
        Likewise.
    hours, units, shortness : ndarray of float
        See `order.added_up`.
    state : ndarray of int
        `NO_ROOM`, `OPEN` or `BLOCKED`.
    chosen : ndarray of int
        Places.
    smallest, n_open : ndarray of int, shape (n_blocks,)
        Of each `BLOCK` places: nobody there asks for fewer processors, and so many are `OPEN`.
    counts : ndarray of int, shape (3,)
        How many there are in each state.
    """

    job: Ints
    size: Ints
    need: Ints
    bypassed: Ints
    submit: Floats
    requested: Floats
    key: Floats
    rank: Floats
    hours: Floats
    units: Floats
    shortness: Floats
    state: Ints
    chosen: Ints
    smallest: Ints
    n_open: Ints
    counts: Ints


CROWD = record(Crowd)


def nobody_waits(n_jobs: int) -> Crowd:
    """Return room for so many jobs."""
    job, size, need, bypassed, state, chosen = (np.empty(n_jobs, np.int64) for _ in range(6))
    submit, requested, key, rank, hours, units, shortness = (np.empty(n_jobs) for _ in range(7))
    smallest, n_open = (np.empty(n_jobs // BLOCK + 1, np.int64) for _ in range(2))
    return Crowd(
        job, size, need, bypassed, submit, requested, key, rank, hours, units, shortness,
        state, chosen, smallest, n_open, counts=np.zeros(3, np.int64),
    )  # fmt: skip


# Unsigned, an index is not asked whether it counts from the end.


@part(void(CROWD, int64, int64, FLOATS, COLUMNS, WEIGHTS, int64))
def join(crowd: Crowd, n: int, job: int, submit: Floats, jobs: Columns, weights: Weights, state: int) -> None:
    """Let one more job wait, behind `n`. O(1)."""
    at, who = np.uint64(n), np.uint64(job)
    crowd.job[at] = job
    crowd.size[at] = jobs.size[who]
    crowd.need[at] = jobs.need[who]
    crowd.bypassed[at] = 0
    crowd.submit[at] = submit[who]
    crowd.requested[at] = jobs.requested[who]
    crowd.key[at] = jobs.key[who]
    crowd.rank[at] = jobs.rank[who]
    crowd.hours[at] = jobs.requested[who] / SECONDS_IN_HOUR
    crowd.units[at] = jobs.need[who] / KB_IN_MEMORY_UNIT
    crowd.shortness[at] = weights.shortness / crowd.hours[at]
    crowd.state[at] = state
    crowd.counts[np.uint64(state)] += 1
    block = at >> np.uint64(BLOCK_BITS)
    if n % BLOCK == 0:
        crowd.smallest[block] = crowd.size[at]
        crowd.n_open[block] = 0
    crowd.smallest[block] = min(crowd.smallest[block], crowd.size[at])
    crowd.n_open[block] += int(state == OPEN)


@part(void(CROWD, int64, int64))
def leave(crowd: Crowd, n: int, place: int) -> None:
    """Take one of `n` out; the last one takes its place. O(1)."""
    at, last = np.uint64(place), np.uint64(n - 1)
    block, last_block = at >> np.uint64(BLOCK_BITS), last >> np.uint64(BLOCK_BITS)
    moves = int(crowd.state[last] == OPEN)
    crowd.counts[np.uint64(crowd.state[at])] -= 1
    crowd.n_open[block] += moves - int(crowd.state[at] == OPEN)
    crowd.n_open[last_block] -= moves
    crowd.smallest[block] = min(crowd.smallest[block], crowd.size[last])
    crowd.job[at] = crowd.job[last]
    crowd.size[at] = crowd.size[last]
    crowd.need[at] = crowd.need[last]
    crowd.bypassed[at] = crowd.bypassed[last]
    crowd.submit[at] = crowd.submit[last]
    crowd.requested[at] = crowd.requested[last]
    crowd.key[at] = crowd.key[last]
    crowd.rank[at] = crowd.rank[last]
    crowd.hours[at] = crowd.hours[last]
    crowd.units[at] = crowd.units[last]
    crowd.shortness[at] = crowd.shortness[last]
    crowd.state[at] = crowd.state[last]


@part(void(float64, CROWD, int64, WEIGHTS))
def weigh_all(now: float, crowd: Crowd, n: int, weights: Weights) -> None:
    """Compute the priorities of all by weights. O(n)."""
    for i in range(n):
        at = np.uint64(i)
        waited_h = (now - crowd.submit[at]) / SECONDS_IN_HOUR
        size, bypassed = float(crowd.size[at]), crowd.bypassed[at]
        crowd.key[at] = added_up(
            weights, waited_h, crowd.hours[at], size, crowd.units[at], crowd.shortness[at], bypassed
        )


@part(float64(float64, CROWD, int64, PRIORITY))
def asked(now: float, crowd: Crowd, place: int, order: Callable[..., float]) -> float:
    """Return what a function says of one who waits; what is no number goes last. O(1)."""
    at = np.uint64(place)
    waited = now - crowd.submit[at]
    said = order(waited, crowd.requested[at], crowd.size[at], crowd.need[at], crowd.bypassed[at])
    return said if said == said else -np.inf


@part(int64(CROWD, INTS, int64, FLOATS))
def first_of(crowd: Crowd, chosen: Ints, n_chosen: int, by: Floats) -> int:
    """Return which of some places has the one who goes first by such an order. O(of those)."""
    best = 0
    key, job = by[np.uint64(chosen[0])], crowd.job[np.uint64(chosen[0])]
    for i in range(1, n_chosen):
        at = np.uint64(chosen[i])
        if by[at] > key or (by[at] == key and crowd.job[at] < job):
            best, key, job = i, by[at], crowd.job[at]
    return best


@part(void(CROWD, int64, int64, int64))
def open_to(crowd: Crowd, n: int, free: int, free_memory: int) -> None:
    """Let those be looked at that fit on a host with so much. O(n)."""
    for b in range((n + BLOCK - 1) >> BLOCK_BITS):
        block = np.uint64(b)
        if crowd.smallest[block] > free:
            continue
        smallest = 2**62
        n_open, n_blocked = 0, 0
        for i in range(b * BLOCK, min(n, (b + 1) * BLOCK)):
            at = np.uint64(i)
            size, state = crowd.size[at], crowd.state[at]
            fits = (size <= free) & (crowd.need[at] <= free_memory)
            n_open += int(fits & (state != OPEN))
            n_blocked += int(fits & (state == BLOCKED))
            crowd.state[at] = OPEN if fits else state
            smallest = size if size < smallest else smallest
        crowd.smallest[block] = smallest
        crowd.n_open[block] += n_open
        crowd.counts[OPEN] += n_open
        crowd.counts[BLOCKED] -= n_blocked
        crowd.counts[NO_ROOM] -= n_open - n_blocked


@part(void(CROWD, int64))
def open_blocked(crowd: Crowd, n: int) -> None:
    """Let all be looked at again that would have run into a start. O(n)."""
    for b in range((n + BLOCK - 1) >> BLOCK_BITS):
        n_open = 0
        for i in range(b * BLOCK, min(n, (b + 1) * BLOCK)):
            at = np.uint64(i)
            n_open += int(crowd.state[at] == BLOCKED)
            crowd.state[at] = OPEN if crowd.state[at] == BLOCKED else crowd.state[at]
        crowd.n_open[np.uint64(b)] += n_open
    crowd.counts[OPEN] += crowd.counts[BLOCKED]
    crowd.counts[BLOCKED] = 0


@part(void(CROWD, int64, int64))
def close(crowd: Crowd, place: int, state: int) -> None:
    """Say why one who is open cannot start. O(1)."""
    crowd.state[np.uint64(place)] = state
    crowd.n_open[np.uint64(place >> BLOCK_BITS)] -= 1
    crowd.counts[OPEN] -= 1
    crowd.counts[np.uint64(state)] += 1


@part(void(CROWD, int64, int64, int64))
def pass_by(crowd: Crowd, n: int, place: int, holder: int) -> None:
    """Note that the one at a place starts, ahead of all of higher priority and of the holder. O(n)."""
    job, key = crowd.job[place], crowd.key[place]
    for i in range(n):
        higher = (crowd.key[i] > key) | ((crowd.key[i] == key) & (crowd.job[i] < job)) | (i == holder)
        crowd.bypassed[i] += int(higher)
