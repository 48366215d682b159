"""Backfilling by priority on hosts with processors and memory: the event loop around `passing.start_jobs`.

The start that a job was first promised is kept, which means that it starts then at the latest, where
requests are respected (``kill``), one start is given, and the job that holds it is never passed: by order of
submission (EASY) or because it keeps it (`sticky`). With several starts the promise of all but the first may
be broken, because they are given anew in each pass; with other priorities a newcomer may take the start over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from numba import boolean, void

from models.arrays import Floats
from models.backfill.expected_ends import remove
from models.backfill.priority.order import PRIORITY, weighted
from models.backfill.priority.passing import (
    COLUMNS,
    HOSTS,
    LISTS,
    Columns,
    Hosts,
    Lists,
    Starts,
    start_in_two_orders,
    start_jobs,
)
from models.backfill.priority.weights import Weights
from models.kernels.compiling import kernel, part
from models.kernels.ends import pop
from models.kernels.ties import next_end, next_submission, takes_end, takes_submission
from models.kernels.types import FLOATS, record


class Order(NamedTuple):
    """Who goes first, and when the scheduler looks.

    Parameters
    ----------
    weights : Weights
        Of the measures of a job's priority, see `order.weighted`.
    own : bool
        Whether a function takes their place.
    dynamic : bool
        Whether priorities change with time, and are computed anew at each pass; else they are there.
    reorders : bool
        Whether the backfill order is not the queue's.
    reorders_anew : bool
        Whether it changes with time.
    instant : bool
        See `models.kernels.ties`.
    starts : Starts
    """

    weights: Weights
    own: bool
    dynamic: bool
    reorders: bool
    reorders_anew: bool
    instant: bool
    starts: Starts


ORDER = record(Order)


@part(boolean(ORDER))
def counts_bypasses(order: Order) -> bool:
    """Tell whether an order may look at how many of lower priority started before a job."""
    asks = (order.own and order.dynamic) or order.reorders_anew
    return asks or (order.dynamic and order.weights.bypass != 0.0)


@kernel(void(FLOATS, COLUMNS, HOSTS, ORDER, PRIORITY, PRIORITY, LISTS))
def run(
    submit: Floats, jobs: Columns, hosts: Hosts, order: Order, priority: Callable[..., float],
    backfill_order: Callable[..., float], lists: Lists,
) -> None:  # fmt: skip
    """Simulate jobs to their last end, a pass at each event, see `passing.start_jobs` for what it costs.

    Priorities that change with time add O(waiting jobs) to each pass, and O(waiting jobs^2) at worst, where
    the order of all has changed since the last one.

    Parameters
    ----------
    submit : ascending
    jobs : `start`, `end`, `host` and `promised` are filled in; `start` and `promised` are NaN, `bypassed` 0
        and `held` `passing.NOT_HELD`. `key` and `rank` are there unless they change with time
    hosts : all that there is is free; every job fits on one of them
    order : see there
    priority : called if it takes the place of weights and changes with time
    backfill_order : called if there is one and it changes with time
    lists : see there
    """
    queue, heap = lists.queue, lists.heap
    n_jobs = submit.shape[0]
    n_running = 0
    n_waiting = 0
    arrived = 0
    while arrived < n_jobs or n_running > 0:
        next_submit = next_submission(submit, arrived)
        now = min(next_submit, next_end(jobs.end, heap, n_running))
        n_events = 0
        while takes_end(order.instant, now, next_end(jobs.end, heap, n_running), next_submit, n_events):
            job = pop(jobs.end, heap, n_running)
            n_running -= 1
            h = jobs.host[job]
            hosts.free[h] += jobs.size[job]
            hosts.free_memory[h] += jobs.need[job]
            expected = jobs.start[job] + jobs.requested[job]
            remove(hosts.ends, h, expected, jobs.size[job], jobs.need[job])
            n_events += 1
        while takes_submission(order.instant, now, next_submission(submit, arrived), n_events):
            queue[n_waiting] = arrived
            if order.reorders:
                lists.line[n_waiting] = arrived
            n_waiting += 1
            arrived += 1
            n_events += 1
        if n_waiting == 0:
            continue
        if order.own and order.dynamic:
            for i in range(n_waiting):
                job = queue[i]
                waited = now - submit[job]
                requested, size, need = jobs.requested[job], jobs.size[job], jobs.need[job]
                jobs.key[job] = priority(waited, requested, size, need, jobs.bypassed[job])
        elif order.dynamic:
            for i in range(n_waiting):
                job = queue[i]
                waited = now - submit[job]
                requested, size, need = jobs.requested[job], jobs.size[job], jobs.need[job]
                jobs.key[job] = weighted(order.weights, waited, requested, size, need, jobs.bypassed[job])
        if order.reorders_anew:
            for i in range(n_waiting):
                job = queue[i]
                waited = now - submit[job]
                requested, size, need = jobs.requested[job], jobs.size[job], jobs.need[job]
                jobs.rank[job] = backfill_order(waited, requested, size, need, jobs.bypassed[job])
        if order.reorders:
            n_started = start_in_two_orders(now, order.starts, jobs, hosts, lists, n_waiting, n_running)
        else:
            n_started = start_jobs(now, order.starts, jobs, hosts, queue, n_waiting, heap, n_running)
        n_running += n_started
        n_waiting -= n_started
