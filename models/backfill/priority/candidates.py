"""Which waiting jobs may be backfilled.

A job that fits on no host is examined again only where a job has ended. A job's status is kept from pass to
pass, and so are the numbers of candidates in each block of `BLOCK` places.
"""

from typing import NamedTuple

import numpy as np
from numba import int64, void

from models.arrays import Ints
from models.backfill.priority.unordered_queue import QUEUE, UnorderedQueue, remove
from models.kernels.compiling import part
from models.kernels.types import record

BLOCK_BITS = 6
BLOCK = 2**BLOCK_BITS
"""Places of which one comparison shows that no job there can start."""

TOO_LARGE, CANDIDATE, BLOCKED = range(3)
"""A job fits on no host; it may fit on one; it does, but would run into the reservation."""


class Candidates(NamedTuple):
    """Counts of jobs by `UnorderedQueue.status`.

    Parameters
    ----------
    smallest : ndarray of int, shape (n_blocks,)
        No job of a block asks for fewer processors.
    in_block : ndarray of int, shape (n_blocks,)
        Candidates of a block.
    counts : ndarray of int, shape (3,)
        Jobs of each status.
    """

    smallest: Ints
    in_block: Ints
    counts: Ints


CANDIDATES = record(Candidates)


def no_candidates(n_jobs: int) -> Candidates:
    """Return the counts of an empty queue for so many jobs."""
    smallest, in_block = (np.empty(n_jobs // BLOCK + 1, np.int64) for _ in range(2))
    return Candidates(smallest, in_block, np.zeros(3, np.int64))


@part(void(CANDIDATES, QUEUE, int64, int64))
def count_last(candidates: Candidates, queue: UnorderedQueue, n: int, status: int) -> None:
    """Set the status of the job that was appended behind `n` others, and count it. O(1)."""
    at = np.uint64(n)
    queue.status[at] = status
    candidates.counts[np.uint64(status)] += 1
    block = at >> np.uint64(BLOCK_BITS)
    if n % BLOCK == 0:
        candidates.smallest[block] = queue.size[at]
        candidates.in_block[block] = 0
    candidates.smallest[block] = min(candidates.smallest[block], queue.size[at])
    candidates.in_block[block] += int(status == CANDIDATE)


@part(void(CANDIDATES, QUEUE, int64, int64, int64))
def leave(candidates: Candidates, queue: UnorderedQueue, n: int, place: int, n_chosen: int) -> None:
    """Remove one of `n` jobs from the queue, see `unordered_queue.remove`. O(n_chosen)."""
    at, last = np.uint64(place), np.uint64(n - 1)
    block, last_block = at >> np.uint64(BLOCK_BITS), last >> np.uint64(BLOCK_BITS)
    moves = int(queue.status[last] == CANDIDATE)
    candidates.counts[np.uint64(queue.status[at])] -= 1
    candidates.in_block[block] += moves - int(queue.status[at] == CANDIDATE)
    candidates.in_block[last_block] -= moves
    candidates.smallest[block] = min(candidates.smallest[block], queue.size[last])
    remove(queue, n, place, n_chosen)


@part(void(CANDIDATES, QUEUE, int64, int64))
def reject(candidates: Candidates, queue: UnorderedQueue, place: int, status: int) -> None:
    """Change the status of a candidate to the reason why it cannot start. O(1)."""
    queue.status[np.uint64(place)] = status
    candidates.in_block[np.uint64(place >> BLOCK_BITS)] -= 1
    candidates.counts[CANDIDATE] -= 1
    candidates.counts[np.uint64(status)] += 1


@part(void(CANDIDATES, QUEUE, int64, int64, int64))
def admit_fitting(
    candidates: Candidates, queue: UnorderedQueue, n: int, free: int, free_memory: int
) -> None:  # fmt: skip
    """Make candidates of all jobs that fit on a host with so much free. O(n)."""
    for b in range((n + BLOCK - 1) >> BLOCK_BITS):
        block = np.uint64(b)
        if candidates.smallest[block] > free:
            continue
        smallest = 2**62
        n_new, n_blocked = 0, 0
        for i in range(b * BLOCK, min(n, (b + 1) * BLOCK)):
            at = np.uint64(i)
            size, status = queue.size[at], queue.status[at]
            fits = (size <= free) & (queue.need[at] <= free_memory)
            n_new += int(fits & (status != CANDIDATE))
            n_blocked += int(fits & (status == BLOCKED))
            queue.status[at] = CANDIDATE if fits else status
            smallest = size if size < smallest else smallest
        candidates.smallest[block] = smallest
        candidates.in_block[block] += n_new
        candidates.counts[CANDIDATE] += n_new
        candidates.counts[BLOCKED] -= n_blocked
        candidates.counts[TOO_LARGE] -= n_new - n_blocked


@part(void(CANDIDATES, QUEUE, int64))
def admit_blocked(candidates: Candidates, queue: UnorderedQueue, n: int) -> None:
    """Make candidates of all jobs that would have run into the former reservation. O(n)."""
    for b in range((n + BLOCK - 1) >> BLOCK_BITS):
        n_new = 0
        for i in range(b * BLOCK, min(n, (b + 1) * BLOCK)):
            at = np.uint64(i)
            n_new += int(queue.status[at] == BLOCKED)
            queue.status[at] = CANDIDATE if queue.status[at] == BLOCKED else queue.status[at]
        candidates.in_block[np.uint64(b)] += n_new
    candidates.counts[CANDIDATE] += candidates.counts[BLOCKED]
    candidates.counts[BLOCKED] = 0
