"""Which jobs are in memory: compiled functions for the limit of section 5.4.2.

Jobs for which memory has no room wait in the order of their arrival; a job that ends gives its place and its
partition to the first of them at once. Besides, every Q seconds as many running jobs are preempted as are
waiting (at most all), so that "any queued jobs can be assigned to processors": those first that have been in
memory for longest. They go to the end of the queue with what work they have left. A newcomer takes over a
preempted job's partition, whose processors do nothing for O seconds; the partitions of all others stay.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, void

from models.arrays import Floats, Ints
from models.kernels.compiling import kernel
from models.partitioning.progress import begin, catch_up
from models.partitioning.state import (
    CLOCKS,
    COUNTS,
    HEAD,
    N_QUEUED,
    N_RUNNING,
    NOW,
    OLDEST,
    QUEUE,
    RATE,
    REAL,
    ROOM,
    RUNNING,
    SETTINGS,
    TICK,
    WHOLE,
    Settings,
)


@kernel(void(int64, SETTINGS, WHOLE, COUNTS, CLOCKS), inline=True)
def wait_outside(job: int, settings: Settings, order: Ints, counts: Ints, clocks: Floats) -> None:
    """Put a job at the end of the queue; with the first one the looks at the queue begin."""
    ring = order.shape[1]
    if counts[N_QUEUED] == 0 and settings.interval < np.inf:
        clocks[TICK] = (np.floor(clocks[NOW] / settings.interval) + 1) * settings.interval
    order[QUEUE, (counts[HEAD] + counts[N_QUEUED]) % ring] = job
    counts[N_QUEUED] += 1


@kernel(int64(WHOLE, COUNTS, CLOCKS), inline=True)
def first_in_queue(order: Ints, counts: Ints, clocks: Floats) -> int:
    """Take the first job out of the queue; with the last one the looks at the queue end."""
    job = order[QUEUE, counts[HEAD]]
    counts[HEAD] = (counts[HEAD] + 1) % order.shape[1]
    counts[N_QUEUED] -= 1
    if counts[N_QUEUED] == 0:
        clocks[TICK] = np.inf
    return job


@kernel(void(int64, int64, float64, REAL, WHOLE, CLOCKS), inline=True)
def take_over(job: int, position: int, wait: float, real: Floats, order: Ints, clocks: Floats) -> None:
    """Give a job the partition of the one at a position, where it begins after `wait` seconds."""
    before = order[RUNNING, position]
    order[RUNNING, position] = job
    begin(job, clocks[NOW], wait, real[before, RATE], real)


@kernel(void(int64, WHOLE, COUNTS), inline=True)
def admitted(position: int, order: Ints, counts: Ints) -> None:
    """Write down that a job has come into memory beside those that run."""
    order[OLDEST, counts[N_RUNNING] - 1] = position


@kernel(void(int64, WHOLE, COUNTS), inline=True)
def renew(position: int, order: Ints, counts: Ints) -> None:
    """Write down that a position has another job now. O(running jobs)."""
    last = counts[N_RUNNING] - 1
    found = 0
    for i in range(last + 1):
        if order[OLDEST, i] != position:
            order[OLDEST, found] = order[OLDEST, i]
            found += 1
    order[OLDEST, last] = position


@kernel(void(int64, WHOLE, COUNTS), inline=True)
def strike_out(position: int, order: Ints, counts: Ints) -> None:
    """Write down that a job has gone and that the last one has taken its position. O(running jobs)."""
    last = counts[N_RUNNING]
    found = 0
    for i in range(last + 1):
        if order[OLDEST, i] == position:
            continue
        order[OLDEST, found] = order[OLDEST, i] if order[OLDEST, i] != last else position
        found += 1


@kernel(void(SETTINGS, REAL, WHOLE, COUNTS, CLOCKS))
def swap(settings: Settings, real: Floats, order: Ints, counts: Ints, clocks: Floats) -> None:
    """Exchange waiting jobs for running ones. O(running jobs)."""
    n_jobs = counts[N_RUNNING]
    n_swapped = min(counts[N_QUEUED], n_jobs)
    for i in range(n_swapped):
        position = order[OLDEST, i]
        order[ROOM, i] = position
        preempted = order[RUNNING, position]
        catch_up(preempted, clocks[NOW], real)
        wait_outside(preempted, settings, order, counts, clocks)
        newcomer = first_in_queue(order, counts, clocks)
        take_over(newcomer, position, settings.overhead, real, order, clocks)
    for i in range(n_swapped, n_jobs):
        order[OLDEST, i - n_swapped] = order[OLDEST, i]
    for i in range(n_swapped):
        order[OLDEST, n_jobs - n_swapped + i] = order[ROOM, i]
    clocks[TICK] = clocks[NOW] + settings.interval
