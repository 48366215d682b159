"""Grades of membership of tasks to classes, and the priority that follows from them (section 2.2)."""

from numba import float64, int64, void

from models.concurrent_gang import codes
from models.concurrent_gang.programs import time_slice
from models.concurrent_gang.state import SYSTEM
from models.kernels.compiling import part


@part(float64(int64, SYSTEM))
def priority(task, system):
    """Return Pr(T) = max(alpha x grade of I/O, grade of computation), equation 1."""
    costs, tasks = system.costs, system.tasks
    if system.tasks[task].n_measures == 0:
        return costs.newcomer_priority
    return max(costs.alpha * tasks[task].grade_io, tasks[task].grade_computation)


@part(void(int64, float64, SYSTEM))
def count_computing(pe, now, system):
    """Add the computing time of a PE's running task to its seconds of this slice."""
    task = system.pes[pe].runs
    if not system.settings.graded or system.pes[pe].spins:
        return
    pes = system.pes
    if now > pes[pe].computed_from:
        time_slice(task, system)
        system.tasks[task].computed += now - pes[pe].computed_from
        pes[pe].computed_from = now


@part(void(int64, float64, SYSTEM))
def grade(task, now, system):
    """Measure a task at the end of a slice in which it was scheduled, and average its last measures.

    The measures are the shares of I/O and of computation in the time in which the task executed its
    statements. Time in which it was ready without a PE does not count.
    """
    one, state = system.tasks[task], system.state[0]
    time_slice(task, system)
    if codes.FIRST_BLOCKED <= one.state < codes.FIRST_BLOCKED + codes.N_CAUSES:
        begin = max(one.blocked, state.slice * system.costs.slice)
        one.waited[one.state - codes.FIRST_BLOCKED] += max(now - begin, 0.0)
    total = one.computed
    for cause in range(codes.N_CAUSES):
        total += one.waited[cause]
    if total <= 0.0 or (system.settings.measured == codes.RAN and one.computed <= 0.0):
        return
    window = system.settings.window
    at = one.n_measures % window
    one.measures[2 * at] = one.waited[codes.IO] / total
    one.measures[2 * at + 1] = one.computed / total
    one.n_measures += 1
    n = min(one.n_measures, window)
    io = computation = 0.0
    for age in range(n):  # from the oldest on, so that equal histories give equal grades
        i = (one.n_measures - n + age) % window
        io += one.measures[2 * i]
        computation += one.measures[2 * i + 1]
    one.grade_io = io / n
    one.grade_computation = computation / n
    grades = system.record.grades
    if state.n_graded < grades.shape[0]:
        row = grades[state.n_graded]
        row.job = system.table.jobs[one.job].number
        row.task = one.index
        row.time = now
        row.io = one.grade_io
        row.computation = one.grade_computation
        state.n_graded += 1
