"""Mapping jobs to slots: the changes that the Ousterhout matrix can undergo."""

from __future__ import annotations

from numba import int64

from models.gang.bits import ZERO, disjoint
from models.gang.state import N_JOBS, N_SLOTS, PRESENT, SIZE, SLOT
from models.kernels import kernel

NOWHERE = -1


@kernel(inline=True)
def map_job(job, slot, matrix, jobs, chosen, counts):
    """Map a job to the chosen PEs of a slot, which may be one that this opens."""
    if slot == counts[N_SLOTS]:
        counts[N_SLOTS] += 1
    for w in range(chosen.shape[1]):
        matrix.occupied[slot, w] |= chosen[0, w]
        jobs.pes[job, w] = chosen[0, w]
    matrix.free[slot] -= jobs.whole[job, SIZE]
    jobs.whole[job, SLOT] = slot


@kernel(inline=True)
def unmap_job(job, matrix, jobs):
    """Free the PEs of a job in its slot."""
    slot = jobs.whole[job, SLOT]
    for w in range(jobs.pes.shape[1]):
        matrix.occupied[slot, w] &= ~jobs.pes[job, w]
    matrix.free[slot] += jobs.whole[job, SIZE]


@kernel(inline=True)
def close_slot(slot, n_pes, matrix, jobs, counts):
    """Take an empty slot out of use; those opened after it move up."""
    last = counts[N_SLOTS] - 1
    for row in range(slot, last):
        for w in range(jobs.pes.shape[1]):
            matrix.occupied[row, w] = matrix.occupied[row + 1, w]
        for w in range(matrix.grants.shape[1]):
            matrix.grants[row, w] = matrix.grants[row + 1, w]
        matrix.free[row] = matrix.free[row + 1]
        matrix.tags[row] = matrix.tags[row + 1]
    for w in range(jobs.pes.shape[1]):
        matrix.occupied[last, w] = ZERO
    for w in range(matrix.grants.shape[1]):
        matrix.grants[last, w] = ZERO
    matrix.free[last] = n_pes
    matrix.tags[last] = 0
    counts[N_SLOTS] = last
    for i in range(counts[N_JOBS]):
        job = jobs.order[PRESENT, i]
        if jobs.whole[job, SLOT] > slot:
            jobs.whole[job, SLOT] -= 1


@kernel(inline=True)
def slot_to_unite_with(slot, n_slots, occupied):
    """Return the first other slot whose PEs are disjoint from those of a slot, or NOWHERE.

    Two used slots are never disjoint before a termination: a new slot is opened only for a job that fits in
    none, and a union overlaps with all that its parts overlapped with. So to look once, at the slot that lost
    a job, finds every pair that there is, and repeating it would find no other.
    """
    for other in range(n_slots):
        if other != slot and disjoint(occupied, slot, occupied, other):
            return other
    return NOWHERE


@kernel()
def unite(low, high, n_pes, matrix, jobs, counts):
    """Move the jobs of slot `high` to slot `low`, whose PEs are disjoint from theirs, and close `high`."""
    for w in range(jobs.pes.shape[1]):
        matrix.occupied[low, w] |= matrix.occupied[high, w]
    matrix.free[low] -= n_pes - matrix.free[high]
    for i in range(counts[N_JOBS]):
        job = jobs.order[PRESENT, i]
        if jobs.whole[job, SLOT] == high:
            jobs.whole[job, SLOT] = low
    close_slot(high, n_pes, matrix, jobs, counts)


@kernel(int64(int64[::1], int64, int64, int64[:, ::1], int64))
def insert(order, n, job, whole, sign):
    """Put a job into a list of `n` by size, largest first (sign 1) or smallest first (-1), and say where.

    Earlier jobs come first among equals, and with sign 0 altogether.
    """
    i = n
    while i > 0 and sign * (whole[job, SIZE] - whole[order[i - 1], SIZE]) > 0:
        order[i] = order[i - 1]
        i -= 1
    order[i] = job
    return i


@kernel()
def remove(order, n, job):
    """Take a job out of a list of `n`, keep the order of the rest, and say where it was."""
    i = 0
    while order[i] != job:
        i += 1
    for later in range(i, n - 1):
        order[later] = order[later + 1]
    return i
