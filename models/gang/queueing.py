"""Who enters the matrix: a bound on its slots, memory of its PEs, and a queue before it.

With a multiprogramming level of M (``slots_limit``) a job that its packing scheme finds room for in none of M
slots waits. So does one whose PEs would have too little memory. Under ``fcfs`` the first of the queue keeps
all others from entering. Under ``backfill`` it has a reservation, and others enter as long as they do not
delay it, as far as requested times tell: each slot is a machine that can be backfilled (Zhang et al. 2003).

An expected end is judged by what is left of a job's requested time, times the slots in use: a job that has a
slot of S for itself advances by one second in S. It may well advance faster, in foreign slots or when a slot
closes, so that this errs on the safe side. In virtual time, which advances by 1 / S in a second
(`models.gang.alternation`), the factor is the same for all jobs and drops out: a job is expected to end when
virtual time has advanced by what is left of its request. One that has used it up may end at any moment.

The shadow is the first of these ends with which the scheme would find room for the first of the queue, were
all jobs gone that are expected to have ended. Another one enters if it is expected to end by then, or if
there is still room for the first beside it; where that is not so in the slot that the scheme chooses, the
scheme is asked for another slot. Unions of slots to come are not foreseen. At a level of 1 all of this is
EASY (`models.backfill.priority.pool`).

The engine asks for all of this through one function of a declared type, `models.gang.admission.admit`, which
is compiled on its own and only for runs with a bound; it takes as long to compile as the engine itself.

The queue is looked at after each end and, under ``backfill``, after each submission; with ``ties: instant``
once all events of an instant are through. Only a newcomer that finds nobody waiting is looked at right away.

References
----------
Y. Zhang, H. Franke, J. Moreira, A. Sivasubramaniam, "An integrated approach to parallel scheduling using
gang-scheduling, backfilling, and migration", IEEE Transactions on Parallel and Distributed Systems 14(3),
2003, sections 3 to 5.
"""

from __future__ import annotations

import numpy as np
from numba import int64, types, uint64

from models.gang.memory import find_lacking, hide_lacking, is_limited, take_memory
from models.gang.state import (
    END_WAITING,
    FIRST_WAITING,
    FOUND_SLOT,
    LOOKED_AT,
    SHADOW,
    SYSTEM,
    VIRTUAL,
)
from models.gang.waiting import AT_PRESENT, CHOSEN, NEEDED, REQUESTED, THEN, leave_queue
from models.kernels.bits import ALL
from models.kernels.compiling import part
from models.packing.matrix import (
    DECREASING,
    FINISH,
    N_JOBS,
    N_SLOTS,
    POSITION,
    PRESENT,
    RUN_SLOTS,
    SIZE,
    SLOT,
)
from models.packing.schemes.signature import PLACE, REARRANGE, RELEASE
from models.packing.slots import NOWHERE, insert

# What the engine asks: who of the queue enters next; whether a newcomer may; whether all jobs of the matrix
# can be mapped anew within the bounds. The answer is a place of the table, a slot, or 0; or it is NOWHERE.
NEXT, ROOM_NOW, REPACK = range(3)

ADMIT_SIGNATURE = int64(
    int64,  # question
    uint64,  # place of the newcomer, for ROOM_NOW
    PLACE,  # the packing scheme
    RELEASE,
    REARRANGE,
    SYSTEM,
)
ADMIT = types.FunctionType(ADMIT_SIGNATURE)


@part()
def n_waiting(counts):
    """Return how many jobs wait."""
    return counts[END_WAITING] - counts[FIRST_WAITING]


@part()
def is_barred(slot, when, foresight):
    """Tell whether a slot is not to be used, as a job would delay the first of the queue there."""
    return when == AT_PRESENT and foresight.barred[slot] == 1


@part(inline=False)
def show(matrix, n_slots, when, foresight):
    """Show a packing scheme the used slots of a matrix, those that are barred as full, and two empty ones."""
    shown = foresight.shown
    for slot in range(n_slots + 2):
        barred = is_barred(slot, when, foresight)
        for w in range(shown.occupied.shape[1]):
            shown.occupied[slot, w] = ALL if barred else matrix.occupied[slot, w]
        shown.free[slot] = 0 if barred else matrix.free[slot]


@part(inline=False)
def ask(place, release, size, n_slots, lacks, when, system):
    """Ask the scheme for room in the slots it is shown; return the slot, or NOWHERE.

    The PEs are in the room for them, and in the scheme's books, where there is room. With `lacks` some PEs
    have too little memory, which is hidden in the used slots already: a new slot has to do without them, too,
    and is shown as if it were in use.
    """
    settings, shown, books, scratch = (
        system.settings, system.foresight.shown, system.books, system.room.scratch
    )  # fmt: skip
    n_pes = settings.n_pes
    row = system.foresight.set_row if when == THEN else system.room.chosen_row
    slot = place(size, n_pes, n_slots, shown, books, scratch, row)
    if slot < n_slots:
        return slot
    if n_slots < settings.slots_limit:
        if not lacks:
            return n_slots
        release(size, n_pes, row, books)
        hide_lacking(n_slots, shown, system.foresight.sets)
        if shown.free[n_slots] < size:
            return NOWHERE
        slot = place(size, n_pes, n_slots + 1, shown, books, scratch, row)
        if slot <= n_slots:
            return slot
    release(size, n_pes, row, books)
    return NOWHERE


@part(inline=False)
def room_in_matrix(place, release, job, matrix, when, system):
    """Return a slot of a matrix (that of now, or the one to come) in which the scheme has room, or NOWHERE.

    O(slots x words), and what the scheme takes.
    """
    settings, table, foresight = system.settings, system.table, system.foresight
    n_slots = system.counts[N_SLOTS]
    if when == THEN:
        n_slots = foresight.counts[N_SLOTS]
    size = table.whole[job, SIZE]
    free = 0
    for slot in range(n_slots):
        if not is_barred(slot, when, foresight):
            free = max(free, matrix.free[slot])
    if free < size and n_slots >= settings.slots_limit:  # most often so, and no scheme has room where none is
        return NOWHERE
    show(matrix, n_slots, when, foresight)
    lacks = False
    if is_limited(settings):
        lacks = find_lacking(system.waiting.memory[job], when, settings.memory_limit, foresight)
        if lacks:
            for slot in range(n_slots):
                if not is_barred(slot, when, foresight):
                    hide_lacking(slot, foresight.shown, foresight.sets)
    return ask(place, release, size, n_slots, lacks, when, system)


@part()
def list_job(job, n, table, listed):
    """Put a job into the list of those that a scheme that migrates would have to map."""
    listed.whole[job, SIZE] = table.whole[job, SIZE]
    listed.whole[job, SLOT] = NOWHERE
    insert(listed.order, DECREASING, n, job, listed.whole, 1)
    return n + 1


@part(inline=False)
def list_jobs(when, table, counts, foresight):
    """List the jobs of the matrix, those of now or those that are still there then; return how many."""
    listed = foresight.table
    n = 0
    for i in range(counts[N_JOBS]):
        job = table.order[DECREASING, i]
        if when == AT_PRESENT or foresight.stays[job]:
            listed.whole[job, SIZE] = table.whole[job, SIZE]
            listed.whole[job, SLOT] = NOWHERE
            listed.order[DECREASING, n] = job
            n += 1
    return n


@part(inline=False)
def all_fit(n, rearrange, system):
    """Tell whether a scheme that migrates can map the first n listed jobs within all bounds.

    O(jobs x slots), with memory O(jobs x PEs).
    """
    settings, foresight = system.settings, system.foresight
    listed, counts = foresight.table, foresight.counts
    total = 0
    for i in range(n):
        total += listed.whole[listed.order[DECREASING, i], SIZE]
    if total > settings.slots_limit * settings.n_pes:
        return False
    counts[N_JOBS] = n
    rearrange(0, settings.n_pes, foresight.matrix, listed, counts)
    if counts[N_SLOTS] > settings.slots_limit:
        return False
    if is_limited(settings):
        for pe in range(settings.n_pes):
            foresight.memory[THEN, pe] = 0
        for i in range(n):
            job = listed.order[DECREASING, i]
            take_memory(listed.pes, job, system.waiting.memory[job], THEN, foresight.memory)
        for pe in range(settings.n_pes):
            if foresight.memory[THEN, pe] > settings.memory_limit:
                return False
    return True


@part()
def surely_fit(n_jobs, settings):
    """Tell whether so many jobs can be mapped anew whatever they are: each could have a slot."""
    return n_jobs <= settings.slots_limit and not is_limited(settings)


@part(inline=False)
def room_now(place, release, rearrange, job, system):
    """Return a slot with room for a job (any number from 0 on if the scheme migrates), or NOWHERE."""
    counts, foresight = system.counts, system.foresight
    if system.settings.migrating:
        if not surely_fit(counts[N_JOBS] + 1, system.settings):
            n = list_jobs(AT_PRESENT, system.table, counts, foresight)
            n = list_job(job, n, system.table, foresight.table)
            if not all_fit(n, rearrange, system):
                return NOWHERE
        return 0
    return room_in_matrix(place, release, job, system.matrix, AT_PRESENT, system)


@part(inline=False)
def room_then(place, release, rearrange, head, newcomer, system):
    """Tell whether there will be room for the first of the queue, beside a newcomer or none (NOWHERE)."""
    foresight, table = system.foresight, system.table
    if system.settings.migrating:
        n = list_jobs(THEN, table, system.counts, foresight)
        if newcomer != NOWHERE:
            n = list_job(np.uint64(newcomer), n, table, foresight.table)
        n = list_job(head, n, table, foresight.table)
        return all_fit(n, rearrange, system)
    slot = room_in_matrix(place, release, head, foresight.matrix, THEN, system)
    if slot == NOWHERE:
        return False
    release(table.whole[head, SIZE], system.settings.n_pes, foresight.set_row, system.books)
    return True


@part(inline=False)
def look_ahead(place, release, rearrange, head, system):
    """Find the shadow of the first of the queue, and what the matrix will look like then.

    O(ends before it x (jobs + what the scheme takes)).
    """
    table, counts, clocks, waiting, foresight = (
        system.table, system.counts, system.clocks, system.waiting, system.foresight
    )  # fmt: skip
    n_jobs = counts[N_JOBS]
    for i in range(n_jobs):
        foresight.stays[table.order[PRESENT, i]] = 1
    if not system.settings.migrating:
        n_slots = counts[N_SLOTS]
        foresight.counts[N_SLOTS] = n_slots
        ahead, matrix = foresight.matrix, system.matrix
        for slot in range(n_slots + 2):
            for w in range(ahead.occupied.shape[1]):
                ahead.occupied[slot, w] = matrix.occupied[slot, w]
            ahead.free[slot] = matrix.free[slot]
            ahead.tags[slot] = matrix.tags[slot]
        for pe in range(foresight.memory.shape[1]):
            foresight.memory[THEN, pe] = foresight.memory[AT_PRESENT, pe]
    n_left = n_jobs
    clocks[SHADOW] = np.inf
    while n_left > 0:
        shadow = np.inf
        for i in range(n_jobs):
            job = table.order[PRESENT, i]
            if foresight.stays[job]:
                shadow = min(shadow, expected_end(job, table, waiting, clocks))
        for i in range(n_jobs):
            job = table.order[PRESENT, i]
            if foresight.stays[job] and expected_end(job, table, waiting, clocks) <= shadow:
                foresight.stays[job] = 0
                n_left -= 1
                if not system.settings.migrating:
                    note_ahead(job, table.whole[job, SLOT], -1, table.pes, job, system)
        if room_then(place, release, rearrange, head, NOWHERE, system):
            clocks[SHADOW] = shadow
            return


@part()
def expected_end(job, table, waiting, clocks):
    """Return the virtual time at which a job of the matrix is expected to end, with one slot for itself."""
    virtual, position = clocks[VIRTUAL], table.whole[job, POSITION]
    beyond = waiting.times[job, REQUESTED] - waiting.times[job, NEEDED]
    left = (table.real[FINISH, position] - virtual) * table.whole[job, RUN_SLOTS]
    return max(virtual + (beyond + left), virtual)


@part(inline=False)
def note_ahead(job, slot, change, pes, row, system):
    """Let a job come (change 1) or go (-1) in what the matrix will look like; its PEs are a row of `pes`."""
    ahead, size = system.foresight.matrix, system.table.whole[job, SIZE]
    for w in range(ahead.occupied.shape[1]):
        if change > 0:
            ahead.occupied[slot, w] |= pes[row, w]
        else:
            ahead.occupied[slot, w] &= ~pes[row, w]
    ahead.free[slot] -= change * size
    if is_limited(system.settings):
        take_memory(pes, row, change * system.waiting.memory[job], THEN, system.foresight.memory)


@part(inline=False)
def delays_nobody(place, release, rearrange, job, slot, head, system):
    """Tell whether a job that has room now leaves some to the first of the queue; if so, it counts then."""
    clocks, foresight = system.clocks, system.foresight
    if clocks[VIRTUAL] + system.waiting.times[job, REQUESTED] <= clocks[SHADOW]:
        foresight.stays[job] = 0
        return True
    if system.settings.migrating:
        foresight.stays[job] = room_then(place, release, rearrange, head, np.int64(job), system)
        return foresight.stays[job] == 1
    n_slots = foresight.counts[N_SLOTS]
    foresight.counts[N_SLOTS] = max(n_slots, slot + 1)
    note_ahead(job, slot, 1, system.room.chosen, CHOSEN, system)
    if room_then(place, release, rearrange, head, NOWHERE, system):
        return True
    note_ahead(job, slot, -1, system.room.chosen, CHOSEN, system)
    foresight.counts[N_SLOTS] = n_slots
    return False


@part(inline=False)
def may_pass(place, release, rearrange, job, head, system):
    """Return a slot in which a job has room and does not delay the first of the queue, or NOWHERE."""
    foresight, counts = system.foresight, system.counts
    n_slots = counts[N_SLOTS]
    found = NOWHERE
    n_asked = 0
    while n_asked <= n_slots:
        slot = room_now(place, release, rearrange, job, system)
        if slot == NOWHERE:
            break
        if delays_nobody(place, release, rearrange, job, slot, head, system):
            found = slot
            break
        if system.settings.migrating:
            break
        release(system.table.whole[job, SIZE], system.settings.n_pes, system.room.chosen_row, system.books)
        if slot == n_slots:  # a slot that it would open: there is no other
            break
        foresight.barred[slot] = 1
        n_asked += 1
    for slot in range(min(n_slots, foresight.barred.shape[0])):
        foresight.barred[slot] = 0
    return found


@part()
def most_room(system):
    """Return the PEs of the largest job that there may be room for now. O(slots)."""
    settings, counts, free = system.settings, system.counts, system.matrix.free
    n_slots = counts[N_SLOTS]
    if n_slots < settings.slots_limit:
        return settings.n_pes
    most = total = 0
    for slot in range(n_slots):
        most = max(most, free[slot])
        total += free[slot]
    return min(total, settings.n_pes) if settings.migrating else most


@part(inline=False)
def next_to_enter(place, release, rearrange, system):
    """Return the place of the next job of the queue that may enter now, or NOWHERE.

    It has left the queue then; its slot is `counts[FOUND_SLOT]` and its PEs are in `system.room.chosen`.
    """
    counts, order, settings = system.counts, system.waiting.order, system.settings
    if counts[LOOKED_AT] == NOWHERE:
        if n_waiting(counts) == 0:
            return NOWHERE
        job = order[counts[FIRST_WAITING]]
        slot = room_now(place, release, rearrange, job, system)
        if slot != NOWHERE:
            counts[FOUND_SLOT] = slot
            counts[FIRST_WAITING] += 1
            return job
        if not settings.backfilling or n_waiting(counts) == 1:
            return NOWHERE
        look_ahead(place, release, rearrange, job, system)
        counts[LOOKED_AT] = counts[FIRST_WAITING] + 1
    head = order[counts[FIRST_WAITING]]
    most = most_room(system)
    while counts[LOOKED_AT] < counts[END_WAITING]:
        i = counts[LOOKED_AT]
        job = order[i]
        counts[LOOKED_AT] += 1
        if system.table.whole[job, SIZE] > most:  # most often so: nobody need be asked
            continue
        slot = may_pass(place, release, rearrange, job, head, system)
        if slot != NOWHERE:
            counts[FOUND_SLOT] = slot
            leave_queue(order, i, counts[FIRST_WAITING])
            counts[FIRST_WAITING] += 1
            return job
    counts[LOOKED_AT] = NOWHERE
    return NOWHERE
