"""The service that deferred jobs (jobs without their memory) lose, by their virtual host.

A job for which no host has the memory loses the service that it would have on the host where it would have
been placed if it needed no memory. Whenever jobs join or leave that host, the shares of all of its deferred
jobs change.
"""

from models.backfill.eq_spatial import partition
from models.backfill.eq_spatial.tables import TRIAL
from models.backfill.job_table import NO_HOST, NO_JOB
from models.kernels.compiling import part


@part()
def link_deferred(system, job):
    """Add a job to the list of its virtual host, if it has one. O(1)."""
    jobs, first_deferred = system.jobs, system.hosts.first_deferred
    h = jobs.virtual_host[job]
    if h == NO_HOST:
        return
    first = first_deferred[h]
    jobs.deferred_before[job] = NO_JOB
    jobs.deferred_after[job] = first
    if first != NO_JOB:
        jobs.deferred_before[first] = job
    first_deferred[h] = job


@part()
def unlink_deferred(system, job):
    """Remove a job from the list of its virtual host. O(1)."""
    jobs = system.jobs
    h = jobs.virtual_host[job]
    if h == NO_HOST:
        return
    before, after = jobs.deferred_before[job], jobs.deferred_after[job]
    if before == NO_JOB:
        system.hosts.first_deferred[h] = after
    else:
        jobs.deferred_after[before] = after
    if after != NO_JOB:
        jobs.deferred_before[after] = before


@part()
def accumulate_lost_service(jobs, job, share, now):
    """Add the service that a deferred job has lost so far, before its share changes. O(1)."""
    if share != jobs.share[job]:
        jobs.lost[job] += jobs.share[job] * (now - jobs.share_since[job])
        jobs.share[job] = share
        jobs.share_since[job] = now


@part()
def update_deferred(system, h, n_others, asked):
    """Compute how many processors the deferred jobs of host `h` would have there from now on.

    Each would be one more job there, or is one already: in its quantum. O(jobs on the host + its deferred
    jobs), and O(jobs on the host) again for each of them that is in its quantum there and has a claim.

    Parameters
    ----------
    system : see `tables`
    h : the host
    n_others, asked : as `hosts.settle` returned them
    """
    jobs, hosts, settings, now = system.jobs, system.hosts, system.settings, system.state[0].now
    processors, n = hosts.processors[h], hosts.n_members[h]
    level, after, before = 0, NO_JOB, NO_JOB
    if n < processors:
        level, after, before = partition.place_beside(h, n_others, processors - asked, hosts, settings)
    if level != hosts.level[h] or after != hosts.after[h] or before != hosts.before[h]:
        hosts.level[h], hosts.after[h], hosts.before[h] = level, after, before
        job = hosts.first_deferred[h]
        while job != NO_JOB:
            if jobs.host[job] != h:
                share = partition.share_of(job, jobs.size[job], level, after, before)
                accumulate_lost_service(jobs, job, share, now)
            job = jobs.deferred_after[job]
    if hosts.n_own_deferred[h] == 0:
        return
    members, base = hosts.members, h * hosts.places
    has_claim = settings.favoured_from <= TRIAL
    if not has_claim:
        # It would have no more than it has now.
        level, odd = partition.level_of(
            hosts.asks, n, n_others, processors - min(asked, processors - n_others)
        )
        partition.hand_out(hosts.asks, n, level, odd, settings.last, hosts.shares)
    for i in range(n):
        job, size = members[base + i].job, members[base + i].size
        if members[base + i].standing != TRIAL or jobs.virtual_host[job] != h:
            continue
        share = hosts.shares[i]
        if has_claim:
            level, after, before = partition.place_beside(
                h, n_others, processors - (asked - size), hosts, settings
            )
            share = partition.share_of(job, size, level, after, before)
        accumulate_lost_service(jobs, job, share, now)
