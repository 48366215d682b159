"""The event loop of a gang scheduler: arrivals, terminations, and constant run fractions between them.

The engine names no packing scheme: it calls whatever functions of the declared types it is given. An event
costs O(jobs x words) and what the scheme costs; under migration all jobs are counted anew,
O(slots x jobs x words).
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, uint64

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
from models.gang.schemes.signature import PLACE, REARRANGE, RELEASE
from models.gang.slots import (
    NOWHERE,
    close_slot,
    insert,
    map_job,
    remove,
    slot_to_unite_with,
    unite,
    unmap_job,
)
from models.gang.state import (
    ARRIVAL,
    BATCH_START,
    COUNTS,
    CURSOR,
    DECREASING,
    FINISH,
    IN_BATCH,
    JOB_SLOT_TIME,
    JOB_TIME,
    JOBS,
    KEY,
    LISTS,
    MATRIX,
    N_JOBS,
    N_SLOTS,
    N_VACANT,
    NOW,
    NUMBER,
    POSITION,
    PRECEDENCE,
    PRESENT,
    REAL,
    REPEATING,
    ROOM,
    RUN,
    RUN_SLOTS,
    RUNS_LEFT,
    RUNTIME,
    SESSIONS,
    SETTINGS,
    SIZE,
    SLOT,
    SLOT_TIME,
    SLOWDOWNS,
    SUBMITTED,
    SUM_PES,
    SUM_SLOTS,
    TERMINATED,
    UNIFICATIONS,
    VACANT,
    VIRTUAL,
    WHOLE,
    WORK,
)
from models.kernels.compiling import kernel
from models.workloads.repetition import RERUN

# Why `advance` returned.
BATCHES_DONE, SESSIONS_USED_UP, NO_MORE_JOBS, TIME_REACHED, TABLE_FULL = range(5)


@kernel(inline=True)
def first_to_end(whole, real, order, n_jobs):
    """Return the position in the list of present jobs of the one that ends next, or -1. O(jobs)."""
    first = -1
    finish = np.inf
    number = 0
    for i in range(n_jobs):
        if real[FINISH, i] <= finish:
            job = order[PRESENT, i]
            if real[FINISH, i] < finish or whole[job, NUMBER] < number:
                first = i
                finish = real[FINISH, i]
                number = whole[job, NUMBER]
    return first


@kernel(
    uint64(int64, float64, int64, int64, int64, WHOLE, REAL, LISTS, COUNTS, float64[::1]),
    inline=True,
)
def enter(size, runtime, runs_left, run, key, whole, real, order, counts, clocks):
    """Write a newcomer into the table, mapped to no slot yet, and return its place."""
    n_jobs = counts[N_JOBS]
    counts[N_VACANT] -= 1
    job = order[VACANT, counts[N_VACANT]]
    whole = whole
    whole[job, SLOT] = NOWHERE
    whole[job, SIZE] = size
    whole[job, RUN_SLOTS] = 1
    whole[job, NUMBER] = counts[SUBMITTED]
    whole[job, RUNS_LEFT] = runs_left
    whole[job, RUN] = run
    whole[job, KEY] = key
    whole[job, POSITION] = n_jobs
    real[RUNTIME, n_jobs] = runtime
    real[ARRIVAL, n_jobs] = clocks[NOW]
    real[FINISH, n_jobs] = clocks[VIRTUAL] + runtime
    order[PRESENT, n_jobs] = job
    counts[N_JOBS] += 1
    counts[SUBMITTED] += 1
    counts[SUM_SLOTS] += 1
    counts[SUM_PES] += size
    return job


@kernel(inline=True)
def leave(position, whole, real, order, counts):
    """Take the job at a position of the list of present jobs out of the table, and return its place."""
    last = counts[N_JOBS] - 1
    job = order[PRESENT, position]
    counts[SUM_SLOTS] -= whole[job, RUN_SLOTS]
    counts[SUM_PES] -= whole[job, RUN_SLOTS] * whole[job, SIZE]
    moved = order[PRESENT, last]
    order[PRESENT, position] = moved
    whole[moved, POSITION] = position
    for field in range(real.shape[0]):
        time = real[field, position]
        real[field, position] = real[field, last]
        real[field, last] = time
    counts[N_JOBS] -= 1
    order[VACANT, counts[N_VACANT]] = job
    counts[N_VACANT] += 1
    return job


@kernel(inline=True)
def settle_in(
    job, slot, rank, settings, occupied, free, grants, pes, whole, real, order, chosen, granted, counts,
    virtual,
):  # fmt: skip
    """Map a newcomer to the chosen PEs of a slot and let it and the others run where they now can."""
    whole[job, SLOT] = slot  # from now on it is none of the others
    if settings.alternation == SHARED:
        if slot == counts[N_SLOTS]:
            slot_comes_or_goes(1, slot, chosen, 0, pes, whole, real, order, counts, virtual)
        else:
            slot_changes(-1, slot, chosen, 0, occupied, pes, whole, real, order, counts, virtual)
    opened = slot == counts[N_SLOTS]
    map_job(job, slot, occupied, free, pes, whole, chosen, counts)
    if settings.alternation == SHARED:
        count = count_shared(job, counts[N_SLOTS], occupied, pes, whole)
        run_in(job, count, virtual, whole, real, counts)
    elif settings.alternation == EXCLUSIVE:
        grant_where_it_fits(
            job, rank, opened, occupied, free, grants, pes, whole, real, order, granted, counts, virtual
        )


@kernel(inline=True)
def clear_out(
    job, rank, settings, occupied, free, tags, grants, pes, whole, real, order, granted, counts, virtual
):
    """After a job was unmapped: let the others run where they now can, close or unite its slot."""
    slot = whole[job, SLOT]
    if settings.alternation == EXCLUSIVE:
        grant_where_it_ran(
            job, rank, occupied, free, grants, pes, whole, real, order, granted, counts, virtual
        )
    if free[slot] == settings.n_pes:
        if settings.alternation == SHARED:
            slot_comes_or_goes(-1, slot, pes, job, pes, whole, real, order, counts, virtual)
        elif settings.alternation == EXCLUSIVE:
            revoke(slot, grants, pes, whole, real, counts, virtual)
        close_slot(slot, settings.n_pes, occupied, free, tags, grants, pes, whole, order, counts)
        return
    if settings.alternation == SHARED:
        slot_changes(1, slot, pes, job, occupied, pes, whole, real, order, counts, virtual)
    if settings.unification:
        other = slot_to_unite_with(slot, counts[N_SLOTS], occupied)
        if other != NOWHERE:
            low = min(slot, other)
            high = max(slot, other)
            if settings.alternation == SHARED:
                slots_unite(low, high, occupied, pes, whole, real, order, counts, virtual)
            elif settings.alternation == EXCLUSIVE:
                revoke(low, grants, pes, whole, real, counts, virtual)
                revoke(high, grants, pes, whole, real, counts, virtual)
            unite(low, high, settings.n_pes, occupied, free, tags, grants, pes, whole, order, counts)
            counts[UNIFICATIONS] += 1
            slot = low
    if settings.alternation == EXCLUSIVE:
        grant(slot, 0, occupied, free, grants, pes, whole, real, order, granted, counts, virtual)


@kernel(inline=True)
def migrate(
    position, rearrange, settings, occupied, free, grants, pes, whole, real, order, granted, counts, virtual
):
    """Let the scheme map all jobs anew and let them run where they now can."""
    before = counts[N_SLOTS]
    rearrange(position, settings.n_pes, occupied, free, pes, whole, order, counts)
    n_slots = counts[N_SLOTS]
    if settings.alternation == SHARED:
        count_all_shared(n_slots, occupied, free, pes, whole, real, order, counts, virtual)
    elif settings.alternation == EXCLUSIVE:
        for slot in range(n_slots, before):
            revoke(slot, grants, pes, whole, real, counts, virtual)
        for slot in range(n_slots):
            grant(slot, 0, occupied, free, grants, pes, whole, real, order, granted, counts, virtual)


@kernel(inline=True)
def pass_time(then, virtual, counts, clocks):
    """Advance the clocks and the integrals; nothing has changed since the last event."""
    elapsed = then - clocks[NOW]
    clocks[NOW] = then
    clocks[SLOT_TIME] += counts[N_SLOTS] * elapsed
    clocks[JOB_SLOT_TIME] += counts[SUM_SLOTS] * elapsed
    clocks[JOB_TIME] += counts[N_JOBS] * elapsed
    clocks[WORK] += counts[SUM_PES] * (virtual - clocks[VIRTUAL])
    clocks[VIRTUAL] = virtual


@kernel()
def close_batch(batch, real, order, counts, clocks, batches, n_pes):
    """Write the metrics of a batch, in the order of `state.METRICS`, and begin the next one."""
    n_ended = counts[IN_BATCH]
    elapsed = clocks[NOW] - clocks[BATCH_START]
    batches[batch, 0] = clocks[SLOWDOWNS] / n_ended
    batches[batch, 1] = counts[UNIFICATIONS] / n_ended
    batches[batch, 2] = clocks[JOB_SLOT_TIME] / clocks[JOB_TIME]
    batches[batch, 3] = clocks[WORK] / (n_pes * elapsed)
    batches[batch, 4] = clocks[SLOT_TIME] / elapsed
    batches[batch, 5] = clocks[JOB_TIME] / elapsed
    counts[IN_BATCH] = 0
    counts[UNIFICATIONS] = 0
    for integral in (SLOT_TIME, JOB_SLOT_TIME, JOB_TIME, WORK, SLOWDOWNS):
        clocks[integral] = 0.0
    clocks[BATCH_START] = clocks[NOW]
    # Virtual time is set back, so that long runs lose no digits.
    for i in range(counts[N_JOBS]):
        real[FINISH, i] -= clocks[VIRTUAL]
    clocks[VIRTUAL] = 0.0


@kernel(
    int64(
        PLACE, RELEASE, REARRANGE, RERUN, SETTINGS, MATRIX, JOBS, ROOM, SESSIONS,
        int64[::1], int64[::1], float64[::1], int64[::1], float64[::1],
        float64[:, ::1], int64, boolean, float64, float64[::1],
    )
)  # fmt: skip
def advance(
    place, release, rearrange, rerun, settings, matrix, jobs, room, sessions,
    memory, parameters, rerun_parameters, counts, clocks,
    batches, n_batches, more_sessions, until, responses,
):  # fmt: skip
    """Simulate until something is needed from outside, and say what (`BATCHES_DONE` …).

    Parameters
    ----------
    place, release, rearrange : the packing scheme, see `models.gang.schemes`
    rerun : the runtime of a job's next repetition, see `models.workloads.repetition`
    settings, matrix, jobs, room, counts, clocks : the simulation, see `state`
    sessions : the chunk of arrivals at hand, from ``counts[CURSOR]`` on
    memory, parameters : the packing scheme's own
    rerun_parameters : float64, of `rerun`
    batches : float64 (batch, metric), rows are filled as batches end
    n_batches : return when so many batches have ended, the warm-up included
    more_sessions : whether another chunk will follow this one
    until : return before the first event later than this
    responses : float64 (job,), response times by the job's number, as far as there is room
    """
    # Unpacked once: to look at a field of a tuple counts a reference, which takes longer than most work here.
    occupied, free, tags, grants = matrix
    pes, whole, real, order = jobs
    chosen, chosen_row, granted, scratch = room
    submits, sizes, runtimes, runs, keys = sessions
    n_pes = settings.n_pes
    while True:
        repeating = counts[REPEATING]
        cursor = counts[CURSOR]
        first = -1
        if repeating == NOWHERE:
            first = first_to_end(whole, real, order, counts[N_JOBS])
            finish = np.inf
            end = np.inf
            if first >= 0:
                finish = real[FINISH, first]
                end = clocks[NOW] + (finish - clocks[VIRTUAL]) * counts[N_SLOTS]
            arrival = np.inf
            if cursor < submits.shape[0]:
                arrival = submits[cursor]
            elif more_sessions:
                return SESSIONS_USED_UP
            elif first < 0 or not settings.draining:
                return NO_MORE_JOBS
            if min(end, arrival) > until:
                return TIME_REACHED
            # Of an end and an arrival at one instant the end comes first: the newcomer finds its PEs free.
            if end <= arrival:
                pass_time(end, finish, counts, clocks)
            else:
                if counts[N_VACANT] == 0:
                    return TABLE_FULL
                virtual = clocks[VIRTUAL]
                if first >= 0:
                    virtual += (arrival - clocks[NOW]) / counts[N_SLOTS]
                pass_time(arrival, virtual, counts, clocks)
                first = -1

        slots_before = counts[N_SLOTS]
        rank = 0
        alone = False
        if first >= 0:
            job = leave(first, whole, real, order, counts)
            if settings.alternation == EXCLUSIVE:
                rank = remove(order, PRECEDENCE, counts[N_JOBS] + 1, job)
            response = clocks[NOW] - real[ARRIVAL, counts[N_JOBS]]
            clocks[SLOWDOWNS] += response / real[RUNTIME, counts[N_JOBS]]
            if whole[job, NUMBER] < responses.shape[0]:
                responses[whole[job, NUMBER]] = response
            if settings.migrating:
                alone = free[whole[job, SLOT]] + whole[job, SIZE] == n_pes
                position = remove(order, DECREASING, counts[N_JOBS] + 1, job)
                if settings.alternation == EXCLUSIVE:
                    forget(job, counts[N_SLOTS], grants)
            else:
                unmap_job(job, occupied, free, pes, whole)
                for w in range(pes.shape[1]):  # a view of the row would cost reference counting
                    chosen[0, w] = pes[job, w]
                release(whole[job, SIZE], n_pes, chosen_row, memory, parameters)
                clear_out(
                    job, rank, settings, occupied, free, tags, grants, pes, whole, real, order, granted,
                    counts, clocks[VIRTUAL],
                )  # fmt: skip
        else:
            if repeating == NOWHERE:
                job = enter(
                    sizes[cursor], runtimes[cursor], runs[cursor] - 1, 0, keys[cursor],
                    whole, real, order, counts, clocks,
                )  # fmt: skip
                counts[CURSOR] += 1
            else:
                size = whole[repeating, SIZE]
                run = whole[repeating, RUN] + 1
                key = whole[repeating, KEY]
                runtime = rerun(real[RUNTIME, counts[N_JOBS]], size, key, run, rerun_parameters)
                counts[REPEATING] = NOWHERE
                job = enter(
                    size, runtime, whole[repeating, RUNS_LEFT] - 1, run, key,
                    whole, real, order, counts, clocks,
                )  # fmt: skip
            if settings.alternation == EXCLUSIVE:
                rank = insert(order, PRECEDENCE, counts[N_JOBS] - 1, job, whole, settings.precedence)
            if settings.migrating:
                position = insert(order, DECREASING, counts[N_JOBS] - 1, job, whole, 1)
            else:
                slot = place(
                    whole[job, SIZE], n_pes, counts[N_SLOTS], occupied, free, tags,
                    memory, parameters, scratch, chosen_row,
                )  # fmt: skip
                settle_in(
                    job, slot, rank, settings, occupied, free, grants, pes, whole, real, order, chosen,
                    granted, counts, clocks[VIRTUAL],
                )  # fmt: skip
        if settings.migrating:
            migrate(
                position, rearrange, settings, occupied, free, grants, pes, whole, real, order, granted,
                counts, clocks[VIRTUAL],
            )  # fmt: skip
            # Footnote 4: the number of slots is reduced, and not because the job had one for itself.
            if first >= 0 and counts[N_SLOTS] < slots_before and not alone:
                counts[UNIFICATIONS] += 1

        if first >= 0:
            if whole[job, RUNS_LEFT] > 0:
                counts[REPEATING] = job
            counts[TERMINATED] += 1
            counts[IN_BATCH] += 1
            if counts[IN_BATCH] == settings.batch_size:
                batch = counts[TERMINATED] // settings.batch_size - 1
                close_batch(batch, real, order, counts, clocks, batches, n_pes)
                if batch + 1 >= n_batches:
                    return BATCHES_DONE
