"""Expected ends of running jobs on each host, the latest first, from which reservations are computed.

An entry is a step of `models.backfill.profile.Steps`: the time at which some processors and memory become
free according to requested times.
"""

import numpy as np
from numba import float64, int64, void

from models.backfill.profile import STEPS, Steps
from models.kernels.compiling import part


@part(void(STEPS, int64, float64, int64, int64))
def insert(ends: Steps, h: int, when: float, size: int, need: int) -> None:
    """Add an entry to a host's list; at equal times the largest comes first. O(entries that end before)."""
    at = h * ends.places
    i = at + ends.n_steps[h]
    step = ends.step
    while i > at:
        before = np.uint64(i - 1)
        if step[before].time > when or (step[before].time == when and step[before].processors > size):
            break
        step[np.uint64(i)] = step[before]
        i -= 1
    to = np.uint64(i)
    step[to].time, step[to].processors, step[to].memory = when, size, need
    ends.n_steps[h] += 1


@part(void(STEPS, int64, float64, int64, int64))
def remove(ends: Steps, h: int, when: float, size: int, need: int) -> None:
    """Remove an entry from a host's list; any of several equal ones. O(entries)."""
    step, last = ends.step, h * ends.places + ends.n_steps[h] - 1
    at = np.uint64(last)
    while step[at].time != when or step[at].processors != size or step[at].memory != need:
        at -= np.uint64(1)
    for later in range(np.int64(at), last):
        step[np.uint64(later)] = step[np.uint64(later + 1)]
    ends.n_steps[h] -= 1


@part(float64(STEPS, int64, int64, int64, float64, int64, int64, float64))
def when_free(
    ends: Steps, h: int, free: int, free_memory: int, now: float, size: int, need: int, before: float
) -> float:
    """Return when a job fits on a host, given its free resources now; inf if never or later than `before`.

    O(entries).
    """
    begin = h * ends.places
    at = begin + ends.n_steps[np.uint64(h)]
    when = now
    while free < size or free_memory < need:
        at -= 1
        if at < begin or ends.step[np.uint64(at)].time > before:
            return np.inf
        free += ends.step[np.uint64(at)].processors
        free_memory += ends.step[np.uint64(at)].memory
        when = ends.step[np.uint64(at)].time
    return max(when, now)
