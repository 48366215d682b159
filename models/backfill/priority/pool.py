"""FCFS and EASY on one pool of processors: the fast path of the family.

EASY (FCFS-backfill, Chiang and Vernon 2001, section 2.3, with one scheduled start): jobs start in order of
submission. The first that does not fit holds a reservation: the shadow time, at which enough processors
will be free if all that runs uses up its requested time. A later job may start at once if it ends before the
shadow time, as far as its requested time tells, or takes processors only that the first one leaves over.

A job that runs on beyond its request is expected to end at any moment.

References
----------
D. A. Lifka, "The ANL/IBM SP scheduling system", in *Job Scheduling Strategies for Parallel Processing*, LNCS
949, 1995.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import boolean, float64, int64, void

from models.arrays import Floats, Ints
from models.kernels.compiling import kernel, part
from models.kernels.ends import pop, push
from models.kernels.ties import next_end, next_submission, takes_end, takes_submission
from models.kernels.types import INTS, record


class PoolJobs(NamedTuple):
    """The jobs in order of submission; every array has the shape (n_jobs,).

    Parameters
    ----------
    submit, runtime, requested : ndarray of float, seconds
    size : ndarray of int
    start, end : ndarray of float, seconds
        Filled in.
    promised : ndarray of float, seconds
        NaN; filled in with the first shadow time that a job had, for those that had one.
    """

    submit: Floats
    runtime: Floats
    requested: Floats
    size: Ints
    start: Floats
    end: Floats
    promised: Floats


class Pool(NamedTuple):
    """The processors, and when those that are taken should be free again.

    Parameters
    ----------
    processors : int
    due : ndarray of float, seconds
        Expected ends of what runs, the last first; room for as many jobs as can run at once, and one more.
    due_size : ndarray of int
        Processors that become free then.
    """

    processors: int
    due: Floats
    due_size: Ints


JOBS, POOL = record(PoolJobs), record(Pool)


@part(void(POOL, int64, float64, int64))
def insert(pool: Pool, n: int, when: float, size: int) -> None:
    """Add an expected end to `n`. O(those that are earlier)."""
    at = n
    while at > 0 and pool.due[at - 1] < when:
        pool.due[at] = pool.due[at - 1]
        pool.due_size[at] = pool.due_size[at - 1]
        at -= 1
    pool.due[at] = when
    pool.due_size[at] = size


@part(void(POOL, int64, float64, int64))
def remove(pool: Pool, n: int, when: float, size: int) -> None:
    """Take away an expected end beside `n` others; those that are alike are as good as each other. O(n)."""
    low, high = 0, n
    while low < high:
        middle = (low + high) >> 1
        if pool.due[middle] > when:
            low = middle + 1
        else:
            high = middle
    while pool.due_size[low] != size:
        low += 1
    for i in range(low, n):
        pool.due[i] = pool.due[i + 1]
        pool.due_size[i] = pool.due_size[i + 1]


@kernel(void(JOBS, POOL, boolean, boolean, INTS, INTS))
def run(jobs: PoolJobs, pool: Pool, backfilling: bool, instant: bool, heap: Ints, queue: Ints) -> None:
    """Simulate jobs to their last end.

    An end costs O(waiting + running jobs). So does a submission, unless the first of the queue is known to
    wait on: nothing has become free since, so that only the newcomer is looked at, O(running) if it starts.

    Parameters
    ----------
    jobs, pool : see there
    backfilling : EASY; otherwise nobody passes a job that waits
    instant : see `models.kernels.ties`
    heap, queue : room for all jobs
    """
    n_jobs = jobs.submit.shape[0]
    free = pool.processors
    n_running = 0
    first, last = 0, 0  # the queue is queue[first:last]
    arrived = 0
    shadow, extra = -np.inf, 0  # of the first in the queue; -inf: not known
    while arrived < n_jobs or n_running > 0:
        next_submit = next_submission(jobs.submit, arrived)
        now = min(next_submit, next_end(jobs.end, heap, n_running))
        newcomer = last
        n_ended = 0
        while takes_end(instant, now, next_end(jobs.end, heap, n_running), next_submit, n_ended):
            job = pop(jobs.end, heap, n_running)
            n_running -= 1
            remove(pool, n_running, jobs.start[job] + jobs.requested[job], jobs.size[job])
            free += jobs.size[job]
            n_ended += 1
        n_events = n_ended
        while takes_submission(instant, now, next_submission(jobs.submit, arrived), n_events):
            queue[last] = arrived
            last += 1
            arrived += 1
            n_events += 1

        # A pass. Without an end, and with a shadow time to come, those who waited before still have to.
        if first == last:
            continue
        begin = newcomer
        if n_ended > 0 or shadow <= now:
            shadow = -np.inf
            begin = first
        kept = begin
        for i in range(begin, last):
            job = queue[i]
            starts = jobs.size[job] <= free and (backfilling or shadow == -np.inf)
            if starts and shadow != -np.inf and now + jobs.requested[job] > shadow:
                starts = jobs.size[job] <= extra
                if starts:
                    extra -= jobs.size[job]
            if starts:
                jobs.start[job] = now
                jobs.end[job] = now + jobs.runtime[job]
                push(jobs.end, heap, n_running, job)
                insert(pool, n_running, now + jobs.requested[job], jobs.size[job])
                n_running += 1
                free -= jobs.size[job]
                if kept == first:  # no hole in the queue: it begins later
                    first = i + 1
                    kept = i + 1
                continue
            queue[kept] = job
            kept += 1
            if shadow == -np.inf:
                shadow = np.inf
                if backfilling:
                    at = n_running
                    available = free
                    while available < jobs.size[job]:
                        at -= 1
                        available += pool.due_size[at]
                    shadow = max(pool.due[at], now)
                    if np.isnan(jobs.promised[job]):
                        jobs.promised[job] = shadow
                    while at > 0 and pool.due[at - 1] <= shadow:
                        at -= 1
                        available += pool.due_size[at]
                    extra = available - jobs.size[job]
            if free == 0 or not backfilling:
                if kept == i + 1:
                    kept = last
                    break
                for rest in range(i + 1, last):
                    queue[kept] = queue[rest]
                    kept += 1
                break
        last = kept
