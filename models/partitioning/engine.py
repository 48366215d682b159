"""The event loop: arrivals, ends, rotations, and looks at the queue of jobs outside memory.

The engine names no policy: it calls whatever functions of the declared type it is given. An event costs
O(running jobs) and what the policy costs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import boolean, float64, int64, void

from models.arrays import Floats, Ints
from models.kernels.compiling import kernel
from models.partitioning.admission import (
    admitted,
    first_in_queue,
    renew,
    strike_out,
    swap,
    take_over,
    wait_outside,
)
from models.partitioning.discipline import FUNCTION
from models.partitioning.state import (
    ARRIVAL,
    ARRIVALS,
    BATCH_START,
    BLOW_UP_SQUARES,
    BLOW_UPS,
    CELLS,
    CLASS,
    CLOCKS,
    COUNTS,
    CURSOR,
    ENDED,
    FINISH,
    IN_BATCH,
    JOB_TIME,
    LAST_ARRIVAL,
    LEFT,
    N_COLUMNS,
    N_QUEUED,
    N_RUNNING,
    N_SUMS,
    N_VACANT,
    NOW,
    NUMBER,
    REAL,
    RESPONSES,
    ROTATION_DUE,
    RUNNING,
    SETTINGS,
    SUBMITTED,
    TABLES,
    TERMINATED,
    TICK,
    VACANT,
    WHOLE,
    WORK,
    Settings,
)
from models.partitioning.workload import Arrivals

# Why `advance` returned.
BATCHES_DONE, ARRIVALS_USED_UP, NO_MORE_JOBS, TIME_REACHED, TABLE_FULL, TABLES_TOO_SMALL = range(6)


@kernel(int64(REAL, WHOLE, WHOLE, int64), inline=True)
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


@kernel(int64(int64, float64, REAL, WHOLE, WHOLE, COUNTS, CLOCKS), inline=True)
def submit(
    job_class: int, work: float, real: Floats, whole: Ints, order: Ints, counts: Ints, clocks: Floats
) -> int:
    """Write a newcomer into the table of jobs and return its place."""
    counts[N_VACANT] -= 1
    job = order[VACANT, counts[N_VACANT]]
    whole[job, NUMBER] = counts[SUBMITTED]
    whole[job, CLASS] = job_class
    real[job, ARRIVAL] = clocks[NOW]
    real[job, WORK] = work
    real[job, LEFT] = work
    counts[SUBMITTED] += 1
    return job


@kernel(void(int64, REAL, REAL, WHOLE, WHOLE, COUNTS, float64, float64[::1]), inline=True)
def take_down(
    job: int,
    real: Floats,
    sums: Floats,
    whole: Ints,
    order: Ints,
    counts: Ints,
    now: float,
    responses: Floats,
) -> None:
    """Add an ended job to the sums of its class and free its place in the table."""
    response = now - real[job, ARRIVAL]
    blow_up = response / real[job, WORK]
    job_class = whole[job, CLASS]
    sums[job_class, ENDED] += 1
    sums[job_class, RESPONSES] += response
    sums[job_class, BLOW_UPS] += blow_up
    sums[job_class, BLOW_UP_SQUARES] += blow_up * blow_up
    if whole[job, NUMBER] < responses.shape[0]:
        responses[whole[job, NUMBER]] = response
    order[VACANT, counts[N_VACANT]] = job
    counts[N_VACANT] += 1
    counts[TERMINATED] += 1
    counts[IN_BATCH] += 1


@kernel(void(int64, REAL, REAL, COUNTS, CLOCKS))
def close_batch(batch: int, batches: Floats, sums: Floats, counts: Ints, clocks: Floats) -> None:
    """Write the columns of a batch, see `state.N_COLUMNS`, and begin the next one."""
    for job_class in range(sums.shape[0]):
        for column in range(N_SUMS):
            batches[batch, job_class * N_SUMS + column] = sums[job_class, column]
            sums[job_class, column] = 0.0
    batches[batch, N_COLUMNS - 1] = clocks[JOB_TIME] / (clocks[NOW] - clocks[BATCH_START])
    counts[IN_BATCH] = 0
    clocks[JOB_TIME] = 0.0
    clocks[BATCH_START] = clocks[NOW]


@kernel(
    int64(
        FUNCTION, FUNCTION, FUNCTION, SETTINGS, REAL, WHOLE, WHOLE, TABLES, CELLS, ARRIVALS, COUNTS, CLOCKS,
        REAL, REAL, int64, boolean, float64, float64[::1],
    )
)  # fmt: skip
def advance(
    arrive: Any, depart: Any, rotate: Any, settings: Settings, real: Floats, whole: Ints, order: Ints,
    tables: Floats, cells: Ints, chunk: Arrivals, counts: Ints, clocks: Floats, sums: Floats, batches: Floats,
    n_batches: int, more_arrivals: bool, until: float, responses: Floats,
) -> int:  # fmt: skip
    """Simulate until something is needed from outside, and say what (`BATCHES_DONE` …).

    Parameters
    ----------
    arrive, depart, rotate : the policy, see `discipline`
    settings, real, whole, order, counts, clocks, sums : the simulation, see `state`
    tables, cells : the policy's own
    chunk : the arrivals at hand, from ``counts[CURSOR]`` on
    batches : float64 (batch, column), rows are filled as batches end
    n_batches : return when so many batches have ended, the warm-up included
    more_arrivals : whether another chunk will follow this one
    until : return before the first event later than this
    responses : float64 (job,), response times by the job's number, as far as there is room
    """
    # Unpacked once: to look at an array in a tuple counts a reference.
    gaps, classes, works = chunk
    while True:
        cursor = counts[CURSOR]
        n_running = counts[N_RUNNING]
        first = first_to_end(real, whole, order, n_running)
        end = np.inf
        if first >= 0:
            end = real[order[RUNNING, first], FINISH]
        arrival = np.inf
        if cursor < gaps.shape[0]:
            arrival = clocks[LAST_ARRIVAL] + gaps[cursor]
        elif more_arrivals:
            return ARRIVALS_USED_UP
        elif first < 0 or not settings.draining:
            return NO_MORE_JOBS
        then = min(end, arrival, clocks[TICK], clocks[ROTATION_DUE])
        if then > until:
            return TIME_REACHED
        if arrival == then:
            if counts[N_VACANT] == 0:
                return TABLE_FULL
            if n_running == settings.table_jobs and n_running < settings.limit:
                return TABLES_TOO_SMALL
        clocks[JOB_TIME] += (n_running + counts[N_QUEUED]) * (then - clocks[NOW])
        clocks[NOW] = then

        # Of several events at one instant the end comes first, then the arrival, then the look at the queue.
        if end == then:
            job = order[RUNNING, first]
            take_down(job, real, sums, whole, order, counts, then, responses)
            if counts[N_QUEUED] > 0:
                take_over(first_in_queue(order, counts, clocks), first, 0.0, real, order, clocks)
                renew(first, order, counts)
            else:
                depart(first, settings, real, order, tables, cells, counts, clocks)
                strike_out(first, order, counts)
            if counts[IN_BATCH] == settings.batch_size:
                batch = counts[TERMINATED] // settings.batch_size - 1
                close_batch(batch, batches, sums, counts, clocks)
                if batch + 1 >= n_batches:
                    return BATCHES_DONE
        elif arrival == then:
            job = submit(classes[cursor], works[cursor], real, whole, order, counts, clocks)
            counts[CURSOR] += 1
            clocks[LAST_ARRIVAL] = arrival
            if n_running < settings.limit:
                arrive(job, settings, real, order, tables, cells, counts, clocks)
                admitted(n_running, order, counts)
            else:
                wait_outside(job, settings, order, counts, clocks)
        elif clocks[TICK] == then:
            swap(settings, real, order, counts, clocks)
        else:
            rotate(0, settings, real, order, tables, cells, counts, clocks)
