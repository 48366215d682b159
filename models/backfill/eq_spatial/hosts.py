"""A host under spatial equipartitioning: who is placed on it, who has how many processors, and until when."""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, types, void

from models.arrays import Ints
from models.backfill.eq_spatial.late import miss, note_share
from models.backfill.eq_spatial.partition import (
    BOUNDLESS,
    divide,
    gather,
    hand_out,
    level_beside,
    level_of,
    place_beside,
    rank,
    share_of,
    where_odd,
)
from models.backfill.eq_spatial.state import (
    CATCHING,
    CAUGHT,
    HOSTS,
    JOBS,
    LATE,
    LONG,
    MEMBERS,
    NOBODY,
    NOWHERE,
    PLAIN,
    SETTINGS,
    TRIAL,
    Hosts,
    JobTable,
    Late,
    Members,
    Settings,
)
from models.backfill.pieces import NOTED, Noted, note
from models.kernels.bits import ONE, ZERO, lowest_position, population, span
from models.kernels.compiling import part
from models.kernels.lanes import LANES
from models.kernels.masks import between, copy, move, soonest, total, unequal, unknown
from models.kernels.types import INTS

EIGHT = np.uint64(2**LANES - 1)


@part(int64(int64, int64, HOSTS))
def find_host(size: int, memory: int, hosts: Hosts) -> int:
    """Return the host on which a job is placed, or `NOWHERE`. O(hosts), without branches.

    Of the hosts with enough unallocated memory that with the fewest unallocated processors that are enough;
    else that with the most processors (less those that catching-up jobs have extra) for each one that its
    jobs and this one ask for. A host with as many jobs as processors takes no more. The first of equals.
    """
    best, least = NOWHERE, np.int64(BOUNDLESS)
    for i in range(hosts.processors.shape[0]):
        h = np.uint64(i)
        takes = (hosts.free_memory[h] >= memory) & (hosts.n_members[h] < hosts.processors[h])
        free = hosts.free[h]
        better = takes & (free >= size) & (free < least)
        best, least = i if better else best, free if better else least
    if best != NOWHERE:
        return best
    room, asked = np.int64(-1), np.int64(1)
    for i in range(hosts.processors.shape[0]):
        h = np.uint64(i)
        takes = (hosts.free_memory[h] >= memory) & (hosts.n_members[h] < hosts.processors[h])
        # Of two ratios, without dividing.
        here, wanted = hosts.processors[h] - hosts.extra[h], hosts.asked[h] + size
        better = takes & (here * asked > room * wanted)
        best = i if better else best
        room, asked = here if better else room, wanted if better else asked
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


@part(void(MEMBERS, int64, int64))
def move_eight(members: Members, source: int, place: int) -> None:
    """Let eight jobs stand at other places."""
    one, other = np.uint64(source), np.uint64(place)
    move(members.job, one, other)
    move(members.size, one, other)
    move(members.standing, one, other)
    move(members.processors, one, other)
    move(members.target, one, other)
    move(members.share, one, other)
    move(members.ends, one, other)
    move(members.turns, one, other)


@part(void(int64, int64, JOBS, HOSTS))
def join(job: int, h: int, jobs: JobTable, hosts: Hosts) -> None:
    """Let a job without processors be one more of a host's. O(jobs on the host)."""
    members, base = hosts.members, h * hosts.places
    end = base + hosts.n_members[h]
    i = end
    while i > base and members.job[np.uint64(i - 1)] > job:
        i -= 1
    source = i + ((end - 1 - i) & -LANES)
    while source >= i:
        move_eight(members, source, source + 1)
        source -= LANES
    at = np.uint64(i)
    members.job[at], members.size[at], members.standing[at] = job, jobs.size[job], jobs.standing[job]
    members.processors[at], members.target[at], members.share[at] = 0, 0, jobs.share[job]
    members.ends[at], members.turns[at] = np.inf, np.nan
    hosts.n_members[h] += 1
    hosts.asked[h] += jobs.size[job]


@part(void(int64, int64, HOSTS))
def part_with(i: int, h: int, hosts: Hosts) -> None:
    """Take the job at a place off its host. O(jobs on the host)."""
    hosts.asked[h] -= hosts.members.size[np.uint64(i)]
    for source in range(i + 1, h * hosts.places + hosts.n_members[h], LANES):
        move_eight(hosts.members, source, source - 1)
    hosts.n_members[h] -= 1


@part(void(int64, int64, float64, int64, JOBS, HOSTS, NOTED))
def give(i: int, h: int, now: float, processors: int, jobs: JobTable, hosts: Hosts, pieces: Noted) -> None:
    """Change the processors of the job at a place: close its piece, account for its work, foresee its end."""
    members, at = hosts.members, np.uint64(i)
    job, had = members.job[at], members.processors[at]
    if had > 0 and now > jobs.since[job]:
        note(pieces, job, h, jobs.since[job], now, had)
        jobs.left[job] = max(jobs.left[job] - had * (now - jobs.since[job]), 0.0)
    jobs.since[job] = now
    members.processors[at] = processors
    members.ends[at] = now + jobs.left[job] / processors if processors > 0 else np.inf


@part(types.UniTuple(int64, 3)(int64, HOSTS, SETTINGS))
def place_for_late(h: int, hosts: Hosts, settings: Settings) -> tuple[int, int, int]:
    """Say what a job that is not on host `h` would have there, see `partition.place_beside`."""
    if hosts.n_members[h] >= hosts.processors[h]:
        return 0, NOBODY, NOBODY
    n_others, asked = gather(h, False, hosts, settings)
    rank(hosts, hosts.n_members[h])
    return place_beside(h, n_others, hosts.processors[h] - asked, hosts, settings)


@part(void(int64, int64, int64, float64, JOBS, HOSTS, LATE, SETTINGS))
def imagine(
    h: int, n_others: int, asked: int, now: float,
    jobs: JobTable, hosts: Hosts, late: Late, settings: Settings,
) -> None:  # fmt: skip
    """See how many processors late jobs would have on host `h` from now on.

    Each would be one more job there, or is one already: in its quantum. O(jobs on the host), and that again
    for each of them that is in its quantum and has a claim.

    Parameters
    ----------
    n_others, asked : as `settle` ranked them
    """
    processors = hosts.processors[h]
    level, after, before = 0, NOBODY, NOBODY
    if hosts.n_members[h] < processors:
        level, after, before = place_beside(h, n_others, processors - asked, hosts, settings)
    if level != hosts.level[h] or after != hosts.after[h] or before != hosts.before[h]:
        hosts.level[h] = level
        hosts.after[h] = after
        hosts.before[h] = before
        note_share(h, now, level, after, before, jobs, late)
    if hosts.n_own_late[h] == 0:
        return
    members, n = hosts.members, hosts.n_members[h]
    has_claim = settings.favoured_from <= TRIAL
    if not has_claim:
        # It would have no more than it has.
        level, odd = level_of(hosts.asks, n, n_others, processors - min(asked, processors - n_others))
        hand_out(hosts.asks, n, level, odd, settings.last, hosts.shares, 0)
    for k in range(0, n, LANES):
        in_quantum = between(members.standing, np.uint64(h * hosts.places + k), n - k, TRIAL, TRIAL)
        while in_quantum != ZERO:
            i = k + lowest_position(in_quantum)
            in_quantum &= in_quantum - ONE
            at = np.uint64(h * hosts.places + i)
            job, size = members.job[at], members.size[at]
            if jobs.ghost[job] != h:
                continue
            share = hosts.shares[np.uint64(i)]
            if has_claim:
                budget = processors - (asked - size)
                level, after, before = place_beside(h, n_others, budget, hosts, settings)
                share = share_of(job, size, level, after, before)
            miss(job, share, now, jobs)


@part(void(int64, float64, HOSTS, SETTINGS))
def aim(h: int, now: float, hosts: Hosts, settings: Settings) -> None:
    """Say how many processors each job of a host shall have now, and when the host is to be divided again.

    Within MinInterval of the last repartitioning, jobs without any processor take unallocated ones, the first
    submitted first, and the repartitioning comes when the interval is over (section 2.5). Several changes at
    one instant are one repartitioning; and it is none if no job's processors change but those of jobs that
    had none.
    """
    members, base, n = hosts.members, h * hosts.places, hosts.n_members[h]
    if hosts.divided[h] == now or now >= hosts.divided[h] + settings.min_interval:
        for k in range(0, n, LANES):
            caught = between(members.standing, np.uint64(base + k), n - k, CAUGHT, CAUGHT)
            while caught != ZERO:
                at = np.uint64(base + k + lowest_position(caught))
                caught &= caught - ONE
                members.standing[at] = PLAIN
                members.turns[at] = np.nan
        divide(h, hosts, settings)
        for k in range(0, n, LANES):
            at = np.uint64(base + k)
            have_some = between(members.processors, at, n - k, 1, BOUNDLESS)
            if have_some & unequal(members.processors, members.target, at, n - k) != ZERO:
                hosts.divided[h] = now
        hosts.timer[h] = np.inf
        return
    unallocated = hosts.free[h]
    for k in range(0, n, LANES):
        first = np.uint64(base + k)
        copy(members.processors, first, EIGHT, 0, members.target, first)
        have_none = between(members.processors, first, n - k, 0, 0)
        while have_none != ZERO:
            at = np.uint64(base + k + lowest_position(have_none))
            have_none &= have_none - ONE
            members.target[at] = min(members.size[at], unallocated)
            unallocated -= members.target[at]
    hosts.timer[h] = hosts.divided[h] + settings.min_interval


@part(int64(int64, int64, int64, int64, float64, JOBS, HOSTS, SETTINGS))
def catch_up(
    i: int, h: int, n_others: int, asked: int, now: float, jobs: JobTable, hosts: Hosts, settings: Settings
) -> int:
    """Reckon what the job at a place still misses, which catches up, and return how many processors it shall
    have extra.

    Parameters
    ----------
    n_others, asked : as `settle` ranked them: it has a claim itself
    """
    members, at = hosts.members, np.uint64(i)
    job, size = members.job[at], members.size[at]
    had, target = members.processors[at], members.target[at]
    level, odd = level_beside(hosts, n_others, hosts.processors[h] - (asked - size))
    share = size
    if size > level:
        after, before = where_odd(h, level, odd, hosts, settings)
        share = share_of(job, size, level, after, before)
    if share != members.share[at] or target != had:
        gained = (had - members.share[at]) * (now - jobs.share_since[job])
        jobs.lack[job] = max(jobs.lack[job] - gained, 0.0)
        members.share[at] = share
        jobs.share_since[job] = now
        members.turns[at] = np.nan
    return max(target - share, 0)


@part(float64(int64, JOBS, HOSTS, SETTINGS))
def next_turn(i: int, jobs: JobTable, hosts: Hosts, settings: Settings) -> float:
    """Return when the standing of the job at a place changes if its processors do not, or inf."""
    members, at = hosts.members, np.uint64(i)
    job, standing = members.job[at], members.standing[at]
    turn = np.inf
    if standing == TRIAL:
        if not np.isnan(jobs.start[job]):
            turn = jobs.start[job] + settings.quantum
            # A job that exceeds the memory is stopped where it would end.
            if jobs.used[job] > settings.quantum_memory:
                turn = min(turn, members.ends[at])
        return turn
    if standing != LONG and not np.isnan(jobs.begun[job]):
        turn = jobs.begun[job] + settings.long_after
    gain = members.processors[at] - members.share[at]
    if standing == CATCHING and gain > 0:
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
    aim(h, now, hosts, settings)
    members, base, n = hosts.members, h * hosts.places, hosts.n_members[h]
    unallocated = hosts.processors[h]
    extra = 0
    due = np.inf
    n_others, asked = NOBODY, 0
    if some_are_late:
        n_others, asked = gather(h, False, hosts, settings)
        rank(hosts, n)
    for k in range(0, n, LANES):
        first = np.uint64(base + k)
        present = span(min(n - k, LANES))
        unallocated -= total(members.target, first, present)
        catching = between(members.standing, first, n - k, CATCHING, CAUGHT)
        if catching != ZERO and n_others == NOBODY:
            n_others, asked = gather(h, False, hosts, settings)
            rank(hosts, n)
        changing = catching | unequal(members.target, members.processors, first, n - k)
        changing |= unknown(members.turns, first, n - k)
        due = min(due, soonest(members.ends, members.turns, first, present ^ changing))
        while changing != ZERO:
            bit = changing & (~changing + ONE)
            changing ^= bit
            i = base + k + population(bit - ONE)
            at = np.uint64(i)
            if catching & bit != ZERO:
                extra += catch_up(i, h, n_others, asked, now, jobs, hosts, settings)
            if members.target[at] != members.processors[at]:
                job = members.job[at]
                give(i, h, now, members.target[at], jobs, hosts, pieces)
                members.turns[at] = np.nan
                if np.isnan(jobs.start[job]):
                    jobs.start[job] = now
                if members.standing[at] != TRIAL and np.isnan(jobs.begun[job]):
                    jobs.begun[job] = now
            if np.isnan(members.turns[at]):
                members.turns[at] = next_turn(i, jobs, hosts, settings)
            due = min(due, members.ends[at], members.turns[at])
    hosts.free[h] = unallocated
    hosts.extra[h] = extra
    hosts.due[h] = due
    return n_others, asked
