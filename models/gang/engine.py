"""The event loop of a gang scheduler: arrivals, terminations, and constant run fractions between them.

The engine knows no packing scheme: it calls functions of declared types. An event costs O(jobs x words)
and the time of the scheme; under migration all jobs are counted again, O(slots x jobs x words).
If jobs may have to wait (`models.gang.queueing`), the time to process the queue is added.
"""

import numpy as np
from numba import float64, int64, uint64, void

from models.gang.alternation import EXCLUSIVE, forget
from models.gang.mapping import clear_out, migrate, settle_in
from models.gang.memory import is_limited, take_memory
from models.gang.profile import AT_PRESENT
from models.gang.queueing import ADMIT, NEXT, SLOT_NOW, join_queue, n_waiting, surely_fit
from models.gang.recording import RECORD, is_full, is_kept, record_end, record_shares
from models.gang.slices import seconds_per_unit
from models.gang.state import GOAL, STATE, SYSTEM
from models.kernels.compiling import kernel, part
from models.kernels.lists import remove
from models.kernels.standstill import count_repeated, stands_still
from models.kernels.ties import takes_end
from models.packing import driver
from models.packing.matrix import TABLE
from models.packing.schemes.signature import PLACE, REARRANGE, RELEASE
from models.packing.slots import NOWHERE, insert, unmap_job, vacate, write_ended
from models.workloads.repetition import RERUN


@part()
def next_finish(table, n_jobs):
    """Return the virtual time at which the next job in the matrix ends, inf if there is none. O(jobs).

    This is a plain search, because most times in a heap would change with the run fractions at each event.
    """
    least = np.inf
    for i in range(n_jobs):
        least = min(least, table.finish[i])
    return least


@part()
def first_to_end(finish, table, n_jobs):
    """Return the position in the list of present jobs of the job that ends at a time; ties go to the first
    submitted. O(jobs).
    """
    first = NOWHERE
    for i in range(n_jobs):
        if table.finish[i] == finish and (first == NOWHERE or number_at(i, table) < number_at(first, table)):
            first = i
    return first


@part()
def number_at(position, table):
    """Return how many jobs were submitted before the job at a position of the list of present jobs."""
    return table.jobs[table.present[position]].number


@part()
def submit(size, runtime, requested, memory, system):
    """Assign a place of the table to a newcomer, which is not mapped to a slot yet, and return it."""
    table, state = system.table, system.state[0]
    state.n_vacant -= 1
    place = table.vacant[state.n_vacant]
    job = table.jobs[place]
    job.slot = NOWHERE
    job.size = size
    job.number = state.n_submitted
    job.submit = state.now
    job.runtime = requested if system.settings.kill and requested < runtime else runtime
    job.requested = requested
    job.memory = memory
    state.n_submitted += 1
    return place


@part(void(uint64, TABLE, STATE))
def enter(place, table, state):
    """Let a job that has been submitted run from now on."""
    job, n_jobs = table.jobs[place], state.n_jobs
    job.run_slots = 1
    job.position = n_jobs
    job.start = state.now
    job.slot_seconds = 0.0
    table.finish[n_jobs] = state.virtual + job.runtime
    table.present[n_jobs] = place
    state.n_jobs += 1
    state.sum_slots += 1
    state.sum_pes += job.size


@part()
def submit_from(arrivals, system):
    """Submit the job of the next session of the chunk for the first time."""
    settings, state = system.settings, system.state[0]
    cursor = state.cursor
    place = submit(
        arrivals.size[cursor], arrivals.runtime[cursor], arrivals.requested[cursor], arrivals.memory[cursor],
        system,
    )  # fmt: skip
    job = system.table.jobs[place]
    job.runs_left = arrivals.runs[cursor] - 1
    job.run = 0
    job.key = arrivals.key[cursor]
    job.session = state.n_arrived
    if state.n_arrived == settings.first_measured and settings.first_measured > 0:
        # All jobs before this one only filled the machine.
        state.measuring = state.now < state.measured_until
        state.unifications = state.terminations = 0
        state.batch_start = min(state.now, state.measured_until)
    state.cursor += 1
    state.n_arrived += 1
    return place


@part()
def submit_again(rerun, system):
    """Submit the job that has just ended again; its place still holds its record.

    Its user requests the same time and memory.
    """
    state, jobs = system.state[0], system.table.jobs
    before = jobs[state.repeating]
    size, key, run = before.size, before.key, before.run + 1
    runs_left, session, requested, memory = (
        before.runs_left - 1, before.session, before.requested, before.memory
    )  # fmt: skip
    runtime = rerun(before.runtime, size, key, run, system.rerun_parameters)
    state.repeating = NOWHERE
    place = submit(size, runtime, requested, memory, system)
    job = jobs[place]
    job.runs_left = runs_left
    job.run = run
    job.key = key
    job.session = session
    return place


@part()
def leave(position, table, state):
    """Remove the job at a position of the list of present jobs from the table, and return its place."""
    place = table.present[position]
    job = table.jobs[place]
    state.sum_slots -= job.run_slots
    state.sum_pes -= job.run_slots * job.size
    vacate(place, table, state)
    return place


@part()
def pass_time(then, virtual, state):
    """Advance the clocks and the integrals; the state has not changed since the last event."""
    if state.measuring:
        elapsed = then - state.now
        state.slot_time += state.n_slots * elapsed
        state.job_slot_time += state.sum_slots * elapsed
        state.job_time += state.n_jobs * elapsed
        state.waiting_time += n_waiting(state) * elapsed
        state.work += state.sum_pes * (virtual - state.virtual)
    state.repeated = count_repeated(state.repeated, state.now, then)
    state.now = then
    state.virtual = virtual


@part()
def slots_over_stay(job, now):
    """Return the average number of slots in which a job that ends now ran."""
    stay = now - job.start
    if stay > 0.0:  # except for a runtime below the resolution of the clock
        return job.run_slots + job.slot_seconds / stay
    return float(job.run_slots)


@part()
def count_end(job, system):
    """Count a job that has just ended, hand it out if it is measured, and return whether its batch ends."""
    settings, state = system.settings, system.state[0]
    state.n_terminated += 1
    state.terminations += 1
    if job.session < settings.first_measured or job.session >= settings.end_measured:
        return False
    state.slots_of_ended += slots_over_stay(job, state.now)
    write_ended(job, state.now, system.ended, state.n_ended)
    state.n_ended += 1
    state.in_batch += 1
    state.n_measured += 1
    return state.in_batch == settings.batch_size or state.n_measured == settings.n_measured


@part(inline=False)
def close_batch(system):
    """Record the integrals over a batch, and begin the next one."""
    table, state, batches = system.table, system.state[0], system.batches
    batch = state.n_batches
    now = min(state.now, state.measured_until)
    elapsed = now - state.batch_start
    batches.unifications[batch] = state.unifications / state.terminations
    batches.slots_per_job[batch] = state.job_slot_time / state.job_time
    batches.slots_per_job_over_jobs[batch] = state.slots_of_ended / state.in_batch
    batches.utilization[batch] = state.work / (system.settings.n_pes * elapsed)
    batches.used_slots[batch] = state.slot_time / elapsed
    batches.jobs_in_system[batch] = (state.job_time + state.waiting_time) / elapsed
    state.n_batches += 1
    state.in_batch = state.terminations = state.unifications = 0
    state.slot_time = state.job_slot_time = state.job_time = state.waiting_time = 0.0
    state.work = state.slots_of_ended = 0.0
    state.batch_start = now
    # Virtual time is reset, so that long runs lose no digits.
    for i in range(state.n_jobs):
        table.finish[i] -= state.virtual
    state.virtual = 0.0


@part()
def virtual_at(then, system):
    """Return the virtual time at a time before the next event."""
    state = system.state[0]
    if state.n_slots == 0:
        return state.virtual
    return state.virtual + (then - state.now) / seconds_per_unit(state.n_slots, system.settings.stretch)


@kernel(void(SYSTEM, float64))
def stop_measuring(system, now):
    """End the measured period at a time before the next event: jobs still count, time no longer does."""
    state = system.state[0]
    pass_time(now, virtual_at(now, system), state)
    state.measuring = 0
    state.measured_until = now


@part()
def end_job(job, release, system):
    """Unmap a job that has ended, under a scheme that does not migrate."""
    settings, matrix, table = system.settings, system.matrix, system.table
    unmap_job(job, matrix, table)
    if is_limited(settings):
        take_memory(table.pes, job, -table.jobs[job].memory, AT_PRESENT, system.profile.memory)
    if settings.keeps_books:
        row = system.buffers.chosen_row
        for w in range(table.pes.shape[1]):
            row[w] = table.pes[job, w]
        release(table.jobs[job].size, settings.n_pes, row, system.books)
    clear_out(job, system)


@kernel(int64(PLACE, RELEASE, REARRANGE, ADMIT, RERUN, SYSTEM, GOAL, RECORD))
def advance(place, release, rearrange, admit, rerun, system, goal, record):
    """Simulate until the caller has to act, and return the reason (`BATCHES_DONE` …).

    Parameters
    ----------
    place, release, rearrange : the packing scheme, see `models.packing.schemes.signature`
    admit : which job enters if jobs may have to wait, see `models.gang.queueing`
    rerun : the runtime of a job's next repetition, see `models.workloads.repetition`
    goal : when to return, with the present chunk of sessions, from `cursor` on
    """
    settings, matrix, table, buffers, books = (
        system.settings, system.matrix, system.table, system.buffers, system.books
    )  # fmt: skip
    state, n_pes, arrivals = system.state[0], settings.n_pes, goal.arrivals
    recording = is_kept(record)
    while True:
        if recording and is_full(record, state.n_jobs):
            return driver.RECORD_FULL
        if stands_still(state.repeated, state.n_submitted + n_pes):
            return driver.STANDSTILL
        first = NOWHERE
        passes = False
        if state.repeating == NOWHERE:
            n_jobs = state.n_jobs
            finish = next_finish(table, n_jobs)
            end = np.inf
            if n_jobs > 0:
                # Not before now, in spite of rounding, for a job that ends at this very instant.
                end = state.now + max(finish - state.virtual, 0.0) * seconds_per_unit(
                    state.n_slots, settings.stretch
                )
            arrival = np.inf
            if state.cursor < arrivals.submit.shape[0]:
                arrival = arrivals.submit[state.cursor]
            elif goal.more_arrivals:
                return driver.ARRIVALS_USED_UP
            elif n_jobs == 0 and not state.pass_due:
                return driver.NO_MORE_JOBS
            passes = state.pass_due and (settings.instant == 0 or min(end, arrival) > state.now)
            if not passes and min(end, arrival) > goal.until:
                return driver.TIME_REACHED
            if passes:
                pass
            elif takes_end(settings.instant == 1, min(end, arrival), end, arrival, 0):
                first = first_to_end(finish, table, n_jobs)
                pass_time(end, finish, state)
            else:
                if state.n_vacant == 0:
                    return driver.TABLE_FULL
                pass_time(arrival, virtual_at(arrival, system), state)

        ends = first >= 0
        batch_ends = False
        slots_before = state.n_slots
        position = 0
        alone = False
        if ends:
            job = leave(first, table, state)
            batch_ends = count_end(table.jobs[job], system)
            if recording:
                record_end(job, table.jobs[job], state.now, record)
            if settings.alternation == EXCLUSIVE:
                remove(table.precedence, state.n_jobs + 1, job)
            if settings.migrating:
                alone = matrix.free[table.jobs[job].slot] + table.jobs[job].size == n_pes
                position = remove(table.decreasing, state.n_jobs + 1, job)
                if settings.alternation == EXCLUSIVE:
                    forget(job, state.n_slots, matrix.grants)
            else:
                end_job(job, release, system)
            if n_waiting(state) > 0:
                state.pass_due = 1
        else:
            slot = 0
            if passes:
                found = admit(NEXT, np.uint64(0), place, release, rearrange, system)
                if found == NOWHERE:
                    state.pass_due = 0
                    continue
                job = np.uint64(found)
                slot = state.found_slot
            else:
                if state.repeating == NOWHERE:
                    job = submit_from(arrivals, system)
                else:
                    job = submit_again(rerun, system)
                waits = n_waiting(state) > 0
                size = table.jobs[job].size
                if waits:
                    state.pass_due |= settings.backfilling
                elif settings.migrating or is_limited(settings):
                    if not (settings.migrating and surely_fit(state.n_jobs + 1, settings)):
                        slot = admit(SLOT_NOW, job, place, release, rearrange, system)
                        waits = slot == NOWHERE
                else:
                    slot = place(
                        size, n_pes, state.n_slots, matrix, books, buffers.scratch, buffers.chosen_row
                    )
                    if slot >= settings.slots_limit:  # it would open one slot too many
                        release(size, n_pes, buffers.chosen_row, books)
                        waits = True
                if waits:
                    join_queue(job, system.queue, state)
                    continue
            enter(job, table, state)
            if settings.alternation == EXCLUSIVE:
                insert(table.precedence, state.n_jobs - 1, job, table.jobs, settings.precedence)
            if settings.migrating:
                position = insert(table.decreasing, state.n_jobs - 1, job, table.jobs, 1)
            else:
                settle_in(job, slot, system)
        if settings.migrating:
            migrate(position, np.int64(job) if ends else NOWHERE, place, release, rearrange, admit, system)
            # Footnote 4: the number of slots is reduced, other than because the job had a slot for itself.
            if ends and state.n_slots < slots_before and not alone:
                state.unifications += 1
        if recording:
            record_shares(table, state, settings.stretch, record)

        if ends:
            if table.jobs[job].runs_left > 0:
                state.repeating = job
            if batch_ends:
                close_batch(system)
                if state.n_batches >= goal.n_batches:
                    return driver.BATCHES_DONE
