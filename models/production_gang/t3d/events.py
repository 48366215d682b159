"""The heap of events: by time, of equal ones by kind, then by job."""

from __future__ import annotations

from numba import boolean, float64, int64, void

from models.kernels.compiling import part
from models.production_gang.t3d.state import N_HEAP, SYSTEM


@part(boolean(float64, int64, int64, int64, SYSTEM))
def comes_before(time, kind, job, other, system):
    """Tell whether an event comes before the one at a position of the heap."""
    heap, times = system.work.heap, system.work.heap_time
    if time != times[other]:
        return time < times[other]
    if kind != heap[other, 0]:
        return kind < heap[other, 0]
    return job < heap[other, 1]


@part(void(int64, int64, SYSTEM))
def move(source, target, system):
    """Put an event at another position."""
    heap, times = system.work.heap, system.work.heap_time
    times[target] = times[source]
    for field in range(3):
        heap[target, field] = heap[source, field]


@part(void(float64, int64, int64, int64, SYSTEM))
def push(time, kind, job, stops, system):
    """Add an event. O(log events)."""
    heap, times, counts = system.work.heap, system.work.heap_time, system.counts
    at = counts[N_HEAP]
    counts[N_HEAP] += 1
    while at > 0:
        above = (at - 1) >> 1
        if not comes_before(time, kind, job, above, system):
            break
        move(above, at, system)
        at = above
    times[at] = time
    heap[at, 0] = kind
    heap[at, 1] = job
    heap[at, 2] = stops


@part(void(SYSTEM))
def drop_first(system):
    """Take the first event from the heap. O(log events)."""
    heap, times, counts = system.work.heap, system.work.heap_time, system.counts
    counts[N_HEAP] -= 1
    n = counts[N_HEAP]
    time, kind, job, stops = times[n], heap[n, 0], heap[n, 1], heap[n, 2]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= n:
            break
        if below + 1 < n and comes_before(
            times[below + 1], heap[below + 1, 0], heap[below + 1, 1], below, system
        ):
            below += 1
        if comes_before(time, kind, job, below, system):
            break
        move(below, at, system)
        at = below
    times[at] = time
    heap[at, 0] = kind
    heap[at, 1] = job
    heap[at, 2] = stops
