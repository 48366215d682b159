"""The event loop of the T3D's schedulers: "event driven […] with the ability to react instantly" (Jette
1997).

At each instant all events happen, then jobs are admitted and placed in one pass, see `placing` and
`admission`. An event costs O(log events); a pass O(waiting jobs), plus the cost of `placing.best_place` for
each job that may find a place.
"""

import numpy as np
from numba import boolean, int64, void

from models.jobs.calendar import DAY
from models.kernels.compiling import kernel, part
from models.kernels.standstill import count_repeated, stands_still
from models.production_gang.t3d.admission import admit
from models.production_gang.t3d.clock import enter_period, tick
from models.production_gang.t3d.events import remove_first
from models.production_gang.t3d.moving import assign, begin_run, end_run, finish_swap_out, submit
from models.production_gang.t3d.operating import carry_out
from models.production_gang.t3d.placing import (
    best_place,
    has_free_place,
    has_victims,
    is_within_class_limit,
    summarise_owners,
)  # fmt: skip
from models.production_gang.t3d.ranking import is_urgent, sort_waiting
from models.production_gang.t3d.state import NONE, SYSTEM, Idle, JobState, Kind

# Reasons for which `advance` returns.
ALL_ENDED, STUCK, FULL, STANDSTILL = range(4)

EVENTS_A_NODE, EVENTS_A_JOB, EVENTS_A_COMMAND = 8, 4, 4
"""Bound on the events that one instant can add, for each node, job and command."""

LONGEST_IDLE = 8 * DAY
"""Queues open within a week: a job that waits longer without any event waits for ever."""


@part(boolean(SYSTEM))
def place_waiting(system):
    """Assign nodes to waiting jobs, in order; return whether a job was preempted.

    After a preemption the classes have fewer processors than before, and a job that a limit kept waiting may
    fit: another pass is due.
    """
    waiting, settings, state = system.waiting, system.settings, system.state[0]
    preempting = False
    if state.n_waiting == 0:
        return preempting
    sort_waiting(system)
    summarise_owners(system)
    n = state.n_waiting  # jobs that are preempted in this pass come after these
    too_large = settings.n_nodes  # no place of this or a larger size is free
    too_large <<= 1
    i = 0
    blocked = False
    while i < n and not blocked:
        job = waiting[i]
        i += 1
        if system.jobs[job].state == JobState.LEAVING or not is_within_class_limit(job, system):
            continue
        level = system.jobs[job].level
        place = NONE
        if (1 << level) < too_large:
            place = best_place(job, False, system)
            if place == NONE and not has_free_place(level, system):
                too_large = 1 << level
        if place == NONE and settings.preemptive and has_victims(job, system):
            place = best_place(job, True, system)
            if place != NONE:
                too_large = settings.n_nodes << 1
                preempting = True
        if place == NONE:
            blocked = settings.blocking == 2 or (settings.blocking == 1 and is_urgent(job, system))
            continue
        assign(job, place, state.wire, state.ready, system)
        summarise_owners(system)
        waiting[i - 1] = NONE
    kept = 0
    for i in range(state.n_waiting):
        if waiting[i] != NONE:
            waiting[kept] = waiting[i]
            kept += 1
    state.n_waiting = kept
    return preempting


@part(void(SYSTEM))
def record_level(system):
    """Record how the processors are used from now on."""
    levels, state = system.levels, system.state[0]
    reason = Idle.NO_WORK
    if state.n_waiting > 0:
        reason = Idle.PACKING
    elif state.n_queued > 0:
        reason = Idle.LIMITS
    if state.n_levels == 0 or levels[state.n_levels - 1].time != state.now:
        state.n_levels += 1
    level = levels[state.n_levels - 1]
    level.time, level.running, level.reason = state.now, state.running, reason
    level.switching = state.switching + state.n_leaving_nodes * system.settings.node_processors


@part(void(SYSTEM))
def process_event(system):
    """Process the first event of the heap."""
    event = system.events[0]
    kind, job, stops = event.kind, event.job, event.stops
    remove_first(system)
    if kind == Kind.ANSWERED:
        submit(job, system)
    elif kind == Kind.COMMAND:
        carry_out(job, system)
    elif stops == system.jobs[job].stops:
        if kind == Kind.END_OF_RUN:
            end_run(job, system)
        elif kind == Kind.IMAGE_HAS_LEFT:
            finish_swap_out(job, system)
        elif kind == Kind.RUN_BEGINS:
            begin_run(job, system)


@kernel(int64(SYSTEM))
def advance(system):
    """Simulate until all jobs have ended, or the caller has to act, and return the reason."""
    jobs, settings, state = system.jobs, system.settings, system.state[0]
    events, n_jobs = system.events, settings.n_jobs
    needed = EVENTS_A_NODE * settings.n_nodes + EVENTS_A_JOB * n_jobs
    needed += EVENTS_A_COMMAND * system.commands.shape[0]
    while state.n_ended < n_jobs:
        if (
            state.n_events + needed > events.shape[0]
            or state.n_residencies + 2 * settings.n_nodes > system.residencies.shape[0]
            or state.n_levels + 2 > system.levels.shape[0]
        ):
            return FULL
        now = np.inf
        while state.next_job < n_jobs and jobs[state.next_job].is_child:
            state.next_job += 1
        if state.next_job < n_jobs:
            now = jobs[state.next_job].submit
        if state.n_events > 0:
            now = min(now, events[0].time)
        if now < np.inf:
            state.last_event = now
        now = min(now, min(state.next_boundary, state.next_tick))
        if state.again:
            now = state.now
        if now > state.last_event + LONGEST_IDLE:
            return STUCK
        state.repeated = count_repeated(state.repeated, state.now, now)
        if stands_still(state.repeated, n_jobs):
            return STANDSTILL
        state.now = now
        while state.n_events > 0 and events[0].time == now:
            process_event(system)
        while state.next_job < n_jobs and (
            jobs[state.next_job].is_child or jobs[state.next_job].submit == now
        ):
            if not jobs[state.next_job].is_child:
                submit(state.next_job, system)
            state.next_job += 1
        while state.next_boundary == now:  # prime time may end at midnight
            enter_period(system)
        if state.next_tick == now:
            tick(system)
        admit(system)
        state.again = place_waiting(system)
        record_level(system)
    return ALL_ENDED
