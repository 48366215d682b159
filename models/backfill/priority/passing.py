"""One pass of backfilling by priority on hosts with processors and memory (Chiang and Vernon 2001, section
2.2).

The waiting jobs are gone through in order of priority, ties in order of submission. A job that fits on a host
starts there, on the one with the fewest free processors if there are several. The first jobs that do not, as
many as `reservations` says, are given the earliest start that all requested times allow, on the host where
that is (of equal ones that with the fewest free processors). All others may start only where they disturb no
start given before them in this pass. Starts are given anew in each pass; with `sticky` a job that holds one
goes before all that hold none, so that it never loses it (SJF-backfill, section 2.3).

With a backfill order of its own, the queue is gone through only until all starts are given. The others are
then gone through in that order (`start_in_two_orders`): with one start, jobs start in order of priority until
one does not fit, which holds the start, and the rest is backfilled, the shortest request first for instance
(SJBF, see `models.backfill.priority.orders.smallest`).

A job that runs on beyond its request is expected to end at any moment.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import boolean, float64, int64, void

from models.arrays import Floats, Ints
from models.backfill.expected_ends import ExpectedEnds, insert
from models.backfill.profile import Profile, begin, earliest, fits_now, occupy
from models.kernels.compiling import part
from models.kernels.ends import push
from models.kernels.types import FLOATS, INTS, record

NOT_HELD = 2**62
NOBODY_PASSES = -1
"""Instead of a number of reservations: FCFS."""


class Columns(NamedTuple):
    """What a pass knows of each job; every array has the shape (n_jobs,).

    Parameters
    ----------
    runtime, requested : ndarray of float, seconds
    size, need : ndarray of int
        Processors, and memory in KB.
    start, end : ndarray of float, seconds
        Filled in for those that start, like `host`.
    host : ndarray of int
    promised : ndarray of float, seconds
        The first start that a job was given, or NaN.
    key, rank : ndarray of float
        Its priority, and that among the backfilled where their order is not the queue's.
    held, bypassed : ndarray of int
        The number of the start that it holds or `NOT_HELD`, and how many of lower priority started before it.
    """

    runtime: Floats
    requested: Floats
    size: Ints
    need: Ints
    start: Floats
    end: Floats
    host: Ints
    promised: Floats
    key: Floats
    rank: Floats
    held: Ints
    bypassed: Ints


class Hosts(NamedTuple):
    """What a pass knows of each host.

    Parameters
    ----------
    processors, memory, free, free_memory : ndarray of int, shape (n_hosts,)
        All that there is, and what is free; memory in KB.
    first_given : ndarray of float, shape (n_hosts,), seconds
        The earliest start that is given there in this pass, or inf.
    ends : ExpectedEnds
        With room for as many jobs as can run on a host, and one more.
    profile : Profile
        Made anew in each pass for the hosts on which a start is given: enough are 1 step, and 1 for each job
        that can run there, and 2 for each start that is given or made. Without steps no start is given there.
    """

    processors: Ints
    memory: Ints
    free: Ints
    free_memory: Ints
    first_given: Floats
    ends: ExpectedEnds
    profile: Profile


class Starts(NamedTuple):
    """Who is given a start.

    Parameters
    ----------
    reservations : int
        How many waiting jobs are, or `NOBODY_PASSES`.
    sticky : bool
        Whether a job that was given one goes before all others.
    """

    reservations: int
    sticky: bool


class Lists(NamedTuple):
    """Jobs by their numbers; every array has room for all of them.

    Parameters
    ----------
    queue : ndarray of int
        Who waits, in order of priority after each pass.
    line : ndarray of int
        Who waits, in the backfill order if that is another one; else nobody, and no room.
    heap : ndarray of int
        Who runs, see `models.kernels.ends`.
    """

    queue: Ints
    line: Ints
    heap: Ints


COLUMNS, HOSTS, STARTS, LISTS = record(Columns), record(Hosts), record(Starts), record(Lists)


@part(void(INTS, int64, COLUMNS))
def sort(queue: Ints, n: int, jobs: Columns) -> None:
    """Put waiting jobs in order: holders of a start, then by priority, then by submission.

    O(n) where little has changed since the last time, O(n^2) at worst.
    """
    key, held = jobs.key, jobs.held
    for i in range(1, n):
        job = queue[i]
        at = i
        while at > 0:
            other = queue[at - 1]
            if held[other] < held[job]:
                break
            if held[other] == held[job]:
                if key[other] > key[job]:
                    break
                if key[other] == key[job] and other < job:
                    break
            queue[at] = other
            at -= 1
        queue[at] = job


@part(void(INTS, int64, FLOATS))
def sort_line(line: Ints, n: int, rank: Floats) -> None:
    """Put waiting jobs in the backfill order, ties by submission; costs what `sort` does."""
    for i in range(1, n):
        job = line[i]
        at = i
        while at > 0:
            other = line[at - 1]
            if rank[other] > rank[job] or (rank[other] == rank[job] and other < job):
                break
            line[at] = other
            at -= 1
        line[at] = job


@part(int64(HOSTS, int64, int64, float64, boolean))
def tightest(hosts: Hosts, size: int, need: int, until: float, keeps_starts: bool) -> int:
    """Return the host on which a job starts now, or -1: of those that it fits on the one with the fewest free
    processors, of equal ones the first.

    With `keeps_starts` it must not run into a start that is given in this pass. O(hosts), and O(steps) of
    each one on which it would run into such a start.
    """
    best = -1
    for h in range(hosts.free.shape[0]):
        if hosts.free[h] < size or hosts.free_memory[h] < need:
            continue
        if best >= 0 and hosts.free[h] >= hosts.free[best]:
            continue
        if not keeps_starts or hosts.first_given[h] >= until or fits_now(hosts.profile, h, size, need, until):
            best = h
    return best


@part(float64(HOSTS, int64, float64, int64, int64, float64, float64))
def earliest_start(
    hosts: Hosts, h: int, now: float, size: int, need: int, duration: float, before: float
) -> float:
    """Return when a job can start on a host as far as all requested times tell, inf if never, and perhaps
    where that is later than an instant. O(running).
    """
    if hosts.profile.n_steps[h] > 0:
        return earliest(hosts.profile, h, size, need, duration)
    # No start is given there: what is free only grows.
    at = h * hosts.ends.places + hosts.ends.n[h]
    available = hosts.free[h]
    available_memory = hosts.free_memory[h]
    when = now
    while available < size or available_memory < need:
        at -= 1
        if at < h * hosts.ends.places or hosts.ends.time[at] > before:
            return np.inf
        available += hosts.ends.size[at]
        available_memory += hosts.ends.need[at]
        when = max(hosts.ends.time[at], now)
    return when


@part(void(HOSTS, int64, float64))
def foresee(hosts: Hosts, h: int, now: float) -> None:
    """Make a host's profile from its expected ends. O(running).

    What should be over by now counts as free in the profile, although it may not be in fact.
    """
    ends, profile = hosts.ends, hosts.profile
    base = h * profile.room
    begin(profile, h, now, hosts.free[h], hosts.free_memory[h])
    n = 1
    for at in range(h * ends.places + ends.n[h] - 1, h * ends.places - 1, -1):
        if ends.time[at] > profile.time[base + n - 1]:
            profile.time[base + n] = ends.time[at]
            profile.processors[base + n] = profile.processors[base + n - 1]
            profile.memory[base + n] = profile.memory[base + n - 1]
            n += 1
        profile.processors[base + n - 1] += ends.size[at]
        profile.memory[base + n - 1] += ends.need[at]
    profile.n_steps[h] = n


@part(int64(INTS))
def most(numbers: Ints) -> int:
    """Return the largest of some numbers from 0 on. O(n)."""
    found = 0
    for i in range(numbers.shape[0]):
        found = max(found, numbers[i])
    return found


@part(int64(HOSTS))
def begin_pass(hosts: Hosts) -> int:
    """Forget the starts of the pass before, and return the most processors that a host has free. O(hosts)."""
    for h in range(hosts.free.shape[0]):
        hosts.profile.n_steps[h] = 0
        hosts.first_given[h] = np.inf
    return most(hosts.free)


@part(void(float64, int64, int64, COLUMNS, HOSTS, INTS, int64))
def start(now: float, job: int, h: int, jobs: Columns, hosts: Hosts, heap: Ints, n_running: int) -> None:
    """Start a job on a host. O(running)."""
    size, need = jobs.size[job], jobs.need[job]
    until = now + jobs.requested[job]
    jobs.start[job] = now
    jobs.end[job] = now + jobs.runtime[job]
    jobs.host[job] = h
    push(jobs.end, heap, n_running, job)
    jobs.held[job] = NOT_HELD
    hosts.free[h] -= size
    hosts.free_memory[h] -= need
    insert(hosts.ends, h, until, size, need)
    if hosts.profile.n_steps[h] > 0:
        occupy(hosts.profile, h, now, until, size, need)


@part(void(float64, int64, int64, boolean, COLUMNS, HOSTS))
def give_start(now: float, job: int, number: int, sticky: bool, jobs: Columns, hosts: Hosts) -> None:
    """Give a job that does not fit now the earliest start that there is; `number` is how many have one.

    O(running) on each host.
    """
    size, need, requested = jobs.size[job], jobs.need[job], jobs.requested[job]
    given = np.inf
    best = -1
    for h in range(hosts.free.shape[0]):
        when = earliest_start(hosts, h, now, size, need, requested, given)
        if when < given or (when == given and best >= 0 and hosts.free[h] < hosts.free[best]):
            given = when
            best = h
    if hosts.profile.n_steps[best] == 0:
        foresee(hosts, best, now)
    occupy(hosts.profile, best, given, given + requested, size, need)
    hosts.first_given[best] = min(hosts.first_given[best], given)
    if np.isnan(jobs.promised[job]):
        jobs.promised[job] = given
    if sticky:
        jobs.held[job] = number


@part(int64(float64, STARTS, COLUMNS, HOSTS, INTS, int64, INTS, int64))
def start_jobs(
    now: float, starts: Starts, jobs: Columns, hosts: Hosts,
    queue: Ints, n_waiting: int, heap: Ints, n_running: int,
) -> int:  # fmt: skip
    """Start every waiting job that may start, and return how many did.

    Costs O(waiting jobs x hosts), O(running jobs) for each start that is made or given, and O(running jobs)
    for each waiting job that would run into a given start. Sorting adds O(waiting) as long as the order of
    priority changes little from pass to pass.

    Parameters
    ----------
    now : this instant
    starts : who is given a start
    jobs, hosts : see there
    queue, n_waiting : who waits; then in order of priority, and behind them those who started
    heap, n_running : who runs, see `models.kernels.ends`
    """
    sort(queue, n_waiting, jobs)
    most_free = begin_pass(hosts)
    kept = 0
    n_started = 0
    n_given = 0
    for i in range(n_waiting):
        job = queue[i]
        size = jobs.size[job]
        best = -1
        if size <= most_free:
            best = tightest(hosts, size, jobs.need[job], now + jobs.requested[job], True)
        if best >= 0:
            start(now, job, best, jobs, hosts, heap, n_running + n_started)
            most_free = most(hosts.free)
            n_started += 1
            continue

        # A job that started changes places with the next one that waits on.
        queue[i] = queue[kept]
        queue[kept] = job
        kept += 1
        jobs.bypassed[job] -= n_started
        if n_given < starts.reservations:
            give_start(now, job, n_given, starts.sticky, jobs, hosts)
            n_given += 1
        # Nobody else can start, or may.
        if starts.reservations == NOBODY_PASSES or (most_free == 0 and n_given == starts.reservations):
            break
    for i in range(kept):
        jobs.bypassed[queue[i]] += n_started
    if n_started > 0:
        for i in range(kept + n_started, n_waiting):
            job = queue[i]
            queue[i] = queue[i - n_started]
            queue[i - n_started] = job
    return n_started


@part(void(INTS, int64, FLOATS))
def close_up(waiting: Ints, n: int, start: Floats) -> None:
    """Leave those out that have started. O(n)."""
    kept = 0
    for i in range(n):
        if np.isnan(start[waiting[i]]):
            waiting[kept] = waiting[i]
            kept += 1


@part(int64(float64, STARTS, COLUMNS, HOSTS, LISTS, int64, int64))
def start_in_two_orders(
    now: float, starts: Starts, jobs: Columns, hosts: Hosts, lists: Lists, n_waiting: int, n_running: int
) -> int:
    """Start every waiting job that may start, and return how many did: the queue until all starts are given,
    then the rest in the backfill order.

    Costs what `start_jobs` does, and O(waiting jobs) to sort and to close up the second list. It may find
    those that hold a start again, which cannot start: nothing has become free since they were given it.

    Parameters
    ----------
    now, starts, jobs, hosts : see `start_jobs`; at least one start is given, and `jobs.start` is NaN for all
        that wait
    lists : `queue` and `line` hold the same jobs, afterwards those that still wait
    """
    queue, line = lists.queue, lists.line
    sort(queue, n_waiting, jobs)
    sort_line(line, n_waiting, jobs.rank)
    most_free = begin_pass(hosts)
    n_started = 0
    n_given = 0
    i = -1
    while i < 2 * n_waiting - 1:
        i += 1
        if i < n_waiting and n_given == starts.reservations:
            i = n_waiting
        if i < n_waiting:
            job = queue[i]
        elif most_free == 0:
            break
        else:
            job = line[i - n_waiting]
            if not np.isnan(jobs.start[job]):
                continue
        best = -1
        if jobs.size[job] <= most_free:
            best = tightest(hosts, jobs.size[job], jobs.need[job], now + jobs.requested[job], True)
        if best >= 0:
            start(now, job, best, jobs, hosts, lists.heap, n_running + n_started)
            most_free = most(hosts.free)
            n_started += 1
        elif i < n_waiting:
            give_start(now, job, n_given, starts.sticky, jobs, hosts)
            n_given += 1
    if n_started > 0:
        n_behind = 0
        for i in range(n_waiting - 1, -1, -1):
            if np.isnan(jobs.start[queue[i]]):
                jobs.bypassed[queue[i]] += n_behind
            else:
                n_behind += 1
        close_up(queue, n_waiting, jobs.start)
        close_up(line, n_waiting, jobs.start)
    return n_started
