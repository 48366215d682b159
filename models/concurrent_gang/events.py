"""The next event: a tournament tree of the PEs' timers, and a heap of the tasks that wake.

Timers change at nearly every event and rarely go off, which suits a tournament tree; wake-ups are never
cancelled, which suits a heap. Ties go to the lower PE, and to the earlier job and then the lower task, so
that the order never depends on history.
"""

import numpy as np
from numba import boolean, float64, int64, void

from models.arrays import Floats
from models.concurrent_gang.state import SYSTEM
from models.kernels.bits import ONE
from models.kernels.compiling import part
from models.kernels.types import FLOATS


def no_timers(n_pes: int) -> Floats:
    """Return a tournament in which no timer is set; leaf p is at the second half's position p."""
    return np.full(2 << (n_pes - 1).bit_length() if n_pes > 1 else 2, np.inf)


@part(void(FLOATS, int64, float64))
def set_timer(timers, pe, time):
    """Let the timer of a PE go off at a time, inf for never. O(log n_pes)."""
    at = (timers.shape[0] >> 1) + pe
    timers[at] = time
    while at > 1:  # always up to the root: an early exit would be mispredicted more often than not
        time = min(time, timers[at ^ 1])
        at >>= 1
        timers[at] = time


@part(int64(FLOATS))
def first_timer(timers):
    """Return the PE whose timer goes off next; ties go to the lowest. O(log n_pes)."""
    half = np.uint64(timers.shape[0] >> 1)  # unsigned, so that no index is tested for being negative
    least = timers[1]
    at = ONE
    while at < half:
        at <<= ONE
        at += np.uint64(timers[at] != least)
    return np.int64(at - half)


@part(boolean(float64, int64, float64, int64, SYSTEM))
def wakes_before(time, task, other_time, other, system):
    """Return whether a task wakes before another one."""
    if time != other_time:
        return time < other_time
    tasks = system.tasks
    job, other_job = tasks[task].job, tasks[other].job
    if job != other_job:
        return system.table.jobs[job].number < system.table.jobs[other_job].number
    return tasks[task].index < tasks[other].index


@part(void(int64, float64, SYSTEM))
def wake_at(task, time, system):
    """Let a blocked task wake at a time. O(log tasks)."""
    times, tasks = system.wakes
    at = system.state[0].n_wakes
    system.state[0].n_wakes += 1
    while at > 0:
        parent = (at - 1) >> 1
        if not wakes_before(time, task, times[parent], tasks[parent], system):
            break
        times[at] = times[parent]
        tasks[at] = tasks[parent]
        at = parent
    times[at] = time
    tasks[at] = task


@part(int64(SYSTEM))
def take_wake(system):
    """Remove the first task to wake from the heap. O(log tasks), O(1) for all but one task of a barrier."""
    times, tasks = system.wakes
    first = tasks[0]
    job = system.tasks[first].job
    if system.jobs[job].to_wake > 1:  # no other entry comes between two tasks of a job
        system.jobs[job].to_wake -= 1
        tasks[0] = first + 1
        return first
    system.jobs[job].to_wake = 0
    n = system.state[0].n_wakes - 1
    system.state[0].n_wakes = n
    time, task = times[n], tasks[n]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= n:
            break
        if child + 1 < n and wakes_before(
            times[child + 1], tasks[child + 1], times[child], tasks[child], system
        ):
            child += 1
        if not wakes_before(times[child], tasks[child], time, task, system):
            break
        times[at] = times[child]
        tasks[at] = tasks[child]
        at = child
    times[at] = time
    tasks[at] = task
    return first


@part(void(int64, SYSTEM))
def mark(pe, system):
    """Let a PE decide again, after all other events of this instant."""
    pes, state = system.pes, system.state[0]
    if pes[pe].marked == 0:
        pes[pe].marked = 1
        system.marked[state.n_marked] = pe
        state.n_marked += 1
