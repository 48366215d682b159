"""Where the time of PEs and tasks goes: every PE second is busy, switching or idle by a cause."""

from __future__ import annotations

from numba import float64, int64, void

from models.concurrent_gang.state import (
    AS_OWNER,
    BUSY,
    DIAGRAM_SINCE,
    EMPTY,
    FIRST_BLOCKED,
    FIRST_WAIT,
    IDLE_AS,
    IDLING,
    IDLING_TIME,
    INDEX,
    JOB,
    JOB_NUMBER,
    JOB_TIME,
    LOCAL_TIME,
    MAPPED,
    MEASURING,
    N_BLOCKED,
    N_CAUSES,
    N_JOBS,
    N_RECORDED,
    N_SLOTS,
    NONE,
    NOW,
    PE_TIME,
    RUNS,
    SINCE,
    SLOT_TIME,
    SPINS,
    STATE,
    SWITCHED,
    SWITCHING,
    SYSTEM,
    TASK_WAIT,
)
from models.kernels.compiling import part

ROWS_A_TIME = 3
"""Rows of the record that one PE may take at one event."""


@part(void(int64, int64, float64, float64, int64, SYSTEM))
def note(pe, state, begin, end, task, system):
    """Count and, where it is recorded, write down what a PE did from `begin` to `end`."""
    if end <= begin:
        return
    counts, clocks, record = system.counts, system.clocks, system.record
    owns = system.pes.whole[pe, AS_OWNER]
    if counts[MEASURING]:
        clocks[PE_TIME + state] += end - begin
        if state == BUSY and not owns:
            clocks[LOCAL_TIME] += end - begin
    if record.whole.shape[0] > 0:
        row = counts[N_RECORDED]
        record.whole[row, 0] = pe
        record.whole[row, 1] = state
        record.whole[row, 2] = record.whole[row, 3] = NONE
        if task != NONE:
            job = system.tasks.whole[task, JOB]
            record.whole[row, 2] = system.jobs.whole[job, JOB_NUMBER]
            record.whole[row, 3] = system.tasks.whole[task, INDEX]
        record.whole[row, 4] = owns
        record.real[row, 0] = begin
        record.real[row, 1] = end
        counts[N_RECORDED] += 1


@part(void(int64, float64, SYSTEM))
def settle(pe, now, system):
    """Count what a PE has done since it was looked at last; to be called before that changes."""
    whole, real = system.pes.whole, system.pes.real
    since = real[pe, SINCE]
    if now <= since:
        return
    task = whole[pe, RUNS]
    if task == NONE:
        note(pe, whole[pe, IDLE_AS], since, now, NONE, system)
    else:
        switched = min(max(real[pe, SWITCHED], since), now)
        note(pe, SWITCHING, since, switched, task, system)
        state = BUSY
        if whole[pe, SPINS]:
            state = FIRST_WAIT + system.tasks.whole[task, STATE] - FIRST_BLOCKED
        note(pe, state, switched, now, task, system)
    real[pe, SINCE] = now


@part(void(float64, SYSTEM))
def settle_diagram(now, system):
    """Count used slots, jobs and cells of the trace diagram so far; to be called before these change."""
    counts, clocks, settings = system.counts, system.clocks, system.settings
    elapsed = now - clocks[DIAGRAM_SINCE]
    clocks[DIAGRAM_SINCE] = now
    if counts[MEASURING] and elapsed > 0.0:
        clocks[SLOT_TIME] += counts[N_SLOTS] * elapsed
        clocks[JOB_TIME] += counts[N_JOBS] * elapsed
        if counts[N_SLOTS] > 0:
            clocks[IDLING_TIME] += elapsed
            clocks[IDLING] += elapsed * (1.0 - counts[MAPPED] / (counts[N_SLOTS] * settings.n_pes))


@part()
def settle_all(now, system):
    """Count what every PE has done so far, and the trace diagram. O(PEs)."""
    settle_diagram(now, system)
    for pe in range(system.settings.n_pes):
        settle(pe, now, system)


@part()
def pass_time(then, system):
    """Advance the clock and the waiting of tasks; nothing has changed since the last event."""
    counts, clocks = system.counts, system.clocks
    elapsed = then - clocks[NOW]
    if counts[MEASURING] and elapsed > 0.0:
        for cause in range(N_CAUSES):
            clocks[TASK_WAIT + cause] += counts[N_BLOCKED + cause] * elapsed
    clocks[NOW] = then


@part()
def idle_as(task, system):
    """Return what a PE counts as that is idle while the task in question does not run."""
    if task == NONE:
        return EMPTY
    state = system.tasks.whole[task, STATE]
    if FIRST_BLOCKED <= state < FIRST_BLOCKED + N_CAUSES:
        return FIRST_WAIT + state - FIRST_BLOCKED
    return EMPTY
