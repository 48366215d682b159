"""Instants at which running jobs end, or are expected to, the last first: what comes next is at the end.

With the few jobs that run on most machines a sorted list is quicker than a heap: what comes next needs no
search, and an entry that goes in passes few others. How many it passes no processor can guess, so that up to
`FEWEST` are moved without a branch (`models.kernels.lanes`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import boolean, float64, int64, void

from models.arrays import Floats, Ints
from models.kernels import lanes
from models.kernels.branches import rarely
from models.kernels.compiling import part
from models.kernels.lanes import LANES
from models.kernels.types import record

FEWEST = 2 * LANES
"""Up to so many entries are moved all at once."""
FEW = 32
"""Up to so many are gone through one by one; of more, the place of one is found by halves."""
FIRST, SECOND = np.uint64(1), np.uint64(1 + LANES)


class Instants(NamedTuple):
    """Entries from the place 1 on; the place 0 has one that is later than all.

    Parameters
    ----------
    time : ndarray of float, seconds
        Descending.
    what : ndarray of int
        A job, or how many processors; among equal times descending.
    """

    time: Floats
    what: Ints


INSTANTS = record(Instants)


def none(places: int) -> Instants:
    """Return room for so many entries."""
    n = 1 + max(places, FEWEST) + 1
    time, what = lanes.room(n, float, at=1), lanes.room(n, np.int64, at=1)
    time[0], what[0] = np.inf, 0
    return Instants(time, what)


@part(float64(INSTANTS, int64))
def soonest(instants: Instants, n: int) -> float:
    """Return the first of `n` instants, inf if there is none. O(1)."""
    return instants.time[np.uint64(n)]


@part(boolean(INSTANTS, int64, float64, int64))
def is_later(instants: Instants, at: int, when: float, what: int) -> bool:
    """Tell whether the entry at a place belongs before one for this instant. O(1)."""
    # Unsigned, an index is not asked whether it counts from the end.
    there = instants.time[np.uint64(at)]
    return there > when or (there == when and instants.what[np.uint64(at)] > what)


@part(int64(INSTANTS, int64, float64, int64))
def place_of(instants: Instants, n: int, when: float, what: int) -> int:
    """Return the first of `n` places with an entry that does not belong before this one, n + 1 if all do.

    O(log n).
    """
    low, high = 1, n + 1
    while low < high:
        middle = (low + high) >> 1
        if is_later(instants, middle, when, what):
            low = middle + 1
        else:
            high = middle
    return low


@part(void(INSTANTS, int64, float64, int64), inline=False)
def insert_among_many(instants: Instants, n: int, when: float, what: int) -> None:
    """Do what `insert` does where they are many.

    Called, not put in place, as `remove_from_many`: its loops would slow down what few need, see
    `models.kernels.branches`.
    """
    time, things = instants.time, instants.what
    at = n + 1
    if n > FEW:
        at = place_of(instants, n, when, what)
        for i in range(n, at - 1, -1):
            time[np.uint64(i + 1)] = time[np.uint64(i)]
            things[np.uint64(i + 1)] = things[np.uint64(i)]
    else:
        while time[np.uint64(at - 1)] < when or not is_later(instants, at - 1, when, what):
            time[np.uint64(at)] = time[np.uint64(at - 1)]
            things[np.uint64(at)] = things[np.uint64(at - 1)]
            at -= 1
    time[np.uint64(at)] = when
    things[np.uint64(at)] = what


@part(void(INSTANTS, int64, float64, int64), inline=False)
def remove_from_many(instants: Instants, n: int, when: float, what: int) -> None:
    """Do what `remove` does where they are many."""
    time, things = instants.time, instants.what
    if n > FEW:
        for i in range(place_of(instants, n + 1, when, what), n + 1):
            time[np.uint64(i)] = time[np.uint64(i + 1)]
            things[np.uint64(i)] = things[np.uint64(i + 1)]
        return
    # Those that are passed move up by one.
    at = n + 1
    later, thing = time[np.uint64(at)], things[np.uint64(at)]
    while later != when or thing != what:
        at -= 1
        there = np.uint64(at)
        later, time[there] = time[there], later
        thing, things[there] = things[there], thing


@part(void(INSTANTS, int64, float64, int64))
def insert(instants: Instants, n: int, when: float, what: int) -> None:
    """Add an entry to `n`; no instant is later than all. O(those that are earlier)."""
    time, things = instants.time, instants.what
    if rarely(n >= FEWEST):
        insert_among_many(instants, n, when, what)
        return
    last, thing = time[np.uint64(LANES)], things[np.uint64(LANES)]
    lanes.put_in(time, things, FIRST, n, when, what)
    if n >= LANES:
        behind = (last > when) | ((last == when) & (thing > what))
        last, thing = when if behind else last, what if behind else thing
        lanes.put_in(time, things, SECOND, n - LANES, last, thing)


@part(void(INSTANTS, int64, float64, int64))
def remove(instants: Instants, n: int, when: float, what: int) -> None:
    """Take an entry away, beside `n` others. O(those that are earlier)."""
    if rarely(n >= FEWEST):
        remove_from_many(instants, n, when, what)
        return
    lanes.take_out(instants.time, instants.what, FIRST, when, what)
    if n >= LANES:
        lanes.take_out(instants.time, instants.what, SECOND, when, what)
