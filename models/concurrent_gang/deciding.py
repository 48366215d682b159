"""What a PE runs: the gang scheduler first, then the local task scheduler (section 2.2)."""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, void

from models.concurrent_gang.accounting import idle_as, settle
from models.concurrent_gang.events import set_timer
from models.concurrent_gang.grades import count_computing, priority
from models.concurrent_gang.order import put_last
from models.concurrent_gang.state import (
    AS_OWNER,
    AT_ONCE,
    BEFORE,
    BEGIN,
    COMMUNICATING,
    COMPUTED_FROM,
    DISPATCHED,
    EMPTY,
    FIRST,
    FIRST_BLOCKED,
    HELD,
    IDLE_AS,
    INELIGIBLE,
    JOB,
    LAST,
    LEFT,
    LOADED,
    MEASURING,
    N_CAUSES,
    NEXT,
    NO_LOCAL,
    NONE,
    OWNER,
    PRIORITY,
    QUANTUM_END,
    READY,
    RUNNING,
    RUNS,
    SCHEDULED,
    SLICE,
    SPINS,
    START,
    STATE,
    SWITCHED,
    SWITCHES,
    SYNCHRONIZING,
    SYSTEM,
)
from models.kernels.compiling import part


@part(void(int64, float64, SYSTEM))
def take_off(pe, now, system):
    """Let a PE run nothing; what becomes of its task, and of its timer, is for the caller to say."""
    whole = system.pes.whole
    settle(pe, now, system)
    count_computing(pe, now, system)
    whole[pe, RUNS] = NONE
    whole[pe, SPINS] = 0
    whole[pe, IDLE_AS] = EMPTY


@part(void(int64, float64, SYSTEM))
def preempt(pe, now, system):
    """Take the PE from its task, which stays ready, or goes on waiting where it only did that."""
    task = system.pes.whole[pe, RUNS]
    if not system.pes.whole[pe, SPINS]:
        system.tasks.real[task, LEFT] -= max(now - system.pes.real[pe, BEGIN], 0.0)
        system.tasks.whole[task, STATE] = READY
    take_off(pe, now, system)


@part(void(int64, int64, float64, boolean, SYSTEM))
def dispatch(pe, task, now, told, system):
    """Let a task run on its PE; `told` by the clock signal, or by the controller that stands for it."""
    whole, real, costs = system.pes.whole, system.pes.real, system.costs
    settle(pe, now, system)
    cost = 0.0
    if (
        whole[pe, LOADED] != task and whole[pe, LOADED] != NONE
    ):  # a PE that has run nothing has nothing to save
        cost = costs.switch
        if told:
            cost += costs.central
        system.clocks[SWITCHES] += system.counts[MEASURING]
    begin = now + cost
    if system.tasks.real[task, DISPATCHED] < 0.0:
        job = system.tasks.whole[task, JOB]
        if system.jobs.real[job, START] < 0.0:
            system.jobs.real[job, START] = now
    put_last(task, pe, system)
    real[pe, BEGIN] = real[pe, SWITCHED] = real[pe, COMPUTED_FROM] = begin
    real[pe, QUANTUM_END] = begin + costs.quantum
    whole[pe, RUNS] = whole[pe, LOADED] = task
    whole[pe, AS_OWNER] = not system.settings.coordinated or whole[pe, OWNER] == task
    system.tasks.real[task, DISPATCHED] = now
    system.tasks.whole[task, SCHEDULED] = system.counts[SLICE]
    if system.tasks.whole[task, STATE] == READY:
        system.tasks.whole[task, STATE] = RUNNING
        end = min(begin + system.tasks.real[task, LEFT], real[pe, QUANTUM_END])
    else:
        whole[pe, SPINS] = 1
        end = real[pe, QUANTUM_END]
    set_timer(system.pes.timers, pe, end)


@part(boolean(int64, SYSTEM))
def can_run(task, system):
    """Tell whether a PE may be given to a task that does not run."""
    state = system.tasks.whole[task, STATE]
    if system.settings.spinning and state in (COMMUNICATING, SYNCHRONIZING):
        return True
    return state == READY


@part(int64(int64, int64, boolean, SYSTEM))
def choose(pe, running, by_priority, system):
    """Return whom the local task scheduler takes, or NONE. O(tasks of the PE).

    The one of the highest priority, which has to be above beta; among equals the one that had the PE least
    recently (round robin). `running` is one of the candidates, NONE if there is none.
    """
    best = NONE
    highest = system.costs.beta
    task = system.pes.whole[pe, FIRST]
    while task != NONE:
        if task == running or can_run(task, system):
            if not by_priority:
                return task
            value = priority(task, system)
            if value > highest:
                best = task
                highest = value
        task = system.tasks.whole[task, NEXT]
    return best


@part(void(int64, float64, boolean, SYSTEM))
def decide(pe, now, fresh, system):
    """Let a PE run what it should, `fresh` if the clock signal has just come."""
    whole, tasks, settings = system.pes.whole, system.tasks.whole, system.settings
    running = whole[pe, RUNS]
    owner = whole[pe, OWNER]
    by_priority = settings.local == PRIORITY
    if owner != NONE and (owner == running or tasks[owner, STATE] == READY) and not tasks[owner, HELD]:
        chosen = running
        if running == NONE or fresh or settings.returns == AT_ONCE:
            chosen = owner
    elif running != NONE and not fresh:
        chosen = running
        if settings.preempting and by_priority and running != owner:
            other = choose(pe, NONE, True, system)
            if other != NONE and priority(other, system) > priority(running, system):
                chosen = other
    elif settings.local == NO_LOCAL:
        chosen = NONE
    else:
        chosen = choose(pe, running, by_priority, system)
    if chosen != running:
        if running != NONE:
            preempt(pe, now, system)
        if chosen != NONE:
            dispatch(pe, chosen, now, fresh, system)
        else:
            set_timer(system.pes.timers, pe, np.inf)
    elif chosen != NONE:
        settle(pe, now, system)
        whole[pe, AS_OWNER] = owner == chosen
        tasks[chosen, SCHEDULED] = system.counts[SLICE]
    if chosen == NONE:
        settle(pe, now, system)
        whole[pe, AS_OWNER] = 1
        whole[pe, IDLE_AS] = idle_as(owner, system)


@part(void(int64, float64, boolean, SYSTEM))
def decide_alone(pe, now, quantum_over, system):
    """Without coordination: round robin among the tasks of a PE, for a quantum each. O(tasks of the PE)."""
    whole = system.pes.whole
    running = whole[pe, RUNS]
    if running != NONE and system.tasks.whole[running, STATE] == INELIGIBLE:  # it takes no part from now on
        take_off(pe, now, system)
        set_timer(system.pes.timers, pe, np.inf)
        running = NONE
    if running != NONE and not quantum_over:
        return
    chosen = choose(pe, running, False, system)
    if running != NONE:
        preempt(pe, now, system)
    if chosen != NONE:
        dispatch(pe, chosen, now, False, system)
        return
    settle(pe, now, system)
    task = whole[pe, LAST]  # the PE waits for what the task waits for that it ran last
    while task != NONE:
        state = system.tasks.whole[task, STATE]
        if FIRST_BLOCKED <= state < FIRST_BLOCKED + N_CAUSES:
            break
        task = system.tasks.whole[task, BEFORE]
    whole[pe, IDLE_AS] = idle_as(task, system)
