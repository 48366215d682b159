"""Conservative backfilling with compression on one pool of processors: the fast path.

The rules are the same as in `hosts`: where a job ends, the waiting jobs are placed again one by one in order
of submission, each where it fits first with all others where they are. But a job is examined only if it may
start earlier than when it was examined last, because processors have become free

- right before their start, so that they move forward into them (nearly all moves are of that kind, and by one
  step), see `steps.give_back`;
- in a stretch of time into which they fit as a whole, see `gaps`.

Processors that become free after a job's turn are considered at the next end, as if all jobs were examined.
"""

from typing import Any

import numpy as np
from numba import void

from models.backfill.conservative import steps, tables
from models.backfill.conservative.gaps import close_old_gaps, first_gap, open_gap
from models.backfill.conservative.index import enter, leave, reorganize
from models.backfill.conservative.rules import Conservative
from models.backfill.event_loop import next_to_end, part_of, run_events, run_job
from models.backfill.job_table import schedule_of
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule
from models.kernels import standstill
from models.kernels.bits import ALL, ONE, ZERO, lowest_position
from models.kernels.compiling import kernel, part

INSTANTS_BETWEEN = 64
"""Instants between two reorganizations: at this interval they cost little, see `index.reorganize`."""


@part_of(tables.ConservativePool)
def begin_instant(system):
    """Drop what is past, and start jobs at their planned start: the profile has capacity for them."""
    state, jobs, queue, step = system.state[0], system.jobs, system.queue, system.step
    steps.drop_past(system)
    state.n_instants += 1
    if state.n_instants % INSTANTS_BETWEEN == 0:
        reorganize(system)
    if state.next_start > state.now:
        return
    first = state.first
    position = step[first].starting
    while position != tables.NONE:
        job = queue.job[position]
        run_job(system, job, 0, jobs.runtime[job])
        system.until[job] = queue.reservation[position].last
        leave(queue, position)
        step[first].n_jobs -= 1
        state.n_waiting -= 1
        position = queue.reservation[position].next_there
    step[first].starting = tables.NONE
    at = first
    while at != tables.NONE and step[at].starting == tables.NONE:
        at = step[at].after
    state.next_start = np.inf if at == tables.NONE else step[at].time


@part_of(tables.ConservativePool)
def end_job(system):
    """Free the processors of the job that ends next, up to its expected end."""
    state, step = system.state[0], system.step
    job = next_to_end(system)
    at, expected = state.first, system.until[job]
    size = system.jobs.size[job]
    while at != expected:
        steps.give_back(system, at, size)
        at = step[at].after
    if expected != state.first and state.n_waiting > 0:
        open_gap(system, state.first, expected, size)
    steps.release_step(system, expected)


@part_of(tables.ConservativePool)
def submit_job(system):
    """Reserve the earliest start that disturbs no other reservation for the next job. O(steps).

    New jobs are placed after all waiting ones.
    """
    state, queue, step = system.state[0], system.queue, system.step
    if state.arrived == state.first_new and state.n_ended > 0:
        compress(system)
    job, position = state.arrived, np.uint32(state.n_positions)
    size, requested = system.jobs.size[job], system.jobs.requested[job]
    at = steps.first_fit(system, state.first, size, requested)
    planned = step[at].time
    queue.job[position] = job
    queue.size[position] = size
    queue.reservation[position].requested = requested
    last = steps.take(system, at, planned + requested, size)
    queue.reservation[position].last = last
    step[last].n_jobs += 1
    steps.link_start(system, position, at)
    enter(queue, position, size, requested, planned)
    if planned > state.now:
        system.jobs.promised[job] = planned
    state.next_start = min(state.next_start, planned)
    state.n_positions += 1
    state.n_waiting += 1


@part_of(tables.ConservativePool)
def schedule_jobs(system, functions):
    """Place the waiting jobs again after ends, unless that was done before a submission."""
    if system.state[0].n_ended > 0 and system.state[0].arrived == system.state[0].first_new:
        compress(system)


@part(tables.NUMBER(tables.SYSTEM, tables.NUMBER, tables.NUMBER))
def move(system: tables.ConservativePool, position: int, at: int) -> int:
    """Move a waiting job forward to the beginning of a step, and return the first step of the gap that it
    leaves behind, which ends where the job was expected to end. O(steps that it moves over).

    The two steps that it leaves are not released yet.
    """
    reservation, step = system.queue.reservation, system.step
    size = system.queue.size[position]
    first, last = reservation[position].first, reservation[position].last
    end = step[at].time + reservation[position].requested
    if end > step[first].time:
        while at != first:
            step[at].free -= size
            at = step[at].after
        gap = last
        before = step[gap].before
        while step[before].time >= end:
            gap = before
            steps.give_back(system, gap, size)
            before = step[gap].before
        if step[gap].time != end:
            gap = steps.split_step(system, before, end)
            steps.give_back(system, gap, size)
        reservation[position].last = gap
        return gap
    reservation[position].last = steps.take(system, at, end, size)
    at = first
    while at != last:
        steps.give_back(system, at, size)
        at = step[at].after
    return first


@part(void(tables.SYSTEM), inline=False)
def compress(system: tables.ConservativePool) -> None:
    """Place again, in order of submission, the waiting jobs that may have an earlier start.

    O(positions / 64), and O(steps that they move over) for the jobs, plus the cost of `first_gap` where
    processors for a whole job may have become free.
    """
    state, queue, step = system.state[0], system.queue, system.step
    reservation = queue.reservation
    for word in range((state.n_positions >> tables.SHIFT) + 1):
        rest = queue.may_advance[word] | queue.may_jump[word]
        while rest != ZERO:
            bit = lowest_position(rest)
            one = ONE << np.uint64(bit)
            position = np.uint32((word << tables.SHIFT) + bit)
            before, last = reservation[position].first, reservation[position].last
            at = before
            if queue.may_advance[word] & one != ZERO:
                at = steps.first_adjacent(system, at, queue.size[position])
            if queue.may_jump[word] & one != ZERO:
                at = first_gap(system, position, at)
            queue.may_advance[word] &= ~one
            queue.may_jump[word] &= ~one
            if at != before:
                gap = move(system, position, at)
                steps.unlink_start(system, position)
                steps.link_start(system, position, at)
                step[reservation[position].last].n_jobs += 1
                state.next_start = min(state.next_start, reservation[position].planned)
                if gap != last:
                    open_gap(system, gap, last, queue.size[position])
                steps.release_step(system, before)
                steps.release_step(system, last)
            # Jobs before it are examined at the next end.
            rest = ZERO
            if bit != tables.MASK:
                rest = (queue.may_advance[word] | queue.may_jump[word]) & (ALL << np.uint64(bit + 1))
    close_old_gaps(system)
    state.turn += 1


@kernel(void(tables.SYSTEM))
def run(system):
    """Simulate jobs to their last end, see `models.backfill.event_loop.run_events`.

    A submission costs O(waiting + running) jobs, reading one number of each. An end costs O(running) jobs
    and, in practice, O(1) for each waiting job that moves. The number of moves depends on the rules: in a
    queue much longer than the list of running jobs, about a fifth of all jobs move.
    """
    run_events(system, ())


def simulate(jobs: Jobs, machine: Machine, rules: Conservative) -> Schedule:
    """Run all jobs to their ends, see `models.backfill.rules.Rules.simulate`."""
    system: Any = tables.system_of(jobs, machine, rules.instant)
    run(system)
    standstill.check(system.state[0], len(jobs))
    return schedule_of(system.jobs, jobs, machine)
