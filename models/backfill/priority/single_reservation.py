"""Backfilling past at most one reservation on hosts with processors and memory, in any order.

With one reservation no profile is needed: its start (the shadow time), its host, and what the job leaves
over there by then (the extra processors and memory) decide whether another job may start. The reservation
is made anew only where it may have changed, and candidates are kept from pass to pass (`candidates`).
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import float64, int64, void

from models.arrays import Ints
from models.backfill.event_loop import (
    initial_state,
    part_of,
    run_events,
    state_type,
)
from models.backfill.expected_ends import insert, remove, when_free
from models.backfill.job_table import NO_HOST, NO_JOB, JobTable, schedule_of, table_of
from models.backfill.priority import candidates as statuses
from models.backfill.priority import unordered_queue as unordered
from models.backfill.priority.hosts import fits_on, fullest_host
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
from models.kernels import ends as heaps
from models.kernels.compiling import kernel, part
from models.kernels.types import record

STATE = state_type(
    head=np.int64, holder=np.int64, shadow=np.float64, shadow_host=np.int64, extra=np.int64,
    extra_memory=np.int64, is_alone=np.bool_,
)  # fmt: skip
"""Scalars beyond those of every system.

head
    The place of the first job of the queue, or `NO_JOB` where it has to be found.
holder
    The job with the reservation, while that stays as it is, or `NO_JOB`.
shadow, shadow_host
    The reserved start in seconds, and its host; inf and `NO_HOST` without a reservation.
extra, extra_memory
    What the job with the reservation leaves over at that time, memory in KB.
is_alone
    Whether no other host has capacity for that job at the same instant. Otherwise the reservation is made
    anew in each pass, because the host with fewer free processors is preferred.
"""


class SingleReservation(NamedTuple):
    """The system, see `models.backfill.event_loop`; `heap` are the running jobs by their ends."""

    state: Annotated[np.ndarray, STATE]
    jobs: JobTable
    hosts: Hosts
    order: Order
    queue: unordered.UnorderedQueue
    candidates: statuses.Candidates
    heap: Ints


SYSTEM = record(SingleReservation)


@part(int64(SYSTEM, int64, int64, float64))
def host_beside(system: SingleReservation, size: int, need: int, until: float) -> int:
    """Return the fullest host on which a job disturbs no reservation, or `NO_HOST`. O(hosts)."""
    state = system.state[0]
    disturbs = until > state.shadow and (size > state.extra or need > state.extra_memory)
    return fullest_host(system.hosts, size, need, state.shadow_host if disturbs else NO_HOST)


@part(void(SYSTEM, int64, int64, float64))
def reserve(system: SingleReservation, size: int, need: int, requested: float) -> None:
    """Reserve the earliest start for a job that does not fit now. O(running)."""
    state, hosts = system.state[0], system.hosts
    shadow, best, is_alone = np.inf, NO_HOST, True
    for h in range(hosts.free.shape[0]):
        when = when_free(hosts.ends, h, hosts.free[h], hosts.free_memory[h], state.now, size, need, shadow)
        if when < shadow:
            shadow, best, is_alone = when, h, True
        elif when == shadow and best >= 0:
            is_alone = False
            if hosts.free[h] < hosts.free[best]:
                best = h
    ends, there = hosts.ends, np.uint64(best)
    extra, extra_memory = hosts.free[there], hosts.free_memory[there]
    begin = best * ends.places
    at = begin + ends.n[there] - 1
    while at >= begin and ends.time[np.uint64(at)] <= shadow:
        extra += ends.size[np.uint64(at)]
        extra_memory += ends.need[np.uint64(at)]
        at -= 1
    # Where the request is lost in the rounding of a late instant, the job takes no time.
    if shadow + requested > shadow:
        extra -= size
        extra_memory -= need
    state.shadow, state.shadow_host, state.is_alone = shadow, best, is_alone
    state.extra, state.extra_memory = extra, extra_memory


@part(void(SYSTEM, int64, int64, int64))
def start(system: SingleReservation, place: int, host: int, n_chosen: int) -> None:
    """Start the job at a place of the queue on a host. O(running + n_chosen)."""
    state, jobs, hosts = system.state[0], system.jobs, system.hosts
    job, h = system.queue.job[np.uint64(place)], np.uint64(host)
    j = np.uint64(job)
    size, need = jobs.size[j], jobs.need[j]
    jobs.start[j] = state.now
    jobs.end[j] = state.now + jobs.runtime[j]
    jobs.host[j] = host
    heaps.push(jobs.end, system.heap, state.n_running, job)
    hosts.free[h] -= size
    hosts.free_memory[h] -= need
    if system.order.reservations == 1:
        insert(hosts.ends, host, state.now + jobs.requested[j], size, need)
    state.n_running += 1
    statuses.leave(system.candidates, system.queue, state.n_waiting, place, n_chosen)
    state.n_waiting -= 1
    if state.head == place:
        state.head = NO_JOB
    elif state.head == state.n_waiting:
        state.head = place


@part_of(SingleReservation)
def end_job(system):
    """Remove the job that ends next. O(running)."""
    state, jobs, hosts = system.state[0], system.jobs, system.hosts
    j = np.uint64(heaps.pop(jobs.end, system.heap, state.n_running))
    state.n_running -= 1
    size, need, host = jobs.size[j], jobs.need[j], jobs.host[j]
    h = np.uint64(host)
    hosts.free[h] += size
    hosts.free_memory[h] += need
    hosts.freed[h] = 1
    if system.order.reservations == 1:
        remove(hosts.ends, host, jobs.start[j] + jobs.requested[j], size, need)


@part_of(SingleReservation)
def submit_job(system):
    """Append the next job to the queue. O(hosts)."""
    state, queue, jobs = system.state[0], system.queue, system.jobs
    if state.n_ended > 0 and state.arrived == state.first_new:
        renew_candidates(system)
    j = np.uint64(state.arrived)
    n = state.n_waiting
    unordered.append(queue, n, state.arrived, jobs, system.order)
    fits = fullest_host(system.hosts, jobs.size[j], jobs.need[j], NO_HOST) != NO_HOST
    statuses.count_last(system.candidates, queue, n, statuses.CANDIDATE if fits else statuses.TOO_LARGE)
    if state.head != NO_JOB and not keeps_head(system) and queue.key[n] > queue.key[state.head]:
        state.head = n
    state.n_waiting = n + 1


@part()
def keeps_head(system):
    """Return whether the job with the reservation stays the first of the queue."""
    return system.order.sticky and system.order.reservations == 1


@part()
def renew_candidates(system):
    """After ends, make candidates of all jobs that fit on the freed hosts. O(waiting jobs) for each host."""
    state, hosts, jobs = system.state[0], system.hosts, system.jobs
    for i in range(hosts.freed.shape[0]):
        h = np.uint64(i)
        if hosts.freed[h] == 0:
            continue
        hosts.freed[h] = 0
        free, free_memory = hosts.free[h], hosts.free_memory[h]
        statuses.admit_fitting(system.candidates, system.queue, state.n_waiting, free, free_memory)
        if state.holder != NO_JOB:
            j = np.uint64(state.holder)
            size, need, shadow = jobs.size[j], jobs.need[j], state.shadow
            if i == state.shadow_host or (
                when_free(hosts.ends, i, free, free_memory, state.now, size, need, shadow) < np.inf
            ):
                state.holder = NO_JOB


@part_of(SingleReservation)
def schedule_jobs(system, functions):
    """Start jobs in order until one does not fit, reserve its start, and backfill.

    O(waiting jobs) for each host on which a job has ended, and as much where priorities change with time;
    O(running jobs) for the reservation; O(hosts) for each candidate, and O(c) for each start out of c.
    """
    state, queue, jobs, order = system.state[0], system.queue, system.jobs, system.order
    if state.shadow <= state.now:
        state.holder = NO_JOB
    if state.n_ended > 0 and state.arrived == state.first_new:
        renew_candidates(system)
    if state.n_waiting == 0:
        return
    if order.dynamic:
        if not keeps_head(system):
            state.head = NO_JOB
        if order.own:
            for i in range(state.n_waiting):
                queue.key[i] = unordered.evaluated(state.now, queue, i, functions[0])
        else:
            unordered.weigh_all(state.now, queue, state.n_waiting, order.weights)
    if order.reservations != 0:
        start_in_order(system)
    if state.n_waiting == 0 or order.reservations == NO_BACKFILL:
        return
    if order.reservations == 1:
        job = queue.job[np.uint64(state.head)]
        j = np.uint64(job)
        if job != state.holder:
            state.holder = NO_JOB
            if system.candidates.counts[statuses.BLOCKED] > 0:
                statuses.admit_blocked(system.candidates, queue, state.n_waiting)
        is_new = np.isnan(jobs.promised[j])
        if state.holder == NO_JOB and (system.candidates.counts[statuses.CANDIDATE] > 0 or is_new):
            reserve(system, jobs.size[j], jobs.need[j], jobs.requested[j])
            state.holder = job
            if is_new:
                jobs.promised[j] = state.shadow
    backfill(system, functions[1])
    if not state.is_alone:
        state.holder = NO_JOB


@part()
def start_in_order(system):
    """Start the first jobs of the queue up to one that does not fit."""
    state, queue = system.state[0], system.queue
    while state.n_waiting > 0:
        if state.head == NO_JOB:
            state.head = unordered.first(queue, 0, state.n_waiting, False)
        at = np.uint64(state.head)
        if queue.status[at] == statuses.TOO_LARGE:
            return
        host = fullest_host(system.hosts, queue.size[at], queue.need[at], NO_HOST)
        if host == NO_HOST:
            if queue.status[at] == statuses.CANDIDATE:
                statuses.reject(system.candidates, queue, state.head, statuses.TOO_LARGE)
            return
        start(system, state.head, host, 0)
        state.holder = NO_JOB


@part()
def keep_or_reject(system, place, n_chosen):
    """Add a candidate to the list if it may start beside the reservation; return the list's length then."""
    queue, at = system.queue, np.uint64(place)
    size, need, until = queue.size[at], queue.need[at], system.state[0].now + queue.requested[at]
    if host_beside(system, size, need, until) != NO_HOST:
        queue.chosen[n_chosen] = place
        return n_chosen + 1
    host = system.state[0].shadow_host
    fits = host != NO_HOST and fits_on(system.hosts, host, size, need)
    statuses.reject(system.candidates, queue, place, statuses.BLOCKED if fits else statuses.TOO_LARGE)
    return n_chosen


@part()
def backfill(system, backfill_order):
    """Start all candidates that may start beside the job with the reservation, in their order."""
    state, queue, order, candidates = system.state[0], system.queue, system.order, system.candidates
    n_chosen = 0
    n_left = candidates.counts[statuses.CANDIDATE]
    block, i = 0, -1
    while n_left > 0:
        while candidates.in_block[np.uint64(block)] == 0:
            block += 1
            i = block * statuses.BLOCK - 1
        left_here = candidates.in_block[np.uint64(block)]
        n_left -= left_here
        while left_here > 0:
            i += 1
            if queue.status[np.uint64(i)] != statuses.CANDIDATE:
                continue
            left_here -= 1
            n_before = n_chosen
            n_chosen = keep_or_reject(system, i, n_chosen)
            if n_chosen > n_before and order.reorders_anew:
                queue.rank[i] = unordered.evaluated(state.now, queue, i, backfill_order)
        block += 1
        i = block * statuses.BLOCK - 1
    while n_chosen > 0:
        place = unordered.take_first(queue, n_chosen, queue.rank if order.reorders else queue.key)
        n_chosen -= 1
        at = np.uint64(place)
        size, need, until = queue.size[at], queue.need[at], state.now + queue.requested[at]
        host = host_beside(system, size, need, until)
        if order.counts_bypasses:
            unordered.count_bypass(queue, state.n_waiting, place, state.head, state.head + 1)
        if host == state.shadow_host and until > state.shadow:
            state.extra -= size
            state.extra_memory -= need
        start(system, place, host, n_chosen)
        # Candidates that do not fit any more leave the list, so that each choice starts.
        n_kept = 0
        for k in range(n_chosen):
            n_kept = keep_or_reject(system, queue.chosen[k], n_kept)
        n_chosen = n_kept


@kernel(void(SYSTEM, PRIORITY, PRIORITY))
def run(system, priority, backfill_order):
    """Simulate jobs to their last end, see `models.backfill.event_loop.run_events`.

    Parameters
    ----------
    system : before the first submission; every job fits on a host
    priority : called if it takes the place of weights and changes with time
    backfill_order : called if there is one and it changes with time
    """
    run_events(system, (priority, backfill_order))


def simulate(jobs: Jobs, machine: Machine, rules: Priority) -> Schedule:
    """Run all jobs to their ends with at most one reservation, see `backfill.rules.Rules.simulate`."""
    n = len(jobs)
    table = table_of(jobs)
    order, functions = order_of(rules, jobs)
    state = initial_state(
        STATE, rules.instant, head=NO_JOB, holder=NO_JOB, shadow=np.inf, shadow_host=NO_HOST, is_alone=True
    )
    system: Any = SingleReservation(
        state, table, idle_hosts(machine, places_on(machine, n)), order, unordered.empty_queue(n),
        statuses.no_candidates(n), np.empty(n, np.int64),
    )  # fmt: skip
    run(system, *functions)
    return schedule_of(table, jobs, machine)
