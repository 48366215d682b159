"""Waiting jobs in no order: finds the first of all, and the first of some candidates.

Priorities that change with time change for all jobs at each pass, so that a sorted queue would cost more than
a scan for the few jobs that matter. The fields that a scan reads are stored side by side, and its loops have
no branches.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import boolean, float64, int64, void

from models.arrays import Floats, Ints
from models.backfill.job_table import JOBS, JobTable
from models.backfill.priority.order import (
    KB_IN_MEMORY_UNIT,
    PRIORITY,
    SECONDS_IN_HOUR,
    added_up,
    highest,
)
from models.backfill.priority.tables import NO_RESERVATION, ORDER, Order
from models.kernels.compiling import part
from models.kernels.types import FLOATS, record


class UnorderedQueue(NamedTuple):
    """The waiting jobs at the first places of arrays that hold all jobs and one more.

    Parameters
    ----------
    job, size, need : ndarray of int
        The job at a place, its processors and its memory (KB).
    bypassed : ndarray of int
        Number of jobs of lower priority that started before it.
    held : ndarray of int
        The number of the reservation that it keeps, or `NO_RESERVATION`.
    submit, requested : ndarray of float, seconds
    ran : ndarray of float, seconds
        Time in execution that counts, which is not waiting time.
    key, rank : ndarray of float
        Its priority, and its priority among backfilled jobs if their order differs.
    hours, units, shortness : ndarray of float
        See `order.added_up`.
    chosen : ndarray of int
        Places of candidates.
    """

    job: Ints
    size: Ints
    need: Ints
    bypassed: Ints
    held: Ints
    submit: Floats
    requested: Floats
    ran: Floats
    key: Floats
    rank: Floats
    hours: Floats
    units: Floats
    shortness: Floats
    chosen: Ints


QUEUE = record(UnorderedQueue)


def empty_queue(n_jobs: int) -> UnorderedQueue:
    """Return a queue for `n_jobs` jobs."""
    kinds = [np.int64] * 5 + [np.float64] * 8 + [np.int64]
    columns: list[Any] = [np.empty(n_jobs + 1, kind) for kind in kinds]
    return UnorderedQueue(*columns)


# An unsigned index needs no check whether it counts from the end.


@part(void(QUEUE, int64, int64, JOBS, ORDER))
def append(queue: UnorderedQueue, n: int, job: int, jobs: JobTable, order: Order) -> None:
    """Add a job behind `n` others, as submitted. O(1)."""
    at, j = np.uint64(n), np.uint64(job)
    queue.job[at] = job
    queue.size[at] = jobs.size[j]
    queue.need[at] = jobs.need[j]
    queue.bypassed[at] = 0
    queue.held[at] = NO_RESERVATION
    queue.submit[at] = jobs.submit[j]
    queue.requested[at] = jobs.requested[j]
    queue.ran[at] = 0.0
    queue.key[at] = order.key[j]
    queue.rank[at] = order.rank[j]
    if order.dynamic:  # otherwise they are never read, and a division takes as long as all the rest
        queue.hours[at] = jobs.requested[j] / SECONDS_IN_HOUR
        queue.units[at] = jobs.need[j] / KB_IN_MEMORY_UNIT
        queue.shortness[at] = order.weights.shortness / queue.hours[at]


@part(void(QUEUE, int64, int64))
def move(queue: UnorderedQueue, source: int, place: int) -> None:
    """Move the job at one place to another. O(1)."""
    at, to = np.uint64(source), np.uint64(place)
    queue.job[to] = queue.job[at]
    queue.size[to] = queue.size[at]
    queue.need[to] = queue.need[at]
    queue.bypassed[to] = queue.bypassed[at]
    queue.held[to] = queue.held[at]
    queue.submit[to] = queue.submit[at]
    queue.requested[to] = queue.requested[at]
    queue.ran[to] = queue.ran[at]
    queue.key[to] = queue.key[at]
    queue.rank[to] = queue.rank[at]
    queue.hours[to] = queue.hours[at]
    queue.units[to] = queue.units[at]
    queue.shortness[to] = queue.shortness[at]


@part(void(QUEUE, int64, int64, int64))
def remove(queue: UnorderedQueue, n: int, place: int, n_chosen: int) -> None:
    """Remove one of `n` jobs; the last one takes its place, also among the `n_chosen`. O(n_chosen)."""
    move(queue, n - 1, place)
    for i in range(n_chosen):
        if queue.chosen[i] == n - 1:
            queue.chosen[i] = place


@part(void(QUEUE, int64, int64, int64))
def swap(queue: UnorderedQueue, n: int, one: int, other: int) -> None:
    """Exchange the places of two of `n` jobs. O(1)."""
    if one != other:
        move(queue, one, n)
        move(queue, other, one)
        move(queue, n, other)


@part(float64(float64, QUEUE, int64, PRIORITY))
def evaluated(now: float, queue: UnorderedQueue, place: int, order: Callable[..., float]) -> float:
    """Return the priority of a job by a function; NaN sorts last. O(1)."""
    at = np.uint64(place)
    waited = now - queue.submit[at] - queue.ran[at]
    value = order(waited, queue.requested[at], queue.size[at], queue.need[at], queue.bypassed[at])
    return value if value == value else -np.inf


@part(void(float64, QUEUE, int64, ORDER, PRIORITY))
def evaluate_all(
    now: float, queue: UnorderedQueue, n: int, order: Order, priority: Callable[..., float]
) -> None:
    """Recompute the priorities of all `n` jobs, by weights or a function. O(n)."""
    if order.own:
        for i in range(n):
            queue.key[i] = evaluated(now, queue, i, priority)
        return
    for i in range(n):
        at = np.uint64(i)
        waited_h = (now - queue.submit[at] - queue.ran[at]) / SECONDS_IN_HOUR
        size, bypassed = float(queue.size[at]), queue.bypassed[at]
        queue.key[at] = added_up(
            order.weights, waited_h, queue.hours[at], size, queue.units[at], queue.shortness[at], bypassed
        )


@part(boolean(QUEUE, int64, int64, FLOATS))
def precedes(queue: UnorderedQueue, one: int, other: int, by: Floats) -> bool:
    """Return which of two jobs is first: a job that keeps a reservation, then by `by`, then by submission."""
    at, to = np.uint64(one), np.uint64(other)
    if queue.held[at] != queue.held[to]:
        return queue.held[at] < queue.held[to]
    if by[at] != by[to]:
        return by[at] > by[to]
    return queue.job[at] < queue.job[to]


@part(void(QUEUE, int64))
def sort_last(queue: UnorderedQueue, n: int) -> None:
    """Move the last of `n` jobs to its place among the others, which are in order. O(n)."""
    place = n - 1
    move(queue, place, n)
    while place > 0 and precedes(queue, n, place - 1, queue.key):
        move(queue, place - 1, place)
        place -= 1
    move(queue, n, place)


@part(int64(QUEUE, int64, int64, boolean))
def first(queue: UnorderedQueue, begin: int, end: int, sticky: bool) -> int:
    """Return the place of the first job in the places `begin` to `end` (excluded). O(end - begin)."""
    if not sticky:
        return highest(queue.key, queue.job, begin, end)
    best = begin
    for i in range(begin + 1, end):
        if precedes(queue, i, best, queue.key):
            best = i
    return best


@part(int64(QUEUE, int64, FLOATS))
def take_first(queue: UnorderedQueue, n_chosen: int, by: Floats) -> int:
    """Remove the first job from the list of candidates, and return its place. O(candidates)."""
    chosen = queue.chosen
    best = 0
    for i in range(1, n_chosen):
        if precedes(queue, chosen[i], chosen[best], by):
            best = i
    place = chosen[best]
    chosen[best] = chosen[n_chosen - 1]
    return place


@part(void(QUEUE, int64, int64, int64, int64))
def count_bypass(queue: UnorderedQueue, n: int, place: int, begin: int, end: int) -> None:
    """Count that a job overtakes all jobs of higher priority, and those at `begin` to `end`. O(n)."""
    job, key = queue.job[place], queue.key[place]
    for i in range(n):
        higher = (queue.key[i] > key) | ((queue.key[i] == key) & (queue.job[i] < job))
        queue.bypassed[i] += int(higher | ((i >= begin) & (i < end)))
