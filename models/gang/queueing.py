"""Which job enters the matrix next: a bound on its slots, memory of its PEs, and a queue before it.

With a multiprogramming level of M (``slots_limit``) a job waits if its packing scheme finds enough free PEs
in none of M slots, or if its PEs would have too little memory. Under ``fcfs`` the head of the queue keeps all
others from entering. Under ``backfill`` it has a reservation, and others enter as long as they do not delay
it according to requested times: each slot is a machine that can be backfilled (Zhang et al. 2003).

An expected end follows from the rest of a job's requested time, times the slots in use: a job in one slot of
S advances by one second in S. It may advance faster, in foreign slots or when a slot closes, so that the
estimate is conservative. In virtual time, which advances by 1 / S in a second (`models.gang.alternation`),
the factor is the same for all jobs and drops out: a job is expected to end when virtual time has advanced by
the rest of its request. A job that has used up its request may end at any moment.

The shadow time is the first of these ends after which the scheme could place the head of the queue, if all
jobs that are expected to have ended were gone. Another job enters if it is expected to end by then, or if the
head still fits beside it; if it does not fit in the slot that the scheme chooses, the scheme is called for
another slot. Future unions of slots are not considered. At a level of 1 this is EASY.

The engine calls these functions through one function of a declared type, `models.gang.admission.admit`, which
is compiled separately and only for runs with a bound; it takes as long to compile as the engine.

The engine processes the queue after each end and, under ``backfill``, after each submission; with
``ties: instant`` after the last event of an instant. Only a newcomer that finds the queue empty is tried at
once.

References
----------
Y. Zhang, H. Franke, J. Moreira, A. Sivasubramaniam, "An integrated approach to parallel scheduling using
gang-scheduling, backfilling, and migration", IEEE Transactions on Parallel and Distributed Systems 14(3),
2003, sections 3 to 5.
"""

import numpy as np
from numba import int64, types, uint64

from models.gang.memory import find_lacking, hide_lacking, is_limited, take_memory
from models.gang.profile import AT_PRESENT, AT_SHADOW, CHOSEN
from models.gang.state import SYSTEM
from models.kernels.bits import ALL
from models.kernels.compiling import part, passable
from models.packing.schemes.signature import PLACE, REARRANGE, RELEASE
from models.packing.slots import NOWHERE, insert

# Requests of the engine: which job of the queue enters next; which slot a newcomer can have; whether all jobs
# of the matrix can be remapped within the bounds. The result is a place of the table, a slot, or 0; or it is
# NOWHERE.
NEXT, SLOT_NOW, REPACK = range(3)

ADMIT_SIGNATURE = int64(
    int64,  # question
    uint64,  # place of the newcomer, for SLOT_NOW
    PLACE,  # the packing scheme
    RELEASE,
    REARRANGE,
    SYSTEM,
)
ADMIT = types.FunctionType(ADMIT_SIGNATURE)


@passable(ADMIT_SIGNATURE)
def never_called(question, job, place, release, rearrange, system):
    """Stand in for `models.gang.admission`, which the engine calls only with a bound."""
    return NOWHERE


@part()
def n_waiting(state):
    """Return the length of the queue."""
    return state.end_waiting - state.first_waiting


@part()
def join_queue(job, queue, state):
    """Append a job to the queue, which is moved to the front of its array when it reaches the end."""
    if state.end_waiting == queue.shape[0]:
        for i in range(state.first_waiting, state.end_waiting):
            queue[i - state.first_waiting] = queue[i]
        state.end_waiting -= state.first_waiting
        state.first_waiting = 0
    queue[state.end_waiting] = job
    state.end_waiting += 1


@part()
def leave_queue(i, queue, state):
    """Remove the job at a position from the queue: the jobs before it move up. O(jobs before it)."""
    for later in range(i, state.first_waiting, -1):
        queue[later] = queue[later - 1]
    state.first_waiting += 1


@part()
def is_barred(slot, when, profile):
    """Return whether a slot must not be used, because a job would delay the head of the queue there."""
    return when == AT_PRESENT and profile.barred[slot] == 1


@part(inline=False)
def show(matrix, n_slots, when, profile):
    """Copy the used slots of a matrix for a packing scheme, barred ones as full, and two empty ones."""
    shown = profile.shown
    for slot in range(n_slots + 2):
        barred = is_barred(slot, when, profile)
        for w in range(shown.occupied.shape[1]):
            shown.occupied[slot, w] = ALL if barred else matrix.occupied[slot, w]
        shown.free[slot] = 0 if barred else matrix.free[slot]


@part(inline=False)
def place_in_shown(place, release, size, n_slots, lacks, when, system):
    """Let the scheme place a job in the slots shown to it; return the slot, or NOWHERE.

    The PEs are then in the buffer for them, and in the scheme's books, unless the result is NOWHERE. With
    `lacks` some PEs have too little memory, which is already hidden in the used slots: a new slot cannot use
    them either, and is shown as if it were in use.
    """
    settings, shown, books, scratch = (
        system.settings, system.profile.shown, system.books, system.buffers.scratch
    )  # fmt: skip
    n_pes = settings.n_pes
    row = system.profile.set_row if when == AT_SHADOW else system.buffers.chosen_row
    slot = place(size, n_pes, n_slots, shown, books, scratch, row)
    if slot < n_slots:
        return slot
    if n_slots < settings.slots_limit:
        if not lacks:
            return n_slots
        release(size, n_pes, row, books)
        hide_lacking(n_slots, shown, system.profile.sets)
        if shown.free[n_slots] < size:
            return NOWHERE
        slot = place(size, n_pes, n_slots + 1, shown, books, scratch, row)
        if slot <= n_slots:
            return slot
    release(size, n_pes, row, books)
    return NOWHERE


@part(inline=False)
def slot_in_matrix(place, release, job, matrix, when, system):
    """Return the slot of a matrix (the present one, or the profile's) that the scheme chooses, or NOWHERE.

    O(slots x words), and the time of the scheme.
    """
    settings, jobs, profile = system.settings, system.table.jobs, system.profile
    n_slots = system.state[0].profile_slots if when == AT_SHADOW else system.state[0].n_slots
    size = jobs[job].size
    free = 0
    for slot in range(n_slots):
        if not is_barred(slot, when, profile):
            free = max(free, matrix.free[slot])
    if free < size and n_slots >= settings.slots_limit:  # the most frequent case
        return NOWHERE
    show(matrix, n_slots, when, profile)
    lacks = False
    if is_limited(settings):
        lacks = find_lacking(jobs[job].memory, when, settings.memory_limit, profile)
        if lacks:
            for slot in range(n_slots):
                if not is_barred(slot, when, profile):
                    hide_lacking(slot, profile.shown, profile.sets)
    return place_in_shown(place, release, size, n_slots, lacks, when, system)


@part()
def list_job(job, n, table, listed):
    """Insert a job into the list of jobs that a migrating scheme would have to map."""
    listed.jobs[job].size = table.jobs[job].size
    listed.jobs[job].slot = NOWHERE
    insert(listed.decreasing, n, job, listed.jobs, 1)
    return n + 1


@part(inline=False)
def list_jobs(when, table, n_jobs, profile):
    """List the jobs of the matrix, at present or at the shadow time, and return their number."""
    listed = profile.table
    n = 0
    for i in range(n_jobs):
        job = table.decreasing[i]
        if when == AT_PRESENT or profile.stays[job]:
            listed.jobs[job].size = table.jobs[job].size
            listed.jobs[job].slot = NOWHERE
            listed.decreasing[n] = job
            n += 1
    return n


@part(inline=False)
def all_fit(n, rearrange, system):
    """Return whether a migrating scheme can map the first n listed jobs within all bounds.

    O(jobs x slots), with memory O(jobs x PEs).
    """
    settings, profile, state = system.settings, system.profile, system.state[0]
    listed = profile.table
    total = 0
    for i in range(n):
        total += listed.jobs[listed.decreasing[i]].size
    if total > settings.slots_limit * settings.n_pes:
        return False
    state.profile_slots = rearrange(0, n, state.profile_slots, settings.n_pes, profile.matrix, listed)
    if state.profile_slots > settings.slots_limit:
        return False
    if is_limited(settings):
        for pe in range(settings.n_pes):
            profile.memory[AT_SHADOW, pe] = 0
        for i in range(n):
            job = listed.decreasing[i]
            take_memory(listed.pes, job, system.table.jobs[job].memory, AT_SHADOW, profile.memory)
        for pe in range(settings.n_pes):
            if profile.memory[AT_SHADOW, pe] > settings.memory_limit:
                return False
    return True


@part()
def surely_fit(n_jobs, settings):
    """Return whether any `n_jobs` jobs can be remapped, because each could have a slot of its own."""
    return n_jobs <= settings.slots_limit and not is_limited(settings)


@part(inline=False)
def slot_now(place, release, rearrange, job, system):
    """Return a slot for a job (any number from 0 on if the scheme migrates), or NOWHERE."""
    n_jobs, profile = system.state[0].n_jobs, system.profile
    if system.settings.migrating:
        if not surely_fit(n_jobs + 1, system.settings):
            n = list_jobs(AT_PRESENT, system.table, n_jobs, profile)
            n = list_job(job, n, system.table, profile.table)
            if not all_fit(n, rearrange, system):
                return NOWHERE
        return 0
    return slot_in_matrix(place, release, job, system.matrix, AT_PRESENT, system)


@part(inline=False)
def head_fits(place, release, rearrange, head, newcomer, system):
    """Return whether the head of the queue fits at the shadow time, beside a newcomer or none (NOWHERE)."""
    profile, table = system.profile, system.table
    if system.settings.migrating:
        n = list_jobs(AT_SHADOW, table, system.state[0].n_jobs, profile)
        if newcomer != NOWHERE:
            n = list_job(np.uint64(newcomer), n, table, profile.table)
        n = list_job(head, n, table, profile.table)
        return all_fit(n, rearrange, system)
    slot = slot_in_matrix(place, release, head, profile.matrix, AT_SHADOW, system)
    if slot == NOWHERE:
        return False
    release(table.jobs[head].size, system.settings.n_pes, profile.set_row, system.books)
    return True


@part(inline=False)
def build_profile(place, release, rearrange, head, system):
    """Find the shadow time of the head of the queue, and the expected matrix at that time.

    O(ends before it x (jobs + the time of the scheme)).
    """
    table, state, profile = system.table, system.state[0], system.profile
    n_jobs = state.n_jobs
    for i in range(n_jobs):
        profile.stays[table.present[i]] = 1
    if not system.settings.migrating:
        ahead, matrix = profile.matrix, system.matrix
        state.profile_slots = state.n_slots
        for slot in range(state.n_slots + 2):
            for w in range(ahead.occupied.shape[1]):
                ahead.occupied[slot, w] = matrix.occupied[slot, w]
            ahead.free[slot] = matrix.free[slot]
            ahead.tags[slot] = matrix.tags[slot]
        for pe in range(profile.memory.shape[1]):
            profile.memory[AT_SHADOW, pe] = profile.memory[AT_PRESENT, pe]
    n_left = n_jobs
    state.shadow = np.inf
    while n_left > 0:
        shadow = np.inf
        for i in range(n_jobs):
            job = table.present[i]
            if profile.stays[job]:
                shadow = min(shadow, expected_end(job, table, state))
        for i in range(n_jobs):
            job = table.present[i]
            if profile.stays[job] and expected_end(job, table, state) <= shadow:
                profile.stays[job] = 0
                n_left -= 1
                if not system.settings.migrating:
                    update_profile(job, table.jobs[job].slot, -1, table.pes, job, system)
        if head_fits(place, release, rearrange, head, NOWHERE, system):
            state.shadow = shadow
            return


@part()
def expected_end(place, table, state):
    """Return the virtual time at which a job of the matrix is expected to end, with one slot for itself."""
    job, virtual = table.jobs[place], state.virtual
    beyond = job.requested - job.runtime
    left = (table.finish[job.position] - virtual) * job.run_slots
    return max(virtual + (beyond + left), virtual)


@part(inline=False)
def update_profile(job, slot, change, pes, row, system):
    """Add a job to the profile (change 1) or remove it (-1); its PEs are a row of `pes`."""
    ahead, jobs = system.profile.matrix, system.table.jobs
    for w in range(ahead.occupied.shape[1]):
        if change > 0:
            ahead.occupied[slot, w] |= pes[row, w]
        else:
            ahead.occupied[slot, w] &= ~pes[row, w]
    ahead.free[slot] -= change * jobs[job].size
    if is_limited(system.settings):
        take_memory(pes, row, change * jobs[job].memory, AT_SHADOW, system.profile.memory)


@part(inline=False)
def keeps_reservation(place, release, rearrange, job, slot, head, system):
    """Return whether a job that fits now does not delay the queue's head, and is added to the profile."""
    state, profile = system.state[0], system.profile
    if state.virtual + system.table.jobs[job].requested <= state.shadow:
        profile.stays[job] = 0
        return True
    if system.settings.migrating:
        profile.stays[job] = head_fits(place, release, rearrange, head, np.int64(job), system)
        return profile.stays[job] == 1
    n_slots = state.profile_slots
    state.profile_slots = max(n_slots, slot + 1)
    update_profile(job, slot, 1, system.buffers.chosen, CHOSEN, system)
    if head_fits(place, release, rearrange, head, NOWHERE, system):
        return True
    update_profile(job, slot, -1, system.buffers.chosen, CHOSEN, system)
    state.profile_slots = n_slots
    return False


@part(inline=False)
def backfill_slot(place, release, rearrange, job, head, system):
    """Return a slot in which a job fits and does not delay the head of the queue, or NOWHERE."""
    profile, n_slots = system.profile, system.state[0].n_slots
    found = NOWHERE
    n_tried = 0
    while n_tried <= n_slots:
        slot = slot_now(place, release, rearrange, job, system)
        if slot == NOWHERE:
            break
        if keeps_reservation(place, release, rearrange, job, slot, head, system):
            found = slot
            break
        if system.settings.migrating:
            break
        release(system.table.jobs[job].size, system.settings.n_pes, system.buffers.chosen_row, system.books)
        if slot == n_slots:  # it would open this slot: there is no other
            break
        profile.barred[slot] = 1
        n_tried += 1
    for slot in range(min(n_slots, profile.barred.shape[0])):
        profile.barred[slot] = 0
    return found


@part()
def largest_fitting(system):
    """Return the PEs of the largest job that may fit now. O(slots)."""
    settings, n_slots, free = system.settings, system.state[0].n_slots, system.matrix.free
    if n_slots < settings.slots_limit:
        return settings.n_pes
    most = total = 0
    for slot in range(n_slots):
        most = max(most, free[slot])
        total += free[slot]
    return min(total, settings.n_pes) if settings.migrating else most


@part()
def largest_beside(head, system):
    """Return the PEs of the largest job that may leave the head its place at the shadow time. O(slots)."""
    settings, ahead = system.settings, system.profile.matrix
    if settings.migrating:  # a profile has no matrix for that time
        return settings.n_pes
    n_slots = system.state[0].profile_slots
    total = (settings.slots_limit - n_slots) * settings.n_pes - system.table.jobs[head].size
    for slot in range(n_slots):
        total += ahead.free[slot]
    return total


@part(inline=False)
def next_to_enter(place, release, rearrange, system):
    """Return the place of the next job of the queue that may enter now, or NOWHERE.

    The job leaves the queue; its slot is `state.found_slot` and its PEs are in `system.buffers.chosen`.
    """
    state, queue, settings = system.state[0], system.queue, system.settings
    if state.next_candidate == NOWHERE:
        if n_waiting(state) == 0:
            return NOWHERE
        job = queue[state.first_waiting]
        slot = slot_now(place, release, rearrange, job, system)
        if slot != NOWHERE:
            state.found_slot = slot
            state.first_waiting += 1
            return job
        if not settings.backfilling or n_waiting(state) == 1:
            return NOWHERE
        build_profile(place, release, rearrange, job, system)
        state.next_candidate = state.first_waiting + 1
    head = queue[state.first_waiting]
    most, beside, jobs = largest_fitting(system), largest_beside(head, system), system.table.jobs
    while state.next_candidate < state.end_waiting:
        i = state.next_candidate
        job = queue[i]
        state.next_candidate += 1
        size = jobs[job].size
        # The most frequent cases; in a long queue the second one takes longest to determine.
        if size > most or (size > beside and state.virtual + jobs[job].requested > state.shadow):
            continue
        slot = backfill_slot(place, release, rearrange, job, head, system)
        if slot != NOWHERE:
            state.found_slot = slot
            leave_queue(i, queue, state)
            return job
    state.next_candidate = NOWHERE
    return NOWHERE
