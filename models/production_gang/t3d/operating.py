"""The execution of operators' commands, see `commands`.

As with preemption, no switch is interrupted: a command to a job whose nodes or image are in transit is
carried out afterwards.
"""

from numba import int64, void

from models.kernels.compiling import part
from models.production_gang.t3d.admission import count_admitted, wait_for_nodes
from models.production_gang.t3d.commands import KILL, RESUME, SUSPEND
from models.production_gang.t3d.events import insert, push
from models.production_gang.t3d.moving import leave, release_nodes, write_image
from models.production_gang.t3d.periods import N_PERIODS, NIGHT, PRIME
from models.production_gang.t3d.ranking import parameters_of, slice_end
from models.production_gang.t3d.state import NONE, SYSTEM, JobState, Kind


@part(void(int64, SYSTEM))
def stop_waiting(job, system):
    """Remove a job from those that wait for nodes, if it is one of them. O(waiting jobs)."""
    waiting, state = system.waiting, system.state[0]
    kept = 0
    for i in range(state.n_waiting):
        if waiting[i] != job:
            waiting[kept] = waiting[i]
            kept += 1
    state.n_waiting = kept


@part(void(int64, int64, SYSTEM))
def change_class(job, job_class, system):
    """Change the class of an admitted job, which may let others in, and its next change of rank."""
    it, state = system.jobs[job], system.state[0]
    count_admitted(job, -1, system)
    it.job_class = job_class
    count_admitted(job, 1, system)
    state.scan_from = 0
    changes = it.since + parameters_of(job, system).max_wait
    if it.state == JobState.RUNNING:
        changes = slice_end(job, system)
    if state.now < changes < 1e300:
        push(changes, Kind.TIMER, job, system)


@part(void(int64, SYSTEM), inline=False)
def carry_out(number, system):
    """Carry out a command, or defer it; it has no effect on jobs in queues, nor if it changes nothing."""
    state, settings, command = system.state[0], system.settings, system.commands[number]
    if command.number > state.n_submitted:
        return
    job = system.submitted[command.number - 1]
    it, action = system.jobs[job], command.action
    suspends = action == SUSPEND and settings.preemptive
    suspends = suspends and system.classes[N_PERIODS * it.job_class].preemptable == 1
    if suspends and it.state == JobState.RUNNING:
        write_image(job, system)
    if it.state == JobState.ASSIGNED or it.state == JobState.LEAVING:
        residency = system.residencies[it.residency]
        switched = residency.begins if it.state == JobState.ASSIGNED else residency.gone
        insert(switched, Kind.COMMAND, number, 0, system)
        return
    is_suspended = it.state == JobState.SUSPENDED
    if not (
        is_suspended
        or it.state == JobState.RUNNING
        or it.state == JobState.NEW
        or it.state == JobState.ON_DISK
    ):
        return
    if action == KILL:
        if it.state == JobState.RUNNING:
            release_nodes(job, False, system)
        else:
            it.stops += 1  # as if it had run
        stop_waiting(job, system)
        leave(job, JobState.KILLED, system)
    elif suspends and not is_suspended:
        stop_waiting(job, system)
        it.state = JobState.SUSPENDED
    elif action == RESUME and is_suspended:
        it.state = JobState.NEW if it.residency == NONE else JobState.ON_DISK
        wait_for_nodes(job, system)
    elif command.job_class >= 0 and command.job_class != it.job_class:
        new = system.classes[N_PERIODS * command.job_class :]
        if it.processors > max(new[PRIME].processor_limit, new[NIGHT].processor_limit):
            return
        command.former = it.job_class
        change_class(job, command.job_class, system)
    else:
        return
    command.job = job
    command.done = state.now
