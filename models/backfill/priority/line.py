"""Waiting jobs in an order that never changes, in blocks: who fits is found without a look at all of them.

The order is cut into blocks of up to `BLOCK` jobs, as into the leaves of a B-tree. While there is one block
only, this is a plain sorted list. With more of them each one knows, for every class of sizes, the shortest
request of its jobs of that class and smaller ones, so that a look at two numbers tells of a whole block that
nobody in it may start. What they say stays true when jobs leave, and gets less precise; a block that is gone
through in vain is counted anew.

A job that leaves only has its entry marked, and a block is closed up when its last place is taken: nothing
moves that is looked at next, so that who may start is found eight entries at a time (`models.kernels.lanes`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import boolean, float64, int64, void

from models.arrays import Floats, Ints
from models.kernels import lanes
from models.kernels.branches import mostly, rarely
from models.kernels.compiling import part
from models.kernels.types import FLOATS, record

BLOCK = 64
HALF = BLOCK // 2
MOST = BLOCK - BLOCK // 4
"""A block whose last place is taken is split if it has more jobs, and else closed up."""
CLASSES = 32
"""Of sizes, each of about as many jobs, as far as a sample tells."""
SAMPLE = 1000

JOB_BITS = 32
"""An entry has a job's number in so many bits, and its size above: a look at one number tells who fits."""
JOB_MASK = 2**JOB_BITS - 1
GONE = 2**62
"""The mark of an entry whose job has left, or that never had one: no size is above."""

N_BLOCKS, N_MADE, N_SPARE = range(3)
"""Places in `Line.counts`."""


class Line(NamedTuple):
    """Who waits.

    Parameters
    ----------
    entries : ndarray of int, shape (n_blocks * BLOCK,)
        See `JOB_BITS`, block by block; places of a block before and behind its entries have the mark `GONE`.
    wants : ndarray of float, shape (n_blocks * BLOCK,), seconds
        The request of each entry, inf if it is gone.
    n, begin, end : ndarray of int, shape (n_blocks,)
        How many jobs a block has, and where its entries begin, with one that is not gone, and end.
    blocks, spare : ndarray of int, shape (n_blocks,)
        The blocks that are in use, in order, and those that were.
    counts : ndarray of int, shape (3,)
        How many are in use, were made, and are spare.
    shortest : ndarray of float, shape (n_blocks * CLASSES,), seconds
        Where there are several blocks: no job of this class or a smaller one in this block requests less.
    class_of : ndarray of int, shape (processors + 1,)
        The class of a size.
    key : ndarray of float, shape (n_jobs,) or (0,)
        The highest goes first, of equals the one with the lowest number; without keys all are equal.
    """

    entries: Ints
    wants: Floats
    n: Ints
    begin: Ints
    end: Ints
    blocks: Ints
    spare: Ints
    counts: Ints
    shortest: Floats
    class_of: Ints
    key: Floats


LINE = record(Line)


def nobody(size: Ints, processors: int, key: Floats) -> Line:
    """Return room for jobs of these sizes, each of which may enter once."""
    # A block is made where one has more than MOST jobs. It has got MOST - HALF of them since it was split
    # itself, unless that was at its end, which happens once for MOST jobs.
    n_blocks = size.size // ((MOST - HALF) // 2) + 2
    some = size[:: size.size // SAMPLE + 1]
    of_size = np.bincount(some, minlength=processors + 1)
    smaller = np.cumsum(of_size) - of_size
    n, begin, end, blocks, spare = (np.empty(n_blocks, np.int64) for _ in range(5))
    # Both at once: the C library keeps what is freed for the next simulation, up to twice the largest piece.
    # Else the system takes it back, and each page of any array is made and cleared again.
    entries, wants = lanes.room(2 * n_blocks * BLOCK, float).reshape(2, -1)
    return Line(
        entries.view(np.int64), wants, n, begin, end, blocks, spare,
        np.zeros(3, np.int64), np.empty(n_blocks * CLASSES), smaller * CLASSES // (some.size + 1), key,
    )  # fmt: skip


# Unsigned, an index is not asked whether it counts from the end, which here takes as long as all else.


@part(int64(int64))
def job_of(entry: int) -> int:
    """Return the job of an entry. O(1)."""
    return entry & JOB_MASK


@part(int64(int64))
def all_up_to(size: int) -> int:
    """Return what no entry of a job of at most this size is above. O(1)."""
    return size << JOB_BITS | JOB_MASK


@part(boolean(LINE, int64, int64))
def goes_before(line: Line, job: int, other: int) -> bool:
    """Tell who of two jobs goes first. O(1)."""
    if line.key.shape[0] == 0:
        return job < other
    key, other_key = line.key[np.uint64(job)], line.key[np.uint64(other)]
    return key > other_key or (key == other_key and job < other)


@part(int64(LINE, int64))
def first_of(line: Line, block: int) -> int:
    """Return the first job of a block. O(1)."""
    return job_of(line.entries[np.uint64(line.begin[np.uint64(block)])])


@part(int64(LINE))
def first(line: Line) -> int:
    """Return the first job of a line that is not empty. O(1)."""
    return first_of(line, line.blocks[0])


@part(int64(LINE, int64))
def place_of(line: Line, job: int) -> int:
    """Return the place in `blocks` of the one that a job is in, or would go into. O(log blocks)."""
    low, high = 0, line.counts[N_BLOCKS]
    while high - low > 1:
        middle = (low + high) >> 1
        if goes_before(line, job, first_of(line, line.blocks[np.uint64(middle)])):
            high = middle
        else:
            low = middle
    return low


@part(void(LINE, int64))
def insert_block(line: Line, place: int) -> None:
    """Put an empty block at a place. O(blocks), and O(BLOCK) for one that is made."""
    if mostly(line.counts[N_SPARE] > 0):
        line.counts[N_SPARE] -= 1
        block = line.spare[line.counts[N_SPARE]]
    else:
        block = line.counts[N_MADE]
        line.counts[N_MADE] += 1
        for k in range(block * BLOCK, (block + 1) * BLOCK):
            line.entries[np.uint64(k)] = GONE
            line.wants[np.uint64(k)] = np.inf
    for k in range(line.counts[N_BLOCKS], place, -1):
        line.blocks[k] = line.blocks[k - 1]
    line.counts[N_BLOCKS] += 1
    line.blocks[place] = block
    line.begin[block] = block * BLOCK
    line.end[block] = block * BLOCK
    line.n[block] = 0


@part(void(LINE, int64))
def drop_block(line: Line, place: int) -> None:
    """Use a block no longer. O(blocks)."""
    line.spare[line.counts[N_SPARE]] = line.blocks[place]
    line.counts[N_SPARE] += 1
    line.counts[N_BLOCKS] -= 1
    for k in range(place, line.counts[N_BLOCKS]):
        line.blocks[k] = line.blocks[k + 1]


@part(int64(LINE, int64, int64, int64))
def move(line: Line, begin: int, end: int, to: int) -> int:
    """Move those that are not gone to a place before them, or to another block; return where they end there.

    O(end - begin).
    """
    there = np.uint64(to)
    for k in range(begin, end):
        entry, wants = line.entries[np.uint64(k)], line.wants[np.uint64(k)]
        line.entries[np.uint64(k)] = entry | GONE
        line.wants[np.uint64(k)] = np.inf
        line.entries[there] = entry
        line.wants[there] = wants
        there += np.uint64(entry < GONE)
    return np.int64(there)  # type: ignore[return-value]


@part(void(LINE, int64))
def close_up(line: Line, block: int) -> None:
    """Move the jobs of a block to its first places. O(BLOCK)."""
    base = block * BLOCK
    line.end[block] = move(line, line.begin[block], line.end[block], base)
    line.begin[block] = base


@part(void(LINE, int64))
def count(line: Line, block: int) -> None:
    """Find the shortest requests of a block anew. O(BLOCK + CLASSES)."""
    base = block * CLASSES
    for c in range(base, base + CLASSES):
        line.shortest[np.uint64(c)] = np.inf
    for at in range(line.begin[block], line.end[block]):
        size = (line.entries[np.uint64(at)] & ~GONE) >> JOB_BITS
        c = base + line.class_of[np.uint64(size)]
        line.shortest[np.uint64(c)] = min(line.shortest[np.uint64(c)], line.wants[np.uint64(at)])
    for c in range(base + 1, base + CLASSES):
        line.shortest[np.uint64(c)] = min(line.shortest[np.uint64(c)], line.shortest[np.uint64(c - 1)])


@part(int64(LINE, int64, int64))
def make_room(line: Line, place: int, job: int) -> int:
    """Split a block that is too full for a job, and return the place of the one that it goes into then.

    In a line that grows at its end blocks stay full. O(blocks + BLOCK + CLASSES).
    """
    block = line.blocks[place]
    end = line.end[block]
    is_last = place == line.counts[N_BLOCKS] - 1
    at_end = is_last and goes_before(line, job_of(line.entries[end - 1]), job)
    middle = end if at_end else end - HALF
    behind = at_end or not goes_before(line, job, job_of(line.entries[middle]))
    insert_block(line, place + 1)
    made = line.blocks[place + 1]
    line.end[made] = move(line, middle, end, made * BLOCK)
    line.end[block] = middle
    line.n[made] = line.end[made] - line.begin[made]
    line.n[block] -= line.n[made]
    count(line, block)
    count(line, made)
    return place + 1 if behind else place


@part(void(LINE, int64, int64, FLOATS))
def enter(line: Line, job: int, size: int, requested: Floats) -> None:
    """Let a job wait. O(BLOCK + CLASSES + log blocks), and O(blocks) for one of a dozen of them at most."""
    if line.counts[N_BLOCKS] == 0:
        insert_block(line, 0)
    place = line.counts[N_BLOCKS] - 1
    if line.key.shape[0] > 0:
        place = place_of(line, job)
    block = np.uint64(line.blocks[np.uint64(place)])
    if rarely(line.end[block] == np.int64(block + np.uint64(1)) * BLOCK):
        if line.n[block] > MOST:
            place = make_room(line, place, job)
            block = np.uint64(line.blocks[np.uint64(place)])
        else:
            close_up(line, np.int64(block))
    at = line.end[block]
    begin = line.begin[block]
    while at > begin and goes_before(line, job, job_of(line.entries[np.uint64(at - 1)])):
        line.entries[np.uint64(at)] = line.entries[np.uint64(at - 1)]
        line.wants[np.uint64(at)] = line.wants[np.uint64(at - 1)]
        at -= 1
    line.entries[np.uint64(at)] = size << JOB_BITS | job
    line.wants[np.uint64(at)] = requested[np.uint64(job)]
    line.end[block] += 1
    line.n[block] += 1
    if rarely(line.counts[N_BLOCKS] > 1):
        base = np.int64(block) * CLASSES
        shortest = requested[np.uint64(job)]
        for c in range(base + line.class_of[np.uint64(size)], base + CLASSES):
            line.shortest[np.uint64(c)] = min(line.shortest[np.uint64(c)], shortest)


@part(void(LINE, int64, int64))
def leave(line: Line, place: int, at: int) -> None:
    """Let the job of the entry at a position leave, in the block at a place.

    O(1); O(BLOCK) for a block's first, O(blocks) for its last.
    """
    block = np.uint64(line.blocks[np.uint64(place)])
    line.entries[np.uint64(at)] |= GONE
    line.wants[np.uint64(at)] = np.inf
    line.n[block] -= 1
    if line.n[block] == 0:
        drop_block(line, place)
    elif at == line.begin[block]:
        while line.entries[np.uint64(at)] >= GONE:
            at += 1
        line.begin[block] = at


@part(void(LINE, int64))
def take_out(line: Line, job: int) -> None:
    """Take out a job. O(BLOCK + log blocks), and O(blocks) for a block's last."""
    place = place_of(line, job)
    at = line.begin[np.uint64(line.blocks[np.uint64(place)])]
    while job_of(line.entries[np.uint64(at)]) != job:
        at += 1
    leave(line, place, at)


@part(boolean(LINE, int64, float64, float64, int64, int64))
def may_have(line: Line, place: int, now: float, shadow: float, free: int, extra: int) -> bool:
    """Tell whether the block at a place may have a job of at most `free` processors which either is expected
    to end by the shadow time or has at most `extra`. O(1).
    """
    if mostly(line.counts[N_BLOCKS] == 1):
        return True
    base = line.blocks[np.uint64(place)] * CLASSES
    if now + line.shortest[np.uint64(base + line.class_of[np.uint64(free)])] <= shadow:
        return True
    few = line.class_of[np.uint64(max(min(free, extra), 0))]
    return extra > 0 and line.shortest[np.uint64(base + few)] < np.inf


@part(int64(LINE, int64))
def tidy(line: Line, place: int) -> int:
    """Count a block anew, closed up if most have left it, after it has joined the one before if both together
    are half of one; return the place of the one behind it.

    O(BLOCK + CLASSES), and O(blocks) if they join.
    """
    block = line.blocks[place]
    if place > 0:
        before = line.blocks[place - 1]
        n = line.n[block] + line.n[before]
        if n <= HALF:
            close_up(line, before)
            line.end[before] = move(line, line.begin[block], line.end[block], line.end[before])
            line.n[before] = n
            drop_block(line, place)
            count(line, before)
            return place
    if 2 * line.n[block] < line.end[block] - line.begin[block]:
        close_up(line, block)
    count(line, block)
    return place + 1
