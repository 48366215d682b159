"""Waiting jobs in an order that never changes: those that fit are found without a scan of all.

Every job has its place in the order from the beginning. Those that wait are bits, in blocks of `BLOCK`
places, and blocks with waiting jobs are bits again, in groups of as many blocks. Each block and each group
has, for every class of sizes, the shortest request of its jobs of that class and smaller ones, so that two
comparisons show that none of them may start. When jobs leave, these bounds stay valid and get less precise;
they are computed anew where a search was in vain.
"""

from typing import Annotated, NamedTuple

import numpy as np
from numba import boolean, float64, int64, uint64, void

from models.arrays import Floats, Ints
from models.jobs.jobs import Jobs
from models.kernels.bits import ONE, ZERO, lowest_position
from models.kernels.compiling import part
from models.kernels.types import FLOATS, INTS, record

BITS = 6
BLOCK = 2**BITS
CLASSES = 16
"""Of sizes, each of about as many jobs in a sample."""
SAMPLE = 1000

Words = Annotated[np.ndarray, uint64[::1]]


class IndexedQueue(NamedTuple):
    """The waiting jobs in order.

    Parameters
    ----------
    place : ndarray of int, shape (n_jobs,)
        Of each job in the order, whether it waits or not.
    job, size : ndarray of int, shape (n_jobs,)
        The job at each place, and its processors.
    requested : ndarray of float, shape (n_jobs,), seconds
        Its request.
    waiting : ndarray of uint64, shape (n_blocks,)
        A bit for each place whose job waits.
    used : ndarray of uint64, shape (n_groups,)
        A bit for each block with such jobs.
    shortest, of_group : ndarray of float, shape (n_blocks * CLASSES,) and (n_groups * CLASSES,), seconds
        No job of this class or a smaller one that waits in this block, or in this group, requests less.
    class_of : ndarray of int, shape (processors + 1,)
        The class of a size.
    """

    place: Ints
    job: Ints
    size: Ints
    requested: Floats
    waiting: Words
    used: Words
    shortest: Floats
    of_group: Floats
    class_of: Ints


QUEUE = record(IndexedQueue)


def empty_queue(jobs: Jobs, processors: int, key: Floats | None = None) -> IndexedQueue:
    """Return an empty queue: the highest key is first, of equal or no keys the job submitted first."""
    n = len(jobs)
    place = job = np.arange(n)
    if key is not None:
        job = np.argsort(-key, kind="stable")
        place = np.empty(n, np.int64)
        place[job] = np.arange(n)
    sample = jobs.size[:: n // SAMPLE + 1]
    of_size = np.bincount(sample, minlength=processors + 1)
    smaller = np.cumsum(of_size) - of_size
    n_blocks = n // BLOCK + 1
    n_groups = n_blocks // BLOCK + 1
    return IndexedQueue(
        place, job, jobs.size[job], jobs.requested[job], np.zeros(n_blocks, np.uint64),
        np.zeros(n_groups, np.uint64), np.empty(n_blocks * CLASSES), np.empty(n_groups * CLASSES),
        smaller * CLASSES // (sample.size + 1),
    )  # fmt: skip


# An unsigned index needs no check whether it counts from the end, which here takes as long as all else.


@part(boolean(QUEUE, int64, int64))
def precedes(queue: IndexedQueue, job: int, other: int) -> bool:
    """Return whether a job is before another one. O(1)."""
    return queue.place[np.uint64(job)] < queue.place[np.uint64(other)]


@part(int64(QUEUE))
def first(queue: IndexedQueue) -> int:
    """Return the first job of a queue that is not empty. O(groups)."""
    group = np.uint64(0)
    while queue.used[group] == ZERO:
        group += ONE
    block = (group << np.uint64(BITS)) + np.uint64(lowest_position(queue.used[group]))
    return queue.job[(block << np.uint64(BITS)) + np.uint64(lowest_position(queue.waiting[block]))]


@part(void(FLOATS, uint64, int64, float64))
def lower(shortest: Floats, node: np.uint64, size_class: int, request: float) -> None:
    """Lower the bounds of a block or group for a request of a class. O(CLASSES)."""
    base = np.int64(node) * CLASSES
    for c in range(base + size_class, base + CLASSES):
        shortest[np.uint64(c)] = min(shortest[np.uint64(c)], request)


@part(void(FLOATS, uint64))
def clear(shortest: Floats, node: np.uint64) -> None:
    """Reset the bounds of a block or group without jobs. O(CLASSES)."""
    base = np.int64(node) * CLASSES
    for c in range(base, base + CLASSES):
        shortest[np.uint64(c)] = np.inf


@part(void(QUEUE, int64))
def insert(queue: IndexedQueue, job: int) -> None:
    """Insert a job. O(CLASSES)."""
    at = np.uint64(queue.place[np.uint64(job)])
    block = at >> np.uint64(BITS)
    group = block >> np.uint64(BITS)
    if queue.used[group] == ZERO:
        clear(queue.of_group, group)
    if queue.waiting[block] == ZERO:
        clear(queue.shortest, block)
        queue.used[group] |= ONE << (block & np.uint64(BLOCK - 1))
    queue.waiting[block] |= ONE << (at & np.uint64(BLOCK - 1))
    size_class = queue.class_of[np.uint64(queue.size[at])]
    lower(queue.shortest, block, size_class, queue.requested[at])
    lower(queue.of_group, group, size_class, queue.requested[at])


@part(void(QUEUE, int64))
def remove(queue: IndexedQueue, job: int) -> None:
    """Remove a job. O(1)."""
    at = np.uint64(queue.place[np.uint64(job)])
    block = at >> np.uint64(BITS)
    queue.waiting[block] &= ~(ONE << (at & np.uint64(BLOCK - 1)))
    if queue.waiting[block] == ZERO:
        queue.used[block >> np.uint64(BITS)] &= ~(ONE << (block & np.uint64(BLOCK - 1)))


@part(boolean(FLOATS, uint64, INTS, float64, float64, int64, int64))
def may_have(
    shortest: Floats, node: np.uint64, class_of: Ints, now: float, shadow: float, free: int, extra: int
) -> bool:  # fmt: skip
    """Return whether a block or group may have a job of at most `free` processors which either is expected to
    end by the shadow time or needs at most `extra`. O(1).
    """
    base = np.int64(node) * CLASSES
    if now + shortest[np.uint64(base + class_of[np.uint64(free)])] <= shadow:
        return True
    return extra > 0 and shortest[np.uint64(base + class_of[np.uint64(min(free, extra))])] < np.inf


@part(void(QUEUE, uint64))
def count_block(queue: IndexedQueue, block: np.uint64) -> None:
    """Compute the bounds of a block anew. O(BLOCK + CLASSES)."""
    clear(queue.shortest, block)
    base = np.int64(block) * CLASSES
    word = queue.waiting[block]
    while word != ZERO:
        at = (block << np.uint64(BITS)) + np.uint64(lowest_position(word))
        word &= word - ONE
        its = np.uint64(base + queue.class_of[np.uint64(queue.size[at])])
        queue.shortest[its] = min(queue.shortest[its], queue.requested[at])
    for c in range(base + 1, base + CLASSES):
        queue.shortest[np.uint64(c)] = min(queue.shortest[np.uint64(c)], queue.shortest[np.uint64(c - 1)])


@part(void(QUEUE, uint64))
def count_group(queue: IndexedQueue, group: np.uint64) -> None:
    """Compute the bounds of a group anew. O(BLOCK * CLASSES)."""
    clear(queue.of_group, group)
    base = np.int64(group) * CLASSES
    word = queue.used[group]
    while word != ZERO:
        block = (group << np.uint64(BITS)) + np.uint64(lowest_position(word))
        word &= word - ONE
        of_block = np.int64(block) * CLASSES
        for c in range(CLASSES):
            bound = queue.shortest[np.uint64(of_block + c)]
            queue.of_group[np.uint64(base + c)] = min(queue.of_group[np.uint64(base + c)], bound)
