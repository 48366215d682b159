"""Mapping jobs to slots: the changes that the Ousterhout matrix can undergo."""

from __future__ import annotations

from numba import int64, uint64

from models.kernels.bits import ZERO, disjoint
from models.kernels.compiling import part
from models.packing.matrix import LISTS, N_JOBS, N_SLOTS, PRESENT, SIZE, SLOT, WHOLE

NOWHERE = -1


@part()
def map_job(job, slot, matrix, table, chosen, counts):
    """Map a job to the chosen PEs of a slot, which may be one that this opens."""
    if slot == counts[N_SLOTS]:
        counts[N_SLOTS] += 1
    for w in range(chosen.shape[1]):
        matrix.occupied[slot, w] |= chosen[0, w]
        table.pes[job, w] = chosen[0, w]
    matrix.free[slot] -= table.whole[job, SIZE]
    table.whole[job, SLOT] = slot


@part()
def unmap_job(job, matrix, table):
    """Free the PEs of a job in its slot."""
    slot = table.whole[job, SLOT]
    for w in range(table.pes.shape[1]):
        matrix.occupied[slot, w] &= ~table.pes[job, w]
    matrix.free[slot] += table.whole[job, SIZE]


@part()
def close_slot(slot, n_pes, matrix, table, counts):
    """Take an empty slot out of use; those opened after it move up."""
    occupied, free, tags, grants = matrix
    whole = table.whole
    last = counts[N_SLOTS] - 1
    for row in range(slot, last):
        for w in range(occupied.shape[1]):
            occupied[row, w] = occupied[row + 1, w]
        for w in range(grants.shape[1]):
            grants[row, w] = grants[row + 1, w]
        free[row] = free[row + 1]
        tags[row] = tags[row + 1]
    for w in range(occupied.shape[1]):
        occupied[last, w] = ZERO
    for w in range(grants.shape[1]):
        grants[last, w] = ZERO
    free[last] = n_pes
    tags[last] = 0
    counts[N_SLOTS] = last
    for i in range(counts[N_JOBS]):
        job = table.order[PRESENT, i]
        whole[job, SLOT] -= whole[job, SLOT] > slot  # a branch would be mispredicted at every other job


@part()
def slot_to_unite_with(slot, n_slots, occupied):
    """Return the first other slot whose PEs are disjoint from those of a slot, or NOWHERE.

    To look once, at the slot that lost a job, finds nearly every pair that there is: a new slot is opened
    only for a job that fits in none, and a union overlaps with all that its parts overlapped with. The
    exception is buddy with sizes that are no power of two: such a job needs a whole group to be free, takes a
    part of it, and may so open a slot that is disjoint from another. The paper unites at terminations only.
    """
    for other in range(n_slots):
        if other != slot and disjoint(occupied, slot, occupied, other):
            return other
    return NOWHERE


@part(inline=False)
def unite(low, high, n_pes, matrix, table, counts):
    """Move the jobs of slot `high` to slot `low`, whose PEs are disjoint from theirs, and close `high`."""
    for w in range(matrix.occupied.shape[1]):
        matrix.occupied[low, w] |= matrix.occupied[high, w]
    matrix.free[low] -= n_pes - matrix.free[high]
    for i in range(counts[N_JOBS]):
        job = table.order[PRESENT, i]
        if table.whole[job, SLOT] == high:
            table.whole[job, SLOT] = low
    close_slot(high, n_pes, matrix, table, counts)


@part(int64(LISTS, int64, int64, uint64, WHOLE, int64), inline=False)
def insert(order, row, n, job, whole, sign):
    """Put a job into a list of `n`, a row of `order`, and say where.

    By size, the largest first (sign 1) or the smallest (-1), earlier jobs first among equals; sign 0 goes by
    arrival alone.
    """
    i = n
    while i > 0 and sign * (whole[job, SIZE] - whole[order[row, i - 1], SIZE]) > 0:
        order[row, i] = order[row, i - 1]
        i -= 1
    order[row, i] = job
    return i


@part(int64(LISTS, int64, int64, uint64), inline=False)
def remove(order, row, n, job):
    """Take a job out of a list of `n`, keep the order of the rest, and say where it was."""
    i = 0
    while order[row, i] != job:
        i += 1
    for later in range(i, n - 1):
        order[row, later] = order[row, later + 1]
    return i
