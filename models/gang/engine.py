"""The event loop of a gang scheduler: arrivals, terminations, and constant run fractions between them.

The engine names no packing scheme: it calls whatever functions of the declared types it is given. An event
costs O(jobs x words) and what the scheme costs; under migration all jobs are counted anew,
O(slots x jobs x words). Where jobs may have to wait (`models.gang.queueing`), the queue is gone through, too.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, uint64, void

from models.gang.alternation import (
    EXCLUSIVE,
    SHARED,
    count_all_shared,
    count_shared,
    forget,
    grant,
    grant_where_it_fits,
    grant_where_it_ran,
    revoke,
    run_in,
    slot_changes,
    slot_comes_or_goes,
    slots_unite,
)
from models.gang.memory import is_limited, take_all_memory, take_memory
from models.gang.queueing import ADMIT_SIGNATURE, NEXT, REPACK, ROOM_NOW, n_waiting, surely_fit
from models.gang.recording import RECORD, is_full, is_kept, note_end, note_shares, write_ended
from models.gang.slices import seconds_per_unit
from models.gang.state import (
    ARRIVED,
    BATCH_START,
    CURSOR,
    END_WAITING,
    FIRST_WAITING,
    FOUND_SLOT,
    GOAL,
    IN_BATCH,
    JOB_SLOT_TIME,
    JOB_TIME,
    LOOK_DUE,
    MEASURED,
    MEASURED_UNTIL,
    MEASURING,
    N_BATCHES,
    N_ENDED,
    N_VACANT,
    NOW,
    OUT_OF_ORDER,
    REPEATING,
    SLOT_TIME,
    SLOTS_OF_ENDED,
    SUBMITTED,
    SUM_PES,
    SUM_SLOTS,
    SYSTEM,
    TERMINATED,
    TERMINATIONS,
    UNIFICATIONS,
    VIRTUAL,
    WAITING_TIME,
    WORK,
)
from models.gang.waiting import AT_PRESENT, NEEDED, REQUESTED, SUBMIT, join_queue
from models.kernels.bits import ZERO, lowest_position, population
from models.kernels.compiling import kernel, part
from models.kernels.lanes import LANES, least_of
from models.kernels.masks import equal
from models.kernels.passed import taken_from
from models.kernels.ties import takes_end
from models.kernels.types import FLOATS, INTS
from models.packing.matrix import (
    ARRIVAL,
    DECREASING,
    FINISH,
    KEY,
    N_JOBS,
    N_REAL,
    N_SLOTS,
    NUMBER,
    POSITION,
    PRECEDENCE,
    PRESENT,
    RUN,
    RUN_SLOTS,
    RUNS_LEFT,
    RUNTIME,
    SESSION,
    SIZE,
    SLOT,
    SLOT_SECONDS,
    TABLE,
    VACANT,
)
from models.packing.schemes.signature import PLACE_SIGNATURE, REARRANGE_SIGNATURE, RELEASE_SIGNATURE
from models.packing.slots import (
    NOWHERE,
    close_slot,
    insert,
    map_job,
    remove,
    slot_to_unite_with,
    unite,
    unmap_job,
)
from models.workloads.repetition import RERUN_SIGNATURE

place_at, release_at, rearrange_at, admit_at, rerun_at = map(
    taken_from,
    (PLACE_SIGNATURE, RELEASE_SIGNATURE, REARRANGE_SIGNATURE, ADMIT_SIGNATURE, RERUN_SIGNATURE),
)

# Why `advance` returned.
BATCHES_DONE, ARRIVALS_USED_UP, NO_MORE_JOBS, TIME_REACHED, TABLE_FULL, RECORD_FULL = range(6)


@part()
def next_finish(table, n_jobs):
    """Return the virtual time at which the next of the present jobs ends, inf if there is none. O(jobs).

    A plain search: with the run fractions most of the times in a heap would change at each event. It looks at
    eight times together, since a processor cannot guess which of them is a new minimum.
    """
    return least_of(table.real, np.uint64(FINISH * table.real.shape[1]), n_jobs)


@part()
def first_to_end(finish, table, n_jobs):
    """Return the position in the list of present jobs of the one that ends at a time; of several, of the one
    that was submitted first. O(jobs).
    """
    real = table.real
    ends = np.uint64(FINISH * real.shape[1])
    first = 0
    n_first = 0
    for i in range(0, n_jobs, LANES):
        bits = equal(real, ends + np.uint64(i), n_jobs - i, finish)
        first = i + lowest_position(bits) if bits != ZERO else first
        n_first += population(bits)
    if n_first > 1:
        for i in range(n_jobs):
            if real[FINISH, i] <= finish and number_at(i, table) < number_at(first, table):
                first = i
    return first


@part()
def number_at(position, table):
    """Return how many jobs were submitted before the one at a position of the list of present jobs."""
    return table.whole[table.order[PRESENT, position], NUMBER]


@part()
def submit(size, runtime, requested, memory, system):
    """Give a newcomer, which is mapped to no slot yet, a place of the table, and return it."""
    table, counts, times = system.table, system.counts, system.waiting.times
    whole = table.whole
    counts[N_VACANT] -= 1
    job = table.order[VACANT, counts[N_VACANT]]
    whole[job, SLOT] = NOWHERE
    whole[job, SIZE] = size
    whole[job, NUMBER] = counts[SUBMITTED]
    if system.settings.kill and requested < runtime:
        runtime = requested
    times[job, SUBMIT] = system.clocks[NOW]
    times[job, NEEDED] = runtime
    times[job, REQUESTED] = requested
    system.waiting.memory[job] = memory
    counts[SUBMITTED] += 1
    return job


@part(void(uint64, float64, TABLE, INTS, FLOATS))
def enter(job, runtime, table, counts, clocks):
    """Let a job that has been submitted run from now on."""
    whole, real = table.whole, table.real
    n_jobs = counts[N_JOBS]
    whole[job, RUN_SLOTS] = 1
    whole[job, POSITION] = n_jobs
    real[RUNTIME, n_jobs] = runtime
    real[ARRIVAL, n_jobs] = clocks[NOW]
    real[FINISH, n_jobs] = clocks[VIRTUAL] + runtime
    real[SLOT_SECONDS, n_jobs] = 0.0
    table.order[PRESENT, n_jobs] = job
    counts[N_JOBS] += 1
    counts[SUM_SLOTS] += 1
    counts[SUM_PES] += whole[job, SIZE]


@part()
def submit_from(arrivals, system):
    """Let the next session of the chunk submit its job for the first time."""
    settings, table, counts, clocks = system.settings, system.table, system.counts, system.clocks
    cursor = counts[CURSOR]
    job = submit(
        arrivals.size[cursor], arrivals.runtime[cursor], arrivals.requested[cursor], arrivals.memory[cursor],
        system,
    )  # fmt: skip
    table.whole[job, RUNS_LEFT] = arrivals.runs[cursor] - 1
    table.whole[job, RUN] = 0
    table.whole[job, KEY] = arrivals.key[cursor]
    table.whole[job, SESSION] = counts[ARRIVED]
    if counts[ARRIVED] == settings.first_measured and settings.first_measured > 0:
        # All before this one only filled the machine.
        counts[MEASURING] = clocks[NOW] < clocks[MEASURED_UNTIL]
        counts[UNIFICATIONS] = counts[TERMINATIONS] = 0
        clocks[BATCH_START] = min(clocks[NOW], clocks[MEASURED_UNTIL])
    counts[CURSOR] += 1
    counts[ARRIVED] += 1
    return job


@part()
def submit_again(rerun, system):
    """Let the job that has just ended be submitted once more: its place still holds what it was.

    Its user asks for the same time and memory.
    """
    table, counts = system.table, system.counts
    whole = table.whole
    before = counts[REPEATING]
    size, key, run = whole[before, SIZE], whole[before, KEY], whole[before, RUN] + 1
    runs_left, session = whole[before, RUNS_LEFT] - 1, whole[before, SESSION]
    runtime = rerun(table.real[RUNTIME, counts[N_JOBS]], size, key, run, system.rerun_parameters)
    counts[REPEATING] = NOWHERE
    requested, memory = system.waiting.times[before, REQUESTED], system.waiting.memory[before]
    job = submit(size, runtime, requested, memory, system)
    whole[job, RUNS_LEFT] = runs_left
    whole[job, RUN] = run
    whole[job, KEY] = key
    whole[job, SESSION] = session
    return job


@part()
def leave(position, table, counts):
    """Take the job at a position of the list of present jobs out of the table, and return its place.

    Its times are put behind those of the others, where they can still be looked at.
    """
    whole, real, order = table.whole, table.real, table.order
    last = counts[N_JOBS] - 1
    job = order[PRESENT, position]
    counts[SUM_SLOTS] -= whole[job, RUN_SLOTS]
    counts[SUM_PES] -= whole[job, RUN_SLOTS] * whole[job, SIZE]
    moved = order[PRESENT, last]
    order[PRESENT, position] = moved
    whole[moved, POSITION] = position
    for field in range(N_REAL):
        time = real[field, position]
        real[field, position] = real[field, last]
        real[field, last] = time
    real[FINISH, last] = np.inf
    counts[N_JOBS] -= 1
    order[VACANT, counts[N_VACANT]] = job
    counts[N_VACANT] += 1
    return job


@part()
def settle_in(job, slot, rank, system):
    """Map a newcomer to the chosen PEs of a slot and let it and the others run where they now can."""
    settings, matrix, table, room = system.settings, system.matrix, system.table, system.room
    counts, clocks = system.counts, system.clocks
    table.whole[job, SLOT] = slot  # from now on it is none of the others
    if settings.alternation == SHARED:
        if slot == counts[N_SLOTS]:
            slot_comes_or_goes(1, slot, room.chosen, 0, table, counts, clocks)
        else:
            slot_changes(-1, slot, room.chosen, 0, matrix.occupied, table, counts, clocks)
    opened = slot == counts[N_SLOTS]
    map_job(job, slot, matrix, table, room.chosen, counts)
    if is_limited(settings):
        take_memory(table.pes, job, system.waiting.memory[job], AT_PRESENT, system.foresight.memory)
    if settings.alternation == SHARED:
        n_slots = count_shared(job, counts[N_SLOTS], matrix.occupied, table)
        if n_slots > 1:  # it runs in one already
            run_in(job, n_slots, table, counts, clocks)
    elif settings.alternation == EXCLUSIVE:
        grant_where_it_fits(job, rank, opened, matrix, table, room.granted, counts, clocks)


@part()
def clear_out(job, rank, system):
    """After a job was unmapped: let the others run where they now can, close or unite its slot."""
    settings, matrix, table, room = system.settings, system.matrix, system.table, system.room
    counts, clocks = system.counts, system.clocks
    slot = table.whole[job, SLOT]
    if settings.alternation == EXCLUSIVE:
        grant_where_it_ran(job, rank, matrix, table, room.granted, counts, clocks)
    if matrix.free[slot] == settings.n_pes:
        if settings.alternation == SHARED:
            slot_comes_or_goes(-1, slot, table.pes, job, table, counts, clocks)
        elif settings.alternation == EXCLUSIVE:
            revoke(slot, matrix, table, counts, clocks)
        close_slot(slot, settings.n_pes, matrix, table, counts)
        return
    if settings.alternation == SHARED:
        slot_changes(1, slot, table.pes, job, matrix.occupied, table, counts, clocks)
    if settings.unification:
        other = slot_to_unite_with(slot, counts[N_SLOTS], matrix.occupied)
        if other != NOWHERE:
            low = min(slot, other)
            high = max(slot, other)
            if settings.alternation == SHARED:
                slots_unite(low, high, matrix.occupied, table, counts, clocks)
            elif settings.alternation == EXCLUSIVE:
                revoke(low, matrix, table, counts, clocks)
                revoke(high, matrix, table, counts, clocks)
            unite(low, high, settings.n_pes, matrix, table, counts)
            counts[UNIFICATIONS] += 1
            slot = low
    if settings.alternation == EXCLUSIVE:
        grant(slot, 0, matrix, table, room.granted, counts, clocks)


@part()
def migrate(position, ended, place, release, rearrange, admit, system):
    """Let the scheme map all jobs anew and let them run where they now can.

    Packed anew after an end (of a job, or NOWHERE) they might take more slots than are allowed, or more
    memory: first fit decreasing is not monotone. Then they stay where they are, and the next time all are
    mapped anew.
    """
    settings, matrix, table = system.settings, system.matrix, system.table
    counts, clocks = system.counts, system.clocks
    before = counts[N_SLOTS]
    stay = False
    if ended != NOWHERE and not surely_fit(counts[N_JOBS], settings):
        stay = admit(REPACK, np.uint64(0), place, release, rearrange, system) == NOWHERE
    if stay:
        unmap_job(ended, matrix, table)
        slot = table.whole[ended, SLOT]
        if matrix.free[slot] == settings.n_pes:
            if settings.alternation == EXCLUSIVE:
                revoke(slot, matrix, table, counts, clocks)
            close_slot(slot, settings.n_pes, matrix, table, counts)
    else:
        rearrange(0 if counts[OUT_OF_ORDER] else position, settings.n_pes, matrix, table, counts)
    counts[OUT_OF_ORDER] = stay
    if is_limited(settings):
        take_all_memory(table, counts, system.waiting, system.foresight.memory)
    n_slots = counts[N_SLOTS]
    if settings.alternation == SHARED:
        count_all_shared(n_slots, matrix, table, counts, clocks)
    elif settings.alternation == EXCLUSIVE:
        for slot in range(n_slots, before):
            revoke(slot, matrix, table, counts, clocks)
        for slot in range(n_slots):
            grant(slot, 0, matrix, table, system.room.granted, counts, clocks)


@part()
def pass_time(then, virtual, counts, clocks):
    """Advance the clocks and the integrals; nothing has changed since the last event."""
    if counts[MEASURING]:
        elapsed = then - clocks[NOW]
        clocks[SLOT_TIME] += counts[N_SLOTS] * elapsed
        clocks[JOB_SLOT_TIME] += counts[SUM_SLOTS] * elapsed
        clocks[JOB_TIME] += counts[N_JOBS] * elapsed
        clocks[WAITING_TIME] += n_waiting(counts) * elapsed
        clocks[WORK] += counts[SUM_PES] * (virtual - clocks[VIRTUAL])
    clocks[NOW] = then
    clocks[VIRTUAL] = virtual


@part()
def slots_over_stay(job, position, table, clocks):
    """Return the average number of slots in which a job that has just left the table ran, once it did."""
    stay = clocks[NOW] - table.real[ARRIVAL, position]
    slots = table.whole[job, RUN_SLOTS]
    if stay > 0.0:  # not of a runtime that is nothing beside the time so far
        return slots + table.real[SLOT_SECONDS, position] / stay
    return float(slots)


@part()
def write_down(job, system):
    """Hand out a job that has just ended if it is measured, and tell whether a batch ends with it."""
    settings, counts, clocks = system.settings, system.counts, system.clocks
    counts[TERMINATED] += 1
    counts[TERMINATIONS] += 1
    session = system.table.whole[job, SESSION]
    if session < settings.first_measured or session >= settings.end_measured:
        return False
    clocks[SLOTS_OF_ENDED] += slots_over_stay(job, counts[N_JOBS], system.table, clocks)
    write_ended(job, counts[N_JOBS], system.table, system.waiting, clocks, system.ended, counts[N_ENDED])
    counts[N_ENDED] += 1
    counts[IN_BATCH] += 1
    counts[MEASURED] += 1
    return counts[IN_BATCH] == settings.batch_size or counts[MEASURED] == settings.n_measured


@part(inline=False)
def close_batch(system):
    """Write down what was integrated over a batch, and begin the next one."""
    settings, table, counts, clocks = system.settings, system.table, system.counts, system.clocks
    batch, batches = counts[N_BATCHES], system.batches
    now = min(clocks[NOW], clocks[MEASURED_UNTIL])
    elapsed = now - clocks[BATCH_START]
    batches.unifications[batch] = counts[UNIFICATIONS] / counts[TERMINATIONS]
    batches.slots_per_job[batch] = clocks[JOB_SLOT_TIME] / clocks[JOB_TIME]
    batches.slots_per_job_over_jobs[batch] = clocks[SLOTS_OF_ENDED] / counts[IN_BATCH]
    batches.utilization[batch] = clocks[WORK] / (settings.n_pes * elapsed)
    batches.used_slots[batch] = clocks[SLOT_TIME] / elapsed
    batches.jobs_in_system[batch] = (clocks[JOB_TIME] + clocks[WAITING_TIME]) / elapsed
    counts[N_BATCHES] += 1
    counts[IN_BATCH] = counts[TERMINATIONS] = counts[UNIFICATIONS] = 0
    for integral in (SLOT_TIME, JOB_SLOT_TIME, JOB_TIME, WORK, SLOTS_OF_ENDED, WAITING_TIME):
        clocks[integral] = 0.0
    clocks[BATCH_START] = now
    # Virtual time is set back, so that long runs lose no digits.
    for i in range(counts[N_JOBS]):
        table.real[FINISH, i] -= clocks[VIRTUAL]
    clocks[VIRTUAL] = 0.0


@kernel(void(SYSTEM, float64))
def stop_measuring(system, now):
    """End the measured period at a time before the next event: jobs still count, the machine does not."""
    counts, clocks = system.counts, system.clocks
    virtual = clocks[VIRTUAL]
    if counts[N_SLOTS] > 0:
        virtual += (now - clocks[NOW]) / seconds_per_unit(counts[N_SLOTS], system.settings.stretch)
    pass_time(now, virtual, counts, clocks)
    counts[MEASURING] = 0
    clocks[MEASURED_UNTIL] = now


@kernel(int64(INTS, SYSTEM, GOAL, RECORD))
def advance(functions, system, goal, record):
    """Simulate until something is needed from outside, and say what (`BATCHES_DONE` …).

    Parameters
    ----------
    functions : int64 (5,), addresses, see `models.kernels.passed.addresses`:
        place, release, rearrange, the packing scheme, see `models.packing.schemes.signature`
        admit, who enters where jobs may have to wait, see `models.gang.queueing`
        rerun, the runtime of a job's next repetition, see `models.workloads.repetition`
    system : System
    goal : Goal, with the chunk of sessions at hand, from ``counts[CURSOR]`` on
    record : Record
    """
    place, release, rearrange = place_at(functions[0]), release_at(functions[1]), rearrange_at(functions[2])
    admit, rerun = admit_at(functions[3]), rerun_at(functions[4])
    settings, matrix, table, room, books = (
        system.settings, system.matrix, system.table, system.room, system.books
    )  # fmt: skip
    counts, clocks, n_pes, arrivals = system.counts, system.clocks, settings.n_pes, goal.arrivals
    recording = is_kept(record)
    while True:
        if recording and is_full(record, counts[N_JOBS]):
            return RECORD_FULL
        first = -1
        looks = False
        if counts[REPEATING] == NOWHERE:
            n_jobs = counts[N_JOBS]
            finish = next_finish(table, n_jobs)
            end = np.inf
            if n_jobs > 0:
                # Not before now, whatever rounding did to a job that ends at this very instant.
                end = clocks[NOW] + max(finish - clocks[VIRTUAL], 0.0) * seconds_per_unit(
                    counts[N_SLOTS], settings.stretch
                )
            arrival = np.inf
            if counts[CURSOR] < arrivals.submit.shape[0]:
                arrival = arrivals.submit[counts[CURSOR]]
            elif goal.more_arrivals:
                return ARRIVALS_USED_UP
            elif n_jobs == 0 and not counts[LOOK_DUE]:
                return NO_MORE_JOBS
            looks = counts[LOOK_DUE] and (settings.instant == 0 or min(end, arrival) > clocks[NOW])
            if not looks and min(end, arrival) > goal.until:
                return TIME_REACHED
            if looks:
                pass
            elif takes_end(settings.instant == 1, min(end, arrival), end, arrival, 0):
                first = first_to_end(finish, table, n_jobs)
                pass_time(end, finish, counts, clocks)
            else:
                if counts[N_VACANT] == 0:
                    return TABLE_FULL
                virtual = clocks[VIRTUAL]
                if n_jobs > 0:
                    virtual += (arrival - clocks[NOW]) / seconds_per_unit(counts[N_SLOTS], settings.stretch)
                pass_time(arrival, virtual, counts, clocks)

        ends = first >= 0
        batch_ends = False
        slots_before = counts[N_SLOTS]
        position = 0
        rank = 0
        alone = False
        if ends:
            job = leave(first, table, counts)
            batch_ends = write_down(job, system)
            if recording:
                note_end(job, counts[N_JOBS], table, system.waiting, clocks, record)
            if settings.alternation == EXCLUSIVE:
                rank = remove(table.order, PRECEDENCE, counts[N_JOBS] + 1, job)
            if settings.migrating:
                alone = matrix.free[table.whole[job, SLOT]] + table.whole[job, SIZE] == n_pes
                position = remove(table.order, DECREASING, counts[N_JOBS] + 1, job)
                if settings.alternation == EXCLUSIVE:
                    forget(job, counts[N_SLOTS], matrix.grants)
            else:
                unmap_job(job, matrix, table)
                if is_limited(settings):
                    each = -system.waiting.memory[job]
                    take_memory(table.pes, job, each, AT_PRESENT, system.foresight.memory)
                if settings.keeps_books:
                    for w in range(table.pes.shape[1]):
                        room.chosen_row[w] = table.pes[job, w]
                    release(table.whole[job, SIZE], n_pes, room.chosen_row, books)
                clear_out(job, rank, system)
            if n_waiting(counts) > 0:
                counts[LOOK_DUE] = 1
        else:
            slot = 0
            if looks:
                found = admit(NEXT, np.uint64(0), place, release, rearrange, system)
                if found == NOWHERE:
                    counts[LOOK_DUE] = 0
                    continue
                job = np.uint64(found)
                slot = counts[FOUND_SLOT]
            else:
                if counts[REPEATING] == NOWHERE:
                    job = submit_from(arrivals, system)
                else:
                    job = submit_again(rerun, system)
                waits = n_waiting(counts) > 0
                if waits:
                    counts[LOOK_DUE] |= settings.backfilling
                elif settings.migrating or is_limited(settings):
                    if not (settings.migrating and surely_fit(counts[N_JOBS] + 1, settings)):
                        slot = admit(ROOM_NOW, job, place, release, rearrange, system)
                        waits = slot == NOWHERE
                else:
                    slot = place(
                        table.whole[job, SIZE], n_pes, counts[N_SLOTS], matrix, books, room.scratch,
                        room.chosen_row,
                    )  # fmt: skip
                    if slot >= settings.slots_limit:  # it would open one too many
                        release(table.whole[job, SIZE], n_pes, room.chosen_row, books)
                        waits = True
                if waits:
                    counts[FIRST_WAITING], counts[END_WAITING] = join_queue(
                        system.waiting.order, job, counts[FIRST_WAITING], counts[END_WAITING]
                    )
                    continue
            enter(job, system.waiting.times[job, NEEDED], table, counts, clocks)
            if settings.alternation == EXCLUSIVE:
                rank = insert(
                    table.order, PRECEDENCE, counts[N_JOBS] - 1, job, table.whole, settings.precedence
                )
            if settings.migrating:
                position = insert(table.order, DECREASING, counts[N_JOBS] - 1, job, table.whole, 1)
            else:
                settle_in(job, slot, rank, system)
        if settings.migrating:
            migrate(position, np.int64(job) if ends else NOWHERE, place, release, rearrange, admit, system)
            # Footnote 4: the number of slots is reduced, and not because the job had one for itself.
            if ends and counts[N_SLOTS] < slots_before and not alone:
                counts[UNIFICATIONS] += 1
        if recording:
            note_shares(table, counts, clocks, settings.stretch, record)

        if ends:
            if table.whole[job, RUNS_LEFT] > 0:
                counts[REPEATING] = job
            if batch_ends:
                close_batch(system)
                if counts[N_BATCHES] >= goal.n_batches:
                    return BATCHES_DONE
