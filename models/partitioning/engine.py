"""The event loop: arrivals, ends, rotations, and checks of the queue of jobs outside memory.

The engine knows no policy: it calls any functions of the declared type. An event costs O(running jobs) and
the time of the policy's functions.
"""

from enum import IntEnum

import numpy as np
from numba import float64, int64, void

from models.kernels.compiling import kernel, part
from models.kernels.standstill import count_repeated, stands_still
from models.partitioning.simulation import admission
from models.partitioning.simulation.progress import FUNCTION, work_left
from models.partitioning.simulation.state import ARRIVALS, NOT_YET, RECORD, TABLES
from models.workloads.speedup.curves import CURVE


class Status(IntEnum):
    """The reason for which `advance` returned."""

    BATCHES_DONE, ARRIVALS_USED_UP, NO_MORE_JOBS, TABLE_FULL, SHARES_TOO_FEW, RECORD_FULL, STANDSTILL = range(
        7
    )


@part(int64(TABLES))
def first_to_end(tables):
    """Return the position of the job that ends next (ties go to the first to arrive), or -1. O(jobs)."""
    first = -1
    finish = np.inf
    number = 0
    for i in range(tables.state[0].n_running):
        it = tables.jobs[tables.lists.running[i]]
        if it.finish < finish or (it.finish == finish and it.number < number):
            first = i
            finish = it.finish
            number = it.number
    return first


@part(int64(ARRIVALS, TABLES))
def submit(chunk, tables):
    """Add the next arrival to the table of jobs and return its place."""
    state, cursor = tables.state[0], tables.state[0].cursor
    state.n_vacant -= 1
    job = tables.lists.vacant[state.n_vacant]
    it = tables.jobs[job]
    it.number = state.submitted
    it.size, it.job_class = chunk.size[cursor], chunk.job_class[cursor]
    it.submit, it.runtime, it.alone = chunk.submit[cursor], chunk.runtime[cursor], chunk.alone[cursor]
    it.work = it.left = chunk.work[cursor]
    it.start = NOT_YET
    it.held = 0.0
    state.submitted += 1
    state.cursor += 1
    return job


@part(void(int64, TABLES, RECORD))
def record_end(job, tables, record):
    """Record that a job has ended and free its place in the table."""
    it, state = tables.jobs[job], tables.state[0]
    ended = record.ended[state.n_ended]
    ended.number, ended.size, ended.job_class = it.number, it.size, it.job_class
    ended.submit, ended.start, ended.end = it.submit, it.start, state.now
    ended.runtime, ended.work = it.runtime, it.work
    tables.lists.vacant[state.n_vacant] = job
    state.n_ended += 1
    state.n_vacant += 1
    state.terminated += 1
    state.in_batch += 1


@part(float64(TABLES), inline=False)
def delivered_so_far(tables):
    """Return the processor-seconds delivered to the jobs in the system. O(jobs)."""
    lists, state = tables.lists, tables.state[0]
    delivered = 0.0
    for i in range(state.n_running):
        it = tables.jobs[lists.running[i]]
        delivered += (1.0 - work_left(lists.running[i], tables) / it.work) * it.size * it.runtime
    for i in range(state.n_queued):
        it = tables.jobs[lists.queue[(state.head + i) % lists.queue.shape[0]]]
        delivered += (1.0 - it.left / it.work) * it.size * it.runtime
    return delivered


@part(void(TABLES, RECORD), inline=False)
def close_batch(tables, record):
    """Record the integrals over a batch and begin the next one."""
    state = tables.state[0]
    closed = record.closed[state.n_closed]
    closed.job_time, closed.held_time = state.job_time, state.held_time
    begun = delivered_so_far(tables)
    closed.begun, state.begun = begun - state.begun, begun
    closed.length = state.now - state.batch_start
    state.n_closed += 1
    state.in_batch = 0
    state.job_time = state.held_time = 0.0
    state.batch_start = state.now


@part(void(int64, float64, TABLES, RECORD), inline=False)
def hold_processors(job, processors, tables, record):
    """Record a piece when a job's number of processors changes; 0 if it loses its partition."""
    it, state = tables.jobs[job], tables.state[0]
    if processors == it.held:
        return
    if it.held > 0.0 and state.now > it.held_since:
        piece = record.pieces[state.n_pieces]
        piece.number, piece.begin, piece.end, piece.processors = it.number, it.held_since, state.now, it.held
        state.n_pieces += 1
    it.held = processors
    it.held_since = state.now


@part(void(TABLES, RECORD), inline=False)
def record_partitions(tables, record):
    """Record the jobs whose number of processors has changed since the previous event. O(running jobs).

    Jobs that have lost their processors and wait are at the end of the queue: an event queues at most as many
    jobs as run.
    """
    lists, state = tables.lists, tables.state[0]
    for i in range(max(0, state.n_queued - state.n_running), state.n_queued):
        job = lists.queue[(state.head + i) % lists.queue.shape[0]]
        hold_processors(job, 0.0, tables, record)
    for i in range(state.n_running):
        job = lists.running[i]
        hold_processors(job, tables.shares.processors[tables.jobs[job].share], tables, record)


@kernel(int64(FUNCTION, FUNCTION, FUNCTION, CURVE, TABLES, ARRIVALS, RECORD))
def advance(arrive, depart, rotate, curve, tables, chunk, record):
    """Simulate until the caller has to act, and return the `Status`.

    Parameters
    ----------
    arrive, depart, rotate : the policy, see `simulation.progress`
    curve : the speed of a job by its number of processors, see `models.workloads.speedup.curves`
    tables : the state of the simulation, see `simulation.state`
    chunk : the present chunk of arrivals, from the cursor on
    record : the records to fill
    """
    jobs, lists, state, settings = tables.jobs, tables.lists, tables.state[0], tables.settings
    while True:
        n_running = state.n_running
        first = first_to_end(tables)
        end = np.inf
        if first >= 0:
            end = jobs[lists.running[first]].finish
        arrival = np.inf
        if state.cursor < chunk.submit.shape[0]:
            arrival = chunk.submit[state.cursor]
        elif chunk.more:
            return Status.ARRIVALS_USED_UP
        elif first < 0 or not settings.draining:
            return Status.NO_MORE_JOBS
        then = min(end, arrival, state.tick, state.rotation_due)
        if arrival == then:
            if state.n_vacant == 0:
                return Status.TABLE_FULL
            if n_running == settings.table_jobs and n_running < settings.limit:
                return Status.SHARES_TOO_FEW
        if state.n_ended == record.ended.shape[0]:
            return Status.RECORD_FULL
        if settings.recording and record.pieces.shape[0] - state.n_pieces < 2 * n_running + 1:
            return Status.RECORD_FULL
        state.job_time += (n_running + state.n_queued) * (then - state.now)
        state.held_time += tables.shares.held[n_running] * (then - state.now)
        state.repeated = count_repeated(state.repeated, state.now, then)
        if stands_still(state.repeated, n_running + state.n_queued):
            return Status.STANDSTILL
        state.now = then

        # At one instant the end comes first, then the arrival, then the check of the queue.
        if end == then:
            job = lists.running[first]
            if settings.recording:
                hold_processors(job, 0.0, tables, record)
            record_end(job, tables, record)
            if state.n_queued > 0:
                admission.take_over(admission.dequeue(tables), first, 0.0, tables, curve)
                admission.remove_position(first, n_running, tables)
                admission.count_admitted(first, tables)
            else:
                depart(first, tables, curve)
                admission.remove_position(first, n_running, tables)
        elif arrival == then:
            job = submit(chunk, tables)
            if n_running < settings.limit:
                arrive(job, tables, curve)
                admission.count_admitted(n_running, tables)
            else:
                admission.enqueue(job, tables)
        elif state.tick == then:
            admission.swap(tables, curve)
        else:
            rotate(0, tables, curve)
        if settings.recording:
            record_partitions(tables, record)
        if state.in_batch == settings.batch_size:
            close_batch(tables, record)
            if state.terminated // settings.batch_size >= settings.n_batches:
                return Status.BATCHES_DONE
