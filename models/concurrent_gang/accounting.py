"""Accounts for the time of PEs and tasks: every PE second is busy, switching, or idle for a cause."""

from numba import float64, int64, void

from models.concurrent_gang import codes
from models.concurrent_gang.state import SYSTEM
from models.kernels.compiling import part
from models.kernels.standstill import count_repeated

ROWS_A_TIME = 3
"""Maximum of rows of the record that one PE adds at one event."""


@part()
def class_of(job, system):
    """Return the class of a job's program."""
    return system.program.classes[system.jobs[job].program]


@part(void(int64, int64, float64, float64, int64, SYSTEM))
def account(pe, activity, begin, end, task, system):
    """Add the activity of a PE from `begin` to `end` to the sums and, if there is one, to the record."""
    if end <= begin:
        return
    state, record = system.state[0], system.record.uses
    owns = system.pes[pe].as_owner
    if state.measuring:
        state.pe_time[activity] += end - begin
        if activity == codes.BUSY:
            of = class_of(system.tasks[task].job, system)
            state.busy_of[of] += end - begin
            if not owns:
                state.local_of[of] += end - begin
    if record.shape[0] > 0:
        job = index = codes.NONE
        if task != codes.NONE:
            job = system.table.jobs[system.tasks[task].job].number
            index = system.tasks[task].index
        recorded = system.settings.recorded
        if recorded > 0 and (activity != codes.BUSY or job >= recorded):
            return
        if system.pes[pe].row != codes.NONE:
            last = record[system.pes[pe].row]
            same = last.end == begin and last.state == activity and last.owns == owns
            if same and last.job == job and last.task == index:
                last.end = end
                return
        row = record[state.n_recorded]
        row.pe = pe
        row.state = activity
        row.job = job
        row.task = index
        row.owns = owns
        row.begin = begin
        row.end = end
        system.pes[pe].row = state.n_recorded
        state.n_recorded += 1


@part(void(int64, float64, SYSTEM))
def settle(pe, now, system):
    """Account for the time of a PE since the last call; must be called before its activity changes."""
    pes = system.pes
    since = pes[pe].since
    if now <= since:
        return
    task = pes[pe].runs
    if task == codes.NONE:
        account(pe, pes[pe].idle_as, since, now, codes.NONE, system)
    else:
        switched = min(max(pes[pe].switched, since), now)
        account(pe, codes.SWITCHING, since, switched, task, system)
        activity = codes.BUSY
        if pes[pe].spins:
            activity = codes.FIRST_WAIT + system.tasks[task].state - codes.FIRST_BLOCKED
        account(pe, activity, switched, now, task, system)
    pes[pe].since = now


@part(void(float64, SYSTEM))
def settle_diagram(now, system):
    """Count used slots, jobs and cells of the trace diagram so far; must be called before these change."""
    state, settings = system.state[0], system.settings
    elapsed = now - state.diagram_since
    state.diagram_since = now
    if state.measuring and elapsed > 0.0:
        state.slot_time += state.n_slots * elapsed
        state.job_time += state.n_jobs * elapsed
        if state.n_slots > 0:
            state.idling_time += elapsed
            state.idling += elapsed * (1.0 - state.mapped / (state.n_slots * settings.n_pes))


@part()
def count_change(n_changes, n_pes, state):
    """Count workload changes, and the PEs that are notified of a change of the trace diagram."""
    if state.measuring:
        state.changes += n_changes
        state.notified += n_pes


@part()
def settle_all(now, system):
    """Count the activity of every PE, and the trace diagram, up to now. O(PEs)."""
    settle_diagram(now, system)
    for pe in range(system.settings.n_pes):
        settle(pe, now, system)


@part()
def pass_time(then, system):
    """Advance the clock and the waiting times of tasks; the state has not changed since the last event."""
    state = system.state[0]
    elapsed = then - state.now
    if state.measuring and elapsed > 0.0:
        for cause in range(codes.N_CAUSES):
            state.task_wait[cause] += state.n_blocked[cause] * elapsed
    state.repeated = count_repeated(state.repeated, state.now, then)
    state.now = then


@part()
def idle_as(task, system):
    """Return the activity of a PE that is idle while a task does not run."""
    if task == codes.NONE:
        return codes.EMPTY
    state = system.tasks[task].state
    if state == codes.READY and system.tasks[task].held:
        state = system.tasks[task].held  # the cause of its last wait cost it this slot
    if codes.FIRST_BLOCKED <= state < codes.FIRST_BLOCKED + codes.N_CAUSES:
        return codes.FIRST_WAIT + state - codes.FIRST_BLOCKED
    return codes.EMPTY
