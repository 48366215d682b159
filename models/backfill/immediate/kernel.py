"""Backfilling by priority with a short quantum for newcomers: the event loop around `passing.start_jobs`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import boolean, float64, int64, void

from models.arrays import Ints
from models.backfill.expected_ends import insert, remove
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
    Lists,
    Quantum,
    Residents,
    Served,
)
from models.backfill.immediate.victims import give_back, host_with_victims, preempt
from models.backfill.pieces import NOTED, Noted, note
from models.backfill.priority.kernel import ORDER, Order
from models.backfill.priority.order import PRIORITY, weighted
from models.backfill.priority.passing import HOSTS, NOT_HELD, Hosts, start_jobs, tightest
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


@part(void(float64, int64, SERVED, RESIDENTS))
def begin_execution(now: float, job: int, jobs: Served, residents: Residents) -> None:
    """Note the execution of a job that a pass has started. O(1)."""
    columns = jobs.columns
    if np.isnan(jobs.first[job]):
        jobs.first[job] = now
    jobs.began[job] = now
    jobs.end[job] = columns.end[job]
    jobs.expected[job] = now + columns.requested[job]
    h = columns.host[job]
    residents.job[h * residents.room + residents.n[h]] = job
    residents.n[h] += 1


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


@kernel(void(SERVED, HOSTS, RESIDENTS, ORDER, PRIORITY, QUANTUM, LISTS, NOTED))
def run(
    jobs: Served, hosts: Hosts, residents: Residents, order: Order, priority: Callable[..., float],
    quantum: Quantum, lists: Lists, pieces: Noted,
) -> None:  # fmt: skip
    """Simulate jobs to their last end, a pass at each event.

    A quantum costs O(jobs in execution) on each host, times the jobs to be preempted; with ``soon`` each pass
    adds O(waiting jobs x hosts) to what `passing.start_jobs` costs.

    Parameters
    ----------
    jobs, residents, quantum, lists : see `models.backfill.immediate.state`
    hosts : all that there is is free; every job fits on one of them. Each processor can belong to one
        execution and work for one quantum at the same time: `ends` and `profile` have room for both
    order, priority : see `models.backfill.priority.kernel`
    pieces : filled in
    """
    columns, queue, heap = jobs.columns, lists.queue, lists.heap
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
                queue[n_waiting] = job
                n_waiting += 1
            n_events += 1
        first_new = arrived
        while takes_submission(order.instant, now, next_submission(jobs.submit, arrived), n_events):
            queue[n_waiting] = arrived
            n_waiting += 1
            arrived += 1
            n_events += 1
        if n_waiting == 0:
            continue
        # A quantum that counts is no waiting time. Two loops, because a call by address slows one down.
        if order.own and order.dynamic:
            for i in range(n_waiting):
                job = queue[i]
                waited = now - jobs.submit[job] - jobs.ran[job]
                requested, size, need = jobs.requested[job], columns.size[job], columns.need[job]
                columns.key[job] = priority(waited, requested, size, need, columns.bypassed[job])
        elif order.dynamic:
            for i in range(n_waiting):
                job = queue[i]
                waited = now - jobs.submit[job] - jobs.ran[job]
                requested, size, need = jobs.requested[job], columns.size[job], columns.need[job]
                bypassed = columns.bypassed[job]
                columns.key[job] = weighted(order.weights, waited, requested, size, need, bypassed)
        n_started = start_jobs(now, order.starts, columns, hosts, queue, n_waiting, heap, n_running)
        n_running += n_started
        n_waiting -= n_started
        for i in range(n_waiting, n_waiting + n_started):
            begin_execution(now, queue[i], jobs, residents)

        # Quanta in order of priority: with preemption for the newcomers, else for all that had none.
        if quantum.preempting and first_new == arrived:
            continue
        until = now + quantum.length
        kept = 0
        for i in range(n_waiting):
            job = queue[i]
            h = NOBODY
            had_none = columns.host[job] < 0 and jobs.fate[job] != NO_QUANTUM
            if had_none and (not quantum.preempting or job >= first_new):
                h = tightest(hosts, columns.size[job], jobs.lent[job], until, quantum.keeps_starts)
                if quantum.preempting and h == NOBODY:
                    h = host_with_victims(now, job, quantum, jobs, hosts, residents)
            if h == NOBODY:
                queue[kept] = job
                kept += 1
                continue
            begin_quantum(now, job, h, quantum, jobs, hosts, residents, pieces)
            push(columns.end, heap, n_running, job)
            n_running += 1
        n_waiting = kept
