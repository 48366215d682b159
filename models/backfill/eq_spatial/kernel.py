"""The event loop of spatial equipartitioning, whose rules `models.backfill.eq_spatial` tells."""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, types, uint64, void

from models.backfill.eq_spatial.hosts import (
    EIGHT,
    find_host,
    give,
    imagine,
    insert,
    join,
    most_memory,
    part_with,
    place_for_late,
    settle,
)
from models.backfill.eq_spatial.late import be_late_no_more, become_late, miss, reckon
from models.backfill.eq_spatial.partition import share_of
from models.backfill.eq_spatial.state import (
    BEHIND,
    CATCHING,
    CAUGHT,
    FIRST,
    HOSTS,
    JOBS,
    KEPT,
    LONG,
    NEXT,
    NOBODY,
    NOWHERE,
    PLAIN,
    SETTINGS,
    TRIAL,
    UNKNOWN,
    WAITING,
    Hosts,
    JobTable,
    Settings,
    Waiting,
)
from models.backfill.pieces import NOTED, Noted
from models.kernels.bits import ONE, ZERO, lowest_position
from models.kernels.compiling import kernel, part
from models.kernels.lanes import LANES
from models.kernels.masks import equal, soonest
from models.kernels.ties import next_submission, takes_submission


@part(void(int64, int64, float64, JOBS, HOSTS, WAITING, SETTINGS, NOTED))
def leave(
    i: int, h: int, now: float,
    jobs: JobTable, hosts: Hosts, waiting: Waiting, settings: Settings, pieces: Noted,
) -> None:  # fmt: skip
    """Take the job at a place from its host: it has ended, or waits now because its quantum is over.

    O(jobs on the host), and O(jobs that wait and were submitted later).
    """
    members, at = hosts.members, np.uint64(i)
    job = members.job[at]
    in_quantum = members.standing[at] == TRIAL
    exceeds = in_quantum and jobs.used[job] > settings.quantum_memory
    hosts.free[h] += members.processors[at]
    hosts.free_memory[h] += min(jobs.memory[job], settings.quantum_memory) if in_quantum else jobs.memory[job]
    hosts.n_own_late[h] -= int(in_quantum and jobs.ghost[job] == h)
    has_ended = members.ends[at] == now and not exceeds
    give(i, h, now, 0, jobs, hosts, pieces)
    part_with(i, h, hosts)
    if has_ended:
        jobs.end[job] = now
        if in_quantum:
            be_late_no_more(job, jobs, waiting.late)
        return
    jobs.host[job] = NOWHERE
    jobs.standing[job] = PLAIN
    work = jobs.size[job] * jobs.runtime[job]
    if exceeds or not settings.keep_quantum:
        jobs.left[job] = work
    ghost = jobs.ghost[job]
    if ghost == h:
        # It is one of those that would be there now, and no more one that is.
        hosts.level[h] = UNKNOWN
        jobs.told[job] = waiting.late.n_notes[h]
    else:
        reckon(job, jobs, waiting.late)
    # What it has done in its quantum it does not miss.
    jobs.lack[job] -= work - jobs.left[job]
    insert(waiting.queue, waiting.at[FIRST], waiting.at[BEHIND] - waiting.at[FIRST], job)
    waiting.at[BEHIND] += 1


@part(uint64(int64, float64, int64, HOSTS))
def acting(at: int, now: float, n: int, hosts: Hosts) -> int:
    """Tell which of the first `n` of eight jobs end or change their standing now: a bit for each."""
    place = np.uint64(at)
    return equal(hosts.members.ends, place, n, now) | equal(hosts.members.turns, place, n, now)


@part(int64(float64, HOSTS))
def first_to_act(now: float, hosts: Hosts) -> int:
    """Return the first submitted of the jobs that end or change their standing now, or `NOBODY`."""
    first = NOBODY
    for h in range(hosts.processors.shape[0]):
        for k in range(0, hosts.n_members[h] if hosts.due[h] == now else 0, LANES):
            at = h * hosts.places + k
            who = acting(at, now, hosts.n_members[h] - k, hosts)
            if who != ZERO:
                job = hosts.members.job[np.uint64(at + lowest_position(who))]
                first = job if first == NOBODY else min(first, job)
    return first


@part(void(int64, HOSTS))
def mark(h: int, hosts: Hosts) -> None:
    """Note that something changed on a host."""
    hosts.dirty[h // LANES] |= 1 << h % LANES


@part(types.UniTuple(boolean, 2)(int64, int64, float64, JOBS, HOSTS, WAITING, SETTINGS, NOTED))
def end_and_turn(
    h: int, only: int, now: float,
    jobs: JobTable, hosts: Hosts, waiting: Waiting, settings: Settings, pieces: Noted,
) -> tuple[bool, bool]:  # fmt: skip
    """Let the jobs of a host end or change their standing whose time has come; all, or job `only`.

    Returns
    -------
    bool, bool
        Whether there was such a job, and whether one left the host.
    """
    members = hosts.members
    n_before = hosts.n_members[h]
    some_acted = False
    k = 0
    while k < hosts.n_members[h]:
        first = h * hosts.places + k
        who = acting(first, now, hosts.n_members[h] - k, hosts)
        k += LANES
        while who != ZERO:
            i = first + lowest_position(who)
            who &= who - ONE
            at = np.uint64(i)
            if only != NOBODY and members.job[at] != only:
                continue
            some_acted = True
            if members.ends[at] == now or members.standing[at] == TRIAL:
                leave(i, h, now, jobs, hosts, waiting, settings, pieces)
                # All behind it have moved up.
                first -= 1
                k -= 1
                continue
            is_long = jobs.begun[members.job[at]] + settings.long_after == now
            members.standing[at] = LONG if is_long else CAUGHT
            members.turns[at] = np.nan
    if some_acted:
        mark(h, hosts)
    return some_acted, hosts.n_members[h] < n_before


@part(void(int64, int64, float64, JOBS, HOSTS, SETTINGS))
def place(job: int, h: int, now: float, jobs: JobTable, hosts: Hosts, settings: Settings) -> None:
    """Place a job on a host, with its memory or that of a quantum. O(jobs on the host)."""
    join(job, h, jobs, hosts)
    jobs.host[job] = h
    if jobs.standing[job] == TRIAL:
        hosts.free_memory[h] -= min(jobs.memory[job], settings.quantum_memory)
        hosts.n_own_late[h] += int(jobs.ghost[job] == h)
    else:
        hosts.free_memory[h] -= jobs.memory[job]
        jobs.placed[job] = now


@part(int64(float64, JOBS, HOSTS, WAITING, SETTINGS))
def next_with_memory(now: float, jobs: JobTable, hosts: Hosts, waiting: Waiting, settings: Settings) -> int:
    """Return the next waiting job for which a host has the memory now, in order of submission, or `NOBODY`.

    It waits no more then. O(waiting jobs) for all together, first come first served O(1).
    """
    most = most_memory(hosts)
    queue, at = waiting.queue, waiting.at[NEXT]
    while at < waiting.at[BEHIND]:
        job = queue[at]
        if jobs.memory[job] <= most:
            waiting.at[NEXT] = at + 1
            be_late_no_more(job, jobs, waiting.late)
            if settings.catch_up:
                reckon(job, jobs, waiting.late)
                jobs.lack[job] += jobs.share[job] * (now - jobs.share_since[job])
                jobs.share[job] = 0
                jobs.share_since[job] = now
                if jobs.lack[job] > 0:
                    jobs.standing[job] = CATCHING
            return job
        if settings.fcfs:
            break
        queue[waiting.at[KEPT]] = job
        waiting.at[KEPT] += 1
        at += 1
    if settings.fcfs:
        waiting.at[FIRST] = at
    else:
        waiting.at[BEHIND] = waiting.at[KEPT]
    return NOBODY


@part(int64(int64, float64, JOBS, HOSTS, WAITING, SETTINGS))
def host_for_newcomer(
    job: int, now: float, jobs: JobTable, hosts: Hosts, waiting: Waiting, settings: Settings
) -> int:
    """Return where a submitted job runs at once, if only for its quantum; else let it wait, and `NOWHERE`."""
    size, memory = jobs.size[job], jobs.memory[job]
    if not (settings.fcfs and waiting.at[BEHIND] > waiting.at[FIRST]):
        h = find_host(size, memory, hosts)
        if h != NOWHERE:
            return h
    jobs.share_since[job] = now
    jobs.ghost[job] = NOWHERE
    if settings.catch_up:
        jobs.ghost[job] = find_host(size, 0, hosts)
    ghost = jobs.ghost[job]
    if ghost != NOWHERE:
        level, after, before = hosts.level[ghost], hosts.after[ghost], hosts.before[ghost]
        # Where others are late, they know it.
        if waiting.late.first[ghost] == NOBODY or level == UNKNOWN:
            level, after, before = place_for_late(ghost, hosts, settings)
            hosts.level[ghost], hosts.after[ghost], hosts.before[ghost] = level, after, before
        miss(job, share_of(job, size, level, after, before), now, jobs)
    become_late(job, jobs, waiting.late)
    if settings.quantum > 0:
        h = find_host(size, min(memory, settings.quantum_memory), hosts)
        if h != NOWHERE:
            jobs.standing[job] = TRIAL
            return h
    waiting.queue[waiting.at[BEHIND]] = job
    waiting.at[BEHIND] += 1
    return NOWHERE


@kernel(boolean(JOBS, HOSTS, WAITING, SETTINGS, NOTED))
def run(jobs: JobTable, hosts: Hosts, waiting: Waiting, settings: Settings, pieces: Noted) -> bool:
    """Simulate jobs to their last end, or until there may be no room for the pieces of the next instant.

    An event costs O(hosts + jobs on its host), and O(jobs on that host) more for each job that catches up
    there. Memory that becomes free costs O(waiting jobs), first come first served O(1), and for each that is
    placed O(hosts), and O(changes on the host where it would have been placed if it needed no memory).

    Parameters
    ----------
    jobs, hosts, waiting, settings : see `models.backfill.eq_spatial.state`, before the first submission, or
        as an earlier call left them
    pieces : filled in

    Returns
    -------
    bool
        Whether all jobs have ended. Otherwise the same call with more room goes on.
    """
    n_hosts = hosts.processors.shape[0]
    arrived = waiting.arrived[0]
    while True:
        # A job's piece begins at an instant or ends there: an instant has as many pieces as jobs at most.
        if pieces.n[0] + hosts.members.job.shape[0] > pieces.job.shape[0]:
            waiting.arrived[0] = arrived
            return False
        next_submit = next_submission(jobs.submit, arrived)
        now = next_submit
        for first in range(0, n_hosts, LANES):
            now = min(now, soonest(hosts.due, hosts.timer, np.uint64(first), EIGHT))
        if now == np.inf:
            return True

        # Jobs that end or change their standing: all of this instant, or the first submitted alone.
        n_events = 0
        memory_is_freed = False
        if settings.instant or next_submit > now:
            only = NOBODY if settings.instant else first_to_act(now, hosts)
            for first in range(0, n_hosts, LANES):
                due = equal(hosts.due, np.uint64(first), LANES, now)
                while due != ZERO:
                    h = first + lowest_position(due)
                    due &= due - ONE
                    some_acted, some_left = end_and_turn(h, only, now, jobs, hosts, waiting, settings, pieces)
                    n_events += some_acted
                    memory_is_freed = memory_is_freed or some_left
        if settings.instant or (n_events == 0 and next_submit > now):
            for first in range(0, n_hosts, LANES):
                hosts.dirty[first // LANES] |= np.int64(equal(hosts.timer, np.uint64(first), LANES, now))

        # Hosts that changed, then jobs that wait for memory, then new jobs: each settles its host. In one
        # place, where it is compiled in: a call would copy all that the tables consist of.
        changed = 0
        waiting.at[NEXT] = waiting.at[KEPT] = waiting.at[FIRST]
        while True:
            h, job = NOWHERE, NOBODY
            while changed < n_hosts and h == NOWHERE:
                dirty = np.uint64(hosts.dirty[changed // LANES])
                if dirty == ZERO:
                    changed += LANES
                else:
                    h = changed + lowest_position(dirty)
                    hosts.dirty[changed // LANES] = np.int64(dirty & (dirty - ONE))
            if h == NOWHERE and memory_is_freed:
                job = next_with_memory(now, jobs, hosts, waiting, settings)
                if job != NOBODY:
                    h = find_host(jobs.size[job], jobs.memory[job], hosts)
                memory_is_freed = job != NOBODY
            if h == NOWHERE:
                if not takes_submission(
                    settings.instant, now, next_submission(jobs.submit, arrived), n_events
                ):
                    break
                job = arrived
                h = host_for_newcomer(job, now, jobs, hosts, waiting, settings)
                arrived += 1
                n_events += 1
                if h == NOWHERE:
                    continue
            if job != NOBODY:
                place(job, h, now, jobs, hosts, settings)
            some_are_late = waiting.late.first[h] != NOBODY
            n_others, asked = settle(h, some_are_late, now, jobs, hosts, settings, pieces)
            if some_are_late:
                imagine(h, n_others, asked, now, jobs, hosts, waiting.late, settings)
