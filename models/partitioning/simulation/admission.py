"""The admission of jobs to memory: compiled functions for the limit of section 5.4.2.

Jobs that do not fit into memory wait in the order of their arrival; a job that ends leaves its place and its
partition to the first of them at once. In addition, every Q seconds as many running jobs are preempted as are
waiting (at most all), so that "any queued jobs can be assigned to processors"; the jobs that have been in
memory longest come first. They are appended to the queue with their remaining work. A newcomer takes over a
preempted job's partition, whose processors are idle for O seconds; the partitions of all others stay.
"""

import numpy as np
from numba import float64, int64, void

from models.kernels.compiling import part
from models.partitioning.simulation.progress import begin, catch_up
from models.partitioning.simulation.state import TABLES
from models.workloads.speedup.curves import CURVE


@part(void(int64, TABLES))
def enqueue(job, tables):
    """Append a job to the queue; with the first one the checks of the queue begin."""
    lists, state = tables.lists, tables.state[0]
    ring = lists.queue.shape[0]
    if state.n_queued == 0 and tables.settings.interval < np.inf:
        state.tick = (np.floor(state.now / tables.settings.interval) + 1) * tables.settings.interval
    lists.queue[(state.head + state.n_queued) % ring] = job
    state.n_queued += 1


@part(int64(TABLES))
def dequeue(tables):
    """Remove the first job from the queue; with the last one the checks of the queue end."""
    lists, state = tables.lists, tables.state[0]
    job = lists.queue[state.head]
    state.head = (state.head + 1) % lists.queue.shape[0]
    state.n_queued -= 1
    if state.n_queued == 0:
        state.tick = np.inf
    return job


@part(void(int64, int64, float64, TABLES, CURVE))
def take_over(job, position, wait, tables, curve):
    """Give a job the partition of the job at a position, where it begins after `wait` seconds."""
    jobs, lists = tables.jobs, tables.lists
    before = lists.running[position]
    lists.running[position] = job
    begin(job, wait, jobs[before].share, tables, curve)


@part(void(int64, TABLES))
def count_admitted(position, tables):
    """Count a job as admitted beside those that run."""
    lists, state = tables.lists, tables.state[0]
    lists.oldest[state.n_running - 1] = position


@part(void(int64, int64, TABLES))
def remove_position(position, n, tables):
    """Remove one of `n` positions; if one job fewer runs now, the last job has taken it. O(running jobs)."""
    lists, last = tables.lists, tables.state[0].n_running
    found = 0
    for i in range(n):
        if lists.oldest[i] != position:
            lists.oldest[found] = lists.oldest[i] if lists.oldest[i] != last else position
            found += 1


@part(void(TABLES, CURVE), inline=False)
def swap(tables, curve):
    """Exchange waiting jobs for running ones. O(running jobs)."""
    lists, state = tables.lists, tables.state[0]
    n_jobs = state.n_running
    n_swapped = min(state.n_queued, n_jobs)
    for i in range(n_swapped):
        position = lists.oldest[i]
        lists.moved[i] = position
        preempted = lists.running[position]
        catch_up(preempted, tables)
        enqueue(preempted, tables)
        newcomer = dequeue(tables)
        take_over(newcomer, position, tables.settings.overhead, tables, curve)
    for i in range(n_swapped, n_jobs):
        lists.oldest[i - n_swapped] = lists.oldest[i]
    for i in range(n_swapped):
        lists.oldest[n_jobs - n_swapped + i] = lists.moved[i]
    state.tick = state.now + tables.settings.interval
