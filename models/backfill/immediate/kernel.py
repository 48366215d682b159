"""Backfilling by priority with a short quantum for newcomers: the event loop around `start_waiting`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import boolean, float64, int64, void

from models.arrays import Ints
from models.backfill.expected_ends import insert, remove
from models.backfill.immediate.passing import start_waiting
from models.backfill.immediate.state import (
    COUNTED,
    DONE,
    LISTS,
    NO_QUANTUM,
    NOBODY,
    NOT_IN_QUANTUM,
    QUANTUM,
    RESIDENTS,
    SERVED,
    WAITING,
    Lists,
    Quantum,
    Residents,
    Served,
    Waiting,
)
from models.backfill.immediate.victims import give_back, host_with_victims, preempt
from models.backfill.immediate.waiting import first_of, join, leave
from models.backfill.pieces import NOTED, Noted, note
from models.backfill.priority.kernel import ORDER, Order
from models.backfill.priority.order import PRIORITY, SECONDS_IN_HOUR, added_up
from models.backfill.priority.passing import HOSTS, NOT_HELD, Hosts, most, tightest
from models.backfill.profile import occupy
from models.kernels.compiling import kernel, part
from models.kernels.ends import pop, push
from models.kernels.ties import next_end, next_submission, takes_end, takes_submission
from models.kernels.types import INTS


@part(void(SERVED, INTS, int64))
def put_off(jobs: Served, heap: Ints, n: int) -> None:
    """See to it that the first job of the heap does end then: it hears late of ends that were put off."""
    wake = jobs.columns.end
    while n > 0 and wake[heap[0]] < jobs.end[heap[0]]:
        job = pop(wake, heap, n)
        wake[job] = jobs.end[job]
        push(wake, heap, n - 1, job)


@part(void(int64, SERVED, HOSTS, RESIDENTS))
def end_execution(job: int, jobs: Served, hosts: Hosts, residents: Residents) -> None:
    """Give back all that a job has. O(running jobs)."""
    columns = jobs.columns
    h, size, need = columns.host[job], columns.size[job], columns.need[job]
    hosts.free[h] += size
    hosts.free_memory[h] += need
    remove(hosts.ends, h, jobs.expected[job], size, need)
    residents.n[h] -= 1
    i = h * residents.room
    while residents.job[i] != job:
        i += 1
    residents.job[i] = residents.job[h * residents.room + residents.n[h]]


@part(boolean(float64, int64, QUANTUM, SERVED, HOSTS, RESIDENTS))
def end_quantum(
    now: float, job: int, quantum: Quantum, jobs: Served, hosts: Hosts, residents: Residents
) -> bool:
    """Give back what a quantum had, and tell whether its job has to go on.

    O(jobs in execution), and that again for each victim.
    """
    columns = jobs.columns
    h, start = columns.host[job], columns.start[job]
    hosts.free[h] += jobs.taken[job]
    hosts.free_memory[h] += jobs.lent[job]
    remove(hosts.ends, h, start + quantum.length, jobs.taken[job], jobs.lent[job])
    jobs.taken[job] = NOT_IN_QUANTUM
    length = now - start
    give_back(now, job, h, quantum, jobs, hosts, residents)
    if jobs.fate[job] == COUNTED:
        jobs.ran[job] = length
        columns.runtime[job] -= length
        # Beyond its request, a job goes on to be judged by all of it.
        if jobs.requested[job] > length:
            columns.requested[job] = jobs.requested[job] - length
    return jobs.fate[job] != DONE


@part(void(float64, int64, int64, QUANTUM, SERVED, HOSTS, RESIDENTS, NOTED))
def begin_quantum(
    now: float, job: int, h: int, quantum: Quantum,
    jobs: Served, hosts: Hosts, residents: Residents, pieces: Noted,
) -> None:  # fmt: skip
    """Give a job its quantum on a host, with the processors of others where too few are idle.

    A quantum takes processors of the jobs that are preempted for it first, and idle ones only for the rest.
    """
    columns = jobs.columns
    jobs.taken[job] = columns.size[job]
    if columns.size[job] > hosts.free[h]:
        preempt(now, job, h, quantum, jobs, hosts, residents, pieces)
    taken, lent, until = jobs.taken[job], jobs.lent[job], now + quantum.length
    jobs.first[job] = now
    columns.start[job] = now
    columns.host[job] = h
    # A job that holds a start gives it up for its quantum: it does not wait then.
    columns.held[job] = NOT_HELD
    jobs.end[job] = now + min(quantum.length, columns.runtime[job])
    columns.end[job] = jobs.end[job]
    hosts.free[h] -= taken
    hosts.free_memory[h] -= lent
    insert(hosts.ends, h, until, taken, lent)
    if not quantum.preempting and hosts.profile.n_steps[h] > 0:
        occupy(hosts.profile, h, now, until, taken, lent)


@part(void(float64, WAITING, int64, ORDER, PRIORITY))
def evaluate(now: float, waiting: Waiting, n: int, order: Order, priority: Callable[..., float]) -> None:
    """Compute the priorities of all that wait, of which a quantum that counts is no waiting time. O(n).

    What is no number goes last.
    """
    # Two loops, because a call by address slows one down.
    if order.own:
        for i in range(n):
            waited = now - waiting.submit[i] - waiting.ran[i]
            requested, size, need = waiting.requested[i], waiting.size[i], waiting.need[i]
            said = priority(waited, requested, size, need, waiting.bypassed[i])
            waiting.key[i] = said if said == said else -np.inf
        return
    for i in range(n):
        waited_h = (now - waiting.submit[i] - waiting.ran[i]) / SECONDS_IN_HOUR
        size, bypassed = float(waiting.size[i]), waiting.bypassed[i]
        waiting.key[i] = added_up(
            order.weights, waited_h, waiting.hours[i], size, waiting.units[i], waiting.shortness[i], bypassed
        )


@part(int64(int64, int64, QUANTUM, SERVED, HOSTS, int64, LISTS, float64))
def choose_for_quanta(
    first_new: int, new: int, quantum: Quantum, jobs: Served, hosts: Hosts, n: int, lists: Lists, until: float
) -> int:
    """List the places of those who may have a quantum now, and return how many.

    With preemption the newcomers; else all that had none and fit, O(n), and O(hosts) for each that is small
    enough.
    """
    waiting = lists.waiting
    n_chosen = 0
    if quantum.preempting:
        for job in range(first_new, new):
            place = waiting.place[job]
            if place != NOBODY and jobs.columns.host[job] < 0 and jobs.fate[job] != NO_QUANTUM:
                lists.chosen[n_chosen] = place
                n_chosen += 1
        return n_chosen
    most_free = most(hosts.free)
    for place in range(n if most_free > 0 else 0):
        if waiting.size[place] > most_free:
            continue
        job = waiting.job[place]
        if jobs.columns.host[job] >= 0 or jobs.fate[job] == NO_QUANTUM:
            continue
        if tightest(hosts, waiting.size[place], jobs.lent[job], until, quantum.keeps_starts) != NOBODY:
            lists.chosen[n_chosen] = place
            n_chosen += 1
    return n_chosen


@kernel(void(SERVED, HOSTS, RESIDENTS, ORDER, PRIORITY, QUANTUM, LISTS, NOTED))
def run(
    jobs: Served, hosts: Hosts, residents: Residents, order: Order, priority: Callable[..., float],
    quantum: Quantum, lists: Lists, pieces: Noted,
) -> None:  # fmt: skip
    """Simulate jobs to their last end, a pass at each event, see `passing.start_waiting` for what it costs.

    Priorities that change with time add O(waiting jobs) to each pass. A quantum costs O(waiting jobs), and
    O(jobs in execution) on each host, times the jobs to be preempted.

    Parameters
    ----------
    jobs, residents, quantum, lists : see `models.backfill.immediate.state`
    hosts : all that there is is free; every job fits on one of them. Each processor can belong to one
        execution and work for one quantum at the same time: `ends` and `profile` have room for both
    order, priority : see `models.backfill.priority.kernel`
    pieces : filled in
    """
    columns, waiting, heap = jobs.columns, lists.waiting, lists.heap
    n_jobs = jobs.submit.shape[0]
    n_running = 0
    n_waiting = 0
    arrived = 0
    while arrived < n_jobs or n_running > 0:
        put_off(jobs, heap, n_running)
        next_submit = next_submission(jobs.submit, arrived)
        now = min(next_submit, next_end(columns.end, heap, n_running))
        n_events = 0
        while takes_end(order.instant, now, next_end(columns.end, heap, n_running), next_submit, n_events):
            job = pop(columns.end, heap, n_running)
            n_running -= 1
            put_off(jobs, heap, n_running)
            note(pieces, job, columns.host[job], columns.start[job], now, columns.size[job])
            if jobs.taken[job] == NOT_IN_QUANTUM:
                end_execution(job, jobs, hosts, residents)
            elif end_quantum(now, job, quantum, jobs, hosts, residents):
                join(waiting, n_waiting, job, jobs, order.weights)
                n_waiting += 1
            n_events += 1
        first_new = arrived
        while takes_submission(order.instant, now, next_submission(jobs.submit, arrived), n_events):
            join(waiting, n_waiting, arrived, jobs, order.weights)
            n_waiting += 1
            arrived += 1
            n_events += 1
        if n_waiting == 0:
            continue
        if order.dynamic:
            evaluate(now, waiting, n_waiting, order, priority)
        n_started = start_waiting(now, order, quantum, jobs, hosts, residents, n_waiting, lists, n_running)
        n_running += n_started
        n_waiting -= n_started

        # Quanta in order of priority: with preemption for the newcomers, else for all that had none.
        if quantum.preempting and first_new == arrived:
            continue
        until = now + quantum.length
        n_chosen = choose_for_quanta(first_new, arrived, quantum, jobs, hosts, n_waiting, lists, until)
        while n_chosen > 0:
            place = first_of(waiting, lists.chosen, n_chosen, order.starts.sticky, columns)
            n_chosen -= 1
            job = waiting.job[place]
            h = tightest(hosts, columns.size[job], jobs.lent[job], until, quantum.keeps_starts)
            if quantum.preempting and h == NOBODY:
                h = host_with_victims(now, job, quantum, jobs, hosts, residents)
            if h == NOBODY:
                continue
            leave(lists, n_waiting, place, jobs, n_chosen)
            n_waiting -= 1
            begin_quantum(now, job, h, quantum, jobs, hosts, residents, pieces)
            push(columns.end, heap, n_running, job)
            n_running += 1
