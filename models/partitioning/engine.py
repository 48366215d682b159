"""The event loop: arrivals, ends, rotations, and looks at the queue of jobs outside memory.

The engine names no policy: it calls whatever functions of the declared type it is given. An event costs
O(running jobs) and what the policy costs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64, int64, void

from models.arrays import Floats, Ints
from models.kernels.compiling import kernel, part
from models.partitioning.simulation.admission import (
    admitted,
    first_in_queue,
    renew,
    strike_out,
    swap,
    take_over,
    wait_outside,
)
from models.partitioning.simulation.discipline import FUNCTION
from models.partitioning.simulation.state import (
    ALONE,
    ARRIVALS,
    BATCH_START,
    CLASS,
    CURSOR,
    FINISH,
    HEAD,
    HELD,
    HELD_SINCE,
    HELD_TIME,
    IN_BATCH,
    JOB_TIME,
    LEFT,
    N_CLOSED,
    N_ENDED,
    N_PIECES,
    N_QUEUED,
    N_RUNNING,
    N_VACANT,
    NOT_YET,
    NOW,
    NUMBER,
    PLAN,
    QUEUE,
    REAL,
    RECORD,
    ROTATION_DUE,
    RUNNING,
    RUNTIME,
    SHARE,
    SIZE,
    START,
    STATE,
    SUBMIT,
    SUBMITTED,
    TERMINATED,
    TICK,
    VACANT,
    WHOLE,
    WORK,
    Arrivals,
    Plan,
    Record,
    State,
)
from models.workloads.speedup.curves import CURVE

# Why `advance` returned.
BATCHES_DONE, ARRIVALS_USED_UP, NO_MORE_JOBS, TIME_REACHED, TABLE_FULL, SHARES_TOO_FEW, RECORD_FULL = range(7)


@part(int64(REAL, WHOLE, WHOLE, int64))
def first_to_end(real: Floats, whole: Ints, order: Ints, n_jobs: int) -> int:
    """Return the position of the job that ends next, of equals the first to arrive, or -1. O(jobs)."""
    first = -1
    finish = np.inf
    number = 0
    for i in range(n_jobs):
        job = order[RUNNING, i]
        if real[job, FINISH] < finish or (real[job, FINISH] == finish and whole[job, NUMBER] < number):
            first = i
            finish = real[job, FINISH]
            number = whole[job, NUMBER]
    return first


@part(int64(ARRIVALS, int64, STATE))
def submit(chunk: Arrivals, cursor: int, state: State) -> int:
    """Write a newcomer into the table of jobs and return its place."""
    real, whole, counts = state.real, state.whole, state.counts
    counts[N_VACANT] -= 1
    job = state.order[VACANT, counts[N_VACANT]]
    whole[job, NUMBER] = counts[SUBMITTED]
    whole[job, SIZE] = chunk.size[cursor]
    whole[job, CLASS] = chunk.job_class[cursor]
    real[job, SUBMIT] = chunk.submit[cursor]
    real[job, RUNTIME] = chunk.runtime[cursor]
    real[job, WORK] = real[job, LEFT] = chunk.work[cursor]
    real[job, ALONE] = chunk.alone[cursor]
    real[job, START] = NOT_YET
    real[job, HELD] = 0.0
    counts[SUBMITTED] += 1
    return job


@part(void(int64, STATE, RECORD))
def take_down(job: int, state: State, record: Record) -> None:
    """Write down that a job has ended and free its place in the table."""
    real, whole, counts, ended = state.real, state.whole, state.counts, record.ended
    at = counts[N_ENDED]
    ended.number[at] = whole[job, NUMBER]
    ended.submit[at] = real[job, SUBMIT]
    ended.start[at] = real[job, START]
    ended.end[at] = state.clocks[NOW]
    ended.runtime[at] = real[job, RUNTIME]
    ended.work[at] = real[job, WORK]
    ended.size[at] = whole[job, SIZE]
    ended.job_class[at] = whole[job, CLASS]
    counts[N_ENDED] += 1
    state.order[VACANT, counts[N_VACANT]] = job
    counts[N_VACANT] += 1
    counts[TERMINATED] += 1
    counts[IN_BATCH] += 1


@part(void(STATE, RECORD), inline=False)
def close_batch(state: State, record: Record) -> None:
    """Write down the integrals over a batch and begin the next one."""
    counts, clocks = state.counts, state.clocks
    at = counts[N_CLOSED]
    record.closed.job_time[at] = clocks[JOB_TIME]
    record.closed.held_time[at] = clocks[HELD_TIME]
    record.closed.length[at] = clocks[NOW] - clocks[BATCH_START]
    counts[N_CLOSED] += 1
    counts[IN_BATCH] = 0
    clocks[JOB_TIME] = clocks[HELD_TIME] = 0.0
    clocks[BATCH_START] = clocks[NOW]


@part(void(int64, float64, STATE, RECORD), inline=False)
def hold_processors(job: int, processors: float, state: State, record: Record) -> None:
    """Write down a piece where a job's number of processors changes; 0 where it loses its partition."""
    real, now = state.real, state.clocks[NOW]
    held = real[job, HELD]
    if processors == held:
        return
    if held > 0.0 and now > real[job, HELD_SINCE]:
        at = state.counts[N_PIECES]
        record.pieces.number[at] = state.whole[job, NUMBER]
        record.pieces.begin[at] = real[job, HELD_SINCE]
        record.pieces.end[at] = now
        record.pieces.processors[at] = held
        state.counts[N_PIECES] += 1
    real[job, HELD] = processors
    real[job, HELD_SINCE] = now


@part(void(STATE, PLAN, RECORD), inline=False)
def look_at_partitions(state: State, plan: Plan, record: Record) -> None:
    """Write down who has another number of processors since the event before. O(running jobs).

    Who has lost them and waits is at the end of the queue: an event puts no more jobs there than run.
    """
    order, counts = state.order, state.counts
    for i in range(max(0, counts[N_QUEUED] - counts[N_RUNNING]), counts[N_QUEUED]):
        job = order[QUEUE, (counts[HEAD] + i) % order.shape[1]]
        hold_processors(job, 0.0, state, record)
    for i in range(counts[N_RUNNING]):
        job = order[RUNNING, i]
        hold_processors(job, plan.processors[state.whole[job, SHARE]], state, record)


@kernel(int64(FUNCTION, FUNCTION, FUNCTION, CURVE, STATE, PLAN, ARRIVALS, RECORD))
def advance(
    arrive: Any,
    depart: Any,
    rotate: Any,
    curve: Any,
    state: State,
    plan: Plan,
    chunk: Arrivals,
    record: Record,
) -> int:
    """Simulate until something is needed from outside, and say what (`BATCHES_DONE` …).

    Parameters
    ----------
    arrive, depart, rotate : the policy, see `simulation.discipline`
    curve : the speed of a job by its number of processors, see `models.workloads.speedup.curves`
    state : of the simulation
    plan : what is not changed, see `simulation.state`
    chunk : the arrivals at hand, from ``counts[CURSOR]`` on
    record : what is written down
    """
    real, whole, order, counts, clocks = state
    settings = plan.settings
    while True:
        cursor = counts[CURSOR]
        n_running = counts[N_RUNNING]
        first = first_to_end(real, whole, order, n_running)
        end = np.inf
        if first >= 0:
            end = real[order[RUNNING, first], FINISH]
        arrival = np.inf
        if cursor < chunk.submit.shape[0]:
            arrival = chunk.submit[cursor]
        elif chunk.more:
            return ARRIVALS_USED_UP
        elif first < 0 or not settings.draining:
            return NO_MORE_JOBS
        then = min(end, arrival, clocks[TICK], clocks[ROTATION_DUE])
        if then > settings.until:
            return TIME_REACHED
        if arrival == then:
            if counts[N_VACANT] == 0:
                return TABLE_FULL
            if n_running == settings.table_jobs and n_running < settings.limit:
                return SHARES_TOO_FEW
        if counts[N_ENDED] == record.ended.number.shape[0]:
            return RECORD_FULL
        if settings.recording and record.pieces.number.shape[0] - counts[N_PIECES] < 2 * n_running + 1:
            return RECORD_FULL
        clocks[JOB_TIME] += (n_running + counts[N_QUEUED]) * (then - clocks[NOW])
        clocks[HELD_TIME] += record.held[n_running] * (then - clocks[NOW])
        clocks[NOW] = then

        # Of several events at one instant the end comes first, then the arrival, then the look at the queue.
        if end == then:
            job = order[RUNNING, first]
            if settings.recording:
                hold_processors(job, 0.0, state, record)
            take_down(job, state, record)
            if counts[N_QUEUED] > 0:
                take_over(first_in_queue(state), first, 0.0, state, plan, curve)
                renew(first, state)
            else:
                depart(first, state, plan, curve)
                strike_out(first, state)
        elif arrival == then:
            job = submit(chunk, cursor, state)
            counts[CURSOR] += 1
            if n_running < settings.limit:
                arrive(job, state, plan, curve)
                admitted(n_running, state)
            else:
                wait_outside(job, settings, state)
        elif clocks[TICK] == then:
            swap(state, plan, curve)
        else:
            rotate(0, state, plan, curve)
        if settings.recording:
            look_at_partitions(state, plan, record)
        if counts[IN_BATCH] == settings.batch_size:
            close_batch(state, record)
            if counts[TERMINATED] // settings.batch_size >= settings.n_batches:
                return BATCHES_DONE
