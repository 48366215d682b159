"""Decides what a PE runs: the gang scheduler first, then the local task scheduler (section 2.2)."""

import numpy as np
from numba import boolean, float64, int64, void

from models.concurrent_gang import codes
from models.concurrent_gang.accounting import idle_as, settle
from models.concurrent_gang.events import set_timer
from models.concurrent_gang.grades import count_computing, priority
from models.concurrent_gang.order import count_turn
from models.concurrent_gang.state import SYSTEM
from models.kernels.compiling import part


@part(void(int64, float64, SYSTEM))
def take_off(pe, now, system):
    """Let a PE run nothing; the caller sets the state of its task, and its timer."""
    pes = system.pes
    settle(pe, now, system)
    count_computing(pe, now, system)
    if now < pes[pe].switched:
        pes[pe].loaded = codes.GONE  # the switch was interrupted and has to be repeated
    pes[pe].runs = codes.NONE
    pes[pe].spins = 0
    pes[pe].idle_as = codes.EMPTY


@part(void(int64, float64, SYSTEM))
def preempt(pe, now, system):
    """Take the PE from its task, which stays ready, or continues to wait if it was only waiting."""
    task = system.pes[pe].runs
    if not system.pes[pe].spins:
        system.tasks[task].left -= max(now - system.pes[pe].begin, 0.0)
        system.tasks[task].state = codes.READY
    take_off(pe, now, system)
    if system.settings.turns == codes.BY_READINESS:
        count_turn(task, pe, system)


@part()
def count_as_scheduled(task, system):
    """Let a running task be measured at the end of the slice, unless only its own slots are measured."""
    if system.settings.measured != codes.OWNED:
        system.tasks[task].scheduled = system.state[0].slice


@part(void(int64, int64, float64, boolean, SYSTEM))
def dispatch(pe, task, now, signalled, system):
    """Let a task run on its PE; `signalled` if the clock signal, or a central controller, causes it."""
    pes, costs = system.pes, system.costs
    settle(pe, now, system)
    cost = 0.0
    # A PE that has run nothing has nothing to save.
    saves = pes[pe].loaded != codes.NONE or system.settings.first_load == codes.COSTS_A_SWITCH
    if pes[pe].loaded != task and saves:
        cost = costs.switch
        if signalled:
            cost += costs.central
        system.state[0].switches += system.state[0].measuring
    begin = now + cost
    if system.tasks[task].dispatched < 0.0:
        job = system.tasks[task].job
        if system.table.jobs[job].start < 0.0:
            system.table.jobs[job].start = now
    if system.settings.turns != codes.BY_LOCAL_SERVICE or pes[pe].owner != task:
        count_turn(task, pe, system)
    pes[pe].begin = pes[pe].switched = pes[pe].computed_from = begin
    counts_from = begin if system.settings.quantum_from == codes.FROM_COMPUTING else now
    pes[pe].quantum_end = counts_from + costs.quantum
    pes[pe].runs = pes[pe].loaded = task
    pes[pe].as_owner = not system.settings.coordinated or pes[pe].owner == task
    system.tasks[task].dispatched = now
    count_as_scheduled(task, system)
    if system.tasks[task].state == codes.READY:
        system.tasks[task].state = codes.RUNNING
        end = min(begin + system.tasks[task].left, pes[pe].quantum_end)
    else:
        pes[pe].spins = 1
        end = pes[pe].quantum_end
    set_timer(system.timers, pe, end)


@part(boolean(int64, SYSTEM))
def can_run(task, system):
    """Return whether a task that does not run may be dispatched."""
    state = system.tasks[task].state
    spins = system.settings.waits == codes.SPIN and not system.settings.coordinated
    if spins and state in (codes.COMMUNICATING, codes.SYNCHRONIZING):
        return True
    return state == codes.READY


@part(int64(int64, int64, boolean, SYSTEM))
def choose(pe, running, by_priority, system):
    """Return the task that the local task scheduler chooses, or NONE. O(tasks of the PE).

    It is the task of the highest priority, which must exceed beta; among equals the one that had the PE least
    recently (round robin). `running` is one of the candidates, NONE if there is none.
    """
    best = codes.NONE
    highest = system.costs.beta
    task = system.pes[pe].first
    while task != codes.NONE:
        if task == running or can_run(task, system):
            if not by_priority:
                return task
            value = priority(task, system)
            if value > highest:
                best = task
                highest = value
        task = system.tasks[task].next
    return best


@part()
def last_waiting(pe, system):
    """Return the waiting task of a PE whose turn was last, or NONE. O(tasks of the PE)."""
    task = system.pes[pe].last
    while task != codes.NONE:
        state = system.tasks[task].state
        if codes.FIRST_BLOCKED <= state < codes.FIRST_BLOCKED + codes.N_CAUSES:
            break
        task = system.tasks[task].before
    return task


@part(void(int64, float64, boolean, SYSTEM))
def decide(pe, now, fresh, system):
    """Let a PE run the right task; `fresh` means that the clock signal has just come."""
    pes, tasks, settings = system.pes, system.tasks, system.settings
    running = pes[pe].runs
    # A local task keeps its PE until the signal while it waits, but not if it no longer takes part.
    if running != codes.NONE and pes[pe].spins:
        if tasks[running].state == codes.INELIGIBLE:
            take_off(pe, now, system)
        elif fresh:
            preempt(pe, now, system)
        running = pes[pe].runs
    owner = pes[pe].owner
    by_priority = settings.local == codes.PRIORITY
    owned = owner != codes.NONE and (owner == running or tasks[owner].state == codes.READY)
    if owned and not tasks[owner].held:
        chosen = running
        if running == codes.NONE or fresh or settings.returns == codes.AT_ONCE:
            chosen = owner
    elif running != codes.NONE and not fresh:
        chosen = running
        if settings.local_preemption and by_priority:
            other = choose(pe, codes.NONE, True, system)
            if other != codes.NONE and priority(other, system) > priority(running, system):
                chosen = other
    elif settings.local == codes.NO_LOCAL:
        chosen = codes.NONE
    else:
        chosen = choose(pe, running, by_priority, system)
    if chosen != running:
        if running != codes.NONE:
            preempt(pe, now, system)
        if chosen != codes.NONE:
            dispatch(pe, chosen, now, fresh, system)
        else:
            set_timer(system.timers, pe, np.inf)
    elif chosen != codes.NONE:
        settle(pe, now, system)
        pes[pe].as_owner = owner == chosen
        count_as_scheduled(chosen, system)
    if chosen == codes.NONE:
        settle(pe, now, system)
        pes[pe].as_owner = 1
        of_owner = system.settings.idle_cause == codes.OF_OWNER
        pes[pe].idle_as = idle_as(owner if of_owner else last_waiting(pe, system), system)


@part(void(int64, float64, boolean, SYSTEM))
def decide_alone(pe, now, quantum_over, system):
    """Without coordination: round robin among the tasks of a PE, for a quantum each. O(tasks of the PE)."""
    pes = system.pes
    running = pes[pe].runs
    # A task that is not eligible no longer takes part.
    if running != codes.NONE and system.tasks[running].state == codes.INELIGIBLE:
        take_off(pe, now, system)
        set_timer(system.timers, pe, np.inf)
        running = codes.NONE
    if running != codes.NONE and not quantum_over:
        return
    if running != codes.NONE and system.settings.turns == codes.BY_READINESS:
        count_turn(running, pe, system)
    chosen = choose(pe, running, False, system)
    if running != codes.NONE:
        preempt(pe, now, system)
    if chosen != codes.NONE:
        dispatch(pe, chosen, now, False, system)
        return
    settle(pe, now, system)
    pes[pe].idle_as = idle_as(last_waiting(pe, system), system)
