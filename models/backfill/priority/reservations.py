"""Backfilling past any number of reservations on hosts, in any order, perhaps with immediate service.

The waiting jobs are examined in order of priority, ties in order of submission. A job that fits starts on the
fullest host on which it fits. The first jobs that do not fit, as many as `reservations`, get reservations at
their earliest starts (`hosts`). With a separate backfill order, all other jobs are examined in that order
once all reservations are made (SJBF, for instance, is the shortest request first). Reservations are renewed
in each pass; with `sticky` a job with a reservation precedes all others, so that it never loses it
(SJF-backfill, section 2.3 of Chiang and Vernon 2001). The first start that was reserved for a job is recorded
as its promise.

A job that does not fit at one moment of a pass does not fit later in the pass, because nothing becomes free.
So only jobs that fit once all reservations are made are examined in order, and each start removes jobs that
no longer fit from the list.
"""

from dataclasses import replace
from typing import Annotated, NamedTuple

import numpy as np
from numba import boolean, float64, int64, void

from models.arrays import Floats, Ints
from models.backfill.event_loop import initial_state, next_to_end, part_of, run_events, run_job, state_type
from models.backfill.expected_ends import insert, remove
from models.backfill.job_table import NO_HOST, JobTable, schedule_of, table_of
from models.backfill.pieces import PieceBuffer, add_piece, buffer_for, pieces_of
from models.backfill.priority import hosts as on_hosts
from models.backfill.priority import quanta as service
from models.backfill.priority import unordered_queue as unordered
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
from models.backfill.priority.unordered_queue import remove as remove_from
from models.backfill.priority.victims import host_with_victims, preempt, resume_victims
from models.backfill.profile import occupy
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule
from models.kernels import ends as heaps
from models.kernels import standstill
from models.kernels.compiling import kernel, part
from models.kernels.types import record

STATE = state_type(
    n_reserved=np.int64, most_free=np.int64, next_down=np.int64, next_correction=np.float64
)  # fmt: skip
"""Scalars that only this system has: the reservations of this pass, whose jobs have the first places of
the queue, the most processors that a host has free, the downtimes that are over, and when a running job next
outlives its prediction."""

CORRECTIONS = tuple(60.0 * np.cumsum([1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000]))
"""Seconds that each correction adds to a prediction (Tsafrir, Etsion and Feitelson 2007).

After the last correction a job is expected to use up its request."""


class Reservations(NamedTuple):
    """The system, see `models.backfill.event_loop`.

    Parameters
    ----------
    state : one record of `STATE`
    jobs, hosts, order, queue, quanta, residents, quantum : see there
    pieces : filled in
    down : when each downtime begins and ends, see `models.jobs.machine.Machine`
    limit : ndarray of float, shape (n_jobs,), seconds
        Request of each job if `jobs.requested` is a prediction; 0 otherwise.
    """

    state: Annotated[np.ndarray, STATE]
    jobs: JobTable
    hosts: Hosts
    order: Order
    queue: unordered.UnorderedQueue
    quanta: service.Quanta
    residents: service.Residents
    quantum: service.Quantum
    heap: Ints
    pieces: PieceBuffer
    down: Annotated[np.ndarray, float64[:, ::1]]
    limit: Floats


SYSTEM = record(Reservations)


@part()
def put_off_ends(system):
    """Move jobs with postponed ends down the heap, until the end of the heap's first job is up to date."""
    end, heap, n = system.jobs.end, system.heap, system.state[0].n_running
    while n > 0 and end[heap[0]] < system.quanta.end[heap[0]]:
        job = heaps.pop(end, heap, n)
        end[job] = system.quanta.end[job]
        heaps.push(end, heap, n - 1, job)


@part_of(Reservations)
def begin_instant(system):
    """Correct predictions, and count the downtimes that are over; the next of either triggers a pass.

    O(1), and O(jobs in execution) for each correction.
    """
    state, down = system.state[0], system.down
    if state.now >= state.next_correction:
        correct_predictions(system)
    while state.next_down < down.shape[0] and down[state.next_down, 1] <= state.now:
        state.next_down += 1
    down_until = down[state.next_down, 1] if state.next_down < down.shape[0] else np.inf
    state.next_start = min(down_until, state.next_correction)


@part()
def expect_end(system, job, until):
    """Record when a job is expected to end; if it runs on, the prediction is corrected at that time."""
    state, jobs = system.state[0], system.jobs
    system.quanta.expected[job] = until
    if until < min(jobs.end[job], jobs.start[job] + system.limit[job]):
        state.next_correction = min(state.next_correction, until)
        state.next_start = min(state.next_start, until)


@part()
def correct_predictions(system):
    """Predict a later end, at most the end by its request, for each job that outlives its prediction now."""
    state, jobs, hosts, residents = system.state[0], system.jobs, system.hosts, system.residents
    state.next_correction = np.inf
    for h in range(residents.n.shape[0]):
        for i in range(h * residents.places, h * residents.places + residents.n[h]):
            job = residents.job[i]
            until, last = system.quanta.expected[job], jobs.start[job] + system.limit[job]
            if until <= state.now and until < min(jobs.end[job], last):
                remove(hosts.ends, h, until, jobs.size[job], jobs.need[job])
                for correction in CORRECTIONS:
                    if until <= state.now:
                        until = min(jobs.start[job] + (jobs.requested[job] + correction), last)
                until = until if until > state.now else last
                insert(hosts.ends, h, until, jobs.size[job], jobs.need[job])
            expect_end(system, job, until)


@part()
def reserve_downtimes(system):
    """Reserve all of each host for the downtimes to come. O(running + downtimes) for each host."""
    state, hosts, down = system.state[0], system.hosts, system.down
    for h in range(hosts.free.shape[0]):
        on_hosts.build_profile(hosts, h, state.now)
        # All running jobs are expected to have ended by then.
        last = h * hosts.profile.places + hosts.profile.n_steps[h] - 1
        size, need = hosts.profile.step[last].processors, hosts.profile.step[last].memory
        for i in range(state.next_down, down.shape[0]):
            begin = max(down[i, 0], state.now)
            occupy(hosts.profile, h, begin, down[i, 1], size, need)
            hosts.first_reserved[h] = min(hosts.first_reserved[h], begin)


@part_of(Reservations)
def end_job(system):
    """End the next execution or quantum. O(jobs in execution), and that again for each victim."""
    state, jobs, quanta, hosts = system.state[0], system.jobs, system.quanta, system.hosts
    job = next_to_end(system)
    put_off_ends(system)
    h, size, need = jobs.host[job], jobs.size[job], jobs.need[job]
    add_piece(system.pieces, job, h, jobs.start[job], state.now, size)
    if quanta.taken[job] != service.NOT_IN_QUANTUM:
        end_quantum(system, job)
        return
    hosts.free[h] += size
    hosts.free_memory[h] += need
    remove(hosts.ends, h, quanta.expected[job], size, need)
    residents = system.residents
    residents.n[h] -= 1
    i = h * residents.places
    while residents.job[i] != job:
        i += 1
    residents.job[i] = residents.job[h * residents.places + residents.n[h]]


@part()
def end_quantum(system, job):
    """Return the resources of a quantum, and queue its job again unless it ends."""
    state, jobs, quanta, hosts = system.state[0], system.jobs, system.quanta, system.hosts
    h, start = jobs.host[job], jobs.start[job]
    hosts.free[h] += quanta.taken[job]
    hosts.free_memory[h] += quanta.lent[job]
    remove(hosts.ends, h, start + system.quantum.length, quanta.taken[job], quanta.lent[job])
    quanta.taken[job] = service.NOT_IN_QUANTUM
    resume_victims(system, job, h)
    length = state.now - start
    if quanta.fate[job] == service.COUNTED:
        quanta.ran[job] = length
        quanta.runtime[job] -= length
        # Beyond its request, a job still counts with its full request.
        if jobs.requested[job] > length:
            quanta.requested[job] = jobs.requested[job] - length
    if quanta.fate[job] != service.ENDS:
        unordered.append(system.queue, state.n_waiting, job, jobs, system.order)
        system.queue.ran[state.n_waiting] = quanta.ran[job]
        system.queue.bypassed[state.n_waiting] = quanta.bypassed[job]
        state.n_waiting += 1


@part_of(Reservations)
def submit_job(system):
    """Append the next job to the queue, or insert it where that is kept in order. O(1), or O(waiting)."""
    state = system.state[0]
    unordered.append(system.queue, state.n_waiting, state.arrived, system.jobs, system.order)
    state.n_waiting += 1
    if system.order.sorts:
        unordered.sort_last(system.queue, state.n_waiting)


@part_of(Reservations)
def schedule_jobs(system, functions):
    """Start jobs up to the last reservation, then backfill, then begin quanta.

    O(waiting jobs) for each start and reservation, O(hosts) for each job that is small enough, again after
    each start beside reservations, and O(running jobs) for each start, each reservation and each job that
    would run into one. A quantum costs O(waiting jobs), and O(jobs in execution) on each host for each job to
    be preempted.
    """
    state, queue, order = system.state[0], system.queue, system.order
    if state.n_waiting == 0:
        return
    if order.dynamic:
        unordered.evaluate_all(state.now, queue, state.n_waiting, order, functions[0])
    system.hosts.profile.n_steps[:] = 0  # discard the reservations of the previous pass
    system.hosts.first_reserved[:] = np.inf
    if state.next_down < system.down.shape[0]:
        reserve_downtimes(system)
    state.most_free = on_hosts.most(system.hosts.free)
    if start_and_reserve(system):
        backfill(system, functions[1])
    if system.quantum.length > 0.0 and not (system.quantum.preempting and state.first_new == state.arrived):
        begin_quanta(system)
    put_off_ends(system)


@part()
def start(system, place, host, n_chosen):
    """Start the execution of the job at a place of the queue. O(running + n_chosen)."""
    state, jobs, quanta, hosts = system.state[0], system.jobs, system.quanta, system.hosts
    residents, job, now = system.residents, system.queue.job[place], state.now
    size, need, until = jobs.size[job], jobs.need[job], now + quanta.requested[job]
    run_job(system, job, host, quanta.runtime[job])
    quanta.end[job] = jobs.end[job]
    hosts.free[host] -= size
    hosts.free_memory[host] -= need
    insert(hosts.ends, host, until, size, need)
    if hosts.profile.n_steps[host] > 0:
        occupy(hosts.profile, host, now, until, size, need)
    if np.isnan(quanta.first[job]):
        quanta.first[job] = now
    quanta.began[job] = now
    expect_end(system, job, until)
    residents.job[host * residents.places + residents.n[host]] = job
    residents.n[host] += 1
    # Jobs with a reservation in the previous pass keep their order, so that few change places again.
    n_kept = state.n_waiting if system.order.sorts else state.n_reserved
    while place + 1 < n_kept:
        unordered.move(system.queue, place + 1, place)
        place += 1
    state.n_reserved -= int(place < state.n_reserved)
    remove_from(system.queue, state.n_waiting, place, n_chosen)
    state.n_waiting -= 1
    state.most_free = on_hosts.most(hosts.free)


@part()
def host_for(system, place):
    """Return the fullest host on which the job at a place of the queue may start, or `NO_HOST`."""
    queue = system.queue
    if queue.size[place] > system.state[0].most_free:
        return NO_HOST
    until = system.state[0].now + system.quanta.requested[queue.job[place]]
    return on_hosts.fullest_beside(system.hosts, queue.size[place], queue.need[place], until)


@part()
def some_are_small(system, excluded):
    """Return whether any waiting job but one needs no more processors than a host has free. O(n)."""
    queue, most_free = system.queue, system.state[0].most_free
    found = 0
    # The count goes to the end: without a branch the loop is vectorised, which an early return would prevent.
    for i in range(system.state[0].n_waiting):
        found += queue.size[i] <= most_free
    return found > int(queue.size[excluded] <= most_free)


@part()
def start_and_reserve(system):
    """Start jobs in order and make reservations; return whether another job may be small enough to start."""
    state, queue, order, jobs = system.state[0], system.queue, system.order, system.jobs
    n_reserved = 0
    some_small = True
    n_most = 1 if order.reservations == NO_BACKFILL else order.reservations
    while n_reserved < n_most and n_reserved < state.n_waiting:
        place = (
            n_reserved if order.sorts else unordered.first(queue, n_reserved, state.n_waiting, order.sticky)
        )
        host = host_for(system, place)
        if host != NO_HOST:
            if order.counts_bypasses:
                unordered.count_bypass(queue, n_reserved, place, 0, n_reserved)
            start(system, place, host, 0)
            continue
        if order.reservations == NO_BACKFILL:
            break
        # A reservation matters if it affects other jobs or quanta, or is the first of its job.
        job = queue.job[place]
        is_last = n_reserved + 1 == order.reservations
        some_small = not is_last or some_are_small(system, place)
        fits = queue.size[place] <= state.most_free and not system.quantum.preempting
        if some_small or fits or np.isnan(jobs.promised[job]):
            on_hosts.make_reservation(state.now, job, system.quanta.requested[job], jobs, system.hosts)
        if order.sticky:
            queue.held[place] = n_reserved
        unordered.swap(queue, state.n_waiting, place, n_reserved)
        n_reserved += 1
    state.n_reserved = n_reserved
    return some_small and state.most_free > 0 and order.reservations != NO_BACKFILL


@part()
def backfill(system, backfill_order):
    """Start all jobs without a reservation that disturb no reservation, in their order."""
    state, queue, order = system.state[0], system.queue, system.order
    n_chosen = 0
    for place in range(state.n_reserved, state.n_waiting):
        if host_for(system, place) != NO_HOST:
            queue.chosen[n_chosen] = place
            n_chosen += 1
            if order.reorders_anew:
                queue.rank[place] = unordered.evaluated(state.now, queue, place, backfill_order)
    while n_chosen > 0:
        place = unordered.take_first(queue, n_chosen, queue.rank if order.reorders else queue.key)
        host = host_for(system, place)
        if order.counts_bypasses:
            unordered.count_bypass(queue, state.n_waiting, place, 0, state.n_reserved)
        start(system, place, host, n_chosen - 1)
        n_kept = 0
        for i in range(n_chosen - 1):
            if host_for(system, queue.chosen[i]) != NO_HOST:
                queue.chosen[n_kept] = queue.chosen[i]
                n_kept += 1
        n_chosen = n_kept


@part(int64(SYSTEM, int64))
def host_for_quantum(system: Reservations, job: int) -> int:
    """Return the fullest host with idle processors for a job's quantum, or `NO_HOST`."""
    size, lent = system.jobs.size[job], system.quanta.lent[job]
    if system.quantum.keeps_reservations:
        return on_hosts.fullest_beside(system.hosts, size, lent, system.state[0].now + system.quantum.length)
    return on_hosts.fullest_host(system.hosts, size, lent, NO_HOST)


@part(boolean(SYSTEM, int64))
def may_have_quantum(system: Reservations, place: int) -> bool:
    """Return whether the job at a place may begin its quantum now."""
    job = system.queue.job[place]
    if system.quantum.preempting:
        if job < system.state[0].first_new:
            return False
    elif system.queue.size[place] > system.state[0].most_free:
        return False
    if system.jobs.host[job] != NO_HOST or system.quanta.fate[job] == service.NO_QUANTUM:
        return False
    return system.quantum.preempting or host_for_quantum(system, job) != NO_HOST


@part()
def begin_quanta(system):
    """Begin quanta in order of priority: with preemption of new jobs, else of all jobs that had none."""
    state, queue = system.state[0], system.queue
    n_chosen = 0
    for place in range(state.n_waiting):
        if may_have_quantum(system, place):
            queue.chosen[n_chosen] = place
            n_chosen += 1
    while n_chosen > 0:
        place = unordered.take_first(queue, n_chosen, queue.key)
        n_chosen -= 1
        job = queue.job[place]
        host = host_for_quantum(system, job)
        if system.quantum.preempting and host == NO_HOST:
            host = host_with_victims(system, job)
        if host != NO_HOST:
            # A job gives up its reservation for its quantum, because it no longer waits.
            system.quanta.bypassed[job] = queue.bypassed[place]
            remove_from(queue, state.n_waiting, place, n_chosen)
            state.n_waiting -= 1
            begin_quantum(system, job, host)


@part()
def begin_quantum(system, job, host):
    """Begin a job's quantum on a host, on processors of other jobs where too few are idle."""
    state, jobs, quanta, hosts = system.state[0], system.jobs, system.quanta, system.hosts
    now = state.now
    quanta.taken[job] = jobs.size[job]
    if jobs.size[job] > hosts.free[host]:
        preempt(system, job, host)
    taken, lent, until = quanta.taken[job], quanta.lent[job], now + system.quantum.length
    quanta.first[job] = now
    run_job(system, job, host, min(system.quantum.length, quanta.runtime[job]))
    quanta.end[job] = jobs.end[job]
    hosts.free[host] -= taken
    hosts.free_memory[host] -= lent
    insert(hosts.ends, host, until, taken, lent)
    if not system.quantum.preempting and hosts.profile.n_steps[host] > 0:
        occupy(hosts.profile, host, now, until, taken, lent)


@kernel(void(SYSTEM, PRIORITY, PRIORITY))
def run(system, priority, backfill_order):
    """Simulate jobs to their last end, see `models.backfill.event_loop.run_events`.

    The functions are called where they change with time, see `tables.order_of`.
    """
    run_events(system, (priority, backfill_order))


def simulate(jobs: Jobs, machine: Machine, rules: Priority) -> Schedule:
    """Run all jobs to their ends, see `models.backfill.rules.Rules.simulate`.

    Returns
    -------
    Schedule
        With immediate service a job's wait is its time in the system less its runtime, so that a quantum
        that was lost counts as waiting, and a job that ended in its quantum began no full execution before
        its end.
    """
    if rules.immediate is None:
        return schedule_of(_run(jobs, machine, rules, buffer_for(0)).jobs, jobs, machine)
    # An estimate: preemptions cut jobs into more pieces, and then the run is repeated with the true number.
    pieces = buffer_for(3 * len(jobs) + 16)
    system = _run(jobs, machine, rules, pieces)
    if pieces.n[0] > pieces.job.size:  # some were not kept
        pieces = buffer_for(int(pieces.n[0]))
        system = _run(jobs, machine, rules, pieces)
    quanta = system.quanta
    # The wait of a job that ran in one piece has the same bits as without immediate service.
    whole = quanta.end == quanta.first + jobs.runtime
    waited = np.where(whole, quanta.first - jobs.submit, quanta.end - jobs.submit - jobs.runtime)
    return Schedule(
        jobs, machine, quanta.first, quanta.end, system.jobs.host,
        began=np.where(np.isnan(quanta.began), quanta.end, quanta.began), waited=waited,
        preempted=quanta.preempted.astype(bool), promised=system.jobs.promised, pieces=pieces_of(pieces),
    )  # fmt: skip


def _run(jobs: Jobs, machine: Machine, rules: Priority, pieces: PieceBuffer) -> Reservations:
    """Return the system after the last end."""
    n, n_hosts, limit = len(jobs), len(machine.names), np.zeros(len(jobs))
    if jobs.predicted is not None:
        limit, jobs = jobs.requested, replace(jobs, requested=jobs.predicted)
    places = places_on(machine, n)
    table = table_of(jobs)
    order, functions = order_of(rules, jobs)
    # At the same time, a processor can belong to one execution and work for one quantum.
    at_once = places if rules.immediate is None else 2 * places
    # A step for each expected end; two for each start of a pass, each reservation and each downtime.
    steps = 1 + 3 * at_once + 2 * max(order.reservations, 0) + 2 * len(machine.down)
    system = Reservations(
        initial_state(STATE, rules.instant, next_correction=np.inf), table,
        idle_hosts(machine, at_once, steps), order, unordered.empty_queue(n),
        service.quanta_of(jobs, rules.immediate),
        service.no_residents(n_hosts, places), service.quantum_of(rules.immediate),
        np.empty(n, np.int64), pieces, machine.down, limit,
    )  # fmt: skip
    run(system, *functions)
    standstill.check(system.state[0], len(jobs))
    return system
