"""Backfilling past at most one start on hosts with processors and memory, in any order.

The rules are those of `models.backfill.priority.passing`, where at most one waiting job is given a start: the
earliest that all requested times allow, on the host where that is. What it leaves over on that host then is
all that others may have there beyond it, as on one pool (`models.backfill.priority.pool`); on other hosts
they may have whatever is free. So no profile is made, and the start is looked for only where somebody may run
into it, or where it is the first that its job is promised.

Whoever does not fit at one moment of a pass does not fit later in it, because nothing becomes free. So after
the first jobs of the queue only those are gone through in order that fit when the start is given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import boolean, float64, int64, void

from models.arrays import Floats, Ints
from models.backfill.expected_ends import ExpectedEnds, insert, remove
from models.backfill.priority import instants
from models.backfill.priority.crowd import (
    BLOCK,
    BLOCKED,
    CROWD,
    NO_ROOM,
    NOBODY,
    OPEN,
    Crowd,
    asked,
    close,
    first_of,
    join,
    leave,
    open_blocked,
    open_to,
    pass_by,
    weigh_all,
)
from models.backfill.priority.instants import INSTANTS, Instants, soonest
from models.backfill.priority.kernel import ORDER, Order, counts_bypasses
from models.backfill.priority.order import PRIORITY, highest
from models.backfill.priority.passing import COLUMNS, NOBODY_PASSES, Columns
from models.kernels.compiling import kernel, part
from models.kernels.ties import takes_end, takes_submission
from models.kernels.types import FLOATS, record

NOWHERE = -1


class OpenHosts(NamedTuple):
    """What is known of each host.

    Parameters
    ----------
    free, free_memory : ndarray of int, shape (n_hosts,)
        Memory in KB.
    freed : ndarray of int, shape (n_hosts,)
        1 where something has become free since the last pass.
    due : ExpectedEnds
        Empty if nobody is given a start.
    """

    free: Ints
    free_memory: Ints
    freed: Ints
    due: ExpectedEnds


OPEN_HOSTS = record(OpenHosts)


class Shadow(NamedTuple):
    """The start that is given.

    Parameters
    ----------
    host : int
        Where, or `NOWHERE`.
    when : float, seconds
    extra, extra_memory : int
        What the job that holds it leaves over then; memory in KB.
    lasts : bool
        Whether it stays as it is as long as nothing becomes free. Not where another host would have room for
        it at that instant as well, because the one with fewer free processors is taken.
    """

    host: int
    when: float
    extra: int
    extra_memory: int
    lasts: bool


SHADOW = record(Shadow)


@part(int64(OPEN_HOSTS, int64, int64))
def tightest_host(hosts: OpenHosts, size: int, need: int) -> int:
    """Return the fullest host on which a job fits, of equal ones the first, or `NOWHERE`.

    O(hosts), without branches.
    """
    best, least = NOWHERE, 2**62
    for i in range(hosts.free.shape[0]):
        h = np.uint64(i)
        free = hosts.free[h]
        better = (size <= free) & (free < least) & (need <= hosts.free_memory[h])
        best = i if better else best
        least = free if better else least
    return best


@part(boolean(OPEN_HOSTS, int64, int64, int64))
def has_room(hosts: OpenHosts, host: int, size: int, need: int) -> bool:
    """Tell whether a job fits on a host. O(1)."""
    return hosts.free[np.uint64(host)] >= size and hosts.free_memory[np.uint64(host)] >= need


@part(int64(OPEN_HOSTS, int64, int64, float64, SHADOW))
def host_beside(hosts: OpenHosts, size: int, need: int, until: float, shadow: Shadow) -> int:
    """Return the same of the hosts on which a job does not run into the start that is given. O(hosts)."""
    best, least = NOWHERE, 2**62
    disturbs = until > shadow.when and (size > shadow.extra or need > shadow.extra_memory)
    but = shadow.host if disturbs else NOWHERE
    for i in range(hosts.free.shape[0]):
        h = np.uint64(i)
        free = hosts.free[h]
        better = (size <= free) & (free < least) & (need <= hosts.free_memory[h]) & (i != but)
        best = i if better else best
        least = free if better else least
    return best


@part(SHADOW())
def nothing_given() -> Shadow:
    """Return what it is where nobody holds a start."""
    return Shadow(NOWHERE, np.inf, 0, 0, True)


@part(float64(OPEN_HOSTS, int64, float64, int64, int64, float64))
def earliest(hosts: OpenHosts, host: int, now: float, size: int, need: int, before: float) -> float:
    """Return when there will be enough on a host as far as all requested times tell, inf if never or later
    than an instant. O(running).
    """
    due, h = hosts.due, np.uint64(host)
    begin = host * due.places
    at = begin + due.n[h]
    available, available_memory, when = hosts.free[h], hosts.free_memory[h], now
    while available < size or available_memory < need:
        at -= 1
        if at < begin or due.time[np.uint64(at)] > before:
            return np.inf
        available += due.size[np.uint64(at)]
        available_memory += due.need[np.uint64(at)]
        when = due.time[np.uint64(at)]
    return max(when, now)


@part(SHADOW(OPEN_HOSTS, float64, int64, int64, float64))
def give_start(hosts: OpenHosts, now: float, size: int, need: int, requested: float) -> Shadow:
    """Give a job that does not fit now the earliest start that there is. O(running)."""
    given, best, is_alone = np.inf, NOWHERE, True
    for h in range(hosts.free.shape[0]):
        when = earliest(hosts, h, now, size, need, given)
        if when < given:
            given, best, is_alone = when, h, True
        elif when == given and best >= 0:
            is_alone = False
            if hosts.free[h] < hosts.free[best]:
                best = h
    due, there = hosts.due, np.uint64(best)
    extra, extra_memory = hosts.free[there], hosts.free_memory[there]
    begin = best * due.places
    at = begin + due.n[there] - 1
    while at >= begin and due.time[np.uint64(at)] <= given:
        extra += due.size[np.uint64(at)]
        extra_memory += due.need[np.uint64(at)]
        at -= 1
    # So late that a second is not told from the next, a start takes no time.
    if given + requested > given:
        extra -= size
        extra_memory -= need
    return Shadow(best, given, extra, extra_memory, is_alone)


@part(void(float64, int64, int64, COLUMNS, OPEN_HOSTS, boolean, INSTANTS, int64))
def start(
    now: float, job: int, host: int, jobs: Columns, hosts: OpenHosts, foresees: bool,
    ends: Instants, n_running: int,
) -> None:  # fmt: skip
    """Start a job on a host. O(running)."""
    who, h = np.uint64(job), np.uint64(host)
    size, need = jobs.size[who], jobs.need[who]
    jobs.start[who] = now
    jobs.end[who] = now + jobs.runtime[who]
    jobs.host[who] = host
    instants.insert(ends, n_running, jobs.end[who], job)
    hosts.free[h] -= size
    hosts.free_memory[h] -= need
    if foresees:
        insert(hosts.due, host, now + jobs.requested[who], size, need)


@part(void(float64, int64, COLUMNS, OPEN_HOSTS, boolean))
def end(now: float, job: int, jobs: Columns, hosts: OpenHosts, foresees: bool) -> None:
    """Give back what a job had. O(running)."""
    who = np.uint64(job)
    size, need, host = jobs.size[who], jobs.need[who], jobs.host[who]
    h = np.uint64(host)
    hosts.free[h] += size
    hosts.free_memory[h] += need
    hosts.freed[h] = 1
    if foresees:
        remove(hosts.due, host, jobs.start[who] + jobs.requested[who], size, need)


@kernel(void(FLOATS, COLUMNS, OPEN_HOSTS, INSTANTS, ORDER, PRIORITY, PRIORITY, CROWD))
def run(
    submit: Floats, jobs: Columns, hosts: OpenHosts, ends: Instants, order: Order,
    priority: Callable[..., float], backfill_order: Callable[..., float], crowd: Crowd,
) -> None:  # fmt: skip
    """Simulate jobs to their last end, a pass at each event.

    A pass costs O(waiting jobs) for each host on which something has become free, in loops without branches,
    and as much where priorities change with time; O(running jobs) for the start that is given; and O(hosts)
    for each newcomer, each job that fits on a host that was freed, and where the start is another than in the
    pass before each that would have run into it. To choose among c jobs that may start costs O(c) for each.

    Parameters
    ----------
    submit : ascending, and inf behind the last
    jobs : `start`, `end`, `host` and `promised` are filled in; `start` and `promised` are NaN. `key` and
        `rank` are there unless they change with time
    hosts : all that there is is free; every job fits on one of them
    ends : room for as many jobs as can run at once
    order : see `kernel.Order`; at most one start is given
    priority : called if it takes the place of weights and changes with time
    backfill_order : called if there is one and it changes with time
    crowd : room for all jobs
    """
    n_jobs = jobs.size.shape[0]
    reservations = order.starts.reservations
    foresees = reservations == 1
    sticky = order.starts.sticky and foresees
    counts = counts_bypasses(order)
    n_running = 0
    n_waiting = 0
    arrived = 0
    head = NOBODY  # the place of the one who goes first
    shadow = nothing_given()
    holder = NOBODY  # the job that has this start, if it is still the same
    next_submit = submit[0]
    while arrived < n_jobs or n_running > 0:
        now = min(next_submit, soonest(ends, n_running))
        n_events = 0
        while takes_end(order.instant, now, soonest(ends, n_running), next_submit, n_events):
            job = ends.what[np.uint64(n_running)]
            n_running -= 1
            end(now, job, jobs, hosts, foresees)
            n_events += 1
        if shadow.when <= now:
            holder = NOBODY
        for i in range(hosts.freed.shape[0] if n_events > 0 else 0):
            h = np.uint64(i)
            if hosts.freed[h] == 0:
                continue
            hosts.freed[h] = 0
            open_to(crowd, n_waiting, hosts.free[h], hosts.free_memory[h])
            if holder != NOBODY:
                size, need = jobs.size[np.uint64(holder)], jobs.need[np.uint64(holder)]
                if i == shadow.host or earliest(hosts, i, now, size, need, shadow.when) < np.inf:
                    holder = NOBODY
        while takes_submission(order.instant, now, next_submit, n_events):
            who = np.uint64(arrived)
            fits = tightest_host(hosts, jobs.size[who], jobs.need[who]) != NOWHERE
            state = OPEN if fits else NO_ROOM
            join(crowd, n_waiting, arrived, submit, jobs, order.weights, state)
            if head != NOBODY and not sticky and crowd.key[n_waiting] > crowd.key[head]:
                head = n_waiting
            n_waiting += 1
            arrived += 1
            n_events += 1
            next_submit = submit[np.uint64(arrived)]
        if n_waiting == 0:
            continue
        if order.dynamic:
            if not sticky:
                head = NOBODY
            if order.own:
                for i in range(n_waiting):
                    crowd.key[i] = asked(now, crowd, i, priority)
            else:
                weigh_all(now, crowd, n_waiting, order.weights)

        # First the queue up to a job that does not fit.
        while reservations != 0 and n_waiting > 0:
            if head == NOBODY:
                head = highest(crowd.key, crowd.job, 0, n_waiting)
            at = np.uint64(head)
            if crowd.state[at] == NO_ROOM:
                break
            host = tightest_host(hosts, crowd.size[at], crowd.need[at])
            if host == NOWHERE:
                if crowd.state[at] == OPEN:
                    close(crowd, head, NO_ROOM)
                break
            start(now, crowd.job[at], host, jobs, hosts, foresees, ends, n_running)
            n_running += 1
            leave(crowd, n_waiting, head)
            n_waiting -= 1
            head = holder = NOBODY
        if n_waiting == 0 or reservations == NOBODY_PASSES:
            continue
        if foresees:
            at = np.uint64(head)
            job = crowd.job[at]
            who = np.uint64(job)
            if job != holder:
                holder = NOBODY
                if crowd.counts[BLOCKED] > 0:
                    open_blocked(crowd, n_waiting)
            if holder == NOBODY and (crowd.counts[OPEN] > 0 or np.isnan(jobs.promised[who])):
                shadow = give_start(hosts, now, crowd.size[at], crowd.need[at], crowd.requested[at])
                holder = job
                if np.isnan(jobs.promised[who]):
                    jobs.promised[who] = shadow.when

        # Then all that may start beside the job that holds the start.
        n_chosen = 0
        n_left = crowd.counts[OPEN]
        block, i = 0, -1
        while n_left > 0:
            while crowd.n_open[np.uint64(block)] == 0:
                block += 1
                i = block * BLOCK - 1
            left_here = crowd.n_open[np.uint64(block)]
            n_left -= left_here
            while left_here > 0:
                i += 1
                at = np.uint64(i)
                if crowd.state[at] != OPEN:
                    continue
                left_here -= 1
                size, need, until = crowd.size[at], crowd.need[at], now + crowd.requested[at]
                if host_beside(hosts, size, need, until, shadow) != NOWHERE:
                    crowd.chosen[n_chosen] = i
                    n_chosen += 1
                    if order.reorders_anew:
                        crowd.rank[at] = asked(now, crowd, i, backfill_order)
                else:
                    fits = foresees and has_room(hosts, shadow.host, size, need)
                    close(crowd, i, BLOCKED if fits else NO_ROOM)
            block += 1
            i = block * BLOCK - 1
        while n_chosen > 0:
            which = first_of(crowd, crowd.chosen, n_chosen, crowd.rank if order.reorders else crowd.key)
            place = crowd.chosen[which]
            n_chosen -= 1
            crowd.chosen[which] = crowd.chosen[n_chosen]
            at = np.uint64(place)
            size, need = crowd.size[at], crowd.need[at]
            until = now + crowd.requested[at]
            host = host_beside(hosts, size, need, until, shadow)
            if counts:
                pass_by(crowd, n_waiting, place, head)
            start(now, crowd.job[at], host, jobs, hosts, foresees, ends, n_running)
            n_running += 1
            if host == shadow.host and until > shadow.when:
                shadow = Shadow(
                    shadow.host, shadow.when, shadow.extra - size, shadow.extra_memory - need, shadow.lasts
                )
            leave(crowd, n_waiting, place)
            n_waiting -= 1
            if head == n_waiting:
                head = place
            # Only those stay chosen that may still start, so that each choice is of one who does.
            n_kept = 0
            for k in range(n_chosen):
                other = place if crowd.chosen[k] == n_waiting else crowd.chosen[k]
                at = np.uint64(other)
                size, need, until = crowd.size[at], crowd.need[at], now + crowd.requested[at]
                if host_beside(hosts, size, need, until, shadow) != NOWHERE:
                    crowd.chosen[n_kept] = other
                    n_kept += 1
                else:
                    fits = foresees and has_room(hosts, shadow.host, size, need)
                    close(crowd, other, BLOCKED if fits else NO_ROOM)
            n_chosen = n_kept
        if not shadow.lasts:
            holder = NOBODY
