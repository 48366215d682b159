"""Expected ends of running jobs on each host, the last first, from which reservations are computed.

An entry is when so many processors and so much memory become free according to requested times.
"""

from typing import NamedTuple

import numpy as np
from numba import float64, int64, void

from models.arrays import Floats, Ints
from models.kernels.compiling import part
from models.kernels.types import record


class ExpectedEnds(NamedTuple):
    """The lists of all hosts, in flat arrays.

    Parameters
    ----------
    time, size, need : ndarray, shape (n_hosts * places,)
        When an entry ends (seconds), its processors and its memory (KB). The list of host `h` begins at the
        position ``h * places``.
    n : ndarray of int, shape (n_hosts,)
        Entries of each host.
    places : int
        Capacity of each list.
    """

    time: Floats
    size: Ints
    need: Ints
    n: Ints
    places: int


EXPECTED_ENDS = record(ExpectedEnds)


def empty(n_hosts: int, places: int) -> ExpectedEnds:
    """Return empty lists for so many entries on each host."""
    size, need = (np.empty(n_hosts * places, np.int64) for _ in range(2))
    return ExpectedEnds(np.empty(n_hosts * places), size, need, np.zeros(n_hosts, np.int64), places)


@part(void(EXPECTED_ENDS, int64, float64, int64, int64))
def insert(ends: ExpectedEnds, h: int, when: float, size: int, need: int) -> None:
    """Add an entry to a host's list, of equal times the largest first. O(entries that end before)."""
    at = h * ends.places
    i = at + ends.n[h]
    time, sizes, needs = ends.time, ends.size, ends.need
    while i > at:
        before = np.uint64(i - 1)
        if time[before] > when or (time[before] == when and sizes[before] > size):
            break
        to = np.uint64(i)
        time[to], sizes[to], needs[to] = time[before], sizes[before], needs[before]
        i -= 1
    to = np.uint64(i)
    time[to], sizes[to], needs[to] = when, size, need
    ends.n[h] += 1


@part(void(EXPECTED_ENDS, int64, float64, int64, int64))
def remove(ends: ExpectedEnds, h: int, when: float, size: int, need: int) -> None:
    """Remove an entry from a host's list; of equal ones any. O(entries)."""
    at = np.uint64(h * ends.places + ends.n[h] - 1)
    time, sizes, needs = ends.time, ends.size, ends.need
    # Entries behind it move up while it is searched for.
    later, its_size, its_need = time[at], sizes[at], needs[at]
    while later != when or its_size != size or its_need != need:
        at -= np.uint64(1)
        later, time[at] = time[at], later
        its_size, sizes[at] = sizes[at], its_size
        its_need, needs[at] = needs[at], its_need
    ends.n[h] -= 1


@part(float64(EXPECTED_ENDS, int64, int64, int64, float64, int64, int64, float64))
def when_free(
    ends: ExpectedEnds, h: int, free: int, free_memory: int, now: float, size: int, need: int, before: float
) -> float:
    """Return when a job fits on a host, inf if never or later than `before`. O(entries).

    Parameters
    ----------
    h : the host
    free, free_memory : what is free there now, memory in KB
    now : seconds
    size, need : processors and memory (KB) of the job
    before : seconds
    """
    begin = h * ends.places
    at = begin + ends.n[np.uint64(h)]
    when = now
    while free < size or free_memory < need:
        at -= 1
        if at < begin or ends.time[np.uint64(at)] > before:
            return np.inf
        free += ends.size[np.uint64(at)]
        free_memory += ends.need[np.uint64(at)]
        when = ends.time[np.uint64(at)]
    return max(when, now)
