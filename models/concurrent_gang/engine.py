"""The event loop of Concurrent Gang: timers of PEs, tasks that wake, arrivals, the clock signal.

At one instant timers go off before tasks wake, before jobs arrive, before the signal comes; when nothing else
happens at it, the PEs decide that something happened to. An event costs O(log PEs + log tasks) and what a
decision looks at, the tasks of one PE; the signal costs O(PEs + jobs), with grades O(PEs + tasks).
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, void

from models.concurrent_gang.accounting import ROWS_A_TIME, pass_time, settle, settle_all
from models.concurrent_gang.deciding import decide, decide_alone, take_off
from models.concurrent_gang.diagram import end_task, enter, has_tasks, settle_in
from models.concurrent_gang.events import first_timer, mark, set_timer, take_wake
from models.concurrent_gang.grades import count_computing, grade
from models.concurrent_gang.programs import BLOCKS, ENDS, GOES_ON, perform, wake
from models.concurrent_gang.state import (
    ARRIVALS,
    AT_SIGNAL,
    BATCH_START,
    BEGIN,
    COMMUNICATING,
    CURSOR,
    ENDED,
    FIRST,
    FIRST_TASK,
    FRESH,
    HELD,
    IN_BATCH,
    LEFT,
    LIMITS,
    MARKED,
    MEASURED,
    MEASURED_UNTIL,
    MEASURING,
    N_BATCHES,
    N_CLOCKS,
    N_ENDED,
    N_FREE_MESSAGES,
    N_GRADED,
    N_JOBS,
    N_MARKED,
    N_RECORDED,
    N_SLOTS,
    N_TASKS,
    N_VACANT,
    N_WAKES,
    NEXT,
    NONE,
    NOW,
    OWNER,
    PE,
    PE_TIME,
    QUANTUM_END,
    ROW,
    RUNNING,
    RUNS,
    SCHEDULED,
    SLICE,
    SPINS,
    STATE,
    SUBMITTED,
    SWITCHED,
    SYNCHRONIZING,
    SYSTEM,
    TOP_TASK,
    VOID,
)
from models.kernels.compiling import kernel, part
from models.packing.matrix import PRESENT, SLOT, VACANT
from models.packing.schemes.signature import PLACE, RELEASE

# Why `advance` returned.
BATCHES_DONE, ARRIVALS_USED_UP, NO_MORE_JOBS, TIME_REACHED, ROOM_USED_UP, TABLE_FULL, HANDED_OUT = range(7)

MESSAGES_A_TIME = 2
"""More than one event can send."""


@part()
def quantum_is_over(pe, system):
    """Let a PE decide whose turn it is."""
    set_timer(system.pes.timers, pe, np.inf)
    mark(pe, system)
    system.pes.whole[pe, MARKED] = 2


@part(void(int64, float64, SYSTEM))
def timer_goes_off(pe, now, system):
    """The running task of a PE comes to the end of its stretch, or of its quantum."""
    whole, real = system.pes.whole, system.pes.real
    tasks, settings = system.tasks, system.settings
    task = whole[pe, RUNS]
    if whole[pe, SPINS] or real[pe, BEGIN] + tasks.real[task, LEFT] > now:
        quantum_is_over(pe, system)
        return
    tasks.real[task, LEFT] = 0.0
    outcome = perform(task, now, system)
    if outcome == GOES_ON:
        real[pe, BEGIN] = now
        set_timer(system.pes.timers, pe, min(now + tasks.real[task, LEFT], real[pe, QUANTUM_END]))
        if real[pe, QUANTUM_END] <= now:
            quantum_is_over(pe, system)
        return
    state = tasks.whole[task, STATE]
    if outcome == BLOCKS and settings.spinning and state in (COMMUNICATING, SYNCHRONIZING):
        settle(pe, now, system)
        whole[pe, SPINS] = 1
        set_timer(system.pes.timers, pe, real[pe, QUANTUM_END])
        if real[pe, QUANTUM_END] <= now:
            quantum_is_over(pe, system)
        return
    take_off(pe, now, system)
    set_timer(system.pes.timers, pe, np.inf)
    mark(pe, system)
    if outcome == ENDS:
        end_task(task, system)
    elif settings.returns == AT_SIGNAL and whole[pe, OWNER] == task:
        tasks.whole[task, HELD] = 1


@part(void(int64, float64, SYSTEM))
def task_wakes(task, now, system):
    """What a task waited for has come."""
    whole, real, tasks = system.pes.whole, system.pes.real, system.tasks
    pe = tasks.whole[task, PE]
    spins = whole[pe, RUNS] == task
    if spins or whole[pe, OWNER] == task:
        settle(pe, now, system)
    outcome = wake(task, now, system)
    if spins:
        if outcome == BLOCKS:
            return
        whole[pe, SPINS] = 0
        if outcome == GOES_ON:
            tasks.whole[task, STATE] = RUNNING
            real[pe, BEGIN] = max(now, real[pe, SWITCHED])
            end = min(real[pe, BEGIN] + tasks.real[task, LEFT], real[pe, QUANTUM_END])
            set_timer(system.pes.timers, pe, end)
            return
        take_off(pe, now, system)
        set_timer(system.pes.timers, pe, np.inf)
    mark(pe, system)
    if outcome == ENDS:
        end_task(task, system)


@part()
def grade_scheduled(pe, number, now, system):
    """Grade the tasks of a PE that were scheduled in a slice. O(tasks of the PE)."""
    tasks = system.tasks.whole
    task = system.pes.whole[pe, FIRST]
    while task != NONE:
        if tasks[task, SCHEDULED] == number:
            grade(task, now, system)
        task = tasks[task, NEXT]


@part()
def give_slot(job, number, system):
    """Let the tasks of a job own their PEs in a slice. O(tasks of the job)."""
    tasks, jobs = system.tasks.whole, system.jobs.whole
    for task in range(jobs[job, FIRST_TASK], jobs[job, FIRST_TASK] + jobs[job, N_TASKS]):
        if tasks[task, STATE] != ENDED:
            system.pes.whole[tasks[task, PE], OWNER] = task
            tasks[task, HELD] = 0
            tasks[task, SCHEDULED] = number


@part(void(float64, SYSTEM))
def signal_comes(now, system):
    """A slice ends and the next one begins. O(PEs + jobs), with grades O(PEs + tasks)."""
    counts, pes, settings = system.counts, system.pes.whole, system.settings
    ended = counts[SLICE]
    if counts[N_SLOTS] > 0:
        counts[ROW] = (counts[ROW] + 1) % counts[N_SLOTS]
        counts[VOID] = 0
    for pe in range(settings.n_pes):
        if pes[pe, FIRST] == NONE:
            continue
        if pes[pe, RUNS] != NONE:
            count_computing(pe, now, system)
        if settings.graded:
            grade_scheduled(pe, ended, now, system)
        settle(pe, now, system)
        pes[pe, OWNER] = NONE
        mark(pe, system)
    for position in range(counts[N_JOBS]):
        job = system.table.order[PRESENT, position]
        if system.table.whole[job, SLOT] == counts[ROW]:
            give_slot(job, ended + 1, system)
    counts[SLICE] = ended + 1
    counts[FRESH] = 1


@part(void(SYSTEM))
def decide_all(system):
    """Let the PEs decide that something has happened to."""
    counts, pes = system.counts, system.pes.whole
    now = system.clocks[NOW]
    fresh = counts[FRESH] == 1
    counts[FRESH] = 0
    n_marked = counts[N_MARKED]
    counts[N_MARKED] = 0
    for i in range(n_marked):
        pe = system.marked[i]
        quantum_over = pes[pe, MARKED] == 2
        pes[pe, MARKED] = 0
        if system.settings.coordinated:
            decide(pe, now, fresh, system)
        else:
            decide_alone(pe, now, quantum_over, system)


@part(void(float64, SYSTEM))
def close_batch(now, system):
    """Write down what was summed over a batch, and begin the next one. O(PEs)."""
    counts, clocks = system.counts, system.clocks
    if counts[MEASURING]:
        settle_all(now, system)
    batch = counts[N_BATCHES]
    for clock in range(N_CLOCKS):
        system.batches[batch, clock] = clocks[clock]
        if clock >= PE_TIME:
            clocks[clock] = 0.0
    now = min(now, clocks[MEASURED_UNTIL])
    system.batches[batch, NOW] = now
    clocks[BATCH_START] = now
    counts[N_BATCHES] += 1
    counts[IN_BATCH] = 0


@kernel(void(SYSTEM, float64, boolean))
def stop_at(system, now, closes):
    """Let time pass to before the next event; a batch ends there if `closes`, else all measuring."""
    pass_time(now, system)
    if closes:
        close_batch(now, system)
        return
    settle_all(now, system)
    system.counts[MEASURING] = 0
    system.clocks[MEASURED_UNTIL] = now


@part()
def first_slice(now, slice_length):
    """Return the number of the slice that goes on at a time: the next signal comes then, or later."""
    number = np.int64(np.floor(now / slice_length))
    while number > 0 and number * slice_length >= now:
        number -= 1
    while (number + 1) * slice_length < now:
        number += 1
    return number


@part()
def release_books(release, system):
    """Tell the packing scheme which PEs the job leaves that has just ended."""
    counts, table = system.counts, system.table
    job = table.order[VACANT, counts[N_VACANT] - 1]
    for w in range(table.pes.shape[1]):
        system.room.chosen_row[w] = table.pes[job, w]
    release(system.jobs.whole[job, N_TASKS], system.settings.n_pes, system.room.chosen_row, system.books)


@kernel(int64(PLACE, RELEASE, SYSTEM, ARRIVALS, LIMITS))
def advance(place, release, system, arrivals, limits):
    """Simulate until something is needed from outside, and say what (`BATCHES_DONE` …).

    Parameters
    ----------
    place, release : the packing scheme, see `models.packing.schemes.signature`
    system : System
    arrivals : the chunk of jobs at hand, from ``counts[CURSOR]`` on
    limits : Limits
    """
    settings, costs, counts, clocks = system.settings, system.costs, system.counts, system.clocks
    timers, n_pes = system.pes.timers, system.settings.n_pes
    recorded = system.record.whole.shape[0]
    while True:
        timer = timers[1]
        waking = system.wakes.time[0] if counts[N_WAKES] > 0 else np.inf
        arrival = np.inf
        if counts[CURSOR] < arrivals.submit.shape[0]:
            arrival = arrivals.submit[counts[CURSOR]]
        elif limits.more_arrivals:
            return ARRIVALS_USED_UP
        signal = np.inf
        if settings.coordinated and counts[N_JOBS] > 0:
            signal = (counts[SLICE] + 1) * costs.slice
        then = min(min(timer, waking), min(arrival, signal))
        if counts[N_MARKED] > 0 and then > clocks[NOW]:
            if recorded > 0 and counts[N_RECORDED] + ROWS_A_TIME * n_pes > recorded:
                return HANDED_OUT
            decide_all(system)
            continue
        if then == np.inf:
            return NO_MORE_JOBS
        if then > limits.until:
            return TIME_REACHED
        if counts[N_FREE_MESSAGES] < MESSAGES_A_TIME:
            return ROOM_USED_UP
        if counts[N_ENDED] == system.ended.number.shape[0]:
            return HANDED_OUT
        if recorded > 0 and (
            counts[N_RECORDED] + ROWS_A_TIME * n_pes > recorded
            or counts[N_GRADED] + counts[TOP_TASK] > system.record.graded.shape[0]
        ):
            return HANDED_OUT
        if then == arrival and then < timer and then < waking:
            if counts[N_VACANT] == 0:
                return TABLE_FULL
            if not has_tasks(arrivals.size[counts[CURSOR]], system):
                return ROOM_USED_UP
        pass_time(then, system)
        ended = counts[MEASURED]
        n_jobs = counts[N_JOBS]
        if timer == then:
            timer_goes_off(first_timer(timers), then, system)
        elif waking == then:
            task_wakes(take_wake(system), then, system)
        elif arrival == then:
            cursor = counts[CURSOR]
            size = arrivals.size[cursor]
            if n_jobs == 0 and settings.coordinated:
                counts[SLICE] = max(counts[SLICE], first_slice(then, costs.slice))
            if counts[SUBMITTED] == settings.first_measured and settings.first_measured > 0:
                settle_all(then, system)  # all before this one only filled the machine
                for clock in range(PE_TIME, N_CLOCKS):
                    clocks[clock] = 0.0
                counts[MEASURING] = then < clocks[MEASURED_UNTIL]
                clocks[BATCH_START] = min(then, clocks[MEASURED_UNTIL])
            job = enter(size, arrivals.runtime[cursor], arrivals.key[cursor], system)
            slot = place(
                size, n_pes, counts[N_SLOTS], system.matrix, system.books, system.room.scratch,
                system.room.chosen_row,
            )  # fmt: skip
            settle_in(job, slot, system)
            counts[CURSOR] += 1
        else:
            signal_comes(then, system)
        if counts[N_JOBS] < n_jobs and not settings.cells_of_tasks:
            release_books(release, system)
        if counts[MEASURED] > ended and (
            counts[IN_BATCH] == settings.batch_size or counts[MEASURED] == settings.n_measured
        ):
            close_batch(then, system)
            if counts[N_BATCHES] >= limits.n_batches:
                return BATCHES_DONE
