"""Alternative scheduling: a job also runs in foreign slots that leave its PEs free (section 2, Fig. 1).

Between events each used slot gets an equal share of the time, so a job that runs in k of S slots has the run
fraction k / S. The paper leaves open whether two jobs may fill the same free PEs of a foreign slot:

none
    No alternative scheduling: k = 1 (Fig. 13).
exclusive
    A PE of a slot serves one job: in each slot the free PEs go to the jobs in order of precedence.
shared
    A job counts every slot whose mapped jobs leave its PEs free, whether or not other guests use them. PEs
    that two jobs fill at once deliver twice: utilization can exceed 1, and a load above 1 need not saturate.

Virtual time advances by dt / S, so that a job in k slots completes k units of runtime in one unit of it, and
a change of S alone needs no recomputation.
"""

import numpy as np
from numba import int64, void

from models.gang.state import STATE
from models.kernels.bits import ONE, ZERO, disjoint, lowest_position
from models.kernels.compiling import part
from models.packing.matrix import MATRIX, SETS, TABLE

EXCLUSIVE, NONE, SHARED = range(3)  # in the order of `policies.Rules`


@part()
def run_in(place, count, table, state):
    """Let a job run in `count` slots from now on, which changes the virtual time of its remaining work."""
    job, finish = table.jobs[place], table.finish
    before = job.run_slots
    virtual = state.virtual
    finish[job.position] = virtual + (finish[job.position] - virtual) * before / count
    job.slot_seconds -= (count - before) * (state.now - job.start)
    job.run_slots = count
    state.sum_slots += count - before
    state.sum_pes += (count - before) * job.size


@part()
def count_shared(place, n_slots, matrix, table):
    """Return in how many slots a job's PEs are free or its own. O(slots x words)."""
    own, size = table.jobs[place].slot, table.jobs[place].size
    count = 1
    for slot in range(n_slots):
        # Most slots have too few free PEs, and need no comparison of words.
        if size <= matrix.free[slot] and slot != own and disjoint(matrix.occupied, slot, table.pes, place):
            count += 1
    return count


@part(inline=False)
def count_all_shared(n_slots, matrix, table, state):
    """Under `shared`: count the slots of every job again. O(slots x jobs x words)."""
    for i in range(state.n_jobs):
        job = table.present[i]
        count = count_shared(job, n_slots, matrix, table)
        if count != table.jobs[job].run_slots:
            run_in(job, count, table, state)


@part()
def overlaps(grants, slot, first_pes, pes, job):
    """Under `exclusive`: return whether some of a job's PEs are given to others in a slot."""
    w = 0
    while w < pes.shape[1] and grants[slot, first_pes + w] & pes[job, w] == ZERO:
        w += 1
    return w < pes.shape[1]


@part(void(int64, MATRIX, TABLE, SETS, STATE), inline=False)
def grant(slot, matrix, table, taken, state):
    """Under `exclusive`: give the free PEs of a slot to the jobs mapped elsewhere, in order of precedence.

    O(jobs x words); ends as soon as all free PEs are given.
    """
    occupied, free, _, grants = matrix
    pes, jobs = table.pes, table.jobs
    spare = grants.shape[0] - 1
    first_pes = grants.shape[1] - pes.shape[1]
    for w in range(first_pes):
        grants[spare, w] = ZERO
    for w in range(taken.shape[1]):
        taken[0, w] = occupied[slot, w]
    n_free = free[slot]
    i = 0
    while i < state.n_jobs and n_free > 0:
        job = table.precedence[i]
        if disjoint(taken, 0, pes, job):  # the PEs of jobs mapped to the slot itself are taken
            n_free -= jobs[job].size
            for w in range(taken.shape[1]):
                taken[0, w] |= pes[job, w]
            grants[spare, job >> 6] |= ONE << np.uint64(job & 63)
        i += 1
    for w in range(taken.shape[1]):
        grants[slot, first_pes + w] = taken[0, w] & ~occupied[slot, w]
    # Only jobs whose bit has changed run in another number of slots.
    for w in range(first_pes):
        given = grants[spare, w]
        changed = given ^ grants[slot, w]
        grants[slot, w] = given
        while changed != ZERO:
            bit = lowest_position(changed)
            changed &= changed - ONE
            job = np.uint64(64 * w + bit)
            change = 1 if given >> np.uint64(bit) & ONE else -1
            run_in(job, jobs[job].run_slots + change, table, state)


@part(inline=False)
def revoke(slot, matrix, table, state):
    """Under `exclusive`: take all free PEs of a slot back."""
    grants = matrix.grants
    first_pes = grants.shape[1] - table.pes.shape[1]
    for w in range(first_pes):
        given = grants[slot, w]
        grants[slot, w] = ZERO
        while given != ZERO:
            job = np.uint64(64 * w + lowest_position(given))
            given &= given - ONE
            run_in(job, table.jobs[job].run_slots - 1, table, state)
    for w in range(first_pes, grants.shape[1]):
        grants[slot, w] = ZERO


@part(inline=False)
def grant_where_it_fits(job, opened, matrix, table, taken, state):
    """Under `exclusive`: a job was mapped. Update its own slot and the slots that it may run in.

    `opened` is true if the slot was opened for it.
    """
    grants, pes = matrix.grants, table.pes
    first_pes = grants.shape[1] - pes.shape[1]
    own = table.jobs[job].slot
    last = table.precedence[state.n_jobs - 1] == job
    for slot in range(state.n_slots):
        if slot == own:
            # PEs that were granted to no job change nothing: a job that was refused is refused again.
            if opened or overlaps(grants, slot, first_pes, pes, job):
                grant(slot, matrix, table, taken, state)
        elif disjoint(matrix.occupied, slot, pes, job):
            if not last:  # jobs after it may have to give PEs back
                grant(slot, matrix, table, taken, state)
            elif not overlaps(grants, slot, first_pes, pes, job):
                grants[slot, job >> 6] |= ONE << np.uint64(job & 63)
                for w in range(pes.shape[1]):
                    grants[slot, first_pes + w] |= pes[job, w]
                run_in(job, table.jobs[job].run_slots + 1, table, state)


@part(inline=False)
def forget(job, n_slots, grants):
    """Under `exclusive`: remove a job that has ended from the grants of every slot."""
    keep = ~(ONE << np.uint64(job & 63))
    for slot in range(n_slots):
        grants[slot, job >> 6] &= keep


@part()
def grant_where_it_ran(job, matrix, table, taken, state):
    """Under `exclusive`: a job has ended. Grant its PEs in other slots to jobs after it in precedence."""
    grants = matrix.grants
    own = ONE << np.uint64(job & 63)
    for slot in range(state.n_slots):
        if grants[slot, job >> 6] & own != ZERO:
            grants[slot, job >> 6] ^= own
            grant(slot, matrix, table, taken, state)


@part(void(int64, int64, SETS, int64, SETS, TABLE, STATE))
def slot_changes(change, slot, changed, row, occupied, table, state):
    """Under `shared`: PEs of a used slot, a row of `changed`, become free (change 1) or taken (-1).

    `occupied` holds the slot's other occupied PEs. O(jobs x words).
    """
    if state.n_slots == 1:
        return  # all jobs are mapped to this slot
    for i in range(state.n_jobs):
        job = table.present[i]
        # `and` would have branches, which would be mispredicted.
        is_free = (table.jobs[job].slot != slot) & disjoint(table.pes, job, occupied, slot)
        if is_free and not disjoint(table.pes, job, changed, row):
            run_in(job, table.jobs[job].run_slots + change, table, state)


@part(void(int64, int64, SETS, int64, TABLE, STATE))
def slot_comes_or_goes(change, slot, only, row, table, state):
    """Under `shared`: a slot is opened for a job (change 1) or closed after it (-1).

    The job's PEs are a row of `only`. O(jobs x words).
    """
    for i in range(state.n_jobs):
        job = table.present[i]
        if (table.jobs[job].slot != slot) & disjoint(table.pes, job, only, row):
            run_in(job, table.jobs[job].run_slots + change, table, state)


@part(inline=False)
def slots_unite(low, high, occupied, table, state):
    """Under `shared`: two slots become one. O(jobs x words).

    A job that ran in either of them has one slot less: if it ran in both, one is left; if it ran in one only,
    the jobs of the other block it now.
    """
    pes, jobs = table.pes, table.jobs
    for i in range(state.n_jobs):
        job = table.present[i]
        own = jobs[job].slot
        runs_in_low = own == low or disjoint(occupied, low, pes, job)
        if runs_in_low or own == high or disjoint(occupied, high, pes, job):
            run_in(job, jobs[job].run_slots - 1, table, state)
