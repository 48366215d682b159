"""Grades of membership of tasks to classes, and the priority that follows from them (section 2.2)."""

from __future__ import annotations

from numba import float64, int64, void

from models.concurrent_gang.programs import time_slice
from models.concurrent_gang.state import (
    BLOCKED,
    COMPUTED,
    COMPUTED_FROM,
    FIRST_BLOCKED,
    GRADE_COMPUTATION,
    GRADE_IO,
    INDEX,
    IO,
    JOB,
    JOB_NUMBER,
    MEASURES,
    N_CAUSES,
    N_GRADED,
    N_MEASURES,
    RUNS,
    SLICE,
    SPINS,
    STATE,
    SYSTEM,
    WAITED_FIRST,
)
from models.kernels.compiling import part


@part(float64(int64, SYSTEM))
def priority(task, system):
    """Return Pr(T) = max(alpha x grade of I/O, grade of computation), equation 1."""
    costs, real = system.costs, system.tasks.real
    if system.tasks.whole[task, N_MEASURES] == 0:
        return costs.newcomer_priority
    return max(costs.alpha * real[task, GRADE_IO], real[task, GRADE_COMPUTATION])


@part(void(int64, float64, SYSTEM))
def count_computing(pe, now, system):
    """Add what the running task of a PE has computed to its seconds of this slice."""
    task = system.pes.whole[pe, RUNS]
    if not system.settings.graded or system.pes.whole[pe, SPINS]:
        return
    real = system.pes.real
    if now > real[pe, COMPUTED_FROM]:
        time_slice(task, system)
        system.tasks.real[task, COMPUTED] += now - real[pe, COMPUTED_FROM]
        real[pe, COMPUTED_FROM] = now


@part(void(int64, float64, SYSTEM))
def grade(task, now, system):
    """At the end of a slice in which a task was scheduled: measure it, and average the last five measures.

    A measure is the share of the time in which the task went through its statements that it spent in I/O, and
    in computation. Time in which it was ready and had no PE is no part of that.
    """
    whole, real, measures = system.tasks.whole, system.tasks.real, system.tasks.measures
    time_slice(task, system)
    state = whole[task, STATE]
    if FIRST_BLOCKED <= state < FIRST_BLOCKED + N_CAUSES:
        begin = max(real[task, BLOCKED], system.counts[SLICE] * system.costs.slice)
        real[task, WAITED_FIRST + state - FIRST_BLOCKED] += max(now - begin, 0.0)
    total = real[task, COMPUTED]
    for cause in range(N_CAUSES):
        total += real[task, WAITED_FIRST + cause]
    if total <= 0.0:
        return
    at = whole[task, N_MEASURES] % MEASURES
    measures[task, 2 * at] = real[task, WAITED_FIRST + IO] / total
    measures[task, 2 * at + 1] = real[task, COMPUTED] / total
    whole[task, N_MEASURES] += 1
    n = min(whole[task, N_MEASURES], MEASURES)
    io = computation = 0.0
    for age in range(n):  # from the oldest on, so that equal histories give equal grades
        i = (whole[task, N_MEASURES] - n + age) % MEASURES
        io += measures[task, 2 * i]
        computation += measures[task, 2 * i + 1]
    real[task, GRADE_IO] = io / n
    real[task, GRADE_COMPUTATION] = computation / n
    record, counts = system.record, system.counts
    if counts[N_GRADED] < record.graded.shape[0]:
        row = counts[N_GRADED]
        record.graded[row, 0] = system.jobs.whole[whole[task, JOB], JOB_NUMBER]
        record.graded[row, 1] = whole[task, INDEX]
        record.grades[row, 0] = now
        record.grades[row, 1] = real[task, GRADE_IO]
        record.grades[row, 2] = real[task, GRADE_COMPUTATION]
        counts[N_GRADED] += 1
