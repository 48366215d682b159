"""A cycle of backfilling: every tested job starts now or gets a plan, in order of priority.

A cycle plans from the jobs that run now, and forgets the plans of the previous cycle. If no job can start
now, its plans have no effect, because no later cycle reads them; so a cycle ends at the last job that could
still start now, because it fits into the free resources of nodes that no plan has claimed so far. Plans only
take nodes away, so this changes no start (unless plans are recorded).
"""

import math

import numpy as np

from models.kernels.bits import ONE, ZERO, lowest_position, population
from models.kernels.compiling import part, passable
from models.slurm.kernel.budgets import lacks_licences
from models.slurm.kernel.components import (
    note_start,
    reach,
    start_jointly,
    would_deadlock,
)
from models.slurm.kernel.earliest import earliest, is_blocked, pick_counted, weigh_completing
from models.slurm.kernel.gang import enter
from models.slurm.kernel.offering import offered_by
from models.slurm.kernel.plan import (
    FAR,
    after_reservations,
    begin_plan,
    conflicts,
    first_bound,
    is_certain,
    keep_out,
    licences_return,
    move_window,
    note_bound,
    open_window,
    pass_by,
    picked_set,
    place_of_limit,
    reserve,
    restrict,
    rules_out,
)
from models.slurm.kernel.preempting import level_of, may_preempt_any, preempt
from models.slurm.kernel.queue import (
    QUEUED,
    drop_started,
    exceeded,
    is_low,
    limited,
    rank_jointly,
    throttled,
)
from models.slurm.kernel.rows import order_by_key
from models.slurm.kernel.running import start_job
from models.slurm.kernel.signatures import CYCLE_SIGNATURE
from models.slurm.kernel.tables import (
    ANY,
    COMPLETING,
    FEWEST,
    FREE,
    MASK,
    N_BOUNDED,
    NARROWED,
    NONE,
    NOW,
    OFF,
    ORIGINAL,
    PICKED,
    WHO_ASKS,
)
from models.slurm.kernel.upcoming import (
    copy_running,
    count_able,
    forget,
    nodes_for,
)

UNKNOWN_S = 500
"""Seconds until a job is planned that a limit keeps waiting (with assoc_limit_stop)."""

TABLE_FULL = 3


@part(inline=False)
def could_start(system, record, now):
    """Return whether nodes that no plan claims before its end suffice for a job now; it may still not fit."""
    records, jobs = system.records, system.jobs
    job, partition, words = records[record].job, records[record].partition, records[record].words
    if system.fate[job].status != QUEUED or throttled(system, job) or lacks_licences(system, job):
        return False
    if limited(system, job):
        return system.settings[0].limit_stop > 0
    if system.settings[0].preempts and may_preempt_any(system, record):
        return True
    if jobs[job].component != NONE and system.settings[0].bounded and system.state[0].n_running:
        # Jobs over their limits count as gone: the start of a component that they leave no node then fails.
        overdue = system.fate[system.running[0]].expected < now + system.settings[0].ended_at
        if overdue:
            return True
    whole = jobs[job].whole or system.partitions[partition].whole
    system.state[0].shared = ANY
    until = now + jobs[job].limit
    needed = jobs[job].tasks * jobs[job].task_cpus
    n, cpus = 0, 0
    for w in range(system.sets.shape[1]):
        n += population(system.sets[FREE, w] & system.partition_words[words, w])
    if n < jobs[job].least_nodes:
        return False
    n = 0  # enough nodes have a free CPU: now count the nodes that offer the job enough
    for w in range(system.sets.shape[1]):
        word = system.sets[FREE, w] & system.partition_words[words, w]
        while word:
            node = w * 64 + lowest_position(word)
            word &= word - ONE
            if system.reserved_from[node] <= until:
                continue
            offer = offered_by(system, job, whole, node, system.free, system.free_gres)
            if offer > 0:
                n += 1
                cpus += offer
                if n >= jobs[job].min_nodes and cpus >= needed:
                    return True
    return False


@part(inline=False)
def last_candidate(system, k, now):
    """Return the last place of the queue, from k downwards, whose job could start now, or -1."""
    while k >= 0 and not could_start(system, system.queue[k], now):
        k -= 1
    return k


@part(inline=False)
def completing(system):
    """Return whether a picked node has not confirmed the end of a job: a plan then begins in a second."""
    for k in range(system.state[0].n_chosen):
        node = system.choices[k].node
        if system.offers[node].completing > 0:
            return True
    return False


@part(inline=False)
def block(system, job, until):
    """Plan a job that a limit delays from `until` on, and with it all jobs of the QOS whose limit it is."""
    limits = system.limits
    system.fate[job].limited = 1
    limit = exceeded(system, job, 0) if exceeded(system, job, 1) == NONE else NONE
    if limit != NONE and limits[limit].of_qos:
        for other in range(len(limits)):
            if limits[other].of_qos == limits[limit].of_qos:
                limits[other].blocked = max(limits[other].blocked, until)


@part()
def slots(settings, start, limit):
    """Return the beginning of a plan's first slot and the end of its last one."""
    slot = settings.bf_resolution
    end = start + limit
    if settings.rounds_up:
        end += slot - 1
    return start // slot * slot, end // slot * slot


@part(inline=False)
def plan_job(system, record, now, since, only_now, pick):
    """Start one job, or plan it from an instant on; return 1 if it started, 2 if its plan was added,
    `TABLE_FULL` if there is no room for it, with which the cycle ends, else 0.

    O(segments x words) for all windows together, and what `earliest` takes at each change of the plan.
    """
    state, settings = system.state[0], system.settings[0]
    records, jobs, fate, partitions = system.records, system.jobs, system.fate, system.partitions
    job, partition, words = records[record].job, records[record].partition, records[record].words
    whole = jobs[job].whole or partitions[partition].whole
    limit = jobs[job].limit
    n_words = system.sets.shape[1]
    later, counted, listed, is_first = now, False, NONE, True
    is_component = jobs[job].component != NONE
    bounded_by_cpus = not (settings.in_rows or settings.linear or settings.preempts)
    at, needed = place_of_limit(partition, limit), jobs[job].tasks * jobs[job].task_cpus * bounded_by_cpus
    has_bounds = partition < N_BOUNDED and is_certain(system)
    has_bounds = has_bounds and not (settings.plans_licences or is_component)
    open_window(system)
    for k in range(jobs[job].first_charge, jobs[job + 1].first_charge):
        later = max(later, system.limits[system.charges[k].limit].blocked)
    while True:
        start, released, missing = max(later, since), 0, 0
        if has_bounds and not only_now:
            # A job that was not tested yet counts as soon as enough nodes are available, with CPUs or not.
            least, cpus = jobs[job].min_nodes, 0
            if counted:
                least, cpus = jobs[job].least_nodes, needed if start > now else 0
            start = pass_by(system, partition, at, start, limit, least, cpus)
        if is_first or len(system.reservations):
            is_first = False
            for w in range(n_words):
                system.sets[ORIGINAL, w] = system.partition_words[partition, w]
                system.sets[MASK, w] = system.sets[ORIGINAL, w]
            released = after_reservations(system, keep_out(system, start, max(start, now) + limit), start)
        later = move_window(system, partition, start, max(start, now) + limit)
        if settings.plans_licences:
            missing = licences_return(system, job, start, max(start, now) + limit)
            later = missing if missing else later
        if released and (later == 0 or released < later):
            later = released
        # A start past the next change of the plan is tried again from there: none is searched for, except
        # for components, whose earliest start counts.
        until = later if later and (settings.bounded or not is_component) else FAR
        # Slurm opens a window on the nodes of the partition, and counts the job as tested where enough are
        # available; only then it leaves out nodes without the features that the job asks for.
        found, most_cpus, n_nodes = -1, FAR, restrict(system)
        if n_nodes >= jobs[job].min_nodes and not missing:
            if not counted:
                counted = True
                state.n_tested += 1
            fate[job].tested = 1
            if bounded_by_cpus and start > now and listed == NONE:
                copy_running(system)
                listed = nodes_for(system, job, whole)
            n_able = n_nodes
            if n_nodes >= jobs[job].least_nodes and listed != NONE:
                n_able = count_able(system, record, listed, until)
                if listed == 1:
                    most_cpus = n_able * settings.most_cpus
            if has_bounds and start == now and state.first_time < state.n_times:
                bound = first_bound(system, system.timeline[state.first_time]) + at
                if rules_out(system, bound, now + limit, until, needed):
                    n_able = 0
            if n_able >= jobs[job].least_nodes:
                for w in range(n_words if words != partition else 0):
                    system.sets[MASK, w] &= system.partition_words[words, w]
                if settings.shares_cores and partitions[partition].shares == WHO_ASKS and jobs[job].asks:
                    # It is first tested as a job that does not ask for it, unless it asks for features
                    # (`_try_sched`).
                    state.dedicated = words == partition
                    test_only = only_now or not settings.bounded
                    if state.dedicated:
                        found = earliest(system, record, whole, now, start, test_only, until, pick)
                        weigh_completing(system, 0)
                    state.dedicated = 0
                if found != now:
                    found = earliest(system, record, whole, now, start, only_now, until, pick)
                    weigh_completing(system, 0)
                most_cpus = state.cpus_by_then
        if found < 0:
            if has_bounds and bounded_by_cpus and words == partition and most_cpus < FAR:
                note_bound(system, at, start + limit, until, most_cpus)
            if later and not only_now:
                continue
            return 0
        found = max(found, start)
        begin, end = slots(settings, found, limit)
        if settings.bounded and found > now:  # comes before anything else
            picked_set(system)
            if conflicts(system, job, begin, end):
                later = found
                continue
        if found <= now and completing(system):
            found, later = now + 1, 0
        if is_component:
            note_start(system, record, found)
        elif found <= now and settings.limit_stop and limited(system, job):
            found = later if later > 0 else now + UNKNOWN_S
            block(system, job, found)
        begin, end = slots(settings, found, limit)
        if found <= now and is_component:
            picked_set(system)
        elif found <= now:
            picked_set(system)
            for w in range(n_words):
                system.sets[ORIGINAL, w] = system.sets[PICKED, w]
                system.sets[NARROWED, w] = system.sets[MASK, w] & system.sets[FREE, w]
                system.sets[NARROWED, w] &= ~system.sets[COMPLETING, w]
            state.most_shared = FEWEST
            fits = pick(system, record, whole, NARROWED, NOW) > 0
            fits = fits and not lacks_licences(system, job)  # jobs whose nodes have not answered have some
            if not fits:  # suspended jobs free their CPUs at once, others once their nodes have answered
                for w in range(n_words):
                    system.sets[MASK, w] &= ~system.sets[COMPLETING, w]
                # With `bounded`, jobs beyond their limits were taken out, so there is nothing to preempt.
                fits = settings.preempts and preempt(system, record, whole, pick) and settings.suspends
            if fits:
                picked_set(system)
                start_job(system, job, partition, 1)
                if settings.gang:
                    enter(system, job)
                else:
                    reserve_running(system, job)
                return 1
            for w in range(n_words):
                system.sets[PICKED, w] = system.sets[ORIGINAL, w]
        elif only_now:
            return 0
        elif later and found > later:
            continue
        elif found > now + settings.bf_window:
            fate[job].planned = state.n_cycles
            return 0
        else:
            if state.n_unpicked:
                if is_blocked(system, record, whole, state.n_unpicked, found, min(end - 1, found + limit)):
                    later = found
                    continue
                pick_counted(system, record, whole, state.n_unpicked, pick)
            picked_set(system)
            # The window reached from `start`, and the job would run from `found` on, when other nodes may be
            # unavailable: it is tried again from there.
            if conflicts(system, job, begin, end):
                later = found
                continue
        if is_component and would_deadlock(system, job, partition, found):
            return 0
        is_full = state.n_segments >= settings.bf_node_space_size
        # A plan splits at most two segments.
        if not is_full and state.n_segments + 2 > len(system.segments):
            return 0
        if math.isnan(fate[job].reserved):
            fate[job].reserved = found
        if settings.record_plans and state.n_plans < len(system.log):
            at = state.n_plans
            system.log[at].cycle, system.log[at].job, system.log[at].start = state.now, job, found
            state.n_plans += 1
        if settings.one_plan and fate[job].planned == state.n_cycles:
            return 0
        fate[job].planned = state.n_cycles
        if is_full:
            return TABLE_FULL
        reserve(system, job, begin, end)
        return 2


@part(inline=False)
def reserve_running(system, job):
    """Keep the nodes in row `PICKED`, if they are the whole nodes of a running job that is not preempted, and
    its licences until its expected end. O(segments x words)."""
    settings, fate = system.settings[0], system.fate
    partition = fate[job].partition
    alone = (system.jobs[job].whole or system.partitions[partition].whole) and not settings.linear
    if settings.preempts and system.levels[level_of(system, job, partition)].mode != OFF:
        alone = False  # only select/cons_tres records that a job has whole nodes
    licensed = False
    for k in range(system.jobs[job].first_charge, system.jobs[job + 1].first_charge):
        licensed = licensed or system.charges[k].limit >= settings.first_licence
    if not alone and not (settings.plans_licences and licensed):
        return
    if not alone:
        for w in range(system.sets.shape[1]):
            system.sets[PICKED, w] = ZERO
    reserve(system, job, 0, slots(settings, 0, fate[job].expected)[1])


@part(inline=False)
def plan_running(system):
    """Begin a plan with the running jobs, in order of submission (`bf_running_job_reserve`).
    O(running jobs x (running jobs + segments x words + nodes of a job))."""
    state, entries = system.state[0], system.entries
    for k in range(state.n_running):
        system.candidates[k].job = system.candidates[k].key = system.running[k]
    order_by_key(system, state.n_running)
    for k in range(state.n_running):
        if state.n_segments >= system.settings[0].bf_node_space_size:
            return
        for w in range(system.sets.shape[1]):
            system.sets[PICKED, w] = ZERO
        entry = system.fate[system.candidates[k].job].entry
        while entry != NONE:
            node = entries[entry].node
            system.sets[PICKED, node // 64] |= ONE << np.uint64(node % 64)
            entry = entries[entry].next
        reserve_running(system, system.candidates[k].job)


@passable(CYCLE_SIGNATURE)
def backfill_cycle(system, pick):
    """Test the jobs of the queue in order, until none that is left could start now."""
    state, settings = system.state[0], system.settings[0]
    partitions, records, jobs, fate = system.partitions, system.records, system.jobs, system.fate
    now = math.floor(state.now)
    state.n_cycles += 1
    state.n_tested = 0
    begin_plan(system, now)
    if settings.plans_running:
        plan_running(system)
    forget(system)
    state.n_reached = state.n_joint = 0
    if settings.hetjob_prio and len(system.components):
        rank_jointly(system)
    for k in range(len(system.limits)):
        system.limits[k].blocked = 0
    last = last_candidate(system, state.n_queue - 1, now)
    if last < 0 and not settings.record_plans:
        return 0
    n_partitions, most_starts = len(partitions), settings.bf_max_job_start or FAR
    for p in range(n_partitions):
        partitions[p].count = 0
    if settings.bf_max_job_user:
        for user in range(len(system.of_user)):
            system.of_user[user] = 0
    n_started, n_attempts, rejected = 0, 0, -1
    for k in range(state.n_queue):
        if k > last and not settings.record_plans:
            break
        if state.n_tested >= settings.bf_max_job_test:
            break
        if math.floor(state.now + state.n_tested * settings.job_time) - now >= settings.bf_max_time:
            break
        record = system.queue[k]
        job, partition = records[record].job, records[record].partition
        if fate[job].status != QUEUED:
            continue
        since = reach(system, record) if jobs[job].component != NONE else now
        if since > now + settings.bf_window:
            continue
        if jobs[job].array >= 0:  # once a job of an array did not fit, the next ones are not tested
            if rejected == jobs[job].array * n_partitions + partition:
                continue
            rejected = jobs[job].array * n_partitions + partition
            if throttled(system, job):
                continue
        if limited(system, job) and not settings.limit_stop:
            continue
        if settings.preempts and fate[job].calling == state.n_passes + state.n_cycles:
            continue
        if settings.bf_max_job_part:
            partitions[partition].count += 1
            if partitions[partition].count > settings.bf_max_job_part:
                continue
        if settings.bf_max_job_user:
            system.of_user[jobs[job].user] += 1
            if system.of_user[jobs[job].user] > settings.bf_max_job_user:
                continue
        waited = now - math.floor(max(jobs[job].submit, jobs[job].begin))
        only_now = settings.bf_min_age_reserve > 0 and waited < settings.bf_min_age_reserve
        only_now = only_now or is_low(system, record)
        only_now = only_now or (settings.one_plan and fate[job].planned == state.n_cycles)
        if not settings.plans_licences and lacks_licences(system, job):
            continue
        done = plan_job(system, record, now, since, only_now, pick)
        if jobs[job].component != NONE and settings.hetjob_immediate and n_started < most_starts:
            jointly = start_jointly(system, system.components[jobs[job].component].leader, now, pick)
            n_started += max(jointly, 0)
            n_attempts += jointly != 0
            if jointly != 0:
                forget(system)
        if done == TABLE_FULL:
            break
        if done > 0:
            rejected = -1
        if done == 1 or settings.preempts:
            forget(system)
        if done == 1:
            n_started += 1
            if settings.bf_max_job_start and n_started >= settings.bf_max_job_start:
                break
        if done > 0 and not settings.record_plans:  # less is free or unclaimed than before
            last = last_candidate(system, last, now)
    for k in range(0 if settings.hetjob_immediate else state.n_reached):
        if n_started < most_starts:
            jointly = start_jointly(system, system.components[system.reached[k]].leader, now, pick)
            n_started += max(jointly, 0)
            n_attempts += jointly != 0
    if n_started or n_attempts:
        drop_started(system)
    return n_started
