"""How tasks go through their statements: stretches of computation, blocking statements, phases."""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, void

from models.concurrent_gang.accounting import settle
from models.concurrent_gang.events import mark, wake_at
from models.concurrent_gang.messages import forget_messages, goes_on_by, send, take_message
from models.concurrent_gang.state import (
    AT_BARRIER,
    AT_BOUNDARY,
    AT_PHASE_END,
    AT_STEP,
    AWAITED,
    BLOCKED,
    COMMUNICATING,
    COMMUNICATION,
    COMMUNICATIONS,
    COMPUTED,
    DRAWN,
    DRAWN_MEAN,
    DRAWN_STEP,
    ENDED,
    EXPONENTIAL,
    FIRST_BLOCKED,
    FIRST_STEP,
    FIRST_TASK,
    IN_IO,
    INDEX,
    INELIGIBLE,
    IO,
    JOB,
    JOB_KEY,
    JOB_RUNTIME,
    LEFT,
    N_BLOCKED,
    N_CAUSES,
    N_LOCAL,
    N_STEPS,
    N_TASKS,
    NONE,
    PARTNERS,
    PE,
    PHASE,
    RANDOM_SPACING,
    READY,
    REST,
    SLICE,
    STATE,
    STEP,
    STEPS,
    SYNCHRONIZING,
    SYSTEM,
    TAKING_PART,
    TIMED,
    TO_WAKE,
    TOTAL,
    WAITED_FIRST,
    WAITED_LAST,
)
from models.kernels.compiling import part
from models.workloads.statements import draws

# What becomes of a task that has come to the end of a stretch, or has woken.
GOES_ON, BLOCKS, ENDS = range(3)


@part(int64(int64, int64, SYSTEM))
def taking_part(job, phase, system):
    """Return how many tasks of a job take part in a phase: the first ones."""
    n_phases = system.program.phases.shape[0]
    n_tasks = system.jobs.whole[job, N_TASKS]
    if phase >= n_phases:
        return n_tasks
    return np.int64(np.ceil(system.program.shares[n_phases + phase] * n_tasks))


@part(void(int64, int64, float64, SYSTEM))
def block(task, state, now, system):
    """Let a task wait."""
    system.tasks.whole[task, STATE] = state
    system.tasks.real[task, BLOCKED] = now
    if state < FIRST_BLOCKED + N_CAUSES:
        system.counts[N_BLOCKED + state - FIRST_BLOCKED] += 1


@part()
def time_slice(task, system):
    """Let the seconds of a task belong to the present slice."""
    whole, real = system.tasks.whole, system.tasks.real
    if whole[task, TIMED] != system.counts[SLICE]:
        whole[task, TIMED] = system.counts[SLICE]
        for field in range(COMPUTED, WAITED_LAST + 1):
            real[task, field] = 0.0


@part(void(int64, float64, SYSTEM))
def unblock(task, now, system):
    """A task waits no longer: its waiting belongs to the present slice as far as it was in it."""
    whole, real = system.tasks.whole, system.tasks.real
    state = whole[task, STATE]
    if state < FIRST_BLOCKED + N_CAUSES:
        system.counts[N_BLOCKED + state - FIRST_BLOCKED] -= 1
        if system.settings.graded:
            time_slice(task, system)
            begin = max(real[task, BLOCKED], system.counts[SLICE] * system.costs.slice)
            if now > begin:
                real[task, WAITED_FIRST + state - FIRST_BLOCKED] += now - begin
    whole[task, STATE] = READY


@part(void(int64, SYSTEM))
def begin_phase(task, system):
    """Count the steps of the phase that a task begins, and what is left after them. O(steps of a cycle)."""
    whole, real = system.tasks.whole, system.tasks.real
    program, statement = system.program, system.costs.statement
    phase = whole[task, PHASE]
    work = program.shares[phase] * system.jobs.real[whole[task, JOB], JOB_RUNTIME]
    steps = 0
    m = program.phases[phase, N_STEPS]
    if m > 0:
        cycle = program.phases[phase, N_LOCAL] * statement
        full = np.floor(work / cycle)
        steps = np.int64(full) * m
        work -= full * cycle
        first = program.phases[phase, FIRST_STEP]
        for step in range(m):
            length = program.locals[first + step] * statement
            if length > work:
                break
            work -= length
            steps += 1
    whole[task, STEP] = 0
    whole[task, STEPS] = steps
    whole[task, AT_STEP] = program.phases[phase, FIRST_STEP]
    real[task, REST] = work


@part(int64(int64, float64, SYSTEM))
def meet(task, now, system):
    """Let a task come to the boundary of a phase in which not all take part, and say what becomes of it.

    It waits for all others of its job. The last one opens the boundary; those that take part in the next
    phase begin it, and the others wait for its end.
    """
    whole, jobs = system.tasks.whole, system.jobs.whole
    job = whole[task, JOB]
    jobs[job, AT_PHASE_END] += 1
    if jobs[job, AT_PHASE_END] < jobs[job, N_TASKS]:
        block(task, SYNCHRONIZING, now, system)
        whole[task, AT_BOUNDARY] = 1
        return BLOCKS
    phase = whole[task, PHASE] + 1
    eligible = jobs[job, TAKING_PART] = taking_part(job, phase, system)
    jobs[job, AT_PHASE_END] = jobs[job, N_TASKS] - eligible
    for other in range(jobs[job, FIRST_TASK], jobs[job, FIRST_TASK] + jobs[job, N_TASKS]):
        whole[other, PHASE] = phase
        whole[other, COMMUNICATIONS] = 0
        forget_messages(other, system)
        if whole[other, INDEX] < eligible:
            if other != task:
                wake_at(other, now, system)
        else:
            if other != task and whole[other, STATE] != INELIGIBLE:
                settle(whole[other, PE], now, system)  # it may have been waiting on its PE
                unblock(other, now, system)
                mark(whole[other, PE], system)
            whole[other, AT_BOUNDARY] = 1
            block(other, INELIGIBLE, now, system)
    return GOES_ON if whole[task, INDEX] < eligible else BLOCKS


@part(int64(int64, int64, int64, SYSTEM))
def statements(job, step, mean, system):
    """Return a random number of local statements; the first task of a job at a step draws it for all."""
    jobs = system.jobs.whole
    if jobs[job, DRAWN_STEP] != step or jobs[job, DRAWN_MEAN] != mean:
        jobs[job, DRAWN_STEP] = step
        jobs[job, DRAWN_MEAN] = mean
        jobs[job, DRAWN] = draws.statements(jobs[job, JOB_KEY], step, float(mean))
    return jobs[job, DRAWN]


@part(int64(int64, float64, SYSTEM))
def next_stretch(task, now, system):
    """Let a task begin its next stretch, in this phase or a later one, and say what becomes of it."""
    whole, real, program = system.tasks.whole, system.tasks.real, system.program
    job = whole[task, JOB]
    n_phases = program.phases.shape[0]
    while True:
        phase = whole[task, PHASE]
        if phase == n_phases:
            return ENDS
        step = whole[task, STEP]
        if step < whole[task, STEPS]:
            n = program.locals[whole[task, AT_STEP]]
            key = system.jobs.whole[job, JOB_KEY]
            if program.choices[RANDOM_SPACING]:
                n = statements(job, whole[task, TOTAL], n, system)
            if program.choices[EXPONENTIAL]:
                real[task, LEFT] = system.costs.statement * draws.stretch(
                    key, whole[task, INDEX], whole[task, TOTAL], n
                )
            else:
                real[task, LEFT] = n * system.costs.statement
            return GOES_ON
        if step == whole[task, STEPS] and real[task, REST] > 0.0:
            real[task, LEFT] = real[task, REST]
            return GOES_ON
        n_tasks = system.jobs.whole[job, N_TASKS]
        if taking_part(job, phase, system) < n_tasks or taking_part(job, phase + 1, system) < n_tasks:
            if meet(task, now, system) == BLOCKS:
                return BLOCKS
        else:
            whole[task, PHASE] = phase + 1
        if phase + 1 < n_phases:
            begin_phase(task, system)


@part(boolean(int64, float64, SYSTEM))
def communicate(task, now, system):
    """Send, or receive, and tell whether the task has to wait."""
    whole, jobs = system.tasks.whole, system.jobs.whole
    job = whole[task, JOB]
    n_tasks = jobs[job, TAKING_PART]
    exchange = whole[task, COMMUNICATIONS] >> 1
    sends = whole[task, COMMUNICATIONS] & 1 == 0
    whole[task, COMMUNICATIONS] += 1
    if n_tasks == 1:
        return False
    if sends:
        by = goes_on_by(system.program.choices[PARTNERS], exchange, n_tasks, jobs[job, JOB_KEY])
        receiver = jobs[job, FIRST_TASK] + (whole[task, INDEX] + by) % n_tasks
        if whole[receiver, STATE] != ENDED:
            send(task, receiver, exchange, now, system)
        return False
    arrival = take_message(task, exchange, system)
    if 0.0 <= arrival <= now:
        return False
    block(task, COMMUNICATING, now, system)
    if arrival > now:
        whole[task, AWAITED] = NONE
        wake_at(task, arrival, system)
    else:
        whole[task, AWAITED] = exchange
    return True


@part(void(int64, float64, SYSTEM))
def read_or_write(task, now, system):
    """Let a task wait for its input or output, which a disk serves in its turn. O(disks)."""
    whole, disks = system.tasks.whole, system.network.disks
    length = system.costs.io_time
    if system.program.choices[EXPONENTIAL]:
        key = system.jobs.whole[whole[task, JOB], JOB_KEY]
        length *= draws.service(key, whole[task, INDEX], whole[task, TOTAL])
    begin = now
    if system.settings.n_disks != 0:
        disk = 0
        if system.settings.n_disks == NONE:
            disk = whole[task, PE]
        else:
            for other in range(1, disks.shape[0]):
                if disks[other] < disks[disk]:
                    disk = other
        begin = max(now, disks[disk])
        disks[disk] = begin + length
    block(task, IN_IO, now, system)
    wake_at(task, begin + length, system)


@part(boolean(int64, float64, SYSTEM))
def synchronize(task, now, system):
    """Let a task come to the barrier, and tell whether it has to wait.

    O(log tasks), for the last one at a barrier without latency O(tasks log tasks).
    """
    whole, jobs = system.tasks.whole, system.jobs.whole
    job = whole[task, JOB]
    n_tasks = jobs[job, TAKING_PART]
    if n_tasks == 1:
        return False
    latency = system.costs.barrier_latency
    jobs[job, AT_BARRIER] += 1
    last = jobs[job, AT_BARRIER] == n_tasks
    if not last or latency > 0.0:
        block(task, SYNCHRONIZING, now, system)
    if last:
        first = jobs[job, FIRST_TASK]
        jobs[job, AT_BARRIER] = 0
        if latency > 0.0:
            jobs[job, TO_WAKE] = n_tasks
            wake_at(first, now + latency, system)  # it stands for all, who wake one after the other
        else:
            for other in range(first, first + n_tasks):
                if other != task:
                    wake_at(other, now, system)
    return not last or latency > 0.0


@part()
def step_on(task, now, system):
    """The blocking statement of a step is done: the next step begins."""
    whole, phases = system.tasks.whole, system.program.phases
    phase = whole[task, PHASE]
    whole[task, STEP] += 1
    whole[task, TOTAL] += 1
    whole[task, AT_STEP] += 1
    if whole[task, AT_STEP] == phases[phase, FIRST_STEP] + phases[phase, N_STEPS]:
        whole[task, AT_STEP] = phases[phase, FIRST_STEP]
    return next_stretch(task, now, system)


@part(int64(int64, float64, SYSTEM))
def perform(task, now, system):
    """Let a task that has come to the end of a stretch do what comes then, and say what becomes of it."""
    whole = system.tasks.whole
    if whole[task, STEP] == whole[task, STEPS]:  # the phase's last stretch has nothing after it
        whole[task, STEP] += 1
        return next_stretch(task, now, system)
    kind = system.program.kinds[whole[task, AT_STEP]]
    if kind == COMMUNICATION:
        blocks = communicate(task, now, system)
    elif kind == IO:
        blocks = True
        read_or_write(task, now, system)
    else:
        blocks = synchronize(task, now, system)
    if blocks:
        return BLOCKS
    return step_on(task, now, system)


@part(int64(int64, float64, SYSTEM))
def wake(task, now, system):
    """What a task waited for has come: say what becomes of it."""
    whole = system.tasks.whole
    unblock(task, now, system)
    if whole[task, AT_BOUNDARY]:
        whole[task, AT_BOUNDARY] = 0
        if whole[task, PHASE] < system.program.phases.shape[0]:
            begin_phase(task, system)
        return next_stretch(task, now, system)
    return step_on(task, now, system)
