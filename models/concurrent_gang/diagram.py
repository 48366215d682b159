"""Changes of the workload: what the front end does to the trace diagram, and the PEs that it tells.

"In the case of a workload change, only the PEs concerned by the modification in the trace diagram are
notified" (section 2.2): those of the job that comes or goes.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, void

from models.concurrent_gang.accounting import settle, settle_diagram
from models.concurrent_gang.events import mark
from models.concurrent_gang.messages import forget_messages
from models.concurrent_gang.order import put_newcomer, take_out
from models.concurrent_gang.programs import begin_phase, next_stretch, taking_part
from models.concurrent_gang.state import (
    ALIVE,
    AT_BARRIER,
    AT_BOUNDARY,
    AT_PHASE_END,
    AWAITED,
    CHANGES,
    COMMUNICATIONS,
    DISPATCHED,
    DRAWN_STEP,
    ENDED,
    FIRST_TASK,
    GONE,
    GRADE_COMPUTATION,
    GRADE_IO,
    HELD,
    IN_BATCH,
    INBOX,
    INDEX,
    INELIGIBLE,
    JOB,
    JOB_KEY,
    JOB_NUMBER,
    JOB_RUNTIME,
    LEFT,
    LOADED,
    MAPPED,
    MEASURED,
    MEASURING,
    N_ENDED,
    N_JOBS,
    N_MEASURES,
    N_SLOTS,
    N_TASKS,
    N_VACANT,
    NEXT,
    NONE,
    NOW,
    OWNER,
    PE,
    PHASE,
    READY,
    REST,
    ROW,
    SCHEDULED,
    SLICE,
    START,
    STATE,
    STEPS,
    SUBMIT,
    SUBMITTED,
    SYSTEM,
    TAKING_PART,
    TERMINATED,
    TIMED,
    TO_WAKE,
    TOLD,
    TOP_TASK,
    TOTAL,
    VOID,
)
from models.kernels.bits import ONE
from models.kernels.compiling import part
from models.packing.matrix import POSITION, PRESENT, SIZE, SLOT, VACANT
from models.packing.slots import close_slot, map_job, unmap_job

NEVER = -1.0


@part(int64(int64))
def class_of(size):
    """Return c of the smallest block of 2^c tasks that holds so many."""
    found = 0
    while (1 << found) < size:
        found += 1
    return found


@part()
def has_tasks(size, system):
    """Tell whether there are places for so many tasks side by side."""
    block = class_of(size)
    if system.vacant_tasks[block] != NONE:
        return True
    return system.counts[TOP_TASK] + (1 << block) <= system.tasks.whole.shape[0]


@part(int64(int64, float64, int64, SYSTEM))
def enter(size, runtime, key, system):
    """Write a newcomer into the tables, mapped to no slot yet, and return its place."""
    table, counts, jobs = system.table, system.counts, system.jobs
    settle_diagram(system.clocks[NOW], system)
    counts[N_VACANT] -= 1
    job = table.order[VACANT, counts[N_VACANT]]
    table.whole[job, SLOT] = NONE
    table.whole[job, SIZE] = size
    table.whole[job, POSITION] = counts[N_JOBS]
    table.order[PRESENT, counts[N_JOBS]] = job
    counts[N_JOBS] += 1
    jobs.whole[job, JOB_NUMBER] = counts[SUBMITTED]
    counts[SUBMITTED] += 1
    block = class_of(size)
    first = system.vacant_tasks[block]
    if first != NONE:
        system.vacant_tasks[block] = system.tasks.whole[first, NEXT]
    else:
        first = counts[TOP_TASK]
        counts[TOP_TASK] += 1 << block
    jobs.whole[job, FIRST_TASK] = first
    jobs.whole[job, N_TASKS] = jobs.whole[job, ALIVE] = size
    jobs.whole[job, AT_BARRIER] = jobs.whole[job, AT_PHASE_END] = 0
    jobs.whole[job, TO_WAKE] = 0
    jobs.whole[job, DRAWN_STEP] = NONE
    jobs.whole[job, JOB_KEY] = key
    jobs.whole[job, TAKING_PART] = taking_part(np.int64(job), 0, system)
    jobs.real[job, SUBMIT] = system.clocks[NOW]
    jobs.real[job, START] = NEVER
    jobs.real[job, JOB_RUNTIME] = runtime
    return np.int64(job)


@part(void(int64, int64, int64, SYSTEM))
def begin_task(task, job, index, system):
    """Let a task of a newcomer begin its program."""
    whole, real = system.tasks.whole, system.tasks.real
    whole[task, JOB] = job
    whole[task, INDEX] = index
    whole[task, PHASE] = whole[task, TOTAL] = whole[task, COMMUNICATIONS] = 0
    whole[task, AWAITED] = whole[task, INBOX] = whole[task, SCHEDULED] = whole[task, TIMED] = NONE
    whole[task, N_MEASURES] = whole[task, HELD] = whole[task, AT_BOUNDARY] = 0
    real[task, DISPATCHED] = NEVER
    real[task, GRADE_IO] = real[task, GRADE_COMPUTATION] = real[task, LEFT] = 0.0
    begin_phase(task, system)
    if index < system.jobs.whole[job, TAKING_PART]:
        whole[task, STATE] = READY
        if whole[task, STEPS] > 0 or real[task, REST] > 0.0:
            next_stretch(task, system.clocks[NOW], system)
    else:
        whole[task, STATE] = INELIGIBLE
        whole[task, AT_BOUNDARY] = 1
        system.jobs.whole[job, AT_PHASE_END] += 1


@part(void(int64, int64, SYSTEM))
def settle_in(place, slot, system):
    """Map a newcomer to the chosen PEs of a slot and tell them. O(tasks + words)."""
    matrix, table, room, counts = system.matrix, system.table, system.room, system.counts
    job = np.uint64(place)
    alone = counts[N_SLOTS] == 0
    map_job(job, slot, matrix, table, room.chosen, counts)
    if alone:
        counts[ROW] = counts[VOID] = 0
    size = table.whole[job, SIZE]
    counts[MAPPED] += size
    task = system.jobs.whole[job, FIRST_TASK]
    index = 0
    for w in range(table.pes.shape[1]):
        word = table.pes[job, w]
        bit = 0
        while word:
            if word & ONE:
                pe = 64 * w + bit
                system.tasks.whole[task, PE] = pe
                put_newcomer(task, pe, system)
                begin_task(task, place, index, system)
                if system.settings.coordinated and not counts[VOID] and slot == counts[ROW]:
                    settle(pe, system.clocks[NOW], system)
                    system.pes.whole[pe, OWNER] = task
                    system.tasks.whole[task, SCHEDULED] = counts[SLICE]
                mark(pe, system)
                task += 1
                index += 1
            word >>= ONE
            bit += 1
    if counts[MEASURING]:
        system.clocks[CHANGES] += 1
        system.clocks[TOLD] += size


@part(void(int64, SYSTEM))
def free_cell(task, system):
    """Free the cell of a task that has ended before others of its job, so that a newcomer may have it."""
    matrix, table, counts = system.matrix, system.table, system.counts
    settle_diagram(system.clocks[NOW], system)
    job = system.tasks.whole[task, JOB]
    pe = system.tasks.whole[task, PE]
    slot = table.whole[job, SLOT]
    bit = ONE << np.uint64(pe & 63)
    table.pes[job, pe >> 6] &= ~bit
    matrix.occupied[slot, pe >> 6] &= ~bit
    matrix.free[slot] += 1
    table.whole[job, SIZE] -= 1
    counts[MAPPED] -= 1
    if counts[MEASURING]:
        system.clocks[CHANGES] += 1
        system.clocks[TOLD] += 1


@part(void(int64, SYSTEM))
def leave(place, system):
    """Take a job whose tasks have all ended out of the trace diagram. O(jobs) if its slot closes."""
    settings, matrix, table, counts = system.settings, system.matrix, system.table, system.counts
    settle_diagram(system.clocks[NOW], system)
    job = np.uint64(place)
    slot = table.whole[job, SLOT]
    size = table.whole[job, SIZE]
    if counts[MEASURING] and size > 0:
        system.clocks[CHANGES] += 1
        system.clocks[TOLD] += size
    counts[MAPPED] -= size
    unmap_job(job, matrix, table)
    last = np.uint64(counts[N_JOBS] - 1)
    position = table.whole[job, POSITION]
    moved = table.order[PRESENT, last]
    table.order[PRESENT, position] = moved
    table.whole[moved, POSITION] = position
    counts[N_JOBS] -= 1
    table.order[VACANT, counts[N_VACANT]] = job
    counts[N_VACANT] += 1
    if matrix.free[slot] == settings.n_pes:
        close_slot(slot, settings.n_pes, matrix, table, counts)
        if slot <= counts[ROW]:
            if slot == counts[ROW]:
                counts[VOID] = 1
            counts[ROW] -= 1
    first = system.jobs.whole[job, FIRST_TASK]
    block = class_of(system.jobs.whole[job, N_TASKS])
    system.tasks.whole[first, NEXT] = system.vacant_tasks[block]
    system.vacant_tasks[block] = first


@part(void(int64, SYSTEM))
def write_ended(place, system):
    """Hand out a job that has ended, if it is measured, and count it."""
    jobs, ended, counts = system.jobs, system.ended, system.counts
    counts[TERMINATED] += 1
    number = jobs.whole[place, JOB_NUMBER]
    if number < system.settings.first_measured or number >= system.settings.end_measured:
        return
    row = counts[N_ENDED]
    ended.number[row] = number
    ended.submit[row] = jobs.real[place, SUBMIT]
    ended.start[row] = jobs.real[place, START]
    ended.end[row] = system.clocks[NOW]
    ended.runtime[row] = jobs.real[place, JOB_RUNTIME]
    ended.size[row] = jobs.whole[place, N_TASKS]
    counts[N_ENDED] += 1
    counts[IN_BATCH] += 1
    counts[MEASURED] += 1


@part(void(int64, SYSTEM))
def end_task(task, system):
    """A task has come to the end of its program; with the last one its job ends."""
    whole, pes, jobs = system.tasks.whole, system.pes.whole, system.jobs.whole
    pe, job = whole[task, PE], whole[task, JOB]
    whole[task, STATE] = ENDED
    take_out(task, system)
    forget_messages(task, system)
    if pes[pe, LOADED] == task:
        pes[pe, LOADED] = GONE
    if pes[pe, OWNER] == task:
        settle(pe, system.clocks[NOW], system)
        pes[pe, OWNER] = NONE
    mark(pe, system)
    jobs[job, ALIVE] -= 1
    if system.settings.cells_of_tasks:
        free_cell(task, system)
    if jobs[job, ALIVE] == 0:
        write_ended(job, system)
        leave(job, system)
