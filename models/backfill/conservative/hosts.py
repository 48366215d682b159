"""Conservative backfilling with compression: every job has a reservation, which only ever moves forward.

A submitted job gets the earliest start that disturbs no other reservation. Where a job ends, the waiting jobs
are placed again, one by one in order of submission: each gives up its place and takes the earliest one, with
all others where they are, so that it never starts later than promised. A job takes the host where it starts
first, and among equal hosts the one with the fewest free processors now; it changes its host only for an
earlier start. This kernel examines every job on every host; `pool` makes the same schedules on one host
without a limit on memory, and examines few jobs. See `rules` for the source.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import void

from models.arrays import Floats, Ints
from models.backfill.conservative.rules import Conservative
from models.backfill.event_loop import initial_state, next_to_end, part_of, run_events, run_job, state_type
from models.backfill.job_table import NO_HOST, JobTable, schedule_of, table_of
from models.backfill.profile import Steps, all_free, earliest, forget, occupy
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule
from models.kernels import standstill
from models.kernels.compiling import kernel, part
from models.kernels.types import record

STATE = state_type()


class ConservativeHosts(NamedTuple):
    """The system, see `models.backfill.event_loop`.

    Parameters
    ----------
    state, jobs, profile : see there; no job is longer than requested
    planned : the reserved start of each job (seconds), inf before there is one
    free : free processors of each host
    queue : the waiting jobs in order of submission
    """

    state: Annotated[np.ndarray, STATE]
    jobs: JobTable
    profile: Steps
    planned: Floats
    free: Ints
    queue: Ints
    heap: Ints


SYSTEM = record(ConservativeHosts)


@part_of(ConservativeHosts)
def begin_instant(system):
    """Drop what is past, and start jobs at their planned start: the profile has capacity for them."""
    state, jobs = system.state[0], system.jobs
    for h in range(system.free.shape[0]):
        forget(system.profile, h, state.now)
    if state.next_start > state.now:
        return
    kept = 0
    state.next_start = np.inf
    for i in range(state.n_waiting):
        job = system.queue[i]
        if system.planned[job] > state.now:
            state.next_start = min(state.next_start, system.planned[job])
            system.queue[kept] = job
            kept += 1
            continue
        run_job(system, job, jobs.host[job], jobs.runtime[job])
        system.free[jobs.host[job]] -= jobs.size[job]
    state.n_waiting = kept


@part_of(ConservativeHosts)
def end_job(system):
    """Free the processors and memory of the job that ends next, up to its expected end. O(steps)."""
    state, jobs = system.state[0], system.jobs
    job = next_to_end(system)
    h, size, expected = jobs.host[job], jobs.size[job], jobs.start[job] + jobs.requested[job]
    system.free[h] += size
    if expected > state.now:
        occupy(system.profile, h, state.now, expected, -size, -jobs.need[job])


@part_of(ConservativeHosts)
def submit_job(system):
    """Append the next job to the queue. O(1)."""
    system.queue[system.state[0].n_waiting] = system.state[0].arrived
    system.state[0].n_waiting += 1


@part_of(ConservativeHosts)
def schedule_jobs(system, functions):
    """Place new jobs, after an end all waiting ones: O(waiting + running) jobs for each."""
    state, jobs = system.state[0], system.jobs
    first_new = state.n_waiting - (state.arrived - state.first_new)
    begin = first_new
    if state.n_ended > 0:
        begin = 0
        state.next_start = np.inf
    for i in range(begin, state.n_waiting):
        job = system.queue[i]
        place(system, job)
        state.next_start = min(state.next_start, system.planned[job])
        if i >= first_new and system.planned[job] > state.now:
            jobs.promised[job] = system.planned[job]


@part()
def place(system, job):
    """Place a job where it starts first, with all others where they are. O(steps of all hosts)."""
    jobs, profile = system.jobs, system.profile
    size, need, requested = jobs.size[job], jobs.need[job], jobs.requested[job]
    planned = system.planned[job]
    if planned < np.inf:
        occupy(profile, jobs.host[job], planned, planned + requested, -size, -need)
    best = NO_HOST
    for h in range(system.free.shape[0]):
        when = earliest(profile, h, size, need, requested)
        if when < planned or (when == planned and best >= 0 and system.free[h] < system.free[best]):
            planned = when
            best = h
    if best >= 0:
        jobs.host[job] = best
    system.planned[job] = planned
    occupy(profile, jobs.host[job], planned, planned + requested, size, need)


@kernel(void(SYSTEM))
def run(system):
    """Simulate jobs to their last end, see `models.backfill.event_loop.run_events`."""
    run_events(system, ())


def simulate(jobs: Jobs, machine: Machine, rules: Conservative) -> Schedule:
    """Run all jobs to their ends, see `models.backfill.rules.Rules.simulate`."""
    n = len(jobs)
    table, queue, heap = table_of(jobs), np.empty(n, np.int64), np.empty(n, np.int64)
    table.host[:] = 0
    profile = all_free(machine, 2 * n + 2 + 2 * len(machine.down))
    system: Any = ConservativeHosts(
        initial_state(STATE, rules.instant), table, profile, np.full(n, np.inf),
        machine.processors.copy(), queue, heap,
    )  # fmt: skip
    run(system)
    standstill.check(system.state[0], len(jobs))
    return schedule_of(table, jobs, machine)
