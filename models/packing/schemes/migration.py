"""Migration based scheme (section 2.5): all jobs are mapped anew at each arrival and termination."""

from __future__ import annotations

import numpy as np

from models.kernels.bits import ONE, WORD_BITS, ZERO, span
from models.kernels.compiling import kernel, part
from models.packing.matrix import DECREASING, N_JOBS, N_SLOTS, SIZE, SLOT
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
    """Tell whether a set has a PE."""
    return sets[row, pe >> 6] >> np.uint64(pe & 63) & ONE != ZERO


@kernel(REARRANGE_SIGNATURE)
def first_fit_decreasing(start, n_pes, matrix, table, counts):
    """Map jobs by first fit in order of decreasing size, PEs in serial order. O(jobs x slots).

    A mapping depends only on those before it, so the jobs before `start` (where a newcomer stands, or one
    that left stood) keep theirs. Each slot is filled without gaps, so that its size says which PEs are taken.
    """
    occupied, free = matrix.occupied, matrix.free
    pes, whole, order = table.pes, table.whole, table.order
    before = counts[N_SLOTS]
    for slot in range(before):
        free[slot] = n_pes
    n_slots = 0
    for i in range(start):
        job = order[DECREASING, i]
        slot = whole[job, SLOT]
        free[slot] -= whole[job, SIZE]
        n_slots = max(n_slots, slot + 1)
    for i in range(start, counts[N_JOBS]):
        job = order[DECREASING, i]
        size = whole[job, SIZE]
        slot = 0
        while slot < n_slots and free[slot] < size:
            slot += 1
        n_slots = max(n_slots, slot + 1)
        first = n_pes - free[slot]
        end = first + size
        free[slot] -= size
        # A range of the same length with both ends in the old one is the old one.
        stays = whole[job, SLOT] == slot and holds(pes, job, first) and holds(pes, job, end - 1)
        if not stays:
            whole[job, SLOT] = slot
            write_range(pes, job, first, end)
    for slot in range(max(before, n_slots)):
        write_range(occupied, slot, 0, n_pes - free[slot])
    counts[N_SLOTS] = n_slots
