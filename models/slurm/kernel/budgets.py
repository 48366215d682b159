"""Budgets, which limit the past usage of jobs and the possible usage of running ones; and licences.

GrpTRESMins, GrpTRESRunMins and GrpWall (resource_limits.html) count what a job has used, at each calculation
of priorities and at its end, with the same decay as for fair share; while a job runs, they also count the
rest of its time limit. As in `acct_policy.c` and `priority_multifactor.c` of Slurm 22.05.8.
"""

import math

from models.kernels.compiling import part
from models.slurm.kernel.tables import AT_ONCE, LICENCE, NONE, REFUSED, RUNNING_MINUTES, SUBMITTED, WALL

MINUTE_S = 60


@part()
def is_full(system, job, k):
    """Return whether the limit of a charge does not allow the job."""
    charge = system.charges[k]
    limit = system.limits[charge.limit]
    if limit.kind == AT_ONCE:
        return limit.used + charge.amount > limit.cap
    if limit.kind >= LICENCE:
        return False
    is_counted = system.jobs[job].factor > 0
    running = limit.used // MINUTE_S if limit.kind != WALL and is_counted else 0
    if limit.kind == RUNNING_MINUTES:
        return charge.need + running > limit.cap
    spent = int(limit.usage / MINUTE_S) if is_counted or limit.kind == WALL else 0
    if spent >= limit.cap and (charge.need > 0 or limit.kind == WALL):
        return True
    return limit.safe > 0 and charge.need > 0 and charge.need + running > limit.cap - spent


@part(inline=False)
def lacks_licences(system, job):
    """Return whether licences of a job are in use. O(charges of the job)."""
    for k in range(system.jobs[job].first_charge, system.jobs[job + 1].first_charge):
        limit = system.limits[system.charges[k].limit]
        if limit.kind == LICENCE and limit.used + system.charges[k].amount > limit.cap:
            return True
    return False


@part(inline=False)
def lacks_room(system, job):
    """Return whether a limit of submissions excludes a job or its array. O(charges of the job)."""
    jobs, before = system.jobs, max(job - 1, 0)
    of_array = jobs[job].array >= 0 and jobs[before].array == jobs[job].array
    if of_array and system.fate[before].killed == REFUSED and jobs[before].submit == jobs[job].submit:
        return True
    for k in range(system.jobs[job].first_charge, system.jobs[job + 1].first_charge):
        charge, limit = system.charges[k], system.limits[system.charges[k].limit]
        if limit.kind == SUBMITTED and charge.checked and limit.used + charge.need > limit.cap:
            return True
    return False


@part(inline=False)
def is_refused(system, job):
    """Return whether a limit of submissions refuses a job. Its array is refused with the first job of the
    array, a heterogeneous job with its first component. O(charges of the job)."""
    at, components = system.jobs[job].component, system.components
    if at == NONE:
        return lacks_room(system, job)
    leader = components[at].leader
    if at != leader:
        return system.fate[components[leader].job].killed == REFUSED
    for other in range(leader, leader + components[leader].n):
        if lacks_room(system, components[other].job):
            return True
    return False


@part(inline=False)
def count_submitted(system, job, sign):
    """Add a job to the limits of submissions at its submission, or remove it at its end. O(charges of the
    job)."""
    for k in range(system.jobs[job].first_charge, system.jobs[job + 1].first_charge):
        if system.limits[system.charges[k].limit].kind == SUBMITTED:
            system.limits[system.charges[k].limit].used += sign


@part(inline=False)
def charge(system, job, sign, of_licences):
    """Add a job to its limits at its start, or remove it at its end; it has licences until its nodes have
    answered. O(limits of the job)."""
    for k in range(system.jobs[job].first_charge, system.jobs[job + 1].first_charge):
        limit = system.charges[k].limit
        kind = system.limits[limit].kind
        if (kind == AT_ONCE and of_licences < 1) or (kind == LICENCE and of_licences != 0):
            system.limits[limit].used += sign * system.charges[k].amount
        elif AT_ONCE < kind < LICENCE and (sign > 0 or (of_licences == 0 and not system.settings[0].budgets)):
            system.limits[limit].used += sign * system.charges[k].held


@part(inline=False)
def spend(system, job, since, until, is_over):
    """Charge what a job used between two instants to its budgets; at its end, also release the rest of its
    time limit. O(limits of the job)."""
    fate, factor = system.fate[job], system.jobs[job].factor
    first = math.floor(fate.start)
    begin, ends, expected = max(math.floor(since), first), first + system.jobs[job].limit, fate.expected
    ran = max(math.floor(until) - begin, 0)
    left = max(ends - begin, 0)
    gone = left if is_over else min(ran, max(min(expected, ends) - begin, 0))
    used = ran * system.settings[0].decay_per_s ** ran * factor
    gone = int(gone * factor)
    for k in range(system.jobs[job].first_charge, system.jobs[job + 1].first_charge):
        limit, amount = system.charges[k].limit, system.charges[k].amount
        if AT_ONCE < system.limits[limit].kind < LICENCE:
            system.limits[limit].usage += (used if system.limits[limit].decays else ran * factor) * amount
            if system.limits[limit].kind != WALL:
                system.limits[limit].used = max(system.limits[limit].used - gone * amount, 0)


@part(inline=False)
def spend_all(system, since, decay):
    """Decay all budgets, and count the usage of running jobs since then. O(limits + running jobs)."""
    for k in range(len(system.limits)):
        if system.limits[k].decays:
            system.limits[k].usage *= decay
    for k in range(system.state[0].n_running):
        spend(system, system.running[k], since, system.state[0].now, False)


@part(inline=False)
def reset_usage(system):
    """Set all usage to zero if a reset is due (PriorityUsageResetPeriod). O(limits + associations)."""
    state = system.state[0]
    if state.n_resets == len(system.resets) or math.floor(state.now) < system.resets[state.n_resets]:
        return
    while state.n_resets < len(system.resets) and math.floor(state.now) >= system.resets[state.n_resets]:
        state.n_resets += 1
    for k in range(len(system.limits)):
        system.limits[k].usage = 0.0
    for a in range(len(system.fair)):
        system.fair[a].usage = 0.0


@part(inline=False)
def next_spent(system, after):
    """Return the first running job with a number above `after` that has spent one of its budgets, so that it
    is ended; `NONE` for none. O(limits + running jobs x limits of a job)."""
    found = NONE
    for k in range(len(system.limits)):
        limit = system.limits[k]
        if limit.ends and int(limit.usage / MINUTE_S) >= limit.cap:
            found = len(system.fate)
    if found == NONE:
        return NONE
    for at in range(system.state[0].n_running):
        job = system.running[at]
        if not after < job < found:
            continue
        for k in range(system.jobs[job].first_charge, system.jobs[job + 1].first_charge):
            limit = system.limits[system.charges[k].limit]
            if system.charges[k].checked and limit.ends and int(limit.usage / MINUTE_S) >= limit.cap:
                found = job
                break
    return found if found < len(system.fate) else NONE
