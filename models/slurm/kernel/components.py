"""Heterogeneous jobs: only a backfill cycle starts them, once it can start all components at once.

A cycle plans a component no earlier than the components of the same job that it has planned before, and
reserves nodes for it. If every component could start now, all are started, on different nodes, wherever they
fit by then; if one does not fit any more, the components started before it are requeued. As in `backfill.c`
of Slurm 22.05.8 (`_het_job_*`).
"""

import numpy as np

from models.kernels.compiling import part
from models.kernels.lists import remove
from models.slurm.kernel.budgets import lacks_licences
from models.slurm.kernel.gang import enter
from models.slurm.kernel.plan import keep_out, picked_set
from models.slurm.kernel.preempting import preempt
from models.slurm.kernel.queue import QUEUED, limited
from models.slurm.kernel.running import REQUEUED, RUNNING, end_on_nodes, remove_end, start_job
from models.slurm.kernel.tables import (
    AT_ONCE,
    COMPLETING,
    FAR,
    FEWEST,
    FREE,
    LICENCE,
    MASK,
    NARROWED,
    NONE,
    NOW,
    PICKED,
    UNAVAILABLE,
    USABLE,
)


@part(inline=False)
def reach(system, record):
    """Record that a cycle has reached a component; return the earliest start that the other components of its
    job allow, `FAR` if one of them has no plan. O(components of the job)."""
    state, components = system.state[0], system.components
    at = system.jobs[system.records[record].job].component
    one, leader = components[at], components[at].leader
    if one.reached != state.n_cycles:
        is_first = True
        for other in range(leader, leader + components[leader].n):
            is_first = is_first and components[other].reached != state.n_cycles
        if is_first:
            components[leader].earliest = 0
        one.reached, one.planned, one.record = state.n_cycles, FAR, record
        system.reached[state.n_reached] = at
        state.n_reached += 1
    return latest(system, leader, at)


@part(inline=False)
def latest(system, leader, without):
    """Return the latest planned start of the components of a job that were reached, except for one of them.
    O(components of the job)."""
    components, found = system.components, system.components[leader].earliest
    for at in range(leader, leader + components[leader].n):
        if at != without and components[at].reached == system.state[0].n_cycles:
            found = max(found, components[at].planned)
    return found


@part(inline=False)
def may_start_jointly(system, leader):
    """Return whether each component of a job runs or has been reached while it waits.
    O(components of the job)."""
    for at in range(leader, leader + system.components[leader].n):
        status = system.fate[system.components[at].job].status
        is_reached = system.components[at].reached == system.state[0].n_cycles
        if status != RUNNING and not (status == QUEUED and is_reached):
            return False
    return True


@part(inline=False)
def note_start(system, record, start):
    """Record a start that a component could have; the earliest start over its partitions counts.
    O(components of the job)."""
    components = system.components
    at = system.jobs[system.records[record].job].component
    leader = components[at].leader
    if start < components[at].planned:
        components[at].planned, components[at].record = start, record
    if system.settings[0].hetjob_immediate and may_start_jointly(system, leader):
        components[leader].earliest = latest(system, leader, NONE)


@part(inline=False)
def would_deadlock(system, job, partition, start):
    """Record a planned start of a job, and return whether another heterogeneous job that starts later in this
    partition would start earlier in a second one, in which both have components; if so, the caller reserves
    nothing. O((jobs x partitions)^2)."""
    state, plans = system.state[0], system.joint_plans
    leader, at = system.components[system.jobs[job].component].leader, 0
    while at < state.n_joint and (plans[at].leader != leader or plans[at].partition != partition):
        at += 1
    if at < state.n_joint:
        start = max(plans[at].start, start)
    else:
        state.n_joint += 1
    while at > 0 and plans[at - 1].start < start:  # the latest one comes first
        plans[at] = plans[at - 1]
        at -= 1
    plans[at].leader, plans[at].partition, plans[at].start = leader, partition, start
    for own in range(state.n_joint):
        if plans[own].leader != leader or plans[own].partition == partition:
            continue
        for k in range(at):
            for other in range(state.n_joint if plans[k].partition == partition else 0):
                is_same = plans[other].leader == plans[k].leader
                if is_same and plans[other].partition == plans[own].partition and plans[other].start < start:
                    return True
    return False


@part(inline=False)
def count_for(system, job, sign):
    """Add a component to its limits, or remove it if `sign` is -1, while all components are tested."""
    for k in range(system.jobs[job].first_charge, system.jobs[job + 1].first_charge):
        charge = system.charges[k]
        kind = system.limits[charge.limit].kind
        if kind < LICENCE:
            system.limits[charge.limit].used += sign * (charge.amount if kind == AT_ONCE else charge.held)


@part(inline=False)
def within_limits(system, leader):
    """Return whether limits allow all reached components of a job to start together. O(their limits)."""
    state, components = system.state[0], system.components
    k, fits = 0, True
    while k < state.n_reached and fits:
        if components[system.reached[k]].leader == leader:
            fits = not limited(system, components[system.reached[k]].job)
            count_for(system, components[system.reached[k]].job, 1)
        k += 1
    while k > 0:
        k -= 1
        if components[system.reached[k]].leader == leader:
            count_for(system, components[system.reached[k]].job, -1)
    return fits


@part(inline=False)
def start_component(system, record, now, pick):
    """Start a component now, on nodes of row `USABLE`, and remove these from the row; return whether it has
    started. O(N)."""
    state, settings, sets = system.state[0], system.settings[0], system.sets
    job, partition, words = (
        system.records[record].job,
        system.records[record].partition,
        system.records[record].words,
    )
    whole = system.jobs[job].whole or system.partitions[partition].whole
    for w in range(sets.shape[1]):
        sets[MASK, w] = system.partition_words[words, w] & sets[USABLE, w]
    keep_out(system, now, now + system.jobs[job].limit)
    for w in range(sets.shape[1]):
        sets[MASK, w] &= ~sets[COMPLETING, w]
        sets[NARROWED, w] = sets[MASK, w] & sets[FREE, w]
    state.most_shared = FEWEST
    fits = not limited(system, job) and not lacks_licences(system, job)
    if fits and not pick(system, record, whole, NARROWED, NOW):
        fits = settings.preempts and preempt(system, record, whole, pick) and settings.suspends
    if not fits:
        return False
    picked_set(system)
    for w in range(sets.shape[1]):
        sets[USABLE, w] &= ~sets[PICKED, w]
    start_job(system, job, partition, 1)
    if settings.gang:
        enter(system, job)
    return True


@part(inline=False)
def start_jointly(system, leader, now, pick):
    """Start all components of a job if each could start now and limits allow it; return how many started, or
    -1 if one of them found no nodes any more, so that the components started before it are requeued.
    O(components of the cycle + components of the job x N)."""
    state, fate, components = system.state[0], system.fate, system.components
    if latest(system, leader, NONE) > now or not may_start_jointly(system, leader):
        return 0
    components[leader].earliest = FAR  # it is not tried again in this cycle
    if not within_limits(system, leader):
        return 0
    for w in range(system.sets.shape[1]):
        system.sets[USABLE, w] = ~system.sets[UNAVAILABLE, w]
    n = 0
    for k in range(state.n_reached):
        one = components[system.reached[k]]
        if one.leader == leader:
            if not start_component(system, one.record, now, pick):
                n = -1
                break
            n += 1
    for at in range(leader, leader + components[leader].n if n < 0 else 0):
        job = components[at].job
        if fate[job].status == RUNNING and components[at].reached == state.n_cycles:
            if fate[job].booting:
                remove(system.booting, state.n_booting, job)
                state.n_booting -= 1
            elif fate[job].end < np.inf:  # it is not suspended
                remove_end(system, fate[job].end, 2 * job)
            fate[job].end, fate[job].killed, fate[job].status = state.now, 2, REQUEUED
            end_on_nodes(system, job)
    return n
