"""Memory of PEs: the jobs on a PE, of all slots, have to fit into it together.

A job has its memory from when it enters until it ends, in equal parts on its PEs, whichever slot runs. A
packing scheme knows nothing of memory: it is shown slots in which the PEs that lack memory for a job are
taken.
"""

from __future__ import annotations

import numpy as np

from models.gang.state import NO_LIMIT
from models.gang.waiting import AT_PRESENT, LACKING
from models.kernels.bits import ONE, ZERO, population
from models.kernels.compiling import part
from models.packing.matrix import N_JOBS, PRESENT


@part()
def is_limited(settings):
    """Tell whether memory matters."""
    return settings.memory_limit < NO_LIMIT


@part(inline=False)
def take_memory(pes, row, each, when, memory):
    """Let a job on a set of PEs, a row of `pes`, take so much on each of them (or give it back: negative)."""
    for pe in range(memory.shape[1]):
        if pes[row, pe >> 6] >> np.uint64(pe & 63) & ONE != ZERO:
            memory[when, pe] += each


@part(inline=False)
def take_all_memory(table, counts, waiting, memory):
    """Add up what the jobs of the matrix take after all of them were mapped anew. O(jobs x PEs)."""
    for pe in range(memory.shape[1]):
        memory[AT_PRESENT, pe] = 0
    for i in range(counts[N_JOBS]):
        job = table.order[PRESENT, i]
        take_memory(table.pes, job, waiting.memory[job], AT_PRESENT, memory)


@part(inline=False)
def find_lacking(each, when, limit, foresight):
    """Find the PEs that do not have so much more memory; tell whether there are any. O(PEs)."""
    sets, memory = foresight.sets, foresight.memory
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
    """Let the PEs of a slot that lack memory be taken. O(words)."""
    more = 0
    for w in range(sets.shape[1]):
        more += population(sets[LACKING, w] & ~shown.occupied[slot, w])
        shown.occupied[slot, w] |= sets[LACKING, w]
    shown.free[slot] -= more
