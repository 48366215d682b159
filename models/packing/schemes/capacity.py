"""Capacity based schemes (section 2.1): only the number of free PEs in a slot counts."""

from models.kernels.bits import take_from_left
from models.kernels.compiling import kernel, part
from models.packing.schemes.signature import PLACE_SIGNATURE, REARRANGE_SIGNATURE, RELEASE_SIGNATURE


@kernel(RELEASE_SIGNATURE)
def keep_no_books(size, n_pes, pes, books):
    """Do nothing when a job leaves: the function of a scheme whose choice depends on the matrix alone."""


@kernel(REARRANGE_SIGNATURE)
def let_stay(start, n_jobs, n_slots, n_pes, matrix, table):
    """Keep all mappings: the function of a scheme that moves no job."""
    return n_slots


@kernel(PLACE_SIGNATURE)
def first_fit(size, n_pes, n_slots, matrix, books, scratch, chosen):
    """Choose the first slot with enough free PEs, and its PEs in serial order. O(slots + words)."""
    slot = 0
    while slot < n_slots and matrix.free[slot] < size:
        slot += 1
    take_from_left(size, matrix.occupied, slot, n_pes, chosen)
    return slot


@part(inline=False)
def tightest_slot(size, n_slots, free):
    """Return the slot with the fewest sufficient free PEs (ties go to the first), or `n_slots`."""
    best = n_slots
    for slot in range(n_slots):
        if free[slot] >= size and (best == n_slots or free[slot] < free[best]):
            best = slot
    return best


@kernel(PLACE_SIGNATURE)
def best_fit(size, n_pes, n_slots, matrix, books, scratch, chosen):
    """Choose the slot with the fewest sufficient free PEs, and its PEs in serial order. O(slots + words)."""
    slot = tightest_slot(size, n_slots, matrix.free)
    take_from_left(size, matrix.occupied, slot, n_pes, chosen)
    return slot
