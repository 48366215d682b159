"""The event loop of spatial equipartitioning, with the rules of `models.backfill.eq_spatial`."""

import numpy as np
from numba import boolean, int64, void

from models.arrays import Ints
from models.backfill.eq_spatial import deferred, tables
from models.backfill.eq_spatial import hosts as on_hosts
from models.backfill.eq_spatial.partition import place_of_deferred, share_of
from models.backfill.eq_spatial.rules import EqSpatial
from models.backfill.job_table import NO_HOST, NO_JOB
from models.backfill.pieces import buffer_for, pieces_of, twice
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule
from models.kernels import standstill
from models.kernels.compiling import kernel, part
from models.kernels.standstill import count_repeated, stands_still
from models.kernels.ties import next_submission, takes_submission
from models.kernels.types import INTS


@part(void(INTS, int64, int64, int64))
def insert(jobs: Ints, begin: int, end: int, job: int) -> None:
    """Insert a job into a sorted range of places. O(jobs behind it)."""
    at = end
    while at > begin and jobs[at - 1] > job:
        jobs[at] = jobs[at - 1]
        at -= 1
    jobs[at] = job


@part()
def leave(system, i, h):
    """Remove the job at a place from its host: it has ended, or must wait because its quantum is over.

    O(jobs on the host), and O(jobs that wait and were submitted later).
    """
    state, jobs, hosts, settings = system.state[0], system.jobs, system.hosts, system.settings
    members = hosts.members
    job = members[i].job
    in_quantum = members[i].standing == tables.TRIAL
    exceeds = in_quantum and jobs.used[job] > settings.quantum_memory
    hosts.free[h] += members[i].processors
    hosts.free_memory[h] += min(jobs.memory[job], settings.quantum_memory) if in_quantum else jobs.memory[job]
    hosts.n_own_deferred[h] -= int(in_quantum and jobs.virtual_host[job] == h)
    has_ended = members[i].ends == state.now and not exceeds
    on_hosts.set_processors(system, i, h, 0)
    on_hosts.remove_member(hosts, i, h)
    if has_ended:
        jobs.end[job] = state.now
        if in_quantum:
            deferred.unlink_deferred(system, job)
        return
    jobs.host[job] = NO_HOST
    jobs.standing[job] = tables.PLAIN
    work = jobs.size[job] * jobs.runtime[job]
    if exceeds or not settings.keep_quantum:
        jobs.left[job] = work
    if jobs.virtual_host[job] == h:
        # It is now one of the jobs that would be there, and no longer one that is there.
        hosts.level[h] = tables.UNKNOWN
    # Work done in its quantum was not lost.
    jobs.lost[job] -= work - jobs.left[job]
    insert(system.queue, state.queue_begin, state.queue_end, job)
    state.queue_end += 1


@part()
def acts(members, i, now):
    """Return whether the job at a place ends or changes its standing now."""
    at = np.uint64(i)
    return (members[at].ends == now) | (members[at].turns == now)


@part()
def first_to_act(system):
    """Return the first submitted job that ends or changes its standing now, or `NO_JOB`."""
    hosts, now, first = system.hosts, system.state[0].now, NO_JOB
    for h in range(hosts.processors.shape[0]):
        base = h * hosts.places
        for i in range(base, base + (hosts.n_members[h] if hosts.due[h] == now else 0)):
            if acts(hosts.members, i, now):
                job = hosts.members[i].job
                first = job if first == NO_JOB else min(first, job)
    return first


@part()
def end_and_turn(system, h, only):
    """End the jobs of a host that are due, or change their standing; all of them, or only job `only`.

    Returns
    -------
    bool, bool
        Whether there was such a job, and whether one left the host.
    """
    jobs, hosts, now = system.jobs, system.hosts, system.state[0].now
    members = hosts.members
    n_before = hosts.n_members[h]
    some_acted = False
    i = h * hosts.places
    while i < h * hosts.places + hosts.n_members[h]:
        if not acts(members, i, now) or (only != NO_JOB and members[i].job != only):
            i += 1
            continue
        some_acted = True
        if members[i].ends == now or members[i].standing == tables.TRIAL:
            leave(system, i, h)  # jobs behind it have moved up
            continue
        is_long = jobs.begun[members[i].job] + system.settings.long_after == now
        members[i].standing = tables.LONG if is_long else tables.CAUGHT
        members[i].turns = np.nan
        i += 1
    if some_acted:
        hosts.changed[h] = 1
    return some_acted, hosts.n_members[h] < n_before


@part()
def place(system, job, h):
    """Place a job on a host, with its memory or a quantum's. O(jobs on the host)."""
    jobs, hosts = system.jobs, system.hosts
    on_hosts.add_member(system, job, h)
    jobs.host[job] = h
    if jobs.standing[job] == tables.TRIAL:
        hosts.free_memory[h] -= min(jobs.memory[job], system.settings.quantum_memory)
        hosts.n_own_deferred[h] += int(jobs.virtual_host[job] == h)
    else:
        hosts.free_memory[h] -= jobs.memory[job]
        jobs.placed[job] = system.state[0].now


@part()
def next_with_memory(system):
    """Remove the next waiting job for which a host has the memory now from the queue, and return it.

    Jobs are considered in order of submission; `NO_JOB` if there is none. O(waiting jobs) for all together;
    O(1) under first come, first served.
    """
    state, jobs, settings, queue = system.state[0], system.jobs, system.settings, system.queue
    most = on_hosts.most_memory(system.hosts)
    at, end = state.queue_next, state.queue_end
    while at < end:
        job = queue[np.uint64(at)]
        if jobs.memory[np.uint64(job)] <= most:
            state.queue_next = at + 1
            deferred.unlink_deferred(system, job)
            if settings.catch_up:
                jobs.lost[job] += jobs.share[job] * (state.now - jobs.share_since[job])
                jobs.share[job] = 0
                jobs.share_since[job] = state.now
                if jobs.lost[job] > 0:
                    jobs.standing[job] = tables.CATCHING
            return job
        if settings.fcfs:
            break
        queue[np.uint64(state.queue_kept)] = job
        state.queue_kept += 1
        at += 1
    if settings.fcfs:
        state.queue_begin = at
    else:
        state.queue_end = state.queue_kept
    return NO_JOB


@part()
def host_for_new(system, job):
    """Return the host that runs a submitted job at once, if only for its quantum; else queue it,
    `NO_HOST`."""
    state, jobs, hosts, settings = system.state[0], system.jobs, system.hosts, system.settings
    size, memory = jobs.size[job], jobs.memory[job]
    if not (settings.fcfs and state.queue_end > state.queue_begin):
        h = on_hosts.find_host(size, memory, hosts)
        if h != NO_HOST:
            return h
    jobs.share_since[job] = state.now
    if settings.catch_up:
        jobs.virtual_host[job] = on_hosts.find_host(size, 0, hosts)
    v = jobs.virtual_host[job]
    if v != NO_HOST:
        # The virtual place is up to date if other jobs are deferred there.
        if hosts.first_deferred[v] == NO_JOB or hosts.level[v] == tables.UNKNOWN:
            hosts.level[v], hosts.after[v], hosts.before[v] = place_of_deferred(v, hosts, settings)
        share = share_of(job, size, hosts.level[v], hosts.after[v], hosts.before[v])
        deferred.accumulate_lost_service(jobs, job, share, state.now)
    deferred.link_deferred(system, job)
    if settings.quantum > 0:
        h = on_hosts.find_host(size, min(memory, settings.quantum_memory), hosts)
        if h != NO_HOST:
            jobs.standing[job] = tables.TRIAL
            return h
    system.queue[state.queue_end] = job
    state.queue_end += 1
    return NO_HOST


@part()
def settle_host(system, h):
    """Divide a host that has changed, and update the losses of its deferred jobs."""
    some_deferred = system.hosts.first_deferred[h] != NO_JOB
    n_others, asked = on_hosts.settle(system, h, some_deferred)
    if some_deferred:
        deferred.update_deferred(system, h, n_others, asked)


@kernel(boolean(tables.SYSTEM))
def run(system: tables.EqSpatialSystem) -> bool:
    """Simulate jobs to their last end, or until the pieces of the next instant may exceed the capacity.

    An event costs O(hosts + jobs on its host), and O(jobs on that host) more for each job that catches up
    there, and O(its deferred jobs). Memory that becomes free costs O(waiting jobs), or O(1) under first come,
    first served, and O(hosts) for each job that is placed.

    Parameters
    ----------
    system : before the first submission, or as an earlier call left it

    Returns
    -------
    bool
        Whether all jobs have ended. Otherwise the same call with a larger capacity for pieces continues.
    """
    state, jobs, hosts, instant = system.state[0], system.jobs, system.hosts, system.state[0].instant
    n_hosts = hosts.processors.shape[0]
    while True:
        # At one instant a job begins or ends at most one piece: an instant has at most as many pieces as
        # jobs.
        if system.pieces.n[0] + hosts.members.shape[0] > system.pieces.job.shape[0]:
            return False
        next_submit = next_submission(jobs.submit, state.arrived)
        now = next_submit
        for h in range(n_hosts):
            now = min(now, hosts.due[h], hosts.timer[h])
        state.repeated = count_repeated(state.repeated, state.now, now)
        if now == np.inf or stands_still(state.repeated, state.arrived + n_hosts):
            return True
        state.now = now

        # Jobs that end or change their standing: all of this instant, or the first submitted alone.
        n_events = 0
        memory_is_freed = False
        if instant or next_submit > now:
            only = NO_JOB if instant else first_to_act(system)
            for h in range(n_hosts):
                if hosts.due[h] == now:
                    some_acted, some_left = end_and_turn(system, h, only)
                    n_events += some_acted
                    memory_is_freed = memory_is_freed or some_left
        if instant or (n_events == 0 and next_submit > now):
            for h in range(n_hosts):
                if hosts.timer[h] == now:
                    hosts.changed[h] = 1

        # Hosts that changed, then jobs that wait for memory, then new jobs: each settles its host. The call
        # is in one place, so that it is inlined: a real call would copy all of the tables' fields.
        changed = 0
        state.queue_next = state.queue_kept = state.queue_begin
        while True:
            h, job = NO_HOST, NO_JOB
            while changed < n_hosts and h == NO_HOST:
                if hosts.changed[changed] == 1:
                    hosts.changed[changed] = 0
                    h = changed
                changed += 1
            if h == NO_HOST and memory_is_freed:
                job = next_with_memory(system)
                if job != NO_JOB:
                    h = on_hosts.find_host(jobs.size[job], jobs.memory[job], hosts)
                memory_is_freed = job != NO_JOB
            if h == NO_HOST:
                if not takes_submission(instant, now, next_submission(jobs.submit, state.arrived), n_events):
                    break
                job = state.arrived
                h = host_for_new(system, job)
                state.arrived += 1
                n_events += 1
                if h == NO_HOST:
                    continue
            if job != NO_JOB:
                place(system, job, h)
            settle_host(system, h)


def simulate(jobs: Jobs, machine: Machine, rules: EqSpatial) -> Schedule:
    """Run all jobs to their ends, see `models.backfill.rules.Rules.simulate`.

    Returns
    -------
    Schedule
        `start` is the time of the first processor, if only for a quantum. `waited` is the time in the system
        less the runtime on all requested processors (section 4.4). `began` is the time at which a host gave
        its memory for the full execution (the submission of most jobs, even where MinInterval keeps them from
        processors for a while), or the end of a job that ended in its quantum. `pieces` lie between changes
        of a job's processors.
    """
    n_places = len(machine.names) * (machine.largest + 1)
    system = tables.system_of(jobs, machine, rules, buffer_for(4 * len(jobs) + 2 * n_places))
    while not run(system):
        system = system._replace(pieces=twice(system.pieces))
    standstill.check(system.state[0], len(jobs) + len(machine.names))
    table = system.jobs
    return Schedule(
        jobs, machine, table.start, table.end, table.host,
        began=np.where(np.isnan(table.placed), table.end, table.placed),
        waited=np.maximum(table.end - jobs.submit - jobs.runtime, 0.0), pieces=pieces_of(system.pieces),
    )  # fmt: skip
