"""A host under spatial equipartitioning: its jobs, how many processors each has, and until when."""

import numpy as np
from numba import int64

from models.backfill.eq_spatial import partition, tables
from models.backfill.job_table import NO_HOST, NO_JOB
from models.backfill.pieces import add_piece
from models.kernels.compiling import part


@part(int64(int64, int64, tables.HOSTS))
def find_host(size: int, memory: int, hosts: tables.Hosts) -> int:
    """Return the host on which a job is placed, or `NO_HOST`. O(hosts), without branches.

    Among the hosts with enough unallocated memory it is the one with the fewest sufficient unallocated
    processors; otherwise the one with the most processors (less the extra processors of catching-up jobs) per
    processor requested by its jobs and this one. A host with as many jobs as processors takes no more. Ties
    go to the first host.
    """
    best, least = NO_HOST, np.int64(partition.BOUNDLESS)
    for i in range(hosts.processors.shape[0]):
        h = np.uint64(i)
        takes = (hosts.free_memory[h] >= memory) & (hosts.n_members[h] < hosts.processors[h])
        free = hosts.free[h]
        better = takes & (free >= size) & (free < least)
        best, least = i if better else best, free if better else least
    if best != NO_HOST:
        return best
    most, asked = np.int64(-1), np.int64(1)
    for i in range(hosts.processors.shape[0]):
        h = np.uint64(i)
        takes = (hosts.free_memory[h] >= memory) & (hosts.n_members[h] < hosts.processors[h])
        # Two ratios are compared without a division.
        here, wanted = hosts.processors[h] - hosts.extra[h], hosts.asked[h] + size
        better = takes & (here * asked > most * wanted)
        best = i if better else best
        most, asked = here if better else most, wanted if better else asked
    return best


@part(int64(tables.HOSTS))
def most_memory(hosts: tables.Hosts) -> int:
    """Return the most unallocated memory of any host that takes more jobs, see `find_host`. O(hosts)."""
    most = -1
    for h in range(hosts.processors.shape[0]):
        if hosts.n_members[h] < hosts.processors[h]:
            most = max(most, hosts.free_memory[h])
    return most


@part()
def add_member(system, job, h):
    """Add a job without processors to a host. O(jobs on the host)."""
    jobs, hosts = system.jobs, system.hosts
    members, base = hosts.members, h * hosts.places
    i = base + hosts.n_members[h]
    while i > base and members[np.uint64(i - 1)].job > job:
        members[i] = members[i - 1]
        i -= 1
    members[i].job, members[i].size, members[i].standing = job, jobs.size[job], jobs.standing[job]
    members[i].processors, members[i].target, members[i].share = 0, 0, jobs.share[job]
    members[i].ends, members[i].turns = np.inf, np.nan
    hosts.n_members[h] += 1
    hosts.asked[h] += jobs.size[job]


@part()
def remove_member(hosts, i, h):
    """Remove the job at a place from its host. O(jobs on the host)."""
    hosts.asked[h] -= hosts.members[i].size
    for source in range(i + 1, h * hosts.places + hosts.n_members[h]):
        hosts.members[source - 1] = hosts.members[source]
    hosts.n_members[h] -= 1


@part()
def set_processors(system, i, h, processors):
    """Change the processors of the job at a place: end its piece, account for its work, compute its end."""
    jobs, members, now = system.jobs, system.hosts.members, system.state[0].now
    job, had = members[i].job, members[i].processors
    if had > 0 and now > jobs.since[job]:
        add_piece(system.pieces, job, h, jobs.since[job], now, had)
        jobs.left[job] = max(jobs.left[job] - had * (now - jobs.since[job]), 0.0)
    jobs.since[job] = now
    members[i].processors = processors
    members[i].ends = now + jobs.left[job] / processors if processors > 0 else np.inf


@part()
def set_targets(system, h):
    """Compute the processors that each job of a host is to have now, and when the host is divided again.

    Within MinInterval of the last repartitioning, jobs without any processor take unallocated ones, the first
    submitted first, and the repartitioning is postponed to the end of the interval (section 2.5). Several
    changes at one instant are one repartitioning; if only jobs without processors get some, it does not count
    as one.
    """
    hosts, settings, now = system.hosts, system.settings, system.state[0].now
    members, begin = hosts.members, h * hosts.places
    end = begin + hosts.n_members[h]
    if hosts.divided[h] == now or now >= hosts.divided[h] + settings.min_interval:
        for i in range(begin, end):
            at = np.uint64(i)
            if members[at].standing == tables.CAUGHT:
                members[at].standing = tables.PLAIN
                members[at].turns = np.nan
        partition.divide(h, hosts, settings)
        n_changed = 0
        for i in range(begin, end):
            had = members[np.uint64(i)].processors
            n_changed += int((had > 0) & (had != members[np.uint64(i)].target))
        if n_changed > 0:
            hosts.divided[h] = now
        hosts.timer[h] = np.inf
        return
    unallocated = hosts.free[h]
    for i in range(begin, end):
        at = np.uint64(i)
        members[at].target = members[at].processors
        if members[at].processors == 0:
            members[at].target = min(members[at].size, unallocated)
            unallocated -= members[at].target
    hosts.timer[h] = hosts.divided[h] + settings.min_interval


@part()
def extra_of_catching(system, i, h, n_others, asked):
    """Update the service that the job at a place has still to catch up, and return its extra processors.

    Parameters
    ----------
    system : see `tables`
    i : place in `Hosts.members` of a job that catches up
    h : its host
    n_others, asked : as `settle` ranked them: the job has a claim itself
    """
    jobs, hosts, settings, now = system.jobs, system.hosts, system.settings, system.state[0].now
    members = hosts.members
    job, size = members[i].job, members[i].size
    had, target = members[i].processors, members[i].target
    level, odd = partition.level_beside(hosts, n_others, hosts.processors[h] - (asked - size))
    share = size
    if size > level:
        after, before = partition.where_odd(h, level, odd, hosts, settings)
        share = partition.share_of(job, size, level, after, before)
    if share != members[i].share or target != had:
        gained = (had - members[i].share) * (now - jobs.share_since[job])
        jobs.lost[job] = max(jobs.lost[job] - gained, 0.0)
        members[i].share = share
        jobs.share_since[job] = now
        members[i].turns = np.nan
    return max(target - share, 0)


@part()
def next_turn(system, i):
    """Return when the standing of the job at a place changes if its processors do not, or inf."""
    jobs, members, settings = system.jobs, system.hosts.members, system.settings
    job, standing = members[i].job, members[i].standing
    turn = np.inf
    if standing == tables.TRIAL:
        if not np.isnan(jobs.start[job]):
            turn = jobs.start[job] + settings.quantum
            # A job that exceeds the memory is stopped where it would end.
            if jobs.used[job] > settings.quantum_memory:
                turn = min(turn, members[i].ends)
        return turn
    if standing != tables.LONG and not np.isnan(jobs.begun[job]):
        turn = jobs.begun[job] + settings.long_after
    gain = members[i].processors - members[i].share
    if standing == tables.CATCHING and gain > 0:
        turn = min(turn, jobs.share_since[job] + jobs.lost[job] / gain)
    return turn


@part()
def settle(system, h, some_deferred):
    """Divide a host again after a change, or postpone that; compute its next event.

    O(jobs on the host), times one more than the number of jobs that catch up.

    Returns
    -------
    int, int
        The number of jobs without a claim, ranked if some jobs are deferred there, and the total request of
        all others.
    """
    set_targets(system, h)
    jobs, hosts, settings = system.jobs, system.hosts, system.settings
    members, begin, n = hosts.members, h * hosts.places, hosts.n_members[h]
    unallocated = hosts.processors[h]
    extra = 0
    due = np.inf
    n_others, asked = NO_JOB, 0
    if some_deferred:
        n_others, asked = partition.gather(h, False, hosts, settings)
        partition.rank(hosts, n)
    for i in range(begin, begin + n):
        at = np.uint64(i)
        target, standing = members[at].target, members[at].standing
        unallocated -= target
        if standing in (tables.CATCHING, tables.CAUGHT):
            if n_others == NO_JOB:
                n_others, asked = partition.gather(h, False, hosts, settings)
                partition.rank(hosts, n)
            extra += extra_of_catching(system, i, h, n_others, asked)
        if target != members[at].processors:
            job = members[at].job
            set_processors(system, i, h, target)
            members[at].turns = np.nan
            if np.isnan(jobs.start[job]):
                jobs.start[job] = system.state[0].now
            if standing != tables.TRIAL and np.isnan(jobs.begun[job]):
                jobs.begun[job] = system.state[0].now
        if np.isnan(members[at].turns):
            members[at].turns = next_turn(system, i)
        due = min(due, members[at].ends, members[at].turns)
    hosts.free[h] = unallocated
    hosts.extra[h] = extra
    hosts.due[h] = due
    return n_others, asked
