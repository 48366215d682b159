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

import numpy as np
from numba import boolean, int64, void

from models.arrays import Floats, Ints
from models.kernels.compiling import kernel
from models.kernels.ends import pop, push
from models.kernels.types import FLOATS, INTS


@kernel(
    void(
        FLOATS, FLOATS, FLOATS, INTS, int64, boolean, boolean, FLOATS, FLOATS, FLOATS, INTS, INTS,
        FLOATS, INTS,
    )
)  # fmt: skip
def run(
    submit: Floats, runtime: Floats, requested: Floats, size: Ints, processors: int, backfilling: bool,
    instant: bool, start: Floats, end: Floats, promised: Floats, heap: Ints, queue: Ints,
    due: Floats, due_size: Ints,
) -> None:  # fmt: skip
    """Simulate jobs to their last end.

    An end costs O(waiting + running jobs). So does a submission, unless the first of the queue is known to
    wait on: nothing has become free since, so that only the newcomer is looked at, O(running) if it starts.

    Parameters
    ----------
    submit, runtime, requested, size : the jobs, in order of submission
    processors : of the pool
    backfilling : EASY; otherwise nobody passes a job that waits
    instant : all ends of an instant, all its submissions, then one pass; otherwise a pass after each event,
        submissions first
    start, end : filled in
    promised : NaN; filled in with the first shadow time that a job had, for those that had one
    heap, queue : room for all jobs
    due, due_size : room for as many jobs as can run at once, the last expected end first
    """
    n_jobs = submit.shape[0]
    free = processors
    n_running = 0
    first, last = 0, 0  # the queue is queue[first:last]
    arrived = 0
    shadow, extra = -np.inf, 0  # of the first in the queue; -inf: not known
    while arrived < n_jobs or n_running > 0:
        next_submit = submit[arrived] if arrived < n_jobs else np.inf
        next_end = end[heap[0]] if n_running > 0 else np.inf
        now = min(next_submit, next_end)
        has_ended = False
        newcomer = last

        # One event, or under `instant` all of this moment.
        while n_running > 0 and end[heap[0]] == now and (instant or next_submit > now):
            job = pop(end, heap, n_running)
            n_running -= 1
            expected = start[job] + requested[job]
            # Jobs of one size and one expected end are as good as each other in the list of expected ends.
            low, high = 0, n_running
            while low < high:
                middle = (low + high) >> 1
                if due[middle] > expected:
                    low = middle + 1
                else:
                    high = middle
            while due_size[low] != size[job]:
                low += 1
            for i in range(low, n_running):
                due[i] = due[i + 1]
                due_size[i] = due_size[i + 1]
            free += size[job]
            has_ended = True
            if not instant:
                break
        while arrived < n_jobs and submit[arrived] == now and (instant or not has_ended):
            queue[last] = arrived
            last += 1
            arrived += 1
            if not instant:
                break

        # A pass. Without an end, and with a shadow time to come, those who waited before still have to.
        if first == last:
            continue
        begin = newcomer
        if has_ended or shadow <= now:
            shadow = -np.inf
            begin = first
        kept = begin
        for i in range(begin, last):
            job = queue[i]
            starts = size[job] <= free and (backfilling or shadow == -np.inf)
            if starts and shadow != -np.inf and now + requested[job] > shadow:
                starts = size[job] <= extra
                if starts:
                    extra -= size[job]
            if starts:
                start[job] = now
                end[job] = now + runtime[job]
                push(end, heap, n_running, job)
                expected = now + requested[job]
                at = n_running
                while at > 0 and due[at - 1] < expected:
                    due[at] = due[at - 1]
                    due_size[at] = due_size[at - 1]
                    at -= 1
                due[at] = expected
                due_size[at] = size[job]
                n_running += 1
                free -= size[job]
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
                    while available < size[job]:
                        at -= 1
                        available += due_size[at]
                    shadow = max(due[at], now)
                    if np.isnan(promised[job]):
                        promised[job] = shadow
                    while at > 0 and due[at - 1] <= shadow:
                        at -= 1
                        available += due_size[at]
                    extra = available - size[job]
            if free == 0 or not backfilling:
                if kept == i + 1:
                    kept = last
                    break
                for rest in range(i + 1, last):
                    queue[kept] = queue[rest]
                    kept += 1
                break
        last = kept
