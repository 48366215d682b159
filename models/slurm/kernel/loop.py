"""The event loop: submissions, ends, and wake-ups of the controller's threads."""

import math

import numpy as np
from numba import int64, uint64

from models.kernels.compiling import kernel, part
from models.kernels.lists import remove
from models.kernels.standstill import count_repeated, stands_still
from models.slurm.kernel.budgets import count_submitted, is_refused, lacks_licences, next_spent
from models.slurm.kernel.gang import leave, next_slice
from models.slurm.kernel.preempting import requeue, stop
from models.slurm.kernel.priority import add_usage, recalculate
from models.slurm.kernel.queue import (
    HELD,
    QUEUED,
    drop_started,
    exceeded,
    insert,
    limited,
    may_start,
    release,
    sort_again,
)
from models.slurm.kernel.running import (
    ENDED,
    REQUEUED,
    RUNNING,
    answered,
    answered_first,
    end_on_nodes,
    pop_end,
    push_end,
)
from models.slurm.kernel.signatures import CYCLE, PASS, PICK
from models.slurm.kernel.tables import (
    BEGIN,
    BOOTED,
    CHANGED,
    CYCLE_BEGINS,
    CYCLE_ENDS,
    FAR,
    NONE,
    READY,
    REFUSED,
    SCAN,
    system_at,
)

NEAR_S = 0.6
"""Seconds within which a wake-up of the backfill thread is taken to be one that the log shows."""

LIMIT_TEST_S = 30
"""Seconds between two tests of time limits."""

ENDED_ALL, STUCK, PAUSED, NO_PROGRESS = range(4)

BUDGET, OF_PASS = 20_000, 200
"""Number of events in one call of `run`, and the number that a pass or a cycle counts for. Compiled code
cannot be interrupted, so a call returns often enough that Ctrl-C takes effect without delay."""


@part(inline=False)
def submit(system):
    """Submit the next job, unless it is refused; it can start only at a later pass."""
    state, fate = system.state[0], system.fate
    job = state.arrived
    state.arrived += 1
    if is_refused(system, job):
        fate[job].status, fate[job].killed = ENDED, REFUSED
        fate[job].start = fate[job].end = state.now
        return
    count_submitted(system, job, 1)
    system.fate[job].limited = exceeded(system, job, 1) != NONE  # numbers of jobs are tested at once
    if may_start(system, job):
        insert(system, job)
    else:
        system.held[state.n_held] = job
        state.n_held += 1
        system.fate[job].status = 1
    state.waiting_call = 1
    state.last_update = math.floor(state.now)


@part(inline=False)
def finish(system, job):
    """End a job for good when it reaches its end."""
    settings, fate = system.settings[0], system.fate
    fate[job].status = ENDED
    if settings.weight_fair > 0 and settings.used_at_end:
        add_usage(system, job, system.state[0].last_calc, fate[job].end)
    end_on_nodes(system, job)


@part(inline=False)
def end_job(system):
    """Process the first entry of the heap: the end of a job, if still valid, or an answer of its nodes."""
    state, fate, settings = system.state[0], system.fate, system.settings[0]
    key = system.heap[0].key
    entry = pop_end(system)
    job = entry // 2
    if entry % 2 == 1 and fate[job].entry == NONE:
        state.n_completing -= 1
        state.waiting_call = 1
    elif entry % 2 == 1:
        if answered_first(system, job):
            return
        answered(system, job)
        if settings.gang:
            leave(system, job)
        if (fate[job].killed or system.jobs[job].message >= 0) and not settings.defer:
            state.next_immediate = state.now
        elif fate[job].end + system.jobs[job].call > state.now:
            state.n_completing += 1
            push_end(system, fate[job].end + system.jobs[job].call, entry)
        else:
            state.waiting_call = 1
        if fate[job].status == REQUEUED:
            requeue(system, job)
    elif fate[job].status == RUNNING and fate[job].end == key:
        finish(system, job)


@part(inline=False)
def next_to_leave(system):
    """Return when the next job will be cancelled by its user."""
    n = system.state[0].n_left
    return system.jobs[system.leaving[n]].leaves if n < len(system.leaving) else np.inf


@part(inline=False)
def leave_queue(system):
    """Process the next cancellation by a user: a waiting job leaves the queue, without a call of a pass; a
    job that runs here, although it did not in the log, ends. O(queue + held jobs + running jobs)."""
    state, fate = system.state[0], system.fate
    job = system.leaving[state.n_left]
    state.n_left += 1
    if fate[job].status == QUEUED:
        fate[job].status = ENDED
        count_submitted(system, job, -1)
        drop_started(system)
        state.last_update = math.floor(state.now)
    elif fate[job].status == HELD:
        fate[job].status = ENDED
        count_submitted(system, job, -1)
        remove(system.held, state.n_held, job)
        state.n_held -= 1
        state.last_update = math.floor(state.now)
    elif fate[job].status == RUNNING:
        fate[job].end, fate[job].killed = state.now, 3
        finish(system, job)


@part(inline=False)
def test_limits(system):
    """End the jobs that are over their limits, whose nodes are completing in the pass of this wake-up (seen
    on Slurm 22.05.8): O(running jobs)."""
    state, settings, fate = system.state[0], system.settings[0], system.fate
    now = math.floor(state.now)
    k = 0
    while k < state.n_running:
        job = system.running[k]
        if fate[job].expected > now:
            break
        if fate[job].booting or (settings.gang and system.members[job].suspended):
            k += 1
            continue
        if fate[job].warned:
            stop(system, job)  # its time of grace is over; the next one takes its place
            continue
        over = fate[job].expected + system.partitions[fate[job].partition].over <= now
        if over and fate[job].end > state.now:
            fate[job].end, fate[job].killed = state.now, 1
            finish(system, job)
        else:
            k += 1
    job = next_spent(system, NONE) if settings.budgets else NONE
    while job != NONE:
        fate[job].end, fate[job].killed = state.now, 1
        finish(system, job)
        job = next_spent(system, job)


@part()
def next_tick(system):
    """Set the next wake-up of the background thread."""
    state = system.state[0]
    state.n_wake_ups += 1
    if state.n_wake_ups < len(system.wake_ups):
        state.next_tick = system.wake_ups[state.n_wake_ups]
    else:
        state.next_tick += system.settings[0].tick


@part(inline=False)
def do(system, task, save_power, pick):
    """Do a task of power saving."""
    system.state[0].power_task = task
    save_power(system, pick)


@part(inline=False)
def wake_up(system, main_pass, pick, save_power):
    """Do the background thread's work of each second: test limits, and run a timed pass if one is due."""
    state, settings = system.state[0], system.settings[0]
    now = math.floor(state.now)
    if now - state.last_limits >= LIMIT_TEST_S:
        state.last_limits = now
        if state.n_booting:
            do(system, BOOTED, save_power, pick)
        test_limits(system)
    if release(system):
        state.last_update = now
    if now - state.last_full >= settings.sched_interval:
        state.last_full = now
        state.last_sched = now
        state.waiting_call = 0
        main_pass(system, 1, pick)
    elif state.waiting_call and now - state.last_sched >= settings.batch_sched_delay:
        state.last_sched = now
        state.waiting_call = 0
        main_pass(system, 0, pick)
    next_tick(system)


@part(inline=False)
def next_cycle(system, n_jobs):
    """Set the next check of the backfill thread after a cycle that begins now and tests some jobs."""
    state, settings = system.state[0], system.settings[0]
    state.last_cycle = math.floor(state.next_check)
    state.next_check = state.next_check + settings.bf_interval + settings.cycle_time
    state.next_check += min(n_jobs * settings.job_time, settings.bf_max_time)
    while state.n_known < len(system.cycles) and system.cycles[state.n_known] < state.next_check - NEAR_S:
        state.n_known += 1
    if state.n_known < len(system.cycles) and system.cycles[state.n_known] < state.next_check + NEAR_S:
        state.next_check = system.cycles[state.n_known]


@part(inline=False)
def skip_idle(system, until):
    """Skip the wake-ups before an instant while no job waits: they only set the threads' clocks."""
    state, settings = system.state[0], system.settings[0]
    first = FAR
    if state.n_running > 0:
        first = 0 if state.n_booting else system.fate[system.running[0]].expected
    if settings.budgets and next_spent(system, NONE) != NONE:
        first = 0
    before = -np.inf
    while before < state.next_tick < until:  # a timer that stands still is counted as events
        before = state.next_tick
        now = math.floor(state.next_tick)
        if now - state.last_limits >= LIMIT_TEST_S:
            if first <= now:
                break
            state.last_limits = now
        if now - state.last_full >= settings.sched_interval:
            state.last_full, state.last_sched, state.waiting_call = now, now, 0
            state.n_passes += 1
        elif state.waiting_call and now - state.last_sched >= settings.batch_sched_delay:
            state.last_sched, state.waiting_call = now, 0
            state.n_passes += 1
        next_tick(system)
    before = -np.inf
    while before < state.next_check < min(until, state.next_tick) and not state.planned:
        before = state.next_check
        now = math.floor(state.next_check)
        if now - state.last_cycle < settings.bf_interval or state.last_update < state.last_cycle:
            state.next_check += 1.0
        else:
            next_cycle(system, 0)


@part(inline=False)
def is_planned(system):
    """Return whether a cycle can plan some job; a job delayed by limits or licences may have no plan."""
    settings = system.settings[0]
    for k in range(system.state[0].n_queue):
        job = system.records[system.queue[k]].job
        held = not settings.limit_stop and limited(system, job)
        if not held and (settings.plans_licences or not lacks_licences(system, job)):
            return True
    return False


@part(inline=False)
def check_backfill(system, backfill_cycle, pick, save_power):
    """Do the backfill thread's work: a cycle if the last one is old and something has changed."""
    state, settings = system.state[0], system.settings[0]
    now = math.floor(state.now)
    if now - state.last_cycle < settings.bf_interval or state.last_update < state.last_cycle:
        state.next_check = state.now + 1.0
        return
    release(system)  # begin times are tested at each pass
    if settings.saves_power:  # nodes lose the state PLANNED
        do(system, CYCLE_BEGINS, save_power, pick)
    n_jobs = min(state.n_queue, settings.bf_max_job_test)
    if state.n_queue:
        backfill_cycle(system, pick)
        if settings.saves_power:
            do(system, CYCLE_ENDS, save_power, pick)
        if is_planned(system):  # plans change the start times that are shown, or nodes to PLANNED
            state.last_update = now
    next_cycle(system, n_jobs)


@part(inline=False)
def last_event(system):
    """Return the time of the last event, past or certain to come, once no job runs or will be submitted."""
    state, jobs = system.state[0], system.jobs
    found = state.quiet_since
    for k in range(state.n_held):
        found = max(found, jobs[system.held[k]].begin)
    for k in range(len(system.reservations)):
        found = max(found, system.reservations[k].end)
    for k in range(state.n_left, len(system.leaving)):
        found = max(found, jobs[system.leaving[k]].leaves)
    if state.n_stopping:
        found = state.quiet_since = state.now
    for k in range(len(system.limits)):  # a budget that is spent comes back; only whole minutes count
        ends = system.limits[k].decays and system.settings[0].decay_per_s < 1
        if system.limits[k].usage >= 60 and (ends or state.n_resets < len(system.resets)):
            found = state.quiet_since = state.now
    return found


@kernel(int64(uint64, PASS, CYCLE, PICK, CYCLE))
def run(address, main_pass, backfill_cycle, pick, save_power):
    """Run all jobs to their ends; return `ENDED_ALL`, `STUCK` if a job can never start, `NO_PROGRESS` if time
    does not advance, or `PAUSED` if the caller is to check for signals and call again.

    O(wake-ups + passes x tested x nodes).
    """
    system = system_at(address)
    state, settings = system.state[0], system.settings[0]
    n_jobs, events = len(system.fate), 0
    if settings.saves_power and state.n_passes + state.n_cycles == 0:
        do(system, BEGIN, save_power, pick)
    before = state.n_passes + state.n_cycles
    while events + OF_PASS * (state.n_passes + state.n_cycles - before) < BUDGET:
        events += 1
        next_submit = system.jobs[state.arrived].submit if state.arrived < n_jobs else np.inf
        if state.n_running == 0 and state.n_completing == 0:
            state.n_heap = 0  # ends of jobs that were killed before them
        next_end = system.heap[0].key if state.n_heap > 0 else np.inf
        next_leave = next_to_leave(system)
        next_ping = system.pings[state.n_pings] if state.n_pings < len(system.pings) else np.inf
        if next_submit == np.inf and next_end == np.inf and state.n_running == 0:
            if state.n_queue == 0 and state.n_held == 0:
                return ENDED_ALL
            patience = 2 * settings.sched_interval + 2 * settings.bf_interval + settings.bf_min_age_reserve
            # By then each thread has woken up twice, with a minute to spare: jobs that still wait will wait
            # for ever.
            if state.now > last_event(system) + patience + 60:
                return STUCK
        if state.n_queue == 0 and state.n_held == 0:
            until = min(min(next_submit, next_end), min(state.next_calc, state.next_immediate))
            until = min(min(until, next_ping), min(state.next_power, state.next_boot))
            skip_idle(system, min(until, min(state.next_slice, next_leave)))
        now = min(
            min(min(next_submit, next_end), min(state.next_slice, next_leave)),
            min(min(state.next_tick, state.next_check), min(state.next_calc, state.next_immediate)),
        )
        now = min(min(now, next_ping), min(state.next_power, state.next_boot))
        state.repeated = count_repeated(state.repeated, state.now, now)
        if stands_still(state.repeated, n_jobs):
            return NO_PROGRESS
        state.now = now
        if next_end == now or next_submit == now:
            state.quiet_since = now
        if state.next_boot == now:
            do(system, READY, save_power, pick)
        elif next_end == now:
            job = system.heap[0].job // 2
            end_job(system)
            # Limits are tested after a check of idle nodes at the same instant.
            if not (system.fate[job].killed == 1 and system.fate[job].end == now):
                state.node_changed *= 2  # BY_END
        elif next_submit == now:
            submit(system)
        elif next_leave == now:
            leave_queue(system)
        elif next_ping == now:
            state.n_pings += 1
            state.last_update = math.floor(now)
            state.node_changed = settings.saves_power
        elif state.next_slice == now:
            next_slice(system)
        elif state.next_power == now:
            do(system, SCAN, save_power, pick)
        elif state.next_immediate == now:
            state.next_immediate = np.inf
            release(system)
            main_pass(system, 0, pick)
        elif state.next_calc == now:
            recalculate(system)
            sort_again(system)
            state.next_calc += settings.calc_period
        elif state.next_tick == now:
            wake_up(system, main_pass, pick, save_power)
        else:
            check_backfill(system, backfill_cycle, pick, save_power)
        if state.node_changed:
            do(system, CHANGED, save_power, pick)
    return PAUSED
