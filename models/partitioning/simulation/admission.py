"""Which jobs are in memory: compiled functions for the limit of section 5.4.2.

Jobs for which memory has no room wait in the order of their arrival; a job that ends gives its place and its
partition to the first of them at once. Besides, every Q seconds as many running jobs are preempted as are
waiting (at most all), so that "any queued jobs can be assigned to processors": those first that have been in
memory for longest. They go to the end of the queue with what work they have left. A newcomer takes over a
preempted job's partition, whose processors do nothing for O seconds; the partitions of all others stay.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64, int64, void

from models.kernels.compiling import part
from models.partitioning.simulation.progress import begin, catch_up
from models.partitioning.simulation.state import (
    HEAD,
    N_QUEUED,
    N_RUNNING,
    NOW,
    OLDEST,
    PLAN,
    QUEUE,
    ROOM,
    RUNNING,
    SETTINGS,
    SHARE,
    STATE,
    TICK,
    Plan,
    Settings,
    State,
)
from models.workloads.speedup.curves import CURVE


@part(void(int64, SETTINGS, STATE))
def wait_outside(job: int, settings: Settings, state: State) -> None:
    """Put a job at the end of the queue; with the first one the looks at the queue begin."""
    order, counts, clocks = state.order, state.counts, state.clocks
    ring = order.shape[1]
    if counts[N_QUEUED] == 0 and settings.interval < np.inf:
        clocks[TICK] = (np.floor(clocks[NOW] / settings.interval) + 1) * settings.interval
    order[QUEUE, (counts[HEAD] + counts[N_QUEUED]) % ring] = job
    counts[N_QUEUED] += 1


@part(int64(STATE))
def first_in_queue(state: State) -> int:
    """Take the first job out of the queue; with the last one the looks at the queue end."""
    counts = state.counts
    job = state.order[QUEUE, counts[HEAD]]
    counts[HEAD] = (counts[HEAD] + 1) % state.order.shape[1]
    counts[N_QUEUED] -= 1
    if counts[N_QUEUED] == 0:
        state.clocks[TICK] = np.inf
    return job


@part(void(int64, int64, float64, STATE, PLAN, CURVE))
def take_over(job: int, position: int, wait: float, state: State, plan: Plan, curve: Any) -> None:
    """Give a job the partition of the one at a position, where it begins after `wait` seconds."""
    before = state.order[RUNNING, position]
    state.order[RUNNING, position] = job
    begin(job, wait, state.whole[before, SHARE], state, plan, curve)


@part(void(int64, STATE))
def admitted(position: int, state: State) -> None:
    """Write down that a job has come into memory beside those that run."""
    state.order[OLDEST, state.counts[N_RUNNING] - 1] = position


@part(void(int64, STATE))
def renew(position: int, state: State) -> None:
    """Write down that a position has another job now. O(running jobs)."""
    order = state.order
    last = state.counts[N_RUNNING] - 1
    found = 0
    for i in range(last + 1):
        if order[OLDEST, i] != position:
            order[OLDEST, found] = order[OLDEST, i]
            found += 1
    order[OLDEST, last] = position


@part(void(int64, STATE))
def strike_out(position: int, state: State) -> None:
    """Write down that a job has gone and that the last one has taken its position. O(running jobs)."""
    order = state.order
    last = state.counts[N_RUNNING]
    found = 0
    for i in range(last + 1):
        if order[OLDEST, i] == position:
            continue
        order[OLDEST, found] = order[OLDEST, i] if order[OLDEST, i] != last else position
        found += 1


@part(void(STATE, PLAN, CURVE), inline=False)
def swap(state: State, plan: Plan, curve: Any) -> None:
    """Exchange waiting jobs for running ones. O(running jobs)."""
    order, counts, clocks = state.order, state.counts, state.clocks
    n_jobs = counts[N_RUNNING]
    n_swapped = min(counts[N_QUEUED], n_jobs)
    for i in range(n_swapped):
        position = order[OLDEST, i]
        order[ROOM, i] = position
        preempted = order[RUNNING, position]
        catch_up(preempted, state)
        wait_outside(preempted, plan.settings, state)
        newcomer = first_in_queue(state)
        take_over(newcomer, position, plan.settings.overhead, state, plan, curve)
    for i in range(n_swapped, n_jobs):
        order[OLDEST, i - n_swapped] = order[OLDEST, i]
    for i in range(n_swapped):
        order[OLDEST, n_jobs - n_swapped + i] = order[ROOM, i]
    clocks[TICK] = clocks[NOW] + plan.settings.interval
