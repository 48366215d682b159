"""Workload changes: the front end changes the trace diagram and notifies some PEs.

"In the case of a workload change, only the PEs concerned by the modification in the trace diagram are
notified" (section 2.2): the PEs of the job that arrives or ends.
"""

import numpy as np
from numba import float64, int64, void

from models.concurrent_gang import codes
from models.concurrent_gang.accounting import class_of, count_change, settle, settle_diagram
from models.concurrent_gang.events import mark
from models.concurrent_gang.messages import forget_messages
from models.concurrent_gang.order import insert_newcomer, remove
from models.concurrent_gang.programs import begin_phase, next_stretch, taking_part
from models.concurrent_gang.state import SYSTEM
from models.kernels.bits import ONE, level_for
from models.kernels.compiling import part
from models.packing.slots import close_slot, map_job, unmap_job, vacate, write_ended
from models.workloads.statements import draws

NEVER = -1.0


@part()
def has_tasks(size, system):
    """Return whether there are `size` adjacent places for tasks."""
    block = level_for(size)
    if system.vacant_tasks[block] != codes.NONE:
        return True
    return system.state[0].top_task + (1 << block) <= system.tasks.shape[0]


@part()
def program_of(key, system):
    """Return the program of a job, drawn by the programs' shares."""
    upto = system.program.upto
    program = 0
    if upto.shape[0] > 1:
        u = draws.share(key)
        while program < upto.shape[0] - 1 and u >= upto[program]:
            program += 1
    return program


@part(int64(int64, float64, int64, float64, SYSTEM))
def enter(size, runtime, key, submit, system):
    """Write a newcomer into the tables, not mapped to a slot yet, and return its place."""
    table, state = system.table, system.state[0]
    settle_diagram(state.now, system)
    state.n_vacant -= 1
    place = table.vacant[state.n_vacant]
    table.present[state.n_jobs] = place
    job, its = table.jobs[place], system.jobs[place]
    job.slot = codes.NONE
    job.size = size
    job.position = state.n_jobs
    job.number = job.session = state.n_submitted
    job.key = key
    job.submit = submit
    if state.measuring:
        state.job_time += state.now - submit  # it waited for capacity
    job.start = NEVER
    job.runtime = runtime
    state.n_jobs += 1
    state.n_submitted += 1
    block = level_for(size)
    first = system.vacant_tasks[block]
    if first != codes.NONE:
        system.vacant_tasks[block] = system.tasks[first].next
    else:
        first = state.top_task
        state.top_task += 1 << block
    its.first_task = first
    its.n_tasks = its.alive = size
    its.program = program_of(key, system)
    its.end_phase = system.program.first[its.program + 1]
    its.at_barrier = its.at_phase_end = its.to_wake = 0
    its.drawn_step = codes.NONE
    its.n_taking_part = taking_part(np.int64(place), system.program.first[its.program], system)
    return np.int64(place)


@part(void(int64, int64, int64, SYSTEM))
def begin_task(place, job, index, system):
    """Let a task of a newcomer begin its program."""
    task = system.tasks[place]
    task.job = job
    task.index = index
    task.phase = system.program.first[system.jobs[job].program]
    task.total = task.communications = task.served = 0
    task.awaited = task.inbox = task.scheduled = task.timed = codes.NONE
    task.n_measures = task.held = task.at_boundary = 0
    task.dispatched = NEVER
    task.grade_io = task.grade_computation = task.left = 0.0
    begin_phase(place, system)
    if index < system.jobs[job].n_taking_part:
        task.state = codes.READY
        if task.steps > 0 or task.rest > 0.0:
            next_stretch(place, system.state[0].now, system)
    else:
        task.state = codes.INELIGIBLE
        task.at_boundary = 1
        system.jobs[job].at_phase_end += 1


@part(void(int64, int64, SYSTEM))
def settle_in(place, slot, system):
    """Map a newcomer to the chosen PEs of a slot and notify them. O(tasks + words)."""
    table, state = system.table, system.state[0]
    job = np.uint64(place)
    alone = state.n_slots == 0
    map_job(job, slot, system.matrix, table, system.buffers.chosen, state)
    if alone:
        state.row = state.void = 0
    size = table.jobs[job].size
    state.mapped += size
    task = system.jobs[job].first_task
    index = 0
    for w in range(table.pes.shape[1]):
        word = table.pes[job, w]
        bit = 0
        while word:
            if word & ONE:
                pe = 64 * w + bit
                system.tasks[task].pe = pe
                insert_newcomer(task, pe, system)
                begin_task(task, place, index, system)
                owns = system.settings.coordinated and system.settings.arrivals == codes.ARRIVES_AT_ONCE
                if owns and not state.void and slot == state.row:
                    settle(pe, state.now, system)
                    system.pes[pe].owner = task
                    system.tasks[task].scheduled = state.slice
                mark(pe, system)
                task += 1
                index += 1
            word >>= ONE
            bit += 1
    count_change(1, size, state)


@part()
def note_room(state):
    """Let a job that did not fit in the trace diagram try again."""
    if state.held_up:
        state.held_up = 2


@part(void(int64, SYSTEM))
def free_cell(task, system):
    """Free the cell of a task that has ended before others of its job, so that a newcomer may use it."""
    matrix, table, state = system.matrix, system.table, system.state[0]
    settle_diagram(state.now, system)
    job = system.tasks[task].job
    pe = system.tasks[task].pe
    slot = table.jobs[job].slot
    bit = ONE << np.uint64(pe & 63)
    table.pes[job, pe >> 6] &= ~bit
    matrix.occupied[slot, pe >> 6] &= ~bit
    matrix.free[slot] += 1
    table.jobs[job].size -= 1
    state.mapped -= 1
    note_room(state)
    count_change(0, 1, state)


@part(void(int64, SYSTEM))
def leave(place, system):
    """Remove a job whose tasks have all ended from the trace diagram. O(jobs) if its slot closes."""
    settings, matrix, table, state = system.settings, system.matrix, system.table, system.state[0]
    settle_diagram(state.now, system)
    job = np.uint64(place)
    slot, size = table.jobs[job].slot, table.jobs[job].size
    count_change(0, size, state)
    state.mapped -= size
    note_room(state)
    unmap_job(job, matrix, table)
    vacate(job, table, state)
    if matrix.free[slot] == settings.n_pes:
        close_slot(slot, settings.n_pes, matrix, table, state)
        if slot <= state.row:
            if slot == state.row:
                state.void = 1
            state.row -= 1
    first = system.jobs[job].first_task
    block = level_for(system.jobs[job].n_tasks)
    system.tasks[first].next = system.vacant_tasks[block]
    system.vacant_tasks[block] = first


@part(void(int64, SYSTEM))
def count_end(place, system):
    """Count a job that has ended, and hand it out if it is measured."""
    state, job, row = system.state[0], system.table.jobs[place], system.state[0].n_ended
    state.n_terminated += 1
    if job.number < system.settings.first_measured or job.number >= system.settings.end_measured:
        return
    write_ended(job, state.now, system.ended, row)
    system.ended.size[row] = system.jobs[place].n_tasks  # cells may have been freed one by one
    of = class_of(place, system)
    state.jobs_of[of] += 1
    state.response_of[of] += state.now - job.submit
    state.n_ended += 1
    state.in_batch += 1
    state.n_measured += 1


@part(void(int64, SYSTEM))
def end_task(task, system):
    """A task has come to the end of its program; with the last one its job ends."""
    tasks, pes, jobs = system.tasks, system.pes, system.jobs
    pe, job = tasks[task].pe, tasks[task].job
    tasks[task].state = codes.ENDED
    remove(task, system)
    forget_messages(task, system)
    if pes[pe].loaded == task:
        pes[pe].loaded = codes.GONE
    if pes[pe].owner == task:
        settle(pe, system.state[0].now, system)
        pes[pe].owner = codes.NONE
    mark(pe, system)
    jobs[job].alive -= 1
    count_change(1, 0, system.state[0])  # the number of the job's eligible tasks has changed
    if system.settings.cells == codes.OF_TASKS:
        free_cell(task, system)
    if jobs[job].alive == 0:
        count_end(job, system)
        leave(job, system)
