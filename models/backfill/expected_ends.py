"""Expected ends of what runs on each host, the last first: what the future is judged by.

An entry says when so many processors and so much memory become free, as far as requested times tell.
"""

from __future__ import annotations

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
        Room for each host.
    """

    time: Floats
    size: Ints
    need: Ints
    n: Ints
    places: int


EXPECTED_ENDS = record(ExpectedEnds)


def empty(n_hosts: int, places: int) -> ExpectedEnds:
    """Return room for so many entries on each host."""
    room = n_hosts * places
    return ExpectedEnds(
        np.empty(room),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.zeros(n_hosts, np.int64),
        places,
    )


@part(void(EXPECTED_ENDS, int64, float64, int64, int64))
def insert(ends: ExpectedEnds, h: int, when: float, size: int, need: int) -> None:
    """Add an entry to a host's list. O(entries that end before)."""
    at = h * ends.places
    i = at + ends.n[h]
    while i > at and ends.time[i - 1] < when:
        ends.time[i] = ends.time[i - 1]
        ends.size[i] = ends.size[i - 1]
        ends.need[i] = ends.need[i - 1]
        i -= 1
    ends.time[i] = when
    ends.size[i] = size
    ends.need[i] = need
    ends.n[h] += 1


@part(void(EXPECTED_ENDS, int64, float64, int64, int64))
def remove(ends: ExpectedEnds, h: int, when: float, size: int, need: int) -> None:
    """Take an entry out of a host's list; those that are alike are as good as each other. O(entries)."""
    i = h * ends.places + ends.n[h] - 1
    while ends.time[i] != when or ends.size[i] != size or ends.need[i] != need:
        i -= 1
    ends.n[h] -= 1
    for k in range(i, h * ends.places + ends.n[h]):
        ends.time[k] = ends.time[k + 1]
        ends.size[k] = ends.size[k + 1]
        ends.need[k] = ends.need[k + 1]
