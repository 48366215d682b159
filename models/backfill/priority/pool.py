"""FCFS and backfilling past at most one reservation, on one pool of processors: the fast path of the family.

Orders do not change while jobs wait here (FCFS, shortest or smallest first, or fixed at submission). Jobs
start in the order of the queue. The first that does not fit has the reservation: the shadow time, at which
enough processors will be free if all running jobs use up their requested times (EASY; in other orders Chiang
and Vernon 2001, section 2.3, with one scheduled start). Another job may start at once if it ends before the
shadow time, according to its requested time, or needs only the extra processors, which the first job leaves
over then. A job that runs on beyond its request is expected to end at any moment.

References
----------
D. A. Lifka, "The ANL/IBM SP scheduling system", in *Job Scheduling Strategies for Parallel Processing*, LNCS
949, 1995.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import int64, void

from models.arrays import Floats
from models.backfill.event_loop import (
    INFINITY,
    initial_state,
    part_of,
    run_events,
    state_type,
)
from models.backfill.expected_ends import ExpectedEnds, empty, insert, remove
from models.backfill.job_table import NO_JOB, JobTable, schedule_of, table_of
from models.backfill.priority import indexed_queue
from models.backfill.priority.indexed_queue import BITS, IndexedQueue
from models.backfill.priority.rules import FCFS, Priority
from models.backfill.priority.tables import NO_BACKFILL, function_or_keys, places_on
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule
from models.kernels.bits import ONE, ZERO, lowest_position
from models.kernels.compiling import kernel, part
from models.kernels.types import record

STATE = state_type(
    free=np.int64, reservations=np.int64, sticky=np.bool_, reorders=np.bool_, in_order=np.bool_,
    head=np.int64, is_settled=np.bool_, shadow=np.float64, extra=np.int64, holder=np.int64,
    missing=np.int64,
)  # fmt: skip
"""Scalars beyond those of every system.

free
    Free processors.
reservations, sticky, reorders
    As in `models.backfill.priority.tables.Order`.
in_order
    Whether both orders are that of submission.
head
    The job that keeps others waiting, or has the reservation, or `NO_JOB` where it has to be found.
is_settled
    Whether only new jobs can start, with this shadow time and extra processors.
shadow, extra, holder
    The reserved start (seconds), the processors left over then, and the job that this was computed for.
missing
    With so many processors more, or fewer, that job cannot start at any time before.
"""


class Pool(NamedTuple):
    """The system, see `models.backfill.event_loop`.

    Parameters
    ----------
    state : one record of `STATE`
    jobs : see there; the host and the end are not filled in
    queue, backfilled : the waiting jobs in order, and in the backfill order: the same unless it `reorders`
    ends : ends of running jobs, with one host, and a job's number in the place of its size
    due : expected ends, with one host; empty without reservations
    """

    state: Annotated[np.ndarray, STATE]
    jobs: JobTable
    queue: IndexedQueue
    backfilled: IndexedQueue
    ends: ExpectedEnds
    due: ExpectedEnds


SYSTEM = record(Pool)


@part(void(SYSTEM, int64, int64))
def start(system: Pool, job: int, size: int) -> None:
    """Start a job. O(running)."""
    state, jobs, at = system.state[0], system.jobs, np.uint64(job)
    jobs.start[at] = state.now
    insert(system.ends, 0, state.now + jobs.runtime[at], job, 0)
    if state.reservations == 1:
        insert(system.due, 0, state.now + jobs.requested[at], size, 0)
    state.n_running += 1
    state.free -= size


@part_of(Pool)
def next_end(system):
    """Return when the next running job ends, inf if none runs. O(1)."""
    n = system.state[0].n_running
    return system.ends.time[np.uint64(n - 1)] if n > 0 else INFINITY


@part_of(Pool)
def end_job(system):
    """Remove the job that ends next. O(running)."""
    state, jobs = system.state[0], system.jobs
    state.n_running -= 1
    system.ends.n[0] = state.n_running
    job = np.uint64(system.ends.size[np.uint64(state.n_running)])
    size = jobs.size[job]
    state.free += size
    if state.reservations == 1:
        due = jobs.start[job] + jobs.requested[job]
        remove(system.due, 0, due, size, 0)
        state.missing -= size if due >= state.shadow else 0
        state.extra += size if due > state.shadow else 0


@part_of(Pool)
def submit_job(system):
    """Start the next job if it may start now, or insert it into the queue.

    If the first of the queue precedes it, nothing has become free since and only the new job is examined.
    """
    state, jobs, queue, job = system.state[0], system.jobs, system.queue, system.state[0].arrived
    if state.n_ended > 0 or state.shadow <= state.now:
        state.is_settled = state.is_settled and state.arrived > state.first_new
    size = jobs.size[np.uint64(job)]
    is_last = job + 1 == jobs.size.shape[0]
    # It is examined by itself unless others have to be as well, perhaps before it.
    single = state.in_order or not state.instant or is_last or jobs.submit[np.uint64(job + 1)] > state.now
    behind = single and state.is_settled
    behind = behind and (
        state.sticky or state.head == NO_JOB or indexed_queue.precedes(queue, state.head, job)
    )
    alone = single and state.n_waiting == 0
    late = (state.now + jobs.requested[np.uint64(job)] > state.shadow) & (not alone)
    may_pass = state.reservations != NO_BACKFILL
    # One branch instead of three that cannot be predicted.
    if (size <= state.free) & (alone | (behind & may_pass)) & ((not late) | (size <= state.extra)):
        start(system, job, size)
        state.extra -= size if late else 0
        state.missing += size if late else 0
        return
    state.is_settled = behind
    if not state.sticky and state.head != NO_JOB and indexed_queue.precedes(queue, job, state.head):
        state.head = NO_JOB
    state.n_waiting += 1
    indexed_queue.insert(queue, job)
    if state.reorders:
        indexed_queue.insert(system.backfilled, job)


@part_of(Pool)
def schedule_jobs(system, functions):
    """Start jobs in order until one does not fit, reserve its start, and backfill.

    O(running jobs), two comparisons for each block of waiting jobs, and one for each job of a block that may
    have one to start, see `indexed_queue`.
    """
    state, jobs, queue = system.state[0], system.jobs, system.queue
    if state.arrived == state.first_new and (state.n_ended > 0 or state.shadow <= state.now):
        state.is_settled = False
    if state.is_settled or state.n_waiting == 0:
        return
    while state.reservations != 0 and state.n_waiting > 0:
        if state.head == NO_JOB:
            state.head = indexed_queue.first(queue)
        size = jobs.size[np.uint64(state.head)]
        if size > state.free:
            break
        start(system, state.head, size)
        state.n_waiting -= 1
        indexed_queue.remove(queue, state.head)
        if state.reorders:
            indexed_queue.remove(system.backfilled, state.head)
        state.head = state.holder = NO_JOB
    state.is_settled = state.n_waiting > 0
    if not state.is_settled or state.reservations == NO_BACKFILL:
        return
    if state.reservations == 1:
        # Ends and starts since move the shadow time only where they free enough before it.
        if state.head != state.holder or state.missing <= 0 or state.shadow <= state.now:
            reserve(system)
        if state.n_waiting == 1:
            return
    backfill(system)


@part()
def reserve(system):
    """Reserve the earliest start for the first job of the queue. O(running)."""
    state, jobs, due = system.state[0], system.jobs, system.due
    state.holder = state.head
    job = np.uint64(state.holder)
    size = jobs.size[job]
    at = due.n[0]
    available = state.free
    while available < size:
        at -= 1
        available += due.size[np.uint64(at)]
    state.shadow = max(due.time[np.uint64(at)], state.now)
    if np.isnan(jobs.promised[job]):
        jobs.promised[job] = state.shadow
    state.missing = size - (available - due.size[np.uint64(at)])
    while at > 0 and due.time[np.uint64(at - 1)] <= state.shadow:
        at -= 1
        available += due.size[np.uint64(at)]
    state.extra = available - size


@part()
def may_start(system, shortest, node):
    """Return whether some job of a block or group may start, by these bounds. O(1)."""
    state = system.state[0]
    return indexed_queue.may_have(
        shortest, node, system.backfilled.class_of, state.now, state.shadow, state.free, state.extra
    )


@part()
def start_fitting(system, block):
    """Start the jobs of a block that end before the shadow time, or fit beside it."""
    state, line = system.state[0], system.backfilled
    n_before = state.n_waiting
    word = line.waiting[block]
    while word != ZERO:
        at = (block << np.uint64(BITS)) + np.uint64(lowest_position(word))
        word &= word - ONE
        size = line.size[at]
        late = state.now + line.requested[at] > state.shadow
        if (size > state.free) | (late & (size > state.extra)):
            continue
        job = line.job[at]
        start(system, job, size)
        state.n_waiting -= 1
        state.extra -= size if late else 0
        state.missing += size if late else 0
        indexed_queue.remove(line, job)
        if state.reorders:
            indexed_queue.remove(system.queue, job)
    if state.n_waiting == n_before:
        indexed_queue.count_block(line, block)


@part()
def backfill(system):
    """Start all jobs that end before the shadow time, or need no more than the extra processors."""
    state, line = system.state[0], system.backfilled
    for g in range(line.used.shape[0]):
        group = np.uint64(g)
        word = line.used[group]
        if word == ZERO or not may_start(system, line.of_group, group):
            continue
        n_before = state.n_waiting
        while word != ZERO:
            block = (group << np.uint64(BITS)) + np.uint64(lowest_position(word))
            word &= word - ONE
            if may_start(system, line.shortest, block):
                start_fitting(system, block)
                if state.free == 0:
                    return
        if state.n_waiting == n_before:
            indexed_queue.count_group(line, group)


@kernel(void(SYSTEM))
def run(system):
    """Simulate jobs to their last end, see `models.backfill.event_loop.run_events`."""
    run_events(system, ())


def simulate(jobs: Jobs, machine: Machine, rules: Priority) -> Schedule:
    """Run all jobs to their ends with at most one reservation, in orders that never change, see
    `models.backfill.rules.Rules.simulate`.
    """
    n = len(jobs)
    table = table_of(jobs)
    queue = backfilled = indexed_queue.empty_queue(jobs, machine.largest, _queue_keys(jobs, rules))
    reorders = rules.backfill_order is not None
    if reorders:
        ranks = np.empty(n)
        function_or_keys(rules.backfill_order, "policy.backfill_order", jobs, ranks)
        backfilled = indexed_queue.empty_queue(jobs, machine.largest, ranks)
    reservations = NO_BACKFILL if rules.discipline == FCFS else min(rules.reservations or 0, n)
    state = initial_state(
        STATE, rules.instant, free=machine.largest, reservations=reservations, reorders=reorders,
        sticky=rules.keep_start and reservations == 1, in_order=rules.in_order_of_submission and not reorders,
        head=NO_JOB, holder=NO_JOB, shadow=np.inf,
    )  # fmt: skip
    system: Any = Pool(
        state, table, queue, backfilled, empty(1, places_on(machine, n)), empty(1, places_on(machine, n)),
    )  # fmt: skip
    run(system)
    table.end[:], table.host[:] = table.start + jobs.runtime, 0
    return schedule_of(table, jobs, machine)


def _queue_keys(jobs: Jobs, rules: Priority) -> Floats | None:
    """Return priorities that never change, None where all jobs are equal."""
    from models.backfill.priority.order import weigh

    if rules.in_order_of_submission:
        return None
    keys = np.empty(len(jobs))
    if rules.priority is not None:
        function_or_keys(rules.priority, "policy.priority", jobs, keys)
    else:
        weigh(rules.weights, jobs.requested, jobs.size, jobs.memory, keys)
    return keys
