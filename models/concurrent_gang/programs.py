"""The execution of tasks: stretches of computation, blocking statements, phases."""

import numpy as np
from numba import boolean, float64, int64, void

from models.concurrent_gang import codes
from models.concurrent_gang.accounting import count_change, settle
from models.concurrent_gang.events import mark, wake_at
from models.concurrent_gang.messages import forget_messages, partner_offset, send, take_message
from models.concurrent_gang.state import SYSTEM
from models.kernels.compiling import part
from models.workloads.statements import draws

# Outcomes for a task at the end of a stretch, or after it has woken.
CONTINUES, BLOCKS, ENDS = range(3)


@part(int64(int64, int64, SYSTEM))
def taking_part(job, phase, system):
    """Return how many tasks of a job take part in a phase; these are the first ones."""
    n_tasks = system.jobs[job].n_tasks
    if phase >= system.jobs[job].end_phase:
        return n_tasks
    return np.int64(np.ceil(system.program.phases[phase].tasks * n_tasks))


@part(void(int64, int64, float64, SYSTEM))
def block(task, state, now, system):
    """Let a task wait."""
    system.tasks[task].state = state
    system.tasks[task].blocked = now
    if state < codes.FIRST_BLOCKED + codes.N_CAUSES:
        system.state[0].n_blocked[state - codes.FIRST_BLOCKED] += 1


@part()
def time_slice(task, system):
    """Assign the seconds of a task to the present slice."""
    tasks = system.tasks
    if tasks[task].timed != system.state[0].slice:
        tasks[task].timed = system.state[0].slice
        tasks[task].computed = 0.0
        for cause in range(codes.N_CAUSES):
            tasks[task].waited[cause] = 0.0


@part(void(int64, float64, SYSTEM))
def unblock(task, now, system):
    """End the waiting of a task; the part of it in the present slice belongs to this slice."""
    tasks = system.tasks
    state = tasks[task].state
    if state < codes.FIRST_BLOCKED + codes.N_CAUSES:
        system.state[0].n_blocked[state - codes.FIRST_BLOCKED] -= 1
        if system.settings.graded:
            time_slice(task, system)
            begin = max(tasks[task].blocked, system.state[0].slice * system.costs.slice)
            if now > begin:
                tasks[task].waited[state - codes.FIRST_BLOCKED] += now - begin
    tasks[task].state = codes.READY


@part(void(int64, SYSTEM))
def begin_phase(task, system):
    """Count the steps of a task's new phase, and the computation left after them. O(steps of a cycle)."""
    tasks = system.tasks
    program, statement = system.program, system.costs.statement
    phase = tasks[task].phase
    work = program.phases[phase].share * system.table.jobs[tasks[task].job].runtime
    steps = 0
    m = program.phases[phase].n_steps
    if m > 0:
        cycle = program.phases[phase].n_local * statement
        full = np.floor(work / cycle)
        steps = np.int64(full) * m
        work -= full * cycle
        first = program.phases[phase].first_step
        for step in range(m):
            length = program.locals[first + step] * statement
            if length > work:
                break
            work -= length
            steps += 1
    tasks[task].step = 0
    tasks[task].steps = steps
    tasks[task].at_step = program.phases[phase].first_step
    tasks[task].rest = work


@part(int64(int64, float64, SYSTEM))
def meet(task, now, system):
    """Let a task reach the boundary of a phase in which not all tasks take part, and return the outcome.

    It waits for all other tasks of its job. The last one opens the boundary; the tasks that take part in the
    next phase begin it, and the others wait for its end.
    """
    tasks, jobs = system.tasks, system.jobs
    job = tasks[task].job
    jobs[job].at_phase_end += 1
    if jobs[job].at_phase_end < jobs[job].n_tasks:
        block(task, codes.SYNCHRONIZING, now, system)
        tasks[task].at_boundary = 1
        return BLOCKS
    phase = tasks[task].phase + 1
    before = jobs[job].n_taking_part
    eligible = jobs[job].n_taking_part = taking_part(job, phase, system)
    jobs[job].at_phase_end = jobs[job].n_tasks - eligible
    if phase < jobs[job].end_phase and eligible != before:
        count_change(1, 0, system.state[0])
    for other in range(jobs[job].first_task, jobs[job].first_task + jobs[job].n_tasks):
        tasks[other].phase = phase
        tasks[other].communications = 0
        forget_messages(other, system)
        if tasks[other].index < eligible:
            if other != task:
                wake_at(other, now, system)
        else:
            if other != task and tasks[other].state != codes.INELIGIBLE:
                settle(tasks[other].pe, now, system)  # it may have been waiting on its PE
                unblock(other, now, system)
                mark(tasks[other].pe, system)
            tasks[other].at_boundary = 1
            block(other, codes.INELIGIBLE, now, system)
    return CONTINUES if tasks[task].index < eligible else BLOCKS


@part(int64(int64, int64, int64, SYSTEM))
def statements_of_all(job, step, mean, system):
    """Return a random number of local statements, drawn for all by the first task to reach a step."""
    jobs = system.jobs
    if jobs[job].drawn_step != step or jobs[job].drawn_mean != mean:
        jobs[job].drawn_step = step
        jobs[job].drawn_mean = mean
        jobs[job].drawn = draws.statements(system.table.jobs[job].key, draws.OF_JOB, step, float(mean))
    return jobs[job].drawn


@part(int64(int64, float64, SYSTEM))
def next_stretch(task, now, system):
    """Let a task begin its next stretch, in this phase or a later one, and return the outcome."""
    tasks, program = system.tasks, system.program
    job = tasks[task].job
    n_phases = system.jobs[job].end_phase
    while True:
        phase = tasks[task].phase
        if phase == n_phases:
            return ENDS
        step = tasks[task].step
        if step < tasks[task].steps:
            n = program.locals[tasks[task].at_step]
            key = system.table.jobs[job].key
            if system.settings.spacing == codes.SPACED_BY_JOB:
                n = statements_of_all(job, tasks[task].total, n, system)
            elif system.settings.spacing == codes.SPACED_BY_TASK:
                n = draws.statements(key, tasks[task].index, tasks[task].total, float(n))
            if system.settings.costs == codes.EXPONENTIAL:
                tasks[task].left = system.costs.statement * draws.stretch(
                    key, tasks[task].index, tasks[task].total, n
                )
            else:
                tasks[task].left = n * system.costs.statement
            if program.kinds[tasks[task].at_step] != codes.IO:
                tasks[task].left += system.costs.overhead
            return CONTINUES
        if step == tasks[task].steps and tasks[task].rest > 0.0:
            tasks[task].left = tasks[task].rest
            return CONTINUES
        n_tasks = system.jobs[job].n_tasks
        if taking_part(job, phase, system) < n_tasks or taking_part(job, phase + 1, system) < n_tasks:
            if meet(task, now, system) == BLOCKS:
                return BLOCKS
        else:
            tasks[task].phase = phase + 1
        if phase + 1 < n_phases:
            begin_phase(task, system)


@part(boolean(int64, float64, SYSTEM))
def communicate(task, now, system):
    """Send, or receive, and return whether the task has to wait."""
    tasks, jobs = system.tasks, system.jobs
    job = tasks[task].job
    n_tasks = jobs[job].n_taking_part
    exchange = tasks[task].communications >> 1
    sends = tasks[task].communications & 1 == 0
    tasks[task].communications += 1
    if n_tasks == 1:
        return False
    if sends:
        by = partner_offset(system.settings.partners, exchange, n_tasks, system.table.jobs[job].key)
        receiver = jobs[job].first_task + (tasks[task].index + by) % n_tasks
        if tasks[receiver].state != codes.ENDED:
            send(task, receiver, exchange, now, system)
        return False
    arrival = take_message(task, exchange, system)
    if 0.0 <= arrival <= now:
        return False
    block(task, codes.COMMUNICATING, now, system)
    if arrival > now:
        tasks[task].awaited = codes.NONE
        wake_at(task, arrival, system)
    else:
        tasks[task].awaited = exchange
    return True


@part(void(int64, float64, SYSTEM))
def read_or_write(task, now, system):
    """Let a task wait for its input or output, which a disk serves in order. O(disks)."""
    tasks, disks = system.tasks, system.network.disks
    length = system.costs.io_time
    if system.settings.costs == codes.EXPONENTIAL:
        key = system.table.jobs[tasks[task].job].key
        length *= draws.service(key, tasks[task].index, tasks[task].total)
    begin = now
    if system.settings.n_disks != 0:
        disk = 0
        if system.settings.n_disks == codes.NONE:
            disk = tasks[task].pe
        else:
            for other in range(1, disks.shape[0]):
                if disks[other] < disks[disk]:
                    disk = other
        begin = max(now, disks[disk])
        disks[disk] = begin + length
    block(task, codes.IN_IO, now, system)
    wake_at(task, begin + length, system)


@part(boolean(int64, float64, SYSTEM))
def synchronize(task, now, system):
    """Let a task reach the barrier, and return whether it has to wait.

    O(log tasks); for the last task at a barrier without latency O(tasks log tasks).
    """
    tasks, jobs = system.tasks, system.jobs
    job = tasks[task].job
    n_tasks = jobs[job].n_taking_part
    if n_tasks == 1 and system.settings.alone == codes.PASSES:
        return False
    latency = system.costs.barrier_latency
    jobs[job].at_barrier += 1
    last = jobs[job].at_barrier == n_tasks
    if not last or latency > 0.0:
        block(task, codes.SYNCHRONIZING, now, system)
    if last:
        first = jobs[job].first_task
        jobs[job].at_barrier = 0
        if latency > 0.0:
            jobs[job].to_wake = n_tasks
            wake_at(first, now + latency, system)  # stands for all tasks, which wake one after the other
        else:
            for other in range(first, first + n_tasks):
                if other != task:
                    wake_at(other, now, system)
    return not last or latency > 0.0


@part()
def step_on(task, now, system):
    """Finish the blocking statement of a step and begin the next step."""
    tasks, phases = system.tasks, system.program.phases
    phase = tasks[task].phase
    tasks[task].step += 1
    tasks[task].total += 1
    tasks[task].at_step += 1
    if tasks[task].at_step == phases[phase].first_step + phases[phase].n_steps:
        tasks[task].at_step = phases[phase].first_step
    return next_stretch(task, now, system)


@part(int64(int64, float64, SYSTEM))
def perform(task, now, system):
    """Let a task at the end of a stretch execute its next statement, and return the outcome."""
    tasks = system.tasks
    if tasks[task].step == tasks[task].steps:  # no statement follows the phase's last stretch
        tasks[task].step += 1
        return next_stretch(task, now, system)
    kind = system.program.kinds[tasks[task].at_step]
    if kind == codes.COMMUNICATION:
        blocks = communicate(task, now, system)
    elif kind == codes.IO:
        blocks = True
        read_or_write(task, now, system)
    else:
        blocks = synchronize(task, now, system)
    if blocks:
        return BLOCKS
    return step_on(task, now, system)


@part(int64(int64, float64, SYSTEM))
def wake(task, now, system):
    """End the waiting of a task, and return the outcome."""
    tasks = system.tasks
    unblock(task, now, system)
    if tasks[task].at_boundary:
        tasks[task].at_boundary = 0
        if tasks[task].phase < system.jobs[tasks[task].job].end_phase:
            begin_phase(task, system)
        return next_stretch(task, now, system)
    return step_on(task, now, system)
