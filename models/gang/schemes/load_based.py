"""Load based schemes (section 2.3): prefer the PEs that the fewest jobs use.

The load on a PE is the number of slots in which it is taken. Instead of sorting the PEs, they are held as one
set for each load ("plane"), so that counting the least loaded free PEs of a slot is a walk over words.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, int64, uint64

from models.gang.bits import ZERO, free_word, lowest, population, span
from models.gang.schemes.signature import PLACE_SIGNATURE
from models.kernels import kernel


@kernel()
def sort_into_planes(n_pes, n_slots, occupied, planes):
    """Fill ``planes[v]`` with the PEs of load v and return the highest load. O(slots x loads x words)."""
    n_words = planes.shape[1]
    for w in range(n_words):
        planes[0, w] = span(n_pes - w * 64)
    top = 0
    for slot in range(n_slots):
        planes[top + 1, :] = ZERO
        moved_up = ZERO
        for w in range(n_words):
            taken = occupied[slot, w]
            for v in range(top, -1, -1):
                up = planes[v, w] & taken
                planes[v + 1, w] |= up
                planes[v, w] ^= up
            moved_up |= planes[top + 1, w]
        if moved_up != ZERO:
            top += 1
    return top


@kernel()
def load_of_least_loaded(size, n_pes, occupied, slot, planes, top):
    """Return the maximum and the sum of the loads on the `size` least loaded free PEs of a slot."""
    need = size
    total = 0
    for v in range(top + 1):
        here = 0
        for w in range(planes.shape[1]):
            here += population(planes[v, w] & free_word(occupied, slot, w, n_pes))
        if here >= need:
            return v, total + v * need
        need -= here
        total += v * here
    return top, total


@kernel()
def take_least_loaded(size, n_pes, occupied, slot, planes, top, chosen):
    """Write the `size` least loaded free PEs of a slot to `chosen`, lower numbers first among equals."""
    chosen[:] = ZERO
    need = size
    for v in range(top + 1):
        for w in range(planes.shape[1]):
            available = planes[v, w] & free_word(occupied, slot, w, n_pes)
            here = population(available)
            if here > need:
                available = lowest(available, np.uint64(need))
                here = need
            chosen[w] |= available
            need -= here
        if need == 0:
            return


@kernel(int64(boolean, int64, int64, int64, uint64[:, ::1], int64[::1], uint64[:, ::1], uint64[::1]))
def place_by_load(by_sum, size, n_pes, n_slots, occupied, free, planes, chosen):
    """Choose the slot whose least loaded free PEs carry least, by their maximum or by their sum."""
    top = sort_into_planes(n_pes, n_slots, occupied, planes)
    best = n_slots
    least = 0
    for slot in range(n_slots):
        if free[slot] >= size:
            maximum, total = load_of_least_loaded(size, n_pes, occupied, slot, planes, top)
            load = total if by_sum else maximum
            if best == n_slots or load < least:
                best = slot
                least = load
    take_least_loaded(size, n_pes, occupied, best, planes, top, chosen)
    return best


@kernel(PLACE_SIGNATURE)
def min_max_load(size, n_pes, n_slots, occupied, free, tags, memory, parameters, scratch, chosen):
    """Minimal maximum load: the slot where the n-th least loaded free PE carries least."""
    return place_by_load(False, size, n_pes, n_slots, occupied, free, scratch, chosen)


@kernel(PLACE_SIGNATURE)
def min_avg_load(size, n_pes, n_slots, occupied, free, tags, memory, parameters, scratch, chosen):
    """Minimal average load: the slot where the n least loaded free PEs carry least on average."""
    return place_by_load(True, size, n_pes, n_slots, occupied, free, scratch, chosen)
