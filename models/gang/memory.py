"""Memory of PEs: all jobs on a PE, over all slots, have to fit into it together.

A job has its memory from when it enters until it ends, in equal parts on its PEs, whichever slot runs.
Packing schemes do not consider memory: they receive slots in which PEs that lack memory are marked as taken.
"""

import numpy as np

from models.gang.profile import AT_PRESENT, LACKING
from models.gang.state import NO_LIMIT
from models.kernels.bits import ONE, ZERO, population
from models.kernels.compiling import part


@part()
def is_limited(settings):
    """Return whether memory is a bound."""
    return settings.memory_limit < NO_LIMIT


@part(inline=False)
def take_memory(pes, row, each, when, memory):
    """Add a job's memory on each PE of a set, a row of `pes` (a negative number releases it)."""
    for pe in range(memory.shape[1]):
        if pes[row, pe >> 6] >> np.uint64(pe & 63) & ONE != ZERO:
            memory[when, pe] += each


@part(inline=False)
def take_all_memory(table, state, memory):
    """Add up the memory of the jobs in the matrix after all were remapped. O(jobs x PEs)."""
    for pe in range(memory.shape[1]):
        memory[AT_PRESENT, pe] = 0
    for i in range(state.n_jobs):
        job = table.present[i]
        take_memory(table.pes, job, table.jobs[job].memory, AT_PRESENT, memory)


@part(inline=False)
def find_lacking(each, when, limit, profile):
    """Find the PEs with less free memory, and return whether there are any. O(PEs)."""
    sets, memory = profile.sets, profile.memory
    for w in range(sets.shape[1]):
        sets[LACKING, w] = ZERO
    some = False
    for pe in range(memory.shape[1]):
        if memory[when, pe] + each > limit:
            sets[LACKING, pe >> 6] |= ONE << np.uint64(pe & 63)
            some = True
    return some


@part(inline=False)
def hide_lacking(slot, shown, sets):
    """Mark the PEs of a slot that lack memory as taken. O(words)."""
    more = 0
    for w in range(sets.shape[1]):
        more += population(sets[LACKING, w] & ~shown.occupied[slot, w])
        shown.occupied[slot, w] |= sets[LACKING, w]
    shown.free[slot] -= more
