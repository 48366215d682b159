"""Which running job ends next: a binary heap of ends, for every engine here.

Ties go to the job with the lower number, so that the order of events never depends on the heap's history.
"""

from numba import int64, void

from models.arrays import Floats, Ints
from models.kernels.compiling import part
from models.kernels.types import FLOATS, INTS


@part(void(FLOATS, INTS, int64, int64))
def push(end: Floats, heap: Ints, n: int, job: int) -> None:
    """Add a job to a heap of `n` jobs; `end` holds the end of every job by its number. O(log n)."""
    at = n
    while at > 0:
        parent = (at - 1) >> 1
        above = heap[parent]
        if end[above] < end[job] or (end[above] == end[job] and above < job):
            break
        heap[at] = above
        at = parent
    heap[at] = job


@part(int64(FLOATS, INTS, int64))
def pop(end: Floats, heap: Ints, n: int) -> int:
    """Take the job that ends first from a heap of `n` jobs. O(log n)."""
    first = heap[0]
    last = heap[n - 1]
    size = n - 1
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        below = heap[child]
        if child + 1 < size:
            other = heap[child + 1]
            if end[other] < end[below] or (end[other] == end[below] and other < below):
                child += 1
                below = other
        if end[last] < end[below] or (end[last] == end[below] and last < below):
            break
        heap[at] = below
        at = child
    heap[at] = last
    return first
