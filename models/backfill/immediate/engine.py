"""Backfilling by priority with a short quantum for newcomers: the event loop around `by_priority`.

Section 2.4 of Chiang and Vernon (2001), and section 4.3 for the quantum as soon as possible without
preemption. A job is in one place at a time: it waits in the queue, is in its quantum (its only one), or is in
execution. A preempted one stays in execution: its end is put off by the quantum, it keeps its memory, and its
processors go to the newcomer or idle until it has them back, so that nobody else can be on them then. A
quantum takes processors of the jobs that were preempted for it first, and idle ones only for the rest.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, void

from models.arrays import Floats, Ints
from models.backfill.expected_ends import insert, remove
from models.backfill.immediate.victims import NOBODY, give_back, host_with_victims, preempt, record
from models.backfill.priority.passing import NOT_HELD, start_jobs
from models.backfill.priority.priority import priority
from models.backfill.profile import fits_now, occupy
from models.kernels.compiling import event_loop, kernel
from models.kernels.ends import pop, push
from models.kernels.types import FLOATS, INTS

NO_QUANTUM, DONE, LOST, COUNTED = range(4)
"""What a job's quantum comes to: it gets none, it ends in it, it starts anew later, or it goes on later."""

NOT_IN_QUANTUM = -1


@kernel(void(FLOATS, FLOATS, INTS, int64), inline=True)
def put_off(wake: Floats, end: Floats, heap: Ints, n: int) -> None:
    """See to it that the first job of the heap does end then: it hears late of ends that were put off."""
    while n > 0 and wake[heap[0]] < end[heap[0]]:
        job = pop(wake, heap, n)
        wake[job] = end[job]
        push(wake, heap, n - 1, job)


@event_loop(
    int64(
        FLOATS, FLOATS, FLOATS, FLOATS, INTS, INTS, INTS, INTS, INTS, INTS,
        FLOATS, boolean, int64, boolean, boolean, float64, float64, boolean, boolean,
        FLOATS, FLOATS, INTS, FLOATS, FLOATS, INTS, FLOATS, FLOATS, FLOATS, FLOATS, INTS, INTS,
        FLOATS, INTS, INTS, INTS, INTS, INTS, INTS, FLOATS, INTS, INTS, INTS,
        FLOATS, INTS, INTS, INTS, FLOATS, INTS, INTS, FLOATS, INTS, INTS, FLOATS, FLOATS,
    )
)  # fmt: skip
def run(
    submit: Floats, left: Floats, requested: Floats, asked: Floats, size: Ints, need: Ints, lent: Ints,
    fate: Ints, processors: Ints, memory: Ints,
    weights: Floats, dynamic: bool, reservations: int, sticky: bool, instant: bool,
    quantum: float, uninterrupted: float, preempting: bool, keep_promises: bool,
    first: Floats, end: Floats, host: Ints, began: Floats, promised: Floats, preempted: Ints,
    since: Floats, wake: Floats, expected: Floats, ran: Floats, taken: Ints, displaced_by: Ints,
    key: Floats, bypassed: Ints, held: Ints, heap: Ints, queue: Ints, free: Ints, free_memory: Ints,
    due: Floats, due_size: Ints, due_need: Ints, n_due: Ints,
    time: Floats, step_processors: Ints, step_memory: Ints, n_steps: Ints, first_given: Floats,
    residents: Ints, n_residents: Ints, slowdown: Floats,
    piece_job: Ints, piece_host: Ints, piece_begin: Floats, piece_end: Floats,
) -> int:  # fmt: skip
    """Simulate jobs to their last end, a pass at each event, and return how many pieces they ran in.

    Where that is more than there is room for, the rest is not noted. A quantum costs O(jobs in execution) on
    each host, times the jobs to be preempted; with ``soon`` each pass adds O(waiting jobs x hosts).

    Parameters
    ----------
    submit, requested, size, need : the jobs, in order of submission; `need` is memory
    left, asked : seconds that each has to run, and is judged by; changed where a quantum counts
    lent : memory of each job in its quantum
    fate : what each job's quantum comes to, see above
    processors, memory : of each host; every job fits on one of them
    weights, dynamic, reservations, sticky, instant : as for `hosts.run`
    quantum, uninterrupted : seconds
    preempting : a quantum at the submission; otherwise as soon as there are idle processors
    keep_promises : with the latter, those that disturb no start given
    first, end, host, preempted : filled in; -1 and 0 in the last two
    began : NaN, filled in for those whose full execution begins
    promised : NaN, filled in for those that are given a start while they wait
    since : when each last got processors, or is to get them back; room for all jobs, as for the next three
    wake : key of the heap: an end, perhaps one that was put off since
    expected : end of each execution by its request, put off by quanta that are over
    ran : 0; seconds before `since` that count
    taken : NOT_IN_QUANTUM; otherwise the processors of nobody else that a quantum takes
    displaced_by : NOBODY; otherwise the job in whose quantum a preempted one waits
    key, bypassed, held, heap, queue, free, free_memory : as for `hosts.run`
    due, due_size, due_need : as there, with room for quanta and for executions
    n_due, time, step_processors, step_memory, n_steps, first_given : as there
    residents, slowdown : for each host, room for as many jobs as can be in execution there
    n_residents : 0 for each host
    piece_job, piece_host, piece_begin, piece_end : filled in, as far as there is room
    """
    n_jobs = submit.shape[0]
    n_hosts = processors.shape[0]
    places = due.shape[0] // n_hosts
    beds = residents.shape[0] // n_hosts
    room = time.shape[0] // n_hosts
    for h in range(n_hosts):
        free[h] = processors[h]
        free_memory[h] = memory[h]
    n_running = 0
    n_waiting = 0
    n_pieces = 0
    arrived = 0
    while arrived < n_jobs or n_running > 0:
        put_off(wake, end, heap, n_running)
        next_submit = submit[arrived] if arrived < n_jobs else np.inf
        next_end = wake[heap[0]] if n_running > 0 else np.inf
        now = min(next_submit, next_end)
        has_ended = False
        while n_running > 0 and wake[heap[0]] == now and (instant or next_submit > now):
            job = pop(wake, heap, n_running)
            n_running -= 1
            put_off(wake, end, heap, n_running)
            has_ended = True
            h = host[job]
            at = h * places
            n_pieces = record(
                piece_job, piece_host, piece_begin, piece_end, n_pieces, job, h, since[job], now
            )  # fmt: skip
            if taken[job] == NOT_IN_QUANTUM:
                free[h] += size[job]
                free_memory[h] += need[job]
                remove(due, due_size, due_need, at, n_due[h], expected[job], size[job], need[job])
                n_due[h] -= 1
                n_residents[h] -= 1
                i = h * beds
                while residents[i] != job:
                    i += 1
                residents[i] = residents[h * beds + n_residents[h]]
            else:
                free[h] += taken[job]
                free_memory[h] += lent[job]
                remove(
                    due, due_size, due_need, at, n_due[h], since[job] + quantum, taken[job], lent[job]
                )  # fmt: skip
                n_due[h] -= 1
                taken[job] = NOT_IN_QUANTUM
                length = now - since[job]
                give_back(
                    now, job, h, quantum, since, size, need, expected, displaced_by,
                    due, due_size, due_need, n_due, residents, n_residents,
                )  # fmt: skip
                if fate[job] != DONE:
                    queue[n_waiting] = job
                    n_waiting += 1
                if fate[job] == COUNTED:
                    ran[job] = length
                    left[job] -= length
                    if requested[job] > length:
                        asked[job] = requested[job] - length
            if not instant:
                break
        first_new = arrived
        while arrived < n_jobs and submit[arrived] == now and (instant or not has_ended):
            queue[n_waiting] = arrived
            if not dynamic:
                key[arrived] = priority(
                    weights, 0.0, requested[arrived], size[arrived], need[arrived], 0
                )  # fmt: skip
            n_waiting += 1
            arrived += 1
            if not instant:
                break
        if n_waiting == 0:
            continue
        if dynamic:
            for i in range(n_waiting):
                job = queue[i]
                key[job] = priority(
                    weights, now - submit[job] - ran[job], requested[job], size[job], need[job], bypassed[job]
                )  # fmt: skip
        n_started = start_jobs(
            now, queue, n_waiting, left, asked, size, need,
            reservations, sticky, key, held, bypassed, since, wake, host, promised, heap, n_running,
            free, free_memory, due, due_size, due_need, n_due,
            time, step_processors, step_memory, n_steps, first_given,
        )  # fmt: skip
        n_running += n_started
        n_waiting -= n_started
        for i in range(n_waiting, n_waiting + n_started):
            job = queue[i]
            h = host[job]
            if np.isnan(first[job]):
                first[job] = now
            began[job] = now
            end[job] = wake[job]
            expected[job] = now + asked[job]
            residents[h * beds + n_residents[h]] = job
            n_residents[h] += 1

        # Quanta, in order of priority. Who holds a start gives it up for its quantum: it does not wait then.
        if preempting and first_new == arrived:
            continue
        until = now + quantum
        kept = 0
        for i in range(n_waiting):
            job = queue[i]
            best = NOBODY
            if host[job] < 0 and fate[job] != NO_QUANTUM and (not preempting or job >= first_new):
                for h in range(n_hosts):
                    if free[h] < size[job] or free_memory[h] < lent[job]:
                        continue
                    if best >= 0 and free[h] >= free[best]:
                        continue
                    if preempting or not keep_promises or first_given[h] >= until or fits_now(
                        time, step_processors, step_memory, h * room, n_steps[h], size[job], lent[job], until
                    ):  # fmt: skip
                        best = h
                if preempting and best == NOBODY:
                    best = host_with_victims(
                        now, size[job], lent[job], uninterrupted, free, free_memory, residents, n_residents,
                        submit, size, since, end, ran, slowdown,
                    )  # fmt: skip
            if best == NOBODY:
                queue[kept] = job
                kept += 1
                continue
            length = min(quantum, left[job])
            taken[job] = size[job]
            if size[job] > free[best]:
                n_pieces = preempt(
                    now, job, best, length, quantum, free, size, need, since, end, expected, ran,
                    taken, preempted, displaced_by, due, due_size, due_need, n_due,
                    residents, n_residents, slowdown, piece_job, piece_host, piece_begin, piece_end, n_pieces,
                )  # fmt: skip
            first[job] = now
            since[job] = now
            host[job] = best
            held[job] = NOT_HELD
            end[job] = now + length
            wake[job] = end[job]
            push(wake, heap, n_running, job)
            n_running += 1
            free[best] -= taken[job]
            free_memory[best] -= lent[job]
            insert(due, due_size, due_need, best * places, n_due[best], until, taken[job], lent[job])
            n_due[best] += 1
            if not preempting and n_steps[best] > 0:
                n_steps[best] = occupy(
                    time, step_processors, step_memory, best * room, n_steps[best],
                    now, until, taken[job], lent[job],
                )  # fmt: skip
        n_waiting = kept
    return n_pieces
