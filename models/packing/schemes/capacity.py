"""Capacity based schemes (section 2.1): only the number of free PEs in a slot counts."""

from __future__ import annotations

from models.kernels.bits import take_from_left
from models.kernels.compiling import kernel, part
from models.packing.schemes.signature import PLACE_SIGNATURE, REARRANGE_SIGNATURE, RELEASE_SIGNATURE


@kernel(RELEASE_SIGNATURE)
def keep_no_books(size, n_pes, pes, books):
    """Nothing to do when a job leaves: the matrix itself is all that the scheme looks at."""


@kernel(REARRANGE_SIGNATURE)
def let_stay(start, n_pes, matrix, table, counts):
    """Nothing to do for a scheme that moves no job."""


@kernel(PLACE_SIGNATURE)
def first_fit(size, n_pes, n_slots, matrix, books, scratch, chosen):
    """Take the first slot with room, PEs in serial order. O(slots + words)."""
    slot = 0
    while slot < n_slots and matrix.free[slot] < size:
        slot += 1
    take_from_left(size, matrix.occupied, slot, n_pes, chosen)
    return slot


@part(inline=False)
def tightest_slot(size, n_slots, free):
    """Return the slot with the least room that is enough (the first of equals), or `n_slots`."""
    best = n_slots
    for slot in range(n_slots):
        if free[slot] >= size and (best == n_slots or free[slot] < free[best]):
            best = slot
    return best


@kernel(PLACE_SIGNATURE)
def best_fit(size, n_pes, n_slots, matrix, books, scratch, chosen):
    """Take the slot with the least room that is enough, PEs in serial order. O(slots + words)."""
    slot = tightest_slot(size, n_slots, matrix.free)
    take_from_left(size, matrix.occupied, slot, n_pes, chosen)
    return slot
