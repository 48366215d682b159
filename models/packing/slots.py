"""Mapping jobs to slots: the changes that the Ousterhout matrix can undergo.

`state` is the record of a family's scalars; here its fields `n_slots` and `n_jobs` matter.
"""

from numba import from_dtype, int64, uint64

from models.kernels.bits import ZERO, disjoint
from models.kernels.compiling import part
from models.packing.matrix import JOB, LIST

NOWHERE = -1


@part()
def map_job(job, slot, matrix, table, chosen, state):
    """Map a job to the chosen PEs of a slot, which is opened if it is new."""
    if slot == state.n_slots:
        state.n_slots += 1
    for w in range(chosen.shape[1]):
        matrix.occupied[slot, w] |= chosen[0, w]
        table.pes[job, w] = chosen[0, w]
    matrix.free[slot] -= table.jobs[job].size
    table.jobs[job].slot = slot


@part()
def unmap_job(job, matrix, table):
    """Free the PEs of a job in its slot."""
    slot = table.jobs[job].slot
    for w in range(table.pes.shape[1]):
        matrix.occupied[slot, w] &= ~table.pes[job, w]
    matrix.free[slot] += table.jobs[job].size


@part()
def vacate(place, table, state):
    """Remove a job from the list of present jobs, whose last entry takes its position, and free its place."""
    last = state.n_jobs - 1
    position = table.jobs[place].position
    moved = table.present[last]
    table.present[position] = moved
    table.jobs[moved].position = position
    table.finish[position] = table.finish[last]
    state.n_jobs = last
    table.vacant[state.n_vacant] = place
    state.n_vacant += 1


@part()
def close_slot(slot, n_pes, matrix, table, state):
    """Remove an empty slot; slots opened after it move up."""
    occupied, free, tags, grants = matrix
    last = state.n_slots - 1
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
    state.n_slots = last
    for i in range(state.n_jobs):
        job = table.jobs[table.present[i]]
        job.slot -= job.slot > slot  # a branch would be mispredicted at every other job


@part()
def slot_to_unite_with(slot, n_slots, occupied):
    """Return the first other slot whose PEs are disjoint from a slot's, or NOWHERE.

    One search, at the slot that lost a job, finds nearly every such pair: a new slot is opened only for a job
    that fits in no other, and a union overlaps with every slot that its parts overlapped with. The exception
    is buddy with sizes that are not powers of two: such a job needs a free group, takes only a part of it,
    and may therefore open a slot that is disjoint from another. The paper unites at terminations only.
    """
    for other in range(n_slots):
        if other != slot and disjoint(occupied, slot, occupied, other):
            return other
    return NOWHERE


@part(inline=False)
def unite(low, high, n_pes, matrix, table, state):
    """Move the jobs of slot `high` to slot `low`, whose PEs are disjoint from theirs, and close `high`."""
    for w in range(matrix.occupied.shape[1]):
        matrix.occupied[low, w] |= matrix.occupied[high, w]
    matrix.free[low] -= n_pes - matrix.free[high]
    for i in range(state.n_jobs):
        job = table.jobs[table.present[i]]
        if job.slot == high:
            job.slot = low
    close_slot(high, n_pes, matrix, table, state)


@part(int64(LIST, int64, uint64, from_dtype(JOB)[::1], int64), inline=False)
def insert(order, n, job, jobs, sign):
    """Insert a job into a list of `n` and return its position.

    The list is sorted by size, the largest first (sign 1) or the smallest (-1), with earlier jobs first among
    equals; with sign 0 by arrival alone.
    """
    i = n
    while i > 0 and sign * (jobs[job].size - jobs[order[i - 1]].size) > 0:
        order[i] = order[i - 1]
        i -= 1
    order[i] = job
    return i


@part()
def write_ended(job, now, ended, row):
    """Write a job of the table (`models.packing.matrix.JOB`) that ends now to a row of `ended`."""
    ended.number[row] = job.number
    ended.session[row] = job.session
    ended.submit[row] = job.submit
    ended.start[row] = job.start
    ended.end[row] = now
    ended.runtime[row] = job.runtime
    ended.size[row] = job.size
