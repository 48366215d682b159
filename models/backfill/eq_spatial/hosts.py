"""A host under spatial equipartitioning: who is placed on it, who has how many processors, and until when."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import boolean, float64, int64, types, void

from models.arrays import Ints
from models.backfill.eq_spatial.late import miss, note_share
from models.backfill.eq_spatial.partition import (
    BOUNDLESS,
    divide_host,
    gather_on_host,
    level_beside,
    place_on_host,
    rank,
    share_of,
    where_odd_on_host,
)
from models.backfill.eq_spatial.state import (
    CATCHING,
    CAUGHT,
    HOSTS,
    JOBS,
    LATE,
    LONG,
    NOBODY,
    NOWHERE,
    PLAIN,
    SETTINGS,
    TRIAL,
    Hosts,
    JobTable,
    Late,
    Settings,
)
from models.backfill.pieces import NOTED, Noted, note
from models.kernels.compiling import part
from models.kernels.types import INTS, record


class Rooms(NamedTuple):
    """What tells where a job is placed, of `Hosts`: less than all, which would take longer to hand over."""

    processors: Ints
    free: Ints
    free_memory: Ints
    n_members: Ints
    asked: Ints
    extra: Ints


ROOMS = record(Rooms)


@part(ROOMS(HOSTS))
def rooms_of(hosts: Hosts) -> Rooms:
    """Return what tells where a job is placed."""
    return Rooms(
        hosts.processors, hosts.free, hosts.free_memory, hosts.n_members, hosts.asked, hosts.extra
    )  # fmt: skip


@part(int64(int64, int64, ROOMS), inline=False)
def find_host(size: int, memory: int, hosts: Rooms) -> int:
    """Return the host on which a job is placed, or `NOWHERE`. O(hosts).

    Of the hosts with enough unallocated memory that with the fewest unallocated processors that are enough;
    else that with the most processors (less those that catching-up jobs have extra) for each one that its
    jobs and this one ask for. A host with as many jobs as processors takes no more. The first of equals.
    """
    best = NOWHERE
    for h in range(hosts.processors.shape[0]):
        is_full = hosts.n_members[h] >= hosts.processors[h]
        if hosts.free_memory[h] < memory or hosts.free[h] < size or is_full:
            continue
        if best < 0 or hosts.free[h] < hosts.free[best]:
            best = h
    if best >= 0:
        return best
    for h in range(hosts.processors.shape[0]):
        if hosts.free_memory[h] < memory or hosts.n_members[h] >= hosts.processors[h]:
            continue
        if best >= 0:
            # Of two ratios, without dividing.
            here = (hosts.processors[h] - hosts.extra[h]) * (hosts.asked[best] + size)
            if here <= (hosts.processors[best] - hosts.extra[best]) * (hosts.asked[h] + size):
                continue
        best = h
    return best


@part(void(INTS, int64, int64, int64))
def insert(jobs: Ints, base: int, n: int, job: int) -> None:
    """Add a job to `n` sorted ones from `base` on. O(n)."""
    at = base + n
    while at > base and jobs[at - 1] > job:
        jobs[at] = jobs[at - 1]
        at -= 1
    jobs[at] = job


@part(int64(HOSTS))
def most_memory(hosts: Hosts) -> int:
    """Return the most memory that a host has unallocated which takes more jobs, see `find_host`. O(hosts)."""
    most = -1
    for h in range(hosts.processors.shape[0]):
        if hosts.n_members[h] < hosts.processors[h]:
            most = max(most, hosts.free_memory[h])
    return most


@part(void(int64, int64, float64, int64, JOBS, NOTED))
def give(job: int, h: int, now: float, processors: int, jobs: JobTable, pieces: Noted) -> None:
    """Change a job's processors: close its piece, account for its work, foresee its end."""
    had = jobs.processors[job]
    if had > 0 and now > jobs.since[job]:
        note(pieces, job, h, jobs.since[job], now, had)
        jobs.left[job] = max(jobs.left[job] - had * (now - jobs.since[job]), 0.0)
    jobs.since[job] = now
    jobs.processors[job] = processors
    jobs.ends[job] = now + jobs.left[job] / processors if processors > 0 else np.inf


@part(types.UniTuple(int64, 3)(int64, JOBS, HOSTS, SETTINGS))
def place_for_late(h: int, jobs: JobTable, hosts: Hosts, settings: Settings) -> tuple[int, int, int]:
    """Say what a job that is not on host `h` would have there, see `partition.place_beside`."""
    if hosts.n_members[h] >= hosts.processors[h]:
        return 0, NOBODY, NOBODY
    n_others, asked = gather_on_host(h, jobs, hosts, settings)
    return place_on_host(h, n_others + 1, asked, jobs, hosts, settings)


@part(void(int64, int64, int64, float64, JOBS, HOSTS, LATE, SETTINGS))
def imagine(
    h: int,
    n_others: int,
    asked: int,
    now: float,
    jobs: JobTable,
    hosts: Hosts,
    late: Late,
    settings: Settings,
) -> None:
    """See how many processors late jobs would have on host `h` from now on.

    Each would be one more job there, or is one already: in its quantum. O(jobs on the host), and that again
    for each of them that is in its quantum.

    Parameters
    ----------
    n_others, asked : as `settle` ranked them
    """
    level, after, before = 0, NOBODY, NOBODY
    if hosts.n_members[h] < hosts.processors[h]:
        level, odd = level_beside(hosts, n_others, hosts.processors[h] - asked)
        after, before = where_odd_on_host(h, level, odd, jobs, hosts, settings)
    if level != hosts.level[h] or after != hosts.after[h] or before != hosts.before[h]:
        hosts.level[h] = level
        hosts.after[h] = after
        hosts.before[h] = before
        note_share(h, now, level, after, before, jobs, late)
    base = h * hosts.places
    for i in range(hosts.n_members[h] if hosts.n_own_late[h] > 0 else 0):
        job = hosts.members[base + i]
        if jobs.standing[job] == TRIAL and jobs.ghost[job] == h:
            n_sharing, asked = gather_on_host(h, jobs, hosts, settings)
            if hosts.asks[i] == BOUNDLESS:
                n_sharing += 1
                asked -= jobs.size[job]
            hosts.asks[i] = BOUNDLESS
            level, after, before = place_on_host(h, n_sharing, asked, jobs, hosts, settings)
            miss(job, share_of(job, jobs.size[job], level, after, before), now, jobs)


@part(void(int64, float64, JOBS, HOSTS, SETTINGS))
def aim(h: int, now: float, jobs: JobTable, hosts: Hosts, settings: Settings) -> None:
    """Say how many processors each job of a host shall have now, and when the host is to be divided again.

    Within MinInterval of the last repartitioning, jobs without any processor take unallocated ones, the first
    submitted first, and the repartitioning comes when the interval is over (section 2.5). Several changes at
    one instant are one repartitioning; and it is none if no job's processors change but those of jobs that
    had none.
    """
    base = h * hosts.places
    stop = base + hosts.n_members[h]
    if hosts.divided[h] == now or now >= hosts.divided[h] + settings.min_interval:
        for i in range(base, stop):
            if jobs.standing[hosts.members[i]] == CAUGHT:
                jobs.standing[hosts.members[i]] = PLAIN
                jobs.turns[hosts.members[i]] = np.nan
        divide_host(h, jobs, hosts, settings)
        for i in range(base, stop):
            job = hosts.members[i]
            if jobs.processors[job] > 0 and jobs.processors[job] != jobs.target[job]:
                hosts.divided[h] = now
        hosts.timer[h] = np.inf
        return
    unallocated = hosts.free[h]
    for i in range(base, stop):
        job = hosts.members[i]
        jobs.target[job] = jobs.processors[job]
        if jobs.processors[job] == 0:
            jobs.target[job] = min(jobs.size[job], unallocated)
            unallocated -= jobs.target[job]
    hosts.timer[h] = hosts.divided[h] + settings.min_interval


@part(int64(int64, int64, int64, int64, float64, JOBS, HOSTS, SETTINGS))
def catch_up(
    job: int, h: int, n_others: int, asked: int, now: float, jobs: JobTable, hosts: Hosts, settings: Settings
) -> int:
    """Reckon what a job that catches up still misses, and return how many processors it shall have extra.

    Parameters
    ----------
    n_others, asked : as `settle` ranked them: it has a claim itself
    """
    size = jobs.size[job]
    level, odd = level_beside(hosts, n_others, hosts.processors[h] - (asked - size))
    share = size
    if size > level:
        after, before = where_odd_on_host(h, level, odd, jobs, hosts, settings)
        share = share_of(job, size, level, after, before)
    if share != jobs.share[job] or jobs.target[job] != jobs.processors[job]:
        gained = (jobs.processors[job] - jobs.share[job]) * (now - jobs.share_since[job])
        jobs.lack[job] = max(jobs.lack[job] - gained, 0.0)
        jobs.share[job] = share
        jobs.share_since[job] = now
        jobs.turns[job] = np.nan
    return max(jobs.target[job] - jobs.share[job], 0)


@part(float64(int64, JOBS, SETTINGS))
def next_turn(job: int, jobs: JobTable, settings: Settings) -> float:
    """Return when a job's standing changes if its processors do not, or inf."""
    turn = np.inf
    if jobs.standing[job] == TRIAL:
        if not np.isnan(jobs.start[job]):
            turn = jobs.start[job] + settings.quantum
            # A job that exceeds the memory is stopped where it would end.
            if jobs.used[job] > settings.quantum_memory:
                turn = min(turn, jobs.ends[job])
        return turn
    if jobs.standing[job] != LONG and not np.isnan(jobs.begun[job]):
        turn = jobs.begun[job] + settings.long_after
    gain = jobs.processors[job] - jobs.share[job]
    if jobs.standing[job] == CATCHING and gain > 0:
        turn = min(turn, jobs.share_since[job] + jobs.lack[job] / gain)
    return turn


@part(types.UniTuple(int64, 2)(int64, boolean, float64, JOBS, HOSTS, SETTINGS, NOTED))
def settle(
    h: int, some_are_late: bool, now: float,
    jobs: JobTable, hosts: Hosts, settings: Settings, pieces: Noted,
) -> tuple[int, int]:  # fmt: skip
    """Divide a host anew after a change, or put that off; foresee what happens next there.

    O(jobs on the host), times one more than those that catch up.

    Returns
    -------
    int, int
        Jobs without a claim, ranked if some are late, and what all others ask for.
    """
    aim(h, now, jobs, hosts, settings)
    unallocated = hosts.processors[h]
    extra = 0
    due = np.inf
    n_others, asked = NOBODY, 0
    if some_are_late:
        n_others, asked = gather_on_host(h, jobs, hosts, settings)
        rank(hosts, hosts.n_members[h])
    for i in range(h * hosts.places, h * hosts.places + hosts.n_members[h]):
        job = hosts.members[i]
        if jobs.standing[job] == CATCHING or jobs.standing[job] == CAUGHT:
            if n_others == NOBODY:
                n_others, asked = gather_on_host(h, jobs, hosts, settings)
                rank(hosts, hosts.n_members[h])
            extra += catch_up(job, h, n_others, asked, now, jobs, hosts, settings)
        if jobs.target[job] != jobs.processors[job]:
            give(job, h, now, jobs.target[job], jobs, pieces)
            jobs.turns[job] = np.nan
            if np.isnan(jobs.start[job]):
                jobs.start[job] = now
            if jobs.standing[job] != TRIAL and np.isnan(jobs.begun[job]):
                jobs.begun[job] = now
        unallocated -= jobs.processors[job]
        if np.isnan(jobs.turns[job]):
            jobs.turns[job] = next_turn(job, jobs, settings)
        due = min(due, jobs.ends[job], jobs.turns[job])
    hosts.free[h] = unallocated
    hosts.extra[h] = extra
    hosts.due[h] = due
    return n_others, asked
