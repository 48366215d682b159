"""One pass of backfilling by priority over jobs that wait in no order: the rules of
`models.backfill.priority.passing.start_jobs`, which tells them, and the same starts.

Those that hold a start are found one after the other. All others can start only where they fit now; and
whoever does not fit at one moment of a pass does not fit later in it, because nothing becomes free. So only
those that fit when all starts are given are gone through in order of priority, and whoever starts takes those
off the list that do not fit any more.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, void

from models.backfill.immediate.state import (
    LISTS,
    QUANTUM,
    RESIDENTS,
    SERVED,
    Lists,
    Quantum,
    Residents,
    Served,
)
from models.backfill.immediate.waiting import (
    change_places,
    first,
    first_of,
    leave,
    pass_by,
    some_are_small,
)
from models.backfill.priority.kernel import ORDER, Order, counts_bypasses
from models.backfill.priority.passing import (
    HOSTS,
    Hosts,
    begin_pass,
    give_start,
    most,
    start,
    tightest,
)
from models.kernels.compiling import part


@part(void(float64, int64, SERVED, RESIDENTS))
def begin_execution(now: float, job: int, jobs: Served, residents: Residents) -> None:
    """Note the execution of a job that a pass has started. O(1)."""
    columns = jobs.columns
    if np.isnan(jobs.first[job]):
        jobs.first[job] = now
    jobs.began[job] = now
    jobs.end[job] = columns.end[job]
    jobs.expected[job] = now + columns.requested[job]
    h = columns.host[job]
    residents.job[h * residents.room + residents.n[h]] = job
    residents.n[h] += 1


@part(int64(float64, SERVED, HOSTS, LISTS, int64, int64))
def still_fit(now: float, jobs: Served, hosts: Hosts, lists: Lists, n_chosen: int, most_free: int) -> int:
    """Keep those on the list that may still start, and return how many they are.

    O(of those), and O(hosts) for each that is small enough.
    """
    waiting, chosen = lists.waiting, lists.chosen
    kept = 0
    for i in range(n_chosen):
        place = chosen[i]
        if waiting.size[place] > most_free:
            continue
        until = now + jobs.columns.requested[waiting.job[place]]
        if tightest(hosts, waiting.size[place], waiting.need[place], until, True) >= 0:
            chosen[kept] = place
            kept += 1
    return kept


@part(int64(float64, ORDER, QUANTUM, SERVED, HOSTS, RESIDENTS, int64, LISTS, int64))
def start_waiting(
    now: float, order: Order, quantum: Quantum, jobs: Served, hosts: Hosts, residents: Residents,
    n_waiting: int, lists: Lists, n_running: int,
) -> int:  # fmt: skip
    """Start every waiting job that may start, and return how many did.

    O(waiting jobs) for each start that is given or made, O(hosts) for each job that is small enough, again
    after each start beside those that are given, and O(running jobs) for each start that is given or made and
    each job that would run into a given one.
    """
    columns, waiting, starts = jobs.columns, lists.waiting, order.starts
    counts = counts_bypasses(order)
    most_free = begin_pass(hosts)
    n = n_waiting
    n_given = 0
    some_small = True
    while n_given < starts.reservations and n_given < n:
        if lists.n_behind[0] > 0:
            place = first(waiting, lists.n_behind[0] - 1, n, starts.sticky, columns, 0)
        else:
            place = first(waiting, n_given, n, starts.sticky, columns, n_given)
        lists.n_behind[0] = 0
        job, size = waiting.job[place], waiting.size[place]
        h = -1
        if size <= most_free:
            h = tightest(hosts, size, waiting.need[place], now + columns.requested[job], True)
        if h >= 0:
            if counts:
                pass_by(waiting, n_given, n_given, place)
            start(now, job, h, columns, hosts, lists.heap, n_running + n_waiting - n)
            begin_execution(now, job, jobs, residents)
            leave(lists, n, place, jobs, 0)
            n -= 1
            most_free = most(hosts.free)
            continue
        # The last start that is given matters to those that may run into it, and where it is the first one
        # that its job is promised.
        some_small = some_are_small(waiting, n, place, most_free)
        matters = some_small or n_given + 1 < starts.reservations or np.isnan(columns.promised[job])
        if matters or (size <= most_free and not quantum.preempting):
            give_start(now, job, n_given, starts.sticky, columns, hosts)
        elif starts.sticky:
            columns.held[job] = n_given
        change_places(waiting, place, n_given, jobs, order.weights)
        n_given += 1

    n_chosen = 0
    if some_small and most_free > 0:
        for i in range(n_given, n):
            # Without a branch: nobody foresees who is small enough.
            lists.chosen[np.uint64(n_chosen)] = i
            n_chosen += int(waiting.size[np.uint64(i)] <= most_free)
        n_chosen = still_fit(now, jobs, hosts, lists, n_chosen, most_free)
    while n_chosen > 0:
        place = first_of(waiting, lists.chosen, n_chosen, False, columns)
        n_chosen -= 1
        job, size = waiting.job[place], waiting.size[place]
        h = tightest(hosts, size, waiting.need[place], now + columns.requested[job], True)
        if counts:
            pass_by(waiting, n, n_given, place)
        start(now, job, h, columns, hosts, lists.heap, n_running + n_waiting - n)
        begin_execution(now, job, jobs, residents)
        leave(lists, n, place, jobs, n_chosen)
        n -= 1
        most_free = most(hosts.free)
        n_chosen = still_fit(now, jobs, hosts, lists, n_chosen, most_free)
    if n_given == 1 and starts.reservations == 1 and not order.dynamic:
        lists.n_behind[0] = n
    return n_waiting - n
