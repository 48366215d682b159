"""Waiting jobs in an order that never changes, in blocks: those that fit are found without a scan of all.

The order is cut into blocks of up to `BLOCK` jobs, like the leaves of a B-tree. With one block only, this is
a plain sorted list. With more, each block has, for every class of sizes, the shortest request of its jobs of
that class and smaller ones, so that two comparisons show that no job of a block may start. These bounds stay
valid when jobs leave, and get less precise; a block that was scanned in vain is counted anew.

The entry of a job that leaves is only marked, and a block is compacted when its last place is taken, so that
no entry moves during a scan.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import boolean, float64, int64, void

from models.arrays import Floats, Ints
from models.kernels.compiling import part
from models.kernels.types import FLOATS, record

BLOCK = 64
HALF = BLOCK // 2
MOST = BLOCK - BLOCK // 4
"""A block whose last place is taken is split if it has more jobs, and else compacted."""
CLASSES = 32
"""Of sizes, each of about as many jobs in a sample."""
SAMPLE = 1000

JOB_BITS = 32
"""An entry has a job's number in so many bits, and its size above: one comparison shows whether it fits."""
JOB_MASK = 2**JOB_BITS - 1
GONE = 2**62
"""The mark of an entry whose job has left, or that never had one: no size is above."""

TOGETHER = 16
"""Of so many entries it is found without a branch whether some fit."""

N_BLOCKS, N_MADE, N_SPARE = range(3)
"""Places in `IndexedQueue.counts`."""


class IndexedQueue(NamedTuple):
    """The waiting jobs in order.

    Parameters
    ----------
    entries : ndarray of int, shape (n_blocks * BLOCK,)
        See `JOB_BITS`, block by block; places of a block before and behind its entries are `GONE`.
    requests : ndarray of float, shape (n_blocks * BLOCK,), seconds
        The request of each entry, inf if it is gone.
    n, begin, end : ndarray of int, shape (n_blocks,)
        The number of jobs of a block, and where its entries begin, with one that is not gone, and end.
    blocks, spare : ndarray of int, shape (n_blocks,)
        The blocks in use, in order, and those that were.
    counts : ndarray of int, shape (3,)
        Blocks in use, made and spare.
    shortest : ndarray of float, shape (n_blocks * CLASSES,), seconds
        Where there are several blocks: no job of this class or a smaller one in this block requests less.
    class_of : ndarray of int, shape (processors + 1,)
        The class of a size.
    key : ndarray of float, shape (n_jobs,) or (0,)
        The highest is first, of equals the one with the lowest number; without keys all are equal.
    """

    entries: Ints
    requests: Floats
    n: Ints
    begin: Ints
    end: Ints
    blocks: Ints
    spare: Ints
    counts: Ints
    shortest: Floats
    class_of: Ints
    key: Floats


QUEUE = record(IndexedQueue)


def empty_queue(size: Ints, processors: int, key: Floats) -> IndexedQueue:
    """Return an empty queue for jobs of these sizes, each of which may enter once."""
    # A block is made where one has more than MOST jobs. It has got MOST - HALF of them since it was split
    # itself, unless that was at its end, which happens once for MOST jobs.
    n_blocks = size.size // ((MOST - HALF) // 2) + 2
    sample = size[:: size.size // SAMPLE + 1]
    of_size = np.bincount(sample, minlength=processors + 1)
    smaller = np.cumsum(of_size) - of_size
    n, begin, end, blocks, spare = (np.empty(n_blocks, np.int64) for _ in range(5))
    return IndexedQueue(
        np.empty(n_blocks * BLOCK, np.int64), np.empty(n_blocks * BLOCK), n, begin, end, blocks, spare,
        np.zeros(3, np.int64), np.empty(n_blocks * CLASSES), smaller * CLASSES // (sample.size + 1), key,
    )  # fmt: skip


# An unsigned index needs no check whether it counts from the end, which here takes as long as all else.


@part(int64(int64))
def job_of(entry: int) -> int:
    """Return the job of an entry. O(1)."""
    return entry & JOB_MASK


@part(boolean(QUEUE, int64, int64))
def precedes(queue: IndexedQueue, job: int, other: int) -> bool:
    """Return whether a job is before another one. O(1)."""
    if queue.key.shape[0] == 0:
        return job < other
    key, other_key = queue.key[np.uint64(job)], queue.key[np.uint64(other)]
    return key > other_key or (key == other_key and job < other)


@part(int64(QUEUE, int64))
def first_of(queue: IndexedQueue, block: int) -> int:
    """Return the first job of a block. O(1)."""
    return job_of(queue.entries[np.uint64(queue.begin[np.uint64(block)])])


@part(int64(QUEUE))
def first(queue: IndexedQueue) -> int:
    """Return the first job of a queue that is not empty. O(1)."""
    return first_of(queue, queue.blocks[0])


@part(int64(QUEUE, int64))
def place_of(queue: IndexedQueue, job: int) -> int:
    """Return the place in `blocks` of the block that has a job, or would have it. O(log blocks)."""
    low, high = 0, queue.counts[N_BLOCKS]
    while high - low > 1:
        middle = (low + high) >> 1
        if precedes(queue, job, first_of(queue, queue.blocks[np.uint64(middle)])):
            high = middle
        else:
            low = middle
    return low


@part(void(QUEUE, int64))
def insert_block(queue: IndexedQueue, place: int) -> None:
    """Insert an empty block at a place. O(blocks), and O(BLOCK) for one that is made."""
    if queue.counts[N_SPARE] > 0:
        queue.counts[N_SPARE] -= 1
        block = queue.spare[queue.counts[N_SPARE]]
    else:
        block = queue.counts[N_MADE]
        queue.counts[N_MADE] += 1
        for k in range(block * BLOCK, (block + 1) * BLOCK):
            queue.entries[np.uint64(k)] = GONE
            queue.requests[np.uint64(k)] = np.inf
    for k in range(queue.counts[N_BLOCKS], place, -1):
        queue.blocks[k] = queue.blocks[k - 1]
    queue.counts[N_BLOCKS] += 1
    queue.blocks[place] = block
    queue.begin[block] = block * BLOCK
    queue.end[block] = block * BLOCK
    queue.n[block] = 0


@part(void(QUEUE, int64))
def drop_block(queue: IndexedQueue, place: int) -> None:
    """Remove a block from use. O(blocks)."""
    queue.spare[queue.counts[N_SPARE]] = queue.blocks[place]
    queue.counts[N_SPARE] += 1
    queue.counts[N_BLOCKS] -= 1
    for k in range(place, queue.counts[N_BLOCKS]):
        queue.blocks[k] = queue.blocks[k + 1]


@part(int64(QUEUE, int64, int64, int64))
def move(queue: IndexedQueue, begin: int, end: int, to: int) -> int:
    """Move entries that are not gone to an earlier place or another block; return where they end there.

    O(end - begin).
    """
    there = np.uint64(to)
    for k in range(begin, end):
        entry, request = queue.entries[np.uint64(k)], queue.requests[np.uint64(k)]
        queue.entries[np.uint64(k)] = entry | GONE
        queue.requests[np.uint64(k)] = np.inf
        queue.entries[there] = entry
        queue.requests[there] = request
        there += np.uint64(entry < GONE)
    return np.int64(there)  # type: ignore[return-value]


@part(void(QUEUE, int64))
def compact(queue: IndexedQueue, block: int) -> None:
    """Move the jobs of a block to its first places. O(BLOCK)."""
    base = block * BLOCK
    queue.end[block] = move(queue, queue.begin[block], queue.end[block], base)
    queue.begin[block] = base


@part(void(QUEUE, int64))
def count(queue: IndexedQueue, block: int) -> None:
    """Compute the shortest requests of a block anew. O(BLOCK + CLASSES)."""
    base = block * CLASSES
    for c in range(base, base + CLASSES):
        queue.shortest[np.uint64(c)] = np.inf
    for at in range(queue.begin[block], queue.end[block]):
        size = (queue.entries[np.uint64(at)] & ~GONE) >> JOB_BITS
        c = base + queue.class_of[np.uint64(size)]
        queue.shortest[np.uint64(c)] = min(queue.shortest[np.uint64(c)], queue.requests[np.uint64(at)])
    for c in range(base + 1, base + CLASSES):
        queue.shortest[np.uint64(c)] = min(queue.shortest[np.uint64(c)], queue.shortest[np.uint64(c - 1)])


@part(int64(QUEUE, int64, int64), inline=False)
def split(queue: IndexedQueue, place: int, job: int) -> int:
    """Split a full block for a job, and return the place of the block for that job then.

    In a queue that grows at its end blocks stay full. O(blocks + BLOCK + CLASSES).
    """
    block = queue.blocks[place]
    end = queue.end[block]
    is_last = place == queue.counts[N_BLOCKS] - 1
    at_end = is_last and precedes(queue, job_of(queue.entries[end - 1]), job)
    middle = end if at_end else end - HALF
    behind = at_end or not precedes(queue, job, job_of(queue.entries[middle]))
    insert_block(queue, place + 1)
    made = queue.blocks[place + 1]
    queue.end[made] = move(queue, middle, end, made * BLOCK)
    queue.end[block] = middle
    queue.n[made] = queue.end[made] - queue.begin[made]
    queue.n[block] -= queue.n[made]
    count(queue, block)
    count(queue, made)
    return place + 1 if behind else place


@part(void(QUEUE, int64, int64, FLOATS))
def insert(queue: IndexedQueue, job: int, size: int, requested: Floats) -> None:
    """Insert a job. O(BLOCK + CLASSES + log blocks), and O(blocks) for one in a dozen at most."""
    if queue.counts[N_BLOCKS] == 0:
        insert_block(queue, 0)
    place = queue.counts[N_BLOCKS] - 1
    if queue.key.shape[0] > 0:
        place = place_of(queue, job)
    block = np.uint64(queue.blocks[np.uint64(place)])
    if queue.end[block] == np.int64(block + np.uint64(1)) * BLOCK:
        if queue.n[block] > MOST:
            place = split(queue, place, job)
            block = np.uint64(queue.blocks[np.uint64(place)])
        else:
            compact(queue, np.int64(block))
    at = queue.end[block]
    begin = queue.begin[block]
    while at > begin and precedes(queue, job, job_of(queue.entries[np.uint64(at - 1)])):
        queue.entries[np.uint64(at)] = queue.entries[np.uint64(at - 1)]
        queue.requests[np.uint64(at)] = queue.requests[np.uint64(at - 1)]
        at -= 1
    request = requested[np.uint64(job)]
    queue.entries[np.uint64(at)] = size << JOB_BITS | job
    queue.requests[np.uint64(at)] = request
    queue.end[block] += 1
    queue.n[block] += 1
    if queue.counts[N_BLOCKS] > 1:
        base = np.int64(block) * CLASSES
        for c in range(base + queue.class_of[np.uint64(size)], base + CLASSES):
            queue.shortest[np.uint64(c)] = min(queue.shortest[np.uint64(c)], request)


@part(void(QUEUE, int64, int64))
def remove_at(queue: IndexedQueue, place: int, at: int) -> None:
    """Remove the job of the entry at a position, in the block at a place.

    O(1); O(BLOCK) for a block's first, O(blocks) for its last.
    """
    block = np.uint64(queue.blocks[np.uint64(place)])
    queue.entries[np.uint64(at)] |= GONE
    queue.requests[np.uint64(at)] = np.inf
    queue.n[block] -= 1
    if queue.n[block] == 0:
        drop_block(queue, place)
    elif at == queue.begin[block]:
        while queue.entries[np.uint64(at)] >= GONE:
            at += 1
        queue.begin[block] = at


@part(void(QUEUE, int64))
def remove(queue: IndexedQueue, job: int) -> None:
    """Remove a job. O(BLOCK + log blocks), and O(blocks) for a block's last."""
    place = place_of(queue, job)
    at = queue.begin[np.uint64(queue.blocks[np.uint64(place)])]
    while job_of(queue.entries[np.uint64(at)]) != job:
        at += 1
    remove_at(queue, place, at)


@part(boolean(QUEUE, int64, float64, float64, int64, int64))
def may_have(queue: IndexedQueue, place: int, now: float, shadow: float, free: int, extra: int) -> bool:
    """Return whether the block at a place may have a job of at most `free` processors which either is
    expected to end by the shadow time or needs at most `extra`. O(1).
    """
    if queue.counts[N_BLOCKS] == 1:
        return True
    base = queue.blocks[np.uint64(place)] * CLASSES
    if now + queue.shortest[np.uint64(base + queue.class_of[np.uint64(free)])] <= shadow:
        return True
    few = queue.class_of[np.uint64(max(min(free, extra), 0))]
    return extra > 0 and queue.shortest[np.uint64(base + few)] < np.inf


@part(boolean(QUEUE, int64, int64, float64, float64, int64, int64))
def some_fit(
    queue: IndexedQueue, first: int, stop: int, now: float, shadow: float, free: int, extra: int
) -> bool:  # fmt: skip
    """Return whether any of some entries may start, see `may_have`. O(stop - first), without branches."""
    most, most_late = free << JOB_BITS | JOB_MASK, extra << JOB_BITS | JOB_MASK
    found = 0
    for i in range(first, stop):
        at = np.uint64(i)
        entry = queue.entries[at]
        fits = (entry <= most) & ((now + queue.requests[at] <= shadow) | (entry <= most_late))
        found += int(fits)
    return found > 0


@part(int64(QUEUE, int64))
def tidy(queue: IndexedQueue, place: int) -> int:
    """Count a block anew, compacted if most jobs have left it, and merged with the one before if both
    together are half of one; return the place of the block behind it.

    O(BLOCK + CLASSES), and O(blocks) for a merge.
    """
    block = queue.blocks[place]
    if place > 0:
        before = queue.blocks[place - 1]
        n = queue.n[block] + queue.n[before]
        if n <= HALF:
            compact(queue, before)
            queue.end[before] = move(queue, queue.begin[block], queue.end[block], queue.end[before])
            queue.n[before] = n
            drop_block(queue, place)
            count(queue, before)
            return place
    if 2 * queue.n[block] < queue.end[block] - queue.begin[block]:
        compact(queue, block)
    count(queue, block)
    return place + 1
