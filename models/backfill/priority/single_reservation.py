"""Backfilling past at most one reservation on hosts with processors and memory, in any order.

The jobs start in the order of the queue. The first job that does not fit has the reservation: the shadow
time, at which a host will have enough processors and memory if all running jobs use up their requested times
(EASY; in other orders Chiang and Vernon 2001, section 2.3, with one scheduled start). Another job may start
at once if it ends before the shadow time, according to its requested time, or needs only the extra processors
and memory that the first job leaves over on that host at that time, or fits on another host. A job that
outlives its request is expected to end at any moment. So no profile is needed.

The reservation is renewed, and all waiting jobs are examined, only if there has been a change since the last
pass; otherwise only the new jobs are examined.

References
----------
D. A. Lifka, "The ANL/IBM SP scheduling system", in *Job Scheduling Strategies for Parallel Processing*, LNCS
949, 1995.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import int64, void

from models.arrays import Ints
from models.backfill.event_loop import initial_state, next_to_end, part_of, run_events, run_job, state_type
from models.backfill.expected_ends import insert, remove
from models.backfill.job_table import NO_HOST, NO_JOB, JobTable, schedule_of, table_of
from models.backfill.priority import unordered_queue as unordered
from models.backfill.priority.hosts import first_start, fullest_host, most
from models.backfill.priority.order import PRIORITY
from models.backfill.priority.rules import Priority
from models.backfill.priority.tables import (
    NO_BACKFILL,
    Hosts,
    Order,
    idle_hosts,
    order_of,
    places_on,
)
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule
from models.kernels import standstill
from models.kernels.compiling import kernel, part
from models.kernels.types import record

STATE = state_type(
    in_order=np.bool_, begin=np.int64, end=np.int64, head=np.int64, holder=np.int64, n_examined=np.int64,
    most_free=np.int64, shadow=np.float64, shadow_host=np.int64, extra=np.int64, extra_memory=np.int64,
    is_alone=np.bool_,
)  # fmt: skip
"""Scalars that only this system has.

in_order, begin, end
    Whether jobs start and are backfilled in order of submission; the places of the queue that are in use.
head
    The place of the first job of the queue, or `NO_JOB` where it has to be found.
holder
    The job with the reservation, while that stays as it is, or `NO_JOB`.
n_examined
    The jobs before this place of the queue cannot start while nothing changes.
most_free
    The most processors that a host has free.
shadow, shadow_host
    The reserved start in seconds, and its host; inf and `NO_HOST` without a reservation.
extra, extra_memory
    What the job with the reservation leaves over at that time, memory in KB.
is_alone
    Whether no other host has capacity for that job at the same instant. Otherwise the reservation is
    renewed in each pass, because the host with fewer free processors is preferred.
"""


class SingleReservation(NamedTuple):
    """The system, see `models.backfill.event_loop`.

    A queue in order of submission stays in order: the place of a job that has started has `GONE` as its
    processors. Any other queue is unordered.
    """

    state: Annotated[np.ndarray, STATE]
    jobs: JobTable
    hosts: Hosts
    order: Order
    queue: unordered.UnorderedQueue
    heap: Ints


SYSTEM = record(SingleReservation)

BLOCK = 64
"""Size of a block of jobs that are skipped together."""

GONE = 2**62


@part()
def examine_all(state):
    """Let the next pass renew the reservation, and examine all waiting jobs."""
    state.holder = NO_JOB
    state.n_examined = 0


@part(int64(SYSTEM, int64))
def host_beside(system: SingleReservation, place: int) -> int:
    """Return the fullest host on which a waiting job disturbs no reservation, or `NO_HOST`. O(hosts)."""
    state, queue, at = system.state[0], system.queue, np.uint64(place)
    size, need = queue.size[at], queue.need[at]
    if size > state.most_free:
        return NO_HOST
    disturbs = state.now + queue.requested[at] > state.shadow and (
        size > state.extra or need > state.extra_memory
    )
    return fullest_host(system.hosts, size, need, state.shadow_host if disturbs else NO_HOST)


@part(void(SYSTEM, int64))
def reserve(system: SingleReservation, job: int) -> None:
    """Reserve the earliest start for a job that does not fit now. O(running)."""
    state, jobs, hosts, j = system.state[0], system.jobs, system.hosts, np.uint64(job)
    size, need, requested = jobs.size[j], jobs.need[j], jobs.requested[j]
    shadow, best, is_alone = first_start(state.now, size, need, requested, hosts)
    ends, there = hosts.ends, np.uint64(best)
    extra, extra_memory = hosts.free[there], hosts.free_memory[there]
    begin = best * ends.places
    at = begin + ends.n_steps[there] - 1
    while at >= begin and ends.step[np.uint64(at)].time <= shadow:
        extra += ends.step[np.uint64(at)].processors
        extra_memory += ends.step[np.uint64(at)].memory
        at -= 1
    # If the request is lost in the rounding of a late instant, the job takes no time.
    if shadow + requested > shadow:
        extra -= size
        extra_memory -= need
    state.shadow, state.shadow_host, state.is_alone = shadow, best, is_alone
    state.extra, state.extra_memory = extra, extra_memory
    state.holder = job
    if np.isnan(jobs.promised[j]):
        jobs.promised[j] = shadow


@part(void(SYSTEM, int64, int64, int64))
def start(system: SingleReservation, place: int, host: int, n_chosen: int) -> None:
    """Start the job at a place of the queue on a host. O(running + hosts + n_chosen)."""
    state, jobs, hosts = system.state[0], system.jobs, system.hosts
    job, h = system.queue.job[np.uint64(place)], np.uint64(host)
    j = np.uint64(job)
    size, need = jobs.size[j], jobs.need[j]
    run_job(system, job, host, jobs.runtime[j])
    hosts.free[h] -= size
    hosts.free_memory[h] -= need
    if system.order.reservations == 1:
        insert(hosts.ends, host, state.now + jobs.requested[j], size, need)
    state.most_free = most(hosts.free)
    state.n_waiting -= 1
    if state.in_order:
        size_at = system.queue.size
        size_at[np.uint64(place)] = GONE
        while state.begin < state.end and size_at[np.uint64(state.begin)] == GONE:
            state.begin += 1
        if state.n_waiting == 0:  # reused places are in the cache
            state.begin = state.end = 0
    else:
        unordered.remove(system.queue, state.end, place, n_chosen)
        state.end -= 1
    if state.head == place:
        state.head = NO_JOB
    elif state.head == state.end and not state.in_order:
        state.head = place


@part_of(SingleReservation)
def end_job(system):
    """Remove the job that ends next. O(running + hosts)."""
    state, jobs, hosts = system.state[0], system.jobs, system.hosts
    j = np.uint64(next_to_end(system))
    size, need, host = jobs.size[j], jobs.need[j], jobs.host[j]
    h = np.uint64(host)
    hosts.free[h] += size
    hosts.free_memory[h] += need
    if system.order.reservations == 1:
        remove(hosts.ends, host, jobs.start[j] + jobs.requested[j], size, need)
    state.most_free = max(state.most_free, hosts.free[h])
    examine_all(state)


@part_of(SingleReservation)
def submit_job(system):
    """Append the next job to the queue. O(1)."""
    state, queue, at = system.state[0], system.queue, system.state[0].end
    unordered.append(queue, at, state.arrived, system.jobs, system.order)
    if state.head != NO_JOB and not keeps_head(system) and queue.key[at] > queue.key[state.head]:
        state.head = at
    state.n_waiting += 1
    state.end += 1


@part()
def keeps_head(system):
    """Return whether the job with the reservation stays the first of the queue."""
    return system.order.sticky and system.order.reservations == 1


@part_of(SingleReservation)
def schedule_jobs(system, functions):
    """Start jobs in order until one does not fit, reserve its start, and backfill.

    O(waiting jobs) where a job has ended or the reservation changes, and where priorities change with time;
    then O(running jobs) for the reservation; O(hosts) for each candidate, and O(c) for each start out of c.
    """
    state, queue, order = system.state[0], system.queue, system.order
    # The reserved start has come: if its job still does not fit, the reservation is renewed.
    if state.shadow <= state.now:
        examine_all(state)
    if state.n_waiting == 0:
        return
    if order.dynamic:
        if not keeps_head(system):
            state.head = NO_JOB
        unordered.evaluate_all(state.now, queue, state.end, order, functions[0])
    if order.reservations != 0:
        start_in_order(system)
    if state.n_waiting == 0 or order.reservations == NO_BACKFILL:
        return
    if order.reservations == 1:
        job = queue.job[np.uint64(state.head)]
        if job != state.holder:
            state.n_examined = 0
            reserve(system, job)
    backfill(system, functions[1])
    state.n_examined = state.end
    if not state.is_alone:
        examine_all(state)


@part()
def start_in_order(system):
    """Start the first jobs of the queue up to one that does not fit."""
    state, queue = system.state[0], system.queue
    while state.n_waiting > 0:
        if state.head == NO_JOB:
            state.head = state.begin if state.in_order else unordered.first(queue, 0, state.end, False)
        at = np.uint64(state.head)
        if queue.size[at] > state.most_free:
            return
        host = fullest_host(system.hosts, queue.size[at], queue.need[at], NO_HOST)
        if host == NO_HOST:
            return
        start(system, state.head, host, 0)
        examine_all(state)


@part(int64(SYSTEM, int64, int64))
def count_small(system: SingleReservation, first: int, last: int) -> int:
    """Return how many jobs in a range of places are small enough to start. O(n), without branches."""
    state, size, requested = system.state[0], system.queue.size, system.queue.requested
    now, shadow, most_free = state.now, state.shadow, state.most_free
    # On a host without the reservation no job can disturb it.
    extra = state.extra if system.hosts.free.shape[0] == 1 else most_free
    n_small = 0
    for place in range(first, last):
        at = np.uint64(place)
        beside = (now + requested[at] <= shadow) | (size[at] <= extra)
        n_small += int((size[at] <= most_free) & beside)
    return n_small


@part()
def backfill(system, backfill_order):
    """Start the jobs not examined yet that do not disturb the reservation, in their order.

    O(those jobs), without branches except for blocks with a job that is small enough.
    """
    state, queue, order = system.state[0], system.queue, system.order
    n_chosen = 0
    for first in range(max(state.n_examined, state.begin), state.end, BLOCK):
        last = min(first + BLOCK, state.end)
        if state.most_free == 0 or count_small(system, first, last) == 0:
            continue
        for place in range(first, last):
            host = host_beside(system, place)
            if host == NO_HOST:
                continue
            if state.in_order:
                backfill_job(system, place, host, 0)
                continue
            queue.chosen[np.uint64(n_chosen)] = place
            n_chosen += 1
            if order.reorders_anew:
                queue.rank[place] = unordered.evaluated(state.now, queue, place, backfill_order)
    while n_chosen > 0:
        place = unordered.take_first(queue, n_chosen, queue.rank if order.reorders else queue.key)
        n_chosen -= 1
        if order.counts_bypasses:
            unordered.count_bypass(queue, state.end, place, state.head, state.head + 1)
        backfill_job(system, place, host_beside(system, place), n_chosen)
        # Candidates that no longer fit leave the list, so that each chosen job starts.
        n_kept = 0
        for k in range(n_chosen):
            candidate = queue.chosen[np.uint64(k)]
            queue.chosen[np.uint64(n_kept)] = candidate
            n_kept += int(host_beside(system, candidate) != NO_HOST)
        n_chosen = n_kept


@part(void(SYSTEM, int64, int64, int64))
def backfill_job(system: SingleReservation, place: int, host: int, n_chosen: int) -> None:
    """Start a job without disturbing the reservation. O(running + hosts + n_chosen)."""
    state, queue, at = system.state[0], system.queue, np.uint64(place)
    if host == state.shadow_host and state.now + queue.requested[at] > state.shadow:
        state.extra -= queue.size[at]
        state.extra_memory -= queue.need[at]
    start(system, place, host, n_chosen)


@kernel(void(SYSTEM, PRIORITY, PRIORITY))
def run(system, priority, backfill_order):
    """Simulate jobs to their last end, see `models.backfill.event_loop.run_events`.

    The functions are called where they change with time, see `tables.order_of`.
    """
    run_events(system, (priority, backfill_order))


def simulate(jobs: Jobs, machine: Machine, rules: Priority) -> Schedule:
    """Run all jobs to their ends with at most one reservation, see `backfill.rules.Rules.simulate`."""
    n = len(jobs)
    table = table_of(jobs)
    order, functions = order_of(rules, jobs)
    state = initial_state(
        STATE, rules.instant, head=NO_JOB, holder=NO_JOB, shadow=np.inf, shadow_host=NO_HOST, is_alone=True,
        in_order=rules.in_order_of_submission and not order.reorders, most_free=machine.largest,
    )  # fmt: skip
    system: Any = SingleReservation(
        state, table, idle_hosts(machine, places_on(machine, n)), order, unordered.empty_queue(n),
        np.empty(n, np.int64),
    )  # fmt: skip
    run(system, *functions)
    standstill.check(system.state[0], len(jobs))
    return schedule_of(table, jobs, machine)
