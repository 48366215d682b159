"""One pass of backfilling by priority on hosts with processors and memory (Chiang and Vernon 2001, section
2.2).

The waiting jobs are gone through in order of priority, ties in order of submission. A job that fits on a host
starts there, on the one with the fewest free processors if there are several. The first jobs that do not, as
many as `reservations` says, are given the earliest start that all requested times allow, on the host where
that is (of equal ones that with the fewest free processors). All others may start only where they disturb no
start given before them in this pass. Starts are given anew in each pass; with `sticky` a job that holds one
goes before all that hold none, so that it never loses it (SJF-backfill, section 2.3).

A job that runs on beyond its request is expected to end at any moment.
"""

from __future__ import annotations

import numpy as np
from numba import int64, void

from models.arrays import Floats, Ints
from models.backfill.expected_ends import insert
from models.backfill.profile import earliest, fits_now, occupy
from models.kernels.compiling import kernel, written_out
from models.kernels.ends import push
from models.kernels.types import FLOATS, INTS

NOT_HELD = 2**62
NOBODY_PASSES = -1
"""Instead of a number of reservations: FCFS."""


@kernel(void(INTS, int64, FLOATS, INTS), inline=True)
def sort(queue: Ints, n: int, key: Floats, held: Ints) -> None:
    """Put waiting jobs in order: holders of a start, then by priority, then by submission.

    O(n) where little has changed since the last time, O(n^2) at worst.
    """
    for i in range(1, n):
        job = queue[i]
        at = i
        while at > 0:
            other = queue[at - 1]
            if held[other] < held[job]:
                break
            if held[other] == held[job]:
                if key[other] > key[job]:
                    break
                if key[other] == key[job] and other < job:
                    break
            queue[at] = other
            at -= 1
        queue[at] = job


@written_out
def start_jobs(
    now: float, queue: Ints, n_waiting: int,
    runtime: Floats, requested: Floats, size: Ints, need: Ints,
    reservations: int, sticky: bool, key: Floats, held: Ints, bypassed: Ints,
    start: Floats, end: Floats, host: Ints, promised: Floats, heap: Ints, n_running: int,
    free: Ints, free_memory: Ints,
    due: Floats, due_size: Ints, due_need: Ints, n_due: Ints,
    time: Floats, step_processors: Ints, step_memory: Ints, n_steps: Ints, first_given: Floats,
) -> int:  # fmt: skip
    """Start every waiting job that may start, and return how many did.

    Costs O(waiting jobs x hosts), O(running jobs) for each start that is made or given, and O(running jobs)
    for each waiting job that would run into a given start. Sorting adds O(waiting) as long as the order of
    priority changes little from pass to pass.

    Parameters
    ----------
    now : this instant
    queue, n_waiting : who waits; then in order of priority, and behind them those who started
    runtime, requested, size, need : of each job; `need` is memory
    reservations : how many waiting jobs are given a start, or `NOBODY_PASSES`
    sticky : whether who was given a start goes before all others
    key, held, bypassed : of each job: its priority, the number of the start that it holds or `NOT_HELD`, and
        how
        many of lower priority started before it
    start, end, host : of each job, filled in for those that start
    promised : of each job, the first start that it was given, or NaN
    heap, n_running : what runs, see `ends`
    free, free_memory : of each host
    due, due_size, due_need, n_due : see `expected_ends`, as much room for each host
    time, step_processors, step_memory, n_steps : see `profile`, as much room for each host; filled in for the
        hosts on which a start is given: enough are 1 step, and 1 for each job that can run there, and 2 for
        each start that is given or made. 0 steps: no start is given there
    first_given : of each host, the earliest start that is given there, or inf
    """
    sort(queue, n_waiting, key, held)
    n_hosts = free.shape[0]
    places = due.shape[0] // n_hosts
    room = time.shape[0] // n_hosts
    most_free = 0
    for h in range(n_hosts):
        most_free = max(most_free, free[h])
        n_steps[h] = 0
        first_given[h] = np.inf
    kept = 0
    n_started = 0
    n_given = 0
    for i in range(n_waiting):
        job = queue[i]
        until = now + requested[job]
        best = -1
        if size[job] <= most_free:
            for h in range(n_hosts):
                if free[h] < size[job] or free_memory[h] < need[job]:
                    continue
                if best >= 0 and free[h] >= free[best]:
                    continue
                if first_given[h] >= until or fits_now(
                    time, step_processors, step_memory, h * room, n_steps[h],
                    size[job], need[job], until,
                ):  # fmt: skip
                    best = h
        if best >= 0:
            start[job] = now
            end[job] = now + runtime[job]
            host[job] = best
            push(end, heap, n_running + n_started, job)
            held[job] = NOT_HELD
            free[best] -= size[job]
            free_memory[best] -= need[job]
            insert(due, due_size, due_need, best * places, n_due[best], until, size[job], need[job])
            n_due[best] += 1
            if n_steps[best] > 0:
                n_steps[best] = occupy(
                    time, step_processors, step_memory, best * room, n_steps[best],
                    now, until, size[job], need[job],
                )  # fmt: skip
            most_free = 0
            for h in range(n_hosts):
                most_free = max(most_free, free[h])
            n_started += 1
            continue

        # Who started changes places with the next one who waits on.
        queue[i] = queue[kept]
        queue[kept] = job
        kept += 1
        bypassed[job] -= n_started
        if n_given < reservations:
            given = np.inf
            for h in range(n_hosts):
                when = np.inf
                if n_steps[h] > 0:
                    when = earliest(
                        time, step_processors, step_memory, h * room, n_steps[h],
                        size[job], need[job], requested[job],
                    )  # fmt: skip
                else:
                    at = h * places + n_due[h]
                    available = free[h]
                    available_memory = free_memory[h]
                    when = now
                    while available < size[job] or available_memory < need[job]:
                        if at == h * places:
                            when = np.inf
                            break
                        at -= 1
                        available += due_size[at]
                        available_memory += due_need[at]
                        when = max(due[at], now)
                if when < given or (when == given and best >= 0 and free[h] < free[best]):
                    given = when
                    best = h
            base = best * room
            if n_steps[best] == 0:
                # What is over by now counts as free in the plan, although it may not be in fact.
                time[base] = now
                step_processors[base] = free[best]
                step_memory[base] = free_memory[best]
                n = 1
                for at in range(best * places + n_due[best] - 1, best * places - 1, -1):
                    if due[at] > time[base + n - 1]:
                        time[base + n] = due[at]
                        step_processors[base + n] = step_processors[base + n - 1]
                        step_memory[base + n] = step_memory[base + n - 1]
                        n += 1
                    step_processors[base + n - 1] += due_size[at]
                    step_memory[base + n - 1] += due_need[at]
                n_steps[best] = n
            n_steps[best] = occupy(
                time, step_processors, step_memory, base, n_steps[best],
                given, given + requested[job], size[job], need[job],
            )  # fmt: skip
            first_given[best] = min(first_given[best], given)
            if np.isnan(promised[job]):
                promised[job] = given
            if sticky:
                held[job] = n_given
            n_given += 1
        # Nobody else can start, or may.
        if reservations == NOBODY_PASSES or (most_free == 0 and n_given == reservations):
            break
    for i in range(kept):
        bypassed[queue[i]] += n_started
    if n_started > 0:
        for i in range(kept + n_started, n_waiting):
            job = queue[i]
            queue[i] = queue[i - n_started]
            queue[i - n_started] = job
    return n_started
