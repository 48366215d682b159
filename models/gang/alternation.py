"""Alternative scheduling: a job also runs in foreign slots that leave its PEs free (section 2, Fig. 1).

Between events each used slot gets an equal share of the time, so a job that runs in k of S slots has the run
fraction k / S. What the paper leaves open is whether two jobs may fill the same free PEs of a foreign slot:

none
    No alternative scheduling: k = 1 (Fig. 13).
exclusive
    A PE of a slot serves one job: in each slot the free PEs go to the jobs in their order of precedence.
shared
    A job counts every slot whose mapped jobs leave its PEs free, whatever others do there. PEs that two jobs
    fill at once deliver twice: utilization can exceed 1, and a load above 1 need not saturate.

Virtual time advances by dt / S, so that a job in k slots works off k units of runtime in one unit of it, and
nothing has to be computed anew when only S changes.
"""

from __future__ import annotations

import numpy as np
from numba import int64, void

from models.gang.state import NOW, SUM_PES, SUM_SLOTS, VIRTUAL
from models.kernels.bits import ONE, ZERO, disjoint, lowest_position
from models.kernels.compiling import part
from models.kernels.types import FLOATS, INTS
from models.packing.matrix import (
    ARRIVAL,
    FINISH,
    MATRIX,
    N_JOBS,
    N_SLOTS,
    POSITION,
    PRECEDENCE,
    PRESENT,
    RUN_SLOTS,
    SETS,
    SIZE,
    SLOT,
    SLOT_SECONDS,
    TABLE,
)

NONE, EXCLUSIVE, SHARED = range(3)  # as in `policies.ALTERNATION`


@part()
def run_in(job, count, table, counts, clocks):
    """Let a job run in `count` slots from now on: what is left of it takes another virtual time."""
    whole, real = table.whole, table.real
    before = whole[job, RUN_SLOTS]
    position = whole[job, POSITION]
    virtual = clocks[VIRTUAL]
    real[FINISH, position] = virtual + (real[FINISH, position] - virtual) * before / count
    real[SLOT_SECONDS, position] -= (count - before) * (clocks[NOW] - real[ARRIVAL, position])
    whole[job, RUN_SLOTS] = count
    counts[SUM_SLOTS] += count - before
    counts[SUM_PES] += (count - before) * whole[job, SIZE]


@part()
def count_shared(job, n_slots, occupied, table):
    """Return in how many slots a job's PEs are free or its own. O(slots x words)."""
    own = table.whole[job, SLOT]
    count = 1
    for slot in range(n_slots):
        if slot != own and disjoint(occupied, slot, table.pes, job):
            count += 1
    return count


@part(inline=False)
def count_all_shared(n_slots, matrix, table, counts, clocks):
    """Under `shared`: count the slots of every job anew. O(slots x jobs x words)."""
    for i in range(counts[N_JOBS]):
        job = table.order[PRESENT, i]
        own = table.whole[job, SLOT]
        size = table.whole[job, SIZE]
        count = 1
        for slot in range(n_slots):
            # Most slots have too little room, which is told without a look at their words.
            if size <= matrix.free[slot] and slot != own and disjoint(matrix.occupied, slot, table.pes, job):
                count += 1
        if count != table.whole[job, RUN_SLOTS]:
            run_in(job, count, table, counts, clocks)


@part()
def overlaps(grants, slot, first_pes, pes, job):
    """Under `exclusive`: tell whether some of a job's PEs are given to others in a slot."""
    w = 0
    while w < pes.shape[1] and grants[slot, first_pes + w] & pes[job, w] == ZERO:
        w += 1
    return w < pes.shape[1]


@part(void(int64, int64, MATRIX, TABLE, SETS, INTS, FLOATS), inline=False)
def grant(slot, start, matrix, table, taken, counts, clocks):
    """Under `exclusive`: give the free PEs of a slot to the jobs mapped elsewhere, in order of precedence.

    The first `start` of them keep what they have there: the change that made this necessary comes after them.
    O(jobs x words); ends as soon as all free PEs are given.
    """
    occupied, free, _, grants = matrix
    pes, whole = table.pes, table.whole
    spare = grants.shape[0] - 1
    first_pes = grants.shape[1] - pes.shape[1]
    for w in range(first_pes):
        grants[spare, w] = ZERO
    for w in range(taken.shape[1]):
        taken[0, w] = occupied[slot, w]
    room = free[slot]
    i = 0
    while i < counts[N_JOBS] and room > 0:
        job = table.order[PRECEDENCE, i]
        if i < start:
            gets = grants[slot, job >> 6] >> np.uint64(job & 63) & ONE != ZERO
        else:  # the PEs of jobs mapped to the slot itself are taken
            gets = disjoint(taken, 0, pes, job)
        if gets:
            room -= whole[job, SIZE]
            for w in range(taken.shape[1]):
                taken[0, w] |= pes[job, w]
            grants[spare, job >> 6] |= ONE << np.uint64(job & 63)
        i += 1
    for w in range(taken.shape[1]):
        grants[slot, first_pes + w] = taken[0, w] & ~occupied[slot, w]
    # Only those whose bit has changed run in another number of slots.
    for w in range(first_pes):
        given = grants[spare, w]
        changed = given ^ grants[slot, w]
        grants[slot, w] = given
        while changed != ZERO:
            bit = lowest_position(changed)
            changed &= changed - ONE
            job = np.uint64(64 * w + bit)
            change = 1 if given >> np.uint64(bit) & ONE else -1
            run_in(job, whole[job, RUN_SLOTS] + change, table, counts, clocks)


@part(inline=False)
def revoke(slot, matrix, table, counts, clocks):
    """Under `exclusive`: take all free PEs of a slot back."""
    grants = matrix.grants
    first_pes = grants.shape[1] - table.pes.shape[1]
    for w in range(first_pes):
        given = grants[slot, w]
        grants[slot, w] = ZERO
        while given != ZERO:
            job = np.uint64(64 * w + lowest_position(given))
            given &= given - ONE
            run_in(job, table.whole[job, RUN_SLOTS] - 1, table, counts, clocks)
    for w in range(first_pes, grants.shape[1]):
        grants[slot, w] = ZERO


@part(inline=False)
def grant_where_it_fits(job, rank, opened, matrix, table, taken, counts, clocks):
    """Under `exclusive`: a job was mapped. It changes its own slot and those that it may run in.

    `rank` is its position in the order of precedence and `opened` tells whether the slot was opened for it.
    """
    grants, pes = matrix.grants, table.pes
    first_pes = grants.shape[1] - pes.shape[1]
    own = table.whole[job, SLOT]
    last = rank == counts[N_JOBS] - 1
    for slot in range(counts[N_SLOTS]):
        if slot == own:
            # To take PEs that nobody was given changes nothing: who was refused is refused again.
            if opened or overlaps(grants, slot, first_pes, pes, job):
                grant(slot, 0, matrix, table, taken, counts, clocks)
        elif disjoint(matrix.occupied, slot, pes, job):
            if not last:  # those after it may have to give back
                grant(slot, rank, matrix, table, taken, counts, clocks)
            elif not overlaps(grants, slot, first_pes, pes, job):
                grants[slot, job >> 6] |= ONE << np.uint64(job & 63)
                for w in range(pes.shape[1]):
                    grants[slot, first_pes + w] |= pes[job, w]
                run_in(job, table.whole[job, RUN_SLOTS] + 1, table, counts, clocks)


@part(inline=False)
def forget(job, n_slots, grants):
    """Under `exclusive`: strike a job that has ended from the grants of every slot."""
    keep = ~(ONE << np.uint64(job & 63))
    for slot in range(n_slots):
        grants[slot, job >> 6] &= keep


@part()
def grant_where_it_ran(job, rank, matrix, table, taken, counts, clocks):
    """Under `exclusive`: a job has ended. What it was given in other slots goes to others.

    They come after it, `rank` being the position that it had in the order of precedence.
    """
    grants = matrix.grants
    own = ONE << np.uint64(job & 63)
    for slot in range(counts[N_SLOTS]):
        if grants[slot, job >> 6] & own != ZERO:
            grants[slot, job >> 6] ^= own
            grant(slot, rank, matrix, table, taken, counts, clocks)


@part(void(int64, int64, SETS, int64, SETS, TABLE, INTS, FLOATS))
def slot_changes(change, slot, changed, row, occupied, table, counts, clocks):
    """Under `shared`: PEs of a used slot, a row of `changed`, become free (change 1) or taken (-1).

    `occupied` holds what is taken in the slot beside them. O(jobs x words).
    """
    if counts[N_SLOTS] == 1:
        return  # which all jobs are mapped to
    for i in range(counts[N_JOBS]):
        job = table.order[PRESENT, i]
        # Not `and`: nobody can guess which of them it would end with.
        is_free = (table.whole[job, SLOT] != slot) & disjoint(table.pes, job, occupied, slot)
        if is_free and not disjoint(table.pes, job, changed, row):
            run_in(job, table.whole[job, RUN_SLOTS] + change, table, counts, clocks)


@part(void(int64, int64, SETS, int64, TABLE, INTS, FLOATS))
def slot_comes_or_goes(change, slot, only, row, table, counts, clocks):
    """Under `shared`: a slot is opened for a job (change 1) or closed after it (-1).

    The job's PEs are a row of `only`. O(jobs x words).
    """
    for i in range(counts[N_JOBS]):
        job = table.order[PRESENT, i]
        if (table.whole[job, SLOT] != slot) & disjoint(table.pes, job, only, row):
            run_in(job, table.whole[job, RUN_SLOTS] + change, table, counts, clocks)


@part(inline=False)
def slots_unite(low, high, occupied, table, counts, clocks):
    """Under `shared`: two slots become one. O(jobs x words).

    Whoever ran in either of them has one slot less: both where it ran in both (one is left), and where it ran
    in one only (the jobs of the other block it now).
    """
    pes, whole = table.pes, table.whole
    for i in range(counts[N_JOBS]):
        job = table.order[PRESENT, i]
        own = whole[job, SLOT]
        runs_in_low = own == low or disjoint(occupied, low, pes, job)
        if runs_in_low or own == high or disjoint(occupied, high, pes, job):
            run_in(job, whole[job, RUN_SLOTS] - 1, table, counts, clocks)
