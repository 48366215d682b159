"""The queue: records of pending jobs in the order in which passes test them, and jobs that are held.

Records are ordered by QOS that preempt others, by the tier of their partition, by priority, by the second of
submission, and by job (sched_config.html, "Scheduling order").
"""

import math

from models.kernels.compiling import part
from models.slurm.kernel.budgets import is_full
from models.slurm.kernel.priority import classic
from models.slurm.kernel.tables import ANY, FAR, NONE

HELD, QUEUED, ENDED = 1, 2, 4
LARGEST_PRIORITY = 4294967295

FIRST_PRIORITY = 4294901759
"""Priority of the first job with priority/basic; each further job has one less."""

AVERAGE, LARGEST = 2, 3
"""Values of bf_hetjob_prio other than the minimum."""


@part(inline=False)
def precedes(system, record, other):
    """Return whether a record comes before another one."""
    records, jobs, partitions = system.records, system.jobs, system.partitions
    if system.settings[0].by_qos:
        a, b = jobs[records[record].job].qos, jobs[records[other].job].qos
        n = len(system.levels)
        if a != NONE and b != NONE and system.preempts[a * n + b] != system.preempts[b * n + a]:
            return system.preempts[a * n + b] > 0
    a, b = partitions[records[record].partition].tier, partitions[records[other].partition].tier
    first, second = records[record].priority, records[other].priority
    if system.settings[0].hetjob_prio:
        a, first = joint_rank(system, record, other)
        b, second = joint_rank(system, other, record)
    if a != b:
        return a > b
    if first != second:
        return first > second
    first, second = records[record].job, records[other].job
    submitted, of_other = math.floor(jobs[first].submit), math.floor(jobs[second].submit)
    if submitted != of_other:
        return submitted < of_other
    return first < second or (first == second and record < other)


@part()
def own_priority(system, record):
    """Return the priority of a record on the scale of heterogeneous jobs."""
    if system.settings[0].multifactor:
        return system.records[record].priority
    return FIRST_PRIORITY - system.records[record].job


@part(inline=False)
def joint_rank(system, record, other):
    """Return the tier and priority by which a record is compared with another one: its heterogeneous job's,
    if the other record is of another job and a cycle has computed them."""
    jobs, records, components = system.jobs, system.records, system.components
    at, beside = jobs[records[record].job].component, jobs[records[other].job].component
    if at != NONE and (beside == NONE or components[beside].leader != components[at].leader):
        leader = components[at].leader
        if components[leader].priority > 0:
            return components[leader].tier, components[leader].priority
    return system.partitions[records[record].partition].tier, own_priority(system, record)


@part()
def combined(mode, found, value):
    """Combine the values of components by bf_hetjob_prio; 0 means none so far."""
    if mode == AVERAGE:
        return found + value
    if mode == LARGEST:
        return max(found, value)
    return min(found if found else FAR, value)


@part(inline=False)
def rank_jointly(system):
    """Compute tier and priority of the heterogeneous jobs in the queue, with sums of 32 bits
    (`_hetjob_calc_prio` of `backfill.c`), and sort the queue. O(queue)."""
    state, components, jobs = system.state[0], system.components, system.jobs
    mode, multifactor = system.settings[0].hetjob_prio, system.settings[0].multifactor
    for k in range(state.n_queue):
        at = jobs[system.records[system.queue[k]].job].component
        if at == NONE or components[at].leader != at:
            continue
        tier, priority, n_tiers, n = 0, 0, 0, 0
        for part_of in range(at, at + components[at].n):
            job = components[part_of].job
            for record in range(jobs[job].first_record, jobs[job + 1].first_record):
                tier = combined(mode, tier, system.partitions[system.records[record].partition].tier)
                n_tiers += 1
                if multifactor or record == jobs[job].first_record:
                    priority = combined(mode, priority, own_priority(system, record))
                    n += 1
        if mode == AVERAGE:
            tier, priority = tier // n_tiers, (priority & LARGEST_PRIORITY) // n
        components[at].tier, components[at].priority = tier, priority
    for k in range(1, state.n_queue):
        advance(system, k)


@part(inline=False)
def set_priority(system, record):
    """Compute the priority of a record as of now; equal priorities are served in order of submission."""
    state, settings, records = system.state[0], system.settings[0], system.records
    if not settings.multifactor:
        return
    job = records[record].job
    value = records[record].fixed_tested if system.fate[job].tested else records[record].fixed
    if settings.weight_age > 0:
        waited = math.floor(state.now) - math.floor(max(system.jobs[job].submit, system.jobs[job].begin))
        value += settings.weight_age * min(max(waited, 0) / settings.max_age, 1.0)
    if settings.weight_fair > 0 and system.jobs[job].association >= 0:
        if not settings.fair_tree:
            classic(system.fair, system.jobs[job].association, settings.damping)
        value += settings.weight_fair * system.fair[system.jobs[job].association].factor
    records[record].priority = min(max(int(value), 1), LARGEST_PRIORITY)


@part(inline=False)
def advance(system, at):
    """Move the record at a place of the queue before the records that it precedes."""
    record = system.queue[at]
    while at > 0 and precedes(system, record, system.queue[at - 1]):
        system.queue[at] = system.queue[at - 1]
        at -= 1
    system.queue[at] = record


@part(inline=False)
def insert(system, job):
    """Put the records of a job into the queue; O(queue)."""
    state, jobs = system.state[0], system.jobs
    system.fate[job].status = QUEUED
    for record in range(jobs[job].first_record, jobs[job + 1].first_record):
        set_priority(system, record)
        system.queue[state.n_queue] = record
        advance(system, state.n_queue)
        state.n_queue += 1


@part(inline=False)
def sort_again(system):
    """Compute all priorities and sort the queue: an insertion sort, because most records keep their place."""
    state = system.state[0]
    for k in range(state.n_queue):
        set_priority(system, system.queue[k])
    for k in range(1, state.n_queue):
        advance(system, k)


@part(inline=False)
def drop_started(system):
    """Remove the records of jobs that no longer wait; O(queue)."""
    state = system.state[0]
    n = 0
    for k in range(state.n_queue):
        record = system.queue[k]
        if system.fate[system.records[record].job].status == QUEUED:
            system.queue[n] = record
            n += 1
    state.n_queue = n


@part(inline=False)
def may_start(system, job):
    """Return whether begin time and dependency let a job start."""
    jobs, state = system.jobs, system.state[0]
    if math.floor(jobs[job].begin) > state.now:
        return False
    return jobs[job].after == NONE or system.fate[jobs[job].after].status == ENDED


@part(inline=False)
def release(system):
    """Put held jobs that may start into the queue; return whether there were any. O(held jobs)."""
    state = system.state[0]
    n = 0
    for k in range(state.n_held):
        job = system.held[k]
        if may_start(system, job):
            insert(system, job)
        else:
            system.held[n] = job
            n += 1
    released = n < state.n_held
    state.n_held = n
    return released


@part()
def is_low(system, record):
    """Return whether a job has too low a priority for a reservation (bf_min_prio_reserve); never with
    priority/basic."""
    settings = system.settings[0]
    return settings.multifactor > 0 and system.records[record].priority < settings.bf_min_prio_reserve


@part()
def throttled(system, job):
    """Return whether as many jobs of its array run as are allowed at once."""
    jobs = system.jobs
    return (
        jobs[job].array >= 0
        and jobs[job].throttle > 0
        and system.array_running[jobs[job].array] >= jobs[job].throttle
    )


@part(inline=False)
def exceeded(system, job, of_jobs):
    """Return the first limit that excludes a job, of numbers of jobs, of others or `ANY`; -1 for none."""
    jobs, limits, charges = system.jobs, system.limits, system.charges
    for k in range(jobs[job].first_charge, jobs[job + 1].first_charge):
        limit = charges[k].limit
        if not (charges[k].checked and (of_jobs == ANY or limits[limit].of_jobs == of_jobs)):
            continue
        if is_full(system, job, k):
            return limit
    return NONE


@part(inline=False)
def limited(system, job):
    """Return whether a limit of an association or a QOS does not allow a job. O(limits of the job)."""
    return exceeded(system, job, ANY) != NONE
