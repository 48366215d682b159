"""The event loop of both systems, and the choice of the jobs that run from the beginning of a slice on.

The parts in which the TC2000 and the Alpha cluster differ are chosen by the type of `System.pool` when the
loop is compiled.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import boolean

from models.kernels.compiling import by_type, kernel, part
from models.kernels.lists import remove
from models.kernels.standstill import count_repeated, stands_still
from models.production_gang.slices import steps, tc2000
from models.production_gang.slices.alpha import gangs
from models.production_gang.slices.others import count_others, end_others, place_others, share
from models.production_gang.slices.recording import (
    count_work,
    end_switches,
    has_capacity,
    record_levels,
    record_sums,
)
from models.production_gang.slices.state import FROM_FIRST, NONE, Cluster, Tc2000, pool_of, system_with


def by_pool(of_tc2000: Any, of_alpha: Any) -> Callable:
    """Return one of two parts of the loop, chosen by the pool of its last argument, the system."""

    def choose(*arguments: Any) -> Callable:
        chosen: Callable = (of_tc2000 if pool_of(arguments[-1]) is Tc2000 else of_alpha).py_func
        return chosen

    return by_type(choose)


admit = by_pool(tc2000.admit, gangs.admit)
resize = by_pool(tc2000.resize, gangs.resize)
release = by_pool(tc2000.release, gangs.release)
precedes = by_pool(tc2000.precedes, gangs.precedes)
choose_jobs = by_pool(tc2000.choose_jobs, gangs.choose_jobs)
mark_stopped = by_pool(tc2000.mark_stopped, gangs.mark_stopped)
meets_stopped = by_pool(tc2000.meets_stopped, gangs.meets_stopped)
lost_in_switch = by_pool(tc2000.lost_in_switch, gangs.lost_in_switch)
charge = by_pool(tc2000.charge, gangs.charge)


@part()
def _finish_phase(job, now, system):
    """End a job's phase, and the job after its last one."""
    it = system.jobs[job]
    steps.record_run(job, now, system)
    steps.count_used(job, -1, system)
    it.phase += 1
    if it.phase == system.phases.work.shape[0]:
        it.end = now
        it.due = np.inf
        it.runs = 0
        release(job, system)
        remove(system.lists.active, system.state[0].n_active, job)
        system.state[0].n_active -= 1
        steps.submit_children(job, now, system)
        return
    steps.begin_phase(job, system)
    if system.settings.adapts and it.wants < it.has:
        resize(job, it.wants, system)
    steps.count_used(job, 1, system)
    steps.resume(job, now, system)


@part()
def _count_skipped(system):
    """Count the slices since the last decision, in which the same jobs ran. O(chosen jobs)."""
    state = system.state[0]
    skipped = state.boundary - state.decided - 1
    for i in range(state.n_chosen):
        job = system.lists.chosen[i]
        charge(job, skipped, system)
        system.jobs[job].slices += skipped
        system.jobs[job].last = state.boundary - 1


@part()
def _grow(now, system):
    """Give jobs the processors that their phases ask for. O(active jobs) each."""
    job = steps.next_to_grow(NONE, system) if system.phases.work.shape[0] > 1 else NONE
    while job != NONE:
        if system.jobs[job].runs:
            steps.halt(job, now, system)
        resize(job, steps.request(job, system), system)
        if system.jobs[job].runs:
            steps.count_used(job, 1, system)
            steps.resume(job, now, system)
        job = steps.next_to_grow(job, system)


@part()
def _admit_waiting(system):
    """Admit waiting jobs, as long as the first one gets processors."""
    state, lists = system.state[0], system.lists
    while state.admitted_to < state.n_waiting:
        job = lists.waiting[state.admitted_to]
        steps.begin_phase(job, system)
        if not admit(job, steps.request(job, system), system):
            break
        state.admitted_to += 1
        lists.active[state.n_active] = job
        state.n_active += 1


@part()
def _sort_active(system):
    """Sort the active jobs: O(active jobs + changes of places) from the order of the last slice."""
    active = system.lists.active
    for i in range(1, system.state[0].n_active):
        job = active[i]
        at = i
        while at > 0 and precedes(job, active[at - 1], system):
            active[at] = active[at - 1]
            at -= 1
        active[at] = job


@part()
def _start(job, now, system):
    """Let a chosen job run, after a switch if it gets processors of a job that was stopped."""
    it, state, switch = system.jobs[job], system.state[0], system.settings.switch
    it.runs = 1
    since = now + switch if switch > 0 and meets_stopped(job, system) else now
    steps.count_used(job, 1, system)
    steps.resume(job, since, system)
    if since > now:
        lost = lost_in_switch(job, system)
        state.n_switches = steps.record_on_hosts(
            job, now, since, lost, system.switches, state.n_switches, system
        )
        state.switch_ends = since
        state.switching += lost
        state.switching_uses += steps.uses(job, system)


@part()
def _decide(now, system):
    """Decide which jobs run from the beginning of a slice on. O(active jobs) in a lasting order."""
    state, lists, jobs = system.state[0], system.lists, system.jobs
    _count_skipped(system)
    _grow(now, system)
    _admit_waiting(system)
    _sort_active(system)
    choose_jobs(system)
    state.n_chosen = 0
    for i in range(state.n_active):
        job = lists.active[i]
        it = jobs[job]
        if it.is_chosen:
            lists.chosen[state.n_chosen] = job
            state.n_chosen += 1
        elif it.runs:
            steps.halt(job, now, system)
            mark_stopped(job, system)
            it.due = np.inf
            it.runs = 0
            it.stops += 1
    for i in range(state.n_chosen):
        job = lists.chosen[i]
        if not jobs[job].runs:
            _start(job, now, system)
        jobs[job].charged = jobs[job].has
        charge(job, 1, system)
        jobs[job].slices += 1
        jobs[job].last = state.boundary
    state.decided = state.boundary
    all_run = state.n_chosen == state.n_active and state.n_partial == 0
    state.boundary = NONE if all_run else state.boundary + 1


@part()
def _losses(system):
    """Return the idle CPUs, the idle CPUs in reserve, and whether a job waits. O(active jobs + hosts)."""
    state, hosts = system.state[0], system.hosts
    idle, reserve = 0.0, 0.0
    n_running = 0
    for i in range(state.n_active):
        n_running += system.jobs[system.lists.active[i]].runs
    waits = (
        state.others_from < state.others_to
        or state.admitted_to < state.n_waiting
        or n_running < state.n_active
    )
    for h in range(hosts.gang.shape[0]):
        others = hosts.processes[h] * hosts.speed[h]
        idle += max(hosts.processors[h] - hosts.used[h] - others, 0.0)
        reserve += max(hosts.processors[h] - hosts.gang[h] - others, 0.0)
        waits |= hosts.processes[h] > 0 and hosts.speed[h] == 0
    return idle, reserve, waits


@part()
def _mark(now, system):
    """Record sums up to now. O(active jobs + jobs that are not gang scheduled + groups)."""
    for i in range(system.state[0].n_active):
        job = system.lists.active[i]
        if system.jobs[job].runs:
            count_work(job, now, steps.uses(job, system), system)
    count_others(now, system)
    record_sums(now, system)


@kernel([boolean(system_with(Tc2000)), boolean(system_with(Cluster))])
def run(system):
    """Run all jobs to their ends, or until an array may be full; return whether all have ended.

    O(active jobs + hosts) for each event, and for each slice in which some job finds no place.
    """
    state, lists, hosts = system.state[0], system.lists, system.hosts
    n_hosts = hosts.gang.shape[0]
    while has_capacity(
        system,
        (2 * state.n_active + 2) * n_hosts + 2 * state.n_others + 2,
        (state.n_active + state.n_waiting - state.admitted_to + 2) * n_hosts,
    ):
        now = steps.next_instant(system)
        idle, reserve, waits = _losses(system)
        end_switches(system, now, idle, reserve, waits)
        state.repeated = count_repeated(state.repeated, state.now, now)
        if now == np.inf or stands_still(state.repeated, system.jobs.shape[0]):
            return True
        state.now = now
        state.mark_due = now == state.next_mark
        for h in range(n_hosts):
            if hosts.next_end[h] <= now:
                end_others(h, now, system)
                state.mark_due = True
                if state.admitted_to < state.n_waiting:
                    steps.decide_next(now, system)
        job = steps.first_due(now, system)
        while job != NONE:
            _finish_phase(job, now, system)
            state.mark_due = True
            steps.decide_next(now, system)
            job = steps.first_due(now, system)
        job = steps.next_submission(system)
        while job != NONE and system.submit[job] <= now:
            steps.remove_submission(job, system)
            if state.n_submitted == system.settings.first_measured:
                system.sums.days[FROM_FIRST] = now
            state.n_submitted += 1
            state.mark_due = True
            if system.jobs[job].size < system.settings.gang_from:
                lists.others_waiting[state.others_to] = job
                state.others_to += 1
            else:
                lists.waiting[state.n_waiting] = job
                state.n_waiting += 1
                steps.decide_next(now, system)
            job = steps.next_submission(system)
        place_others(now, system)
        if state.boundary != NONE and state.boundary * system.settings.slice <= now:
            _decide(now, system)
        share(now, system)
        idle, reserve, waits = _losses(system)
        record_levels(system, now, idle, reserve, waits)
        if system.settings.sums and state.mark_due:
            _mark(now, system)
    return False
