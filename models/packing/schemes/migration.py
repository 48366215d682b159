"""Migration based scheme (section 2.5): all jobs are mapped again at each arrival and termination."""

import numpy as np

from models.kernels.bits import ONE, WORD_BITS, ZERO, span
from models.kernels.compiling import kernel, part
from models.packing.schemes.signature import REARRANGE_SIGNATURE


@part(inline=False)
def write_range(sets, row, first, end):
    """Make a set of PEs the range from `first` to before `end`."""
    for w in range(sets.shape[1]):
        low = min(max(first - WORD_BITS * w, 0), WORD_BITS)
        high = min(max(end - WORD_BITS * w, 0), WORD_BITS)
        sets[row, w] = span(high) & ~span(low)


@part(inline=False)
def holds(sets, row, pe):
    """Return whether a set contains a PE."""
    return sets[row, pe >> 6] >> np.uint64(pe & 63) & ONE != ZERO


@kernel(REARRANGE_SIGNATURE)
def first_fit_decreasing(start, n_jobs, n_slots, n_pes, matrix, table):
    """Map jobs by first fit in order of decreasing size, PEs in serial order. O(jobs x slots).

    A mapping depends only on the previous ones, so the jobs before `start` (the position of a newcomer, or of
    a job that left) keep theirs. Each slot is filled without gaps, so that its size determines its PEs.
    """
    free, jobs = matrix.free, table.jobs
    before = n_slots
    for slot in range(before):
        free[slot] = n_pes
    n_slots = 0
    for i in range(start):
        job = jobs[table.decreasing[i]]
        free[job.slot] -= job.size
        n_slots = max(n_slots, job.slot + 1)
    for i in range(start, n_jobs):
        place = table.decreasing[i]
        job = jobs[place]
        slot = 0
        while slot < n_slots and free[slot] < job.size:
            slot += 1
        n_slots = max(n_slots, slot + 1)
        first = n_pes - free[slot]
        end = first + job.size
        free[slot] -= job.size
        # A range of the same length with both ends in the old range is the old range.
        stays = job.slot == slot and holds(table.pes, place, first) and holds(table.pes, place, end - 1)
        if not stays:
            job.slot = slot
            write_range(table.pes, place, first, end)
    for slot in range(max(before, n_slots)):
        write_range(matrix.occupied, slot, 0, n_pes - free[slot])
    return n_slots
