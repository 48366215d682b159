"""One pass of backfilling by priority on hosts with processors and memory (Chiang and Vernon 2001, section
2.2).

The waiting jobs are gone through in order of priority, ties in order of submission. A job that fits on a host
starts there, on the one with the fewest free processors if there are several. The first jobs that do not, as
many as `reservations` says, are given the earliest start that all requested times allow, on the host where
that is (of equal ones that with the fewest free processors). All others may start only where they disturb no
start given before them in this pass. Starts are given anew in each pass; with `sticky` a job that holds one
goes before all that hold none, so that it never loses it (SJF-backfill, section 2.3).

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
from models.kernels.types import INTS, record

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
    key : ndarray of float
        Its priority.
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


COLUMNS, HOSTS, STARTS = record(Columns), record(Hosts), record(Starts)


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


@part(float64(HOSTS, int64, float64, int64, int64, float64))
def earliest_start(hosts: Hosts, h: int, now: float, size: int, need: int, duration: float) -> float:
    """Return when a job can start on a host as far as all requested times tell, inf if never. O(running)."""
    if hosts.profile.n_steps[h] > 0:
        return earliest(hosts.profile, h, size, need, duration)
    # No start is given there: what is free only grows.
    at = h * hosts.ends.places + hosts.ends.n[h]
    available = hosts.free[h]
    available_memory = hosts.free_memory[h]
    when = now
    while available < size or available_memory < need:
        if at == h * hosts.ends.places:
            return np.inf
        at -= 1
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
    n_hosts = hosts.free.shape[0]
    most_free = most(hosts.free)
    for h in range(n_hosts):
        hosts.profile.n_steps[h] = 0
        hosts.first_given[h] = np.inf
    kept = 0
    n_started = 0
    n_given = 0
    for i in range(n_waiting):
        job = queue[i]
        size = jobs.size[job]
        until = now + jobs.requested[job]
        best = -1
        if size <= most_free:
            best = tightest(hosts, size, jobs.need[job], until, True)
        if best >= 0:
            need = jobs.need[job]
            jobs.start[job] = now
            jobs.end[job] = now + jobs.runtime[job]
            jobs.host[job] = best
            push(jobs.end, heap, n_running + n_started, job)
            jobs.held[job] = NOT_HELD
            hosts.free[best] -= size
            hosts.free_memory[best] -= need
            insert(hosts.ends, best, until, size, need)
            if hosts.profile.n_steps[best] > 0:
                occupy(hosts.profile, best, now, until, size, need)
            most_free = most(hosts.free)
            n_started += 1
            continue

        # A job that started changes places with the next one that waits on.
        queue[i] = queue[kept]
        queue[kept] = job
        kept += 1
        jobs.bypassed[job] -= n_started
        if n_given < starts.reservations:
            need, requested = jobs.need[job], jobs.requested[job]
            given = np.inf
            for h in range(n_hosts):
                when = earliest_start(hosts, h, now, size, need, requested)
                if when < given or (when == given and best >= 0 and hosts.free[h] < hosts.free[best]):
                    given = when
                    best = h
            if hosts.profile.n_steps[best] == 0:
                foresee(hosts, best, now)
            occupy(hosts.profile, best, given, given + requested, size, need)
            hosts.first_given[best] = min(hosts.first_given[best], given)
            if np.isnan(jobs.promised[job]):
                jobs.promised[job] = given
            if starts.sticky:
                jobs.held[job] = n_given
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
