"""The event loop of Concurrent Gang: timers of PEs, tasks that wake, arrivals, the clock signal.

The order at one instant is timers, tasks that wake, arrivals, the signal; after all of them, the affected PEs
decide. An event costs O(log PEs + log tasks), a decision O(tasks of the PE), the signal O(PEs + jobs), with
grades O(PEs + tasks).
"""

import numpy as np
from numba import boolean, float64, int64, void

from models.concurrent_gang import codes
from models.concurrent_gang.accounting import ROWS_A_TIME, pass_time, settle, settle_all
from models.concurrent_gang.deciding import decide, decide_alone, take_off
from models.concurrent_gang.diagram import end_task, enter, has_tasks, settle_in
from models.concurrent_gang.events import first_timer, mark, set_timer, take_wake
from models.concurrent_gang.grades import count_computing, grade
from models.concurrent_gang.order import count_turn
from models.concurrent_gang.programs import BLOCKS, CONTINUES, ENDS, perform, wake
from models.concurrent_gang.state import ARRIVALS, LIMITS, STATE, SYSTEM
from models.kernels.bits import ONE, ZERO
from models.kernels.compiling import kernel, part
from models.kernels.standstill import stands_still
from models.packing import driver
from models.packing.schemes.signature import PLACE, RELEASE

TASKS_FULL = 7
"""Reasons for which `advance` returns besides those in `models.packing.driver`: more tasks or messages."""

MESSAGES_A_TIME = 2
"""Upper bound on the messages that one event sends."""


@part()
def quantum_is_over(pe, system):
    """Let a PE decide which task is next."""
    set_timer(system.timers, pe, np.inf)
    mark(pe, system)
    system.pes[pe].marked = 2


@part(void(int64, float64, SYSTEM))
def timer_goes_off(pe, now, system):
    """Handle the end of the stretch, or of the quantum, of a PE's running task."""
    pes = system.pes
    tasks, settings = system.tasks, system.settings
    task = pes[pe].runs
    # The timer is set to the earlier of both ends: here the stretch would have continued.
    if pes[pe].spins or pes[pe].begin + tasks[task].left > now:
        quantum_is_over(pe, system)
        return
    tasks[task].left = 0.0
    outcome = perform(task, now, system)
    if outcome == CONTINUES:
        pes[pe].begin = now
        set_timer(system.timers, pe, min(now + tasks[task].left, pes[pe].quantum_end))
        if pes[pe].quantum_end <= now:
            quantum_is_over(pe, system)
        return
    state = tasks[task].state
    if (
        outcome == BLOCKS
        and settings.waits == codes.SPIN
        and state in (codes.COMMUNICATING, codes.SYNCHRONIZING)
        and (pes[pe].owner != task or not settings.coordinated)
    ):
        settle(pe, now, system)
        count_computing(pe, now, system)
        pes[pe].spins = 1
        set_timer(system.timers, pe, pes[pe].quantum_end)
        if pes[pe].quantum_end <= now:
            quantum_is_over(pe, system)
        return
    take_off(pe, now, system)
    set_timer(system.timers, pe, np.inf)
    mark(pe, system)
    if outcome == ENDS:
        end_task(task, system)
    elif settings.returns == codes.AT_SIGNAL and pes[pe].owner == task:
        tasks[task].held = tasks[task].state


@part(void(int64, float64, SYSTEM))
def task_wakes(task, now, system):
    """Handle the end of a task's wait."""
    pes, tasks = system.pes, system.tasks
    pe = tasks[task].pe
    spins = pes[pe].runs == task
    if spins or pes[pe].owner == task:
        settle(pe, now, system)
    outcome = wake(task, now, system)
    if system.settings.turns == codes.BY_READINESS:
        count_turn(task, pe, system)
    if spins:
        if outcome == BLOCKS:
            return
        pes[pe].spins = 0
        if outcome == CONTINUES:
            tasks[task].state = codes.RUNNING
            pes[pe].begin = pes[pe].computed_from = max(now, pes[pe].switched)
            end = min(pes[pe].begin + tasks[task].left, pes[pe].quantum_end)
            set_timer(system.timers, pe, end)
            return
        take_off(pe, now, system)
        set_timer(system.timers, pe, np.inf)
    mark(pe, system)
    if outcome == ENDS:
        end_task(task, system)


@part()
def grade_scheduled(pe, number, now, system):
    """Grade the tasks of a PE that were scheduled in a slice. O(tasks of the PE)."""
    tasks = system.tasks
    task = system.pes[pe].first
    while task != codes.NONE:
        if tasks[task].scheduled == number:
            grade(task, now, system)
        task = tasks[task].next


@part()
def give_slot(job, number, system):
    """Let the tasks of a job own their PEs in a slice. O(tasks of the job)."""
    tasks, jobs = system.tasks, system.jobs
    for task in range(jobs[job].first_task, jobs[job].first_task + jobs[job].n_tasks):
        if tasks[task].state != codes.ENDED:
            system.pes[tasks[task].pe].owner = task
            tasks[task].held = 0
            tasks[task].scheduled = number


@part(void(float64, SYSTEM))
def signal_comes(now, system):
    """End a slice and begin the next one. O(PEs + jobs), with grades O(PEs + tasks)."""
    state, pes, settings = system.state[0], system.pes, system.settings
    ended = state.slice
    if state.n_slots > 0:
        state.row = (state.row + 1) % state.n_slots
        state.void = 0
    for pe in range(settings.n_pes):
        if pes[pe].first == codes.NONE:
            continue
        if pes[pe].runs != codes.NONE:
            count_computing(pe, now, system)
        if settings.graded:
            grade_scheduled(pe, ended, now, system)
        settle(pe, now, system)
        pes[pe].owner = codes.NONE
        mark(pe, system)
    for position in range(state.n_jobs):
        job = system.table.present[position]
        if system.table.jobs[job].slot == state.row:
            give_slot(job, ended + 1, system)
    state.slice = ended + 1
    state.fresh = 1


@part(void(SYSTEM))
def decide_all(system):
    """Let the affected PEs decide."""
    state, pes = system.state[0], system.pes
    now = system.state[0].now
    fresh = state.fresh == 1
    state.fresh = 0
    n_marked = state.n_marked
    state.n_marked = 0
    for i in range(n_marked):
        pe = system.marked[i]
        quantum_over = pes[pe].marked == 2
        pes[pe].marked = 0
        if system.settings.coordinated:
            decide(pe, now, fresh, system)
        else:
            decide_alone(pe, now, quantum_over, system)


@part(void(STATE))
def reset_sums(state):
    """Reset the sums over a batch to zero."""
    for activity in range(codes.N_STATES):
        state.pe_time[activity] = 0.0
    for cause in range(codes.N_CAUSES):
        state.task_wait[cause] = 0.0
    for of in range(codes.N_CLASSES):
        state.busy_of[of] = state.local_of[of] = state.jobs_of[of] = state.response_of[of] = 0.0
    state.slot_time = state.job_time = state.idling = state.idling_time = 0.0
    state.switches = state.changes = state.notified = 0.0


@part(void(float64, SYSTEM))
def close_batch(now, system):
    """Record the sums over a batch, and begin the next batch. O(PEs)."""
    state = system.state[0]
    if state.measuring:
        settle_all(now, system)
    batch = state.n_batches
    system.batches[batch] = state
    reset_sums(state)
    now = min(now, state.measured_until)
    system.batches[batch].now = now
    state.batch_start = now
    state.n_batches += 1
    state.in_batch = 0


@kernel(void(SYSTEM, float64, boolean))
def stop_at(system, now, closes):
    """Advance to a time before the next event, where a batch ends (`closes`) or the measured period."""
    pass_time(now, system)
    if closes:
        close_batch(now, system)
        return
    settle_all(now, system)
    system.state[0].measuring = 0
    system.state[0].measured_until = now


@part()
def first_slice(now, slice_length):
    """Return the number of the slice at a time; at a signal, the number of the slice that begins."""
    # The quotient may be rounded across a signal; the products are the exact times of the signals.
    number = np.int64(np.floor(now / slice_length))
    while number * slice_length > now:
        number -= 1
    while (number + 1) * slice_length <= now:
        number += 1
    return number


@part()
def release_books(release, system):
    """Call the scheme's `release` for the job that has just ended."""
    job = system.table.vacant[system.state[0].n_vacant - 1]
    row = system.buffers.chosen_row
    for w in range(row.shape[0]):
        row[w] = ZERO
    first = system.jobs[job].first_task
    for task in range(first, first + system.jobs[job].n_tasks):  # its cells may have been freed one by one
        pe = system.tasks[task].pe
        row[pe >> 6] |= ONE << np.uint64(pe & 63)
    release(system.jobs[job].n_tasks, system.settings.n_pes, row, system.books)


@kernel(int64(PLACE, RELEASE, SYSTEM, ARRIVALS, LIMITS))
def advance(place, release, system, arrivals, limits):
    """Simulate until the caller has to act, and return the reason (`BATCHES_DONE` …).

    `place` and `release` have the types of `models.packing.schemes.signature`; the chunk of jobs at hand is
    read from `cursor` on.
    """
    settings, costs, state = system.settings, system.costs, system.state[0]
    timers, n_pes = system.timers, system.settings.n_pes
    recorded = system.record.uses.shape[0]
    while True:
        if stands_still(state.repeated, state.n_submitted + n_pes):
            return driver.STANDSTILL
        timer = timers[1]
        waking = system.wakes.time[0] if state.n_wakes > 0 else np.inf
        arrival = np.inf
        if state.cursor < arrivals.submit.shape[0]:
            arrival = np.inf if state.held_up == 1 else max(arrivals.submit[state.cursor], state.now)
        elif limits.more_arrivals:
            return driver.ARRIVALS_USED_UP
        signal = np.inf
        if settings.coordinated and state.n_jobs > 0:
            signal = (state.slice + 1) * costs.slice
        then = min(min(timer, waking), min(arrival, signal))
        # PEs decide once, after all events of an instant have happened.
        if state.n_marked > 0 and then > state.now:
            if recorded > 0 and state.n_recorded + ROWS_A_TIME * n_pes > recorded:
                return driver.RECORD_FULL
            decide_all(system)
            state.repeated += 1
            continue
        if then == np.inf:
            return driver.NO_MORE_JOBS
        if then > limits.until:
            return driver.TIME_REACHED
        if state.n_free_messages < MESSAGES_A_TIME:
            return TASKS_FULL
        if state.n_ended == system.ended.number.shape[0]:
            return driver.RECORD_FULL
        if recorded > 0 and (
            state.n_recorded + ROWS_A_TIME * n_pes > recorded
            or state.n_graded + state.top_task > system.record.grades.shape[0]
        ):
            return driver.RECORD_FULL
        if then == arrival and then < timer and then < waking:
            if state.n_vacant == 0:
                return driver.TABLE_FULL
            if not has_tasks(arrivals.size[state.cursor], system):
                return TASKS_FULL
        pass_time(then, system)
        ended = state.n_measured
        n_jobs = state.n_jobs
        # At one instant tasks that end or wake come first and the signal last: its slice begins with them.
        if timer == then:
            timer_goes_off(first_timer(timers), then, system)
        elif waking == then:
            task_wakes(take_wake(system), then, system)
        elif arrival == then:
            cursor = state.cursor
            size = arrivals.size[cursor]
            if n_jobs == 0 and settings.coordinated:
                # An empty machine has no signals: the slices that have passed meanwhile are skipped.
                state.slice = max(state.slice, first_slice(then, costs.slice))
            first_time = state.held_up == 0
            if first_time and state.n_submitted == settings.first_measured and settings.first_measured > 0:
                settle_all(then, system)  # all jobs before this one only filled the machine
                reset_sums(state)
                state.measuring = then < state.measured_until
                state.batch_start = min(then, state.measured_until)
            slot = place(
                size, n_pes, state.n_slots, system.matrix, system.books, system.buffers.scratch,
                system.buffers.chosen_row,
            )  # fmt: skip
            state.held_up = slot >= settings.slots_limit
            if state.held_up:
                release(size, n_pes, system.buffers.chosen_row, system.books)
                continue
            job = enter(size, arrivals.runtime[cursor], arrivals.key[cursor], arrivals.submit[cursor], system)
            settle_in(job, slot, system)
            state.cursor += 1
        else:
            signal_comes(then, system)
        if state.n_jobs < n_jobs:
            release_books(release, system)
        if state.n_measured > ended and (
            state.in_batch == settings.batch_size or state.n_measured == settings.n_measured
        ):
            close_batch(then, system)
            if state.n_batches >= limits.n_batches:
                return driver.BATCHES_DONE
