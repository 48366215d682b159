"""Backfilling by priority on hosts with processors and memory (Chiang and Vernon 2001, section 2.2).

At each pass the waiting jobs are gone through in order of priority, ties in order of submission. A job that
fits on a host starts there, on the one with the fewest free processors if there are several. The first jobs
that do not, as many as `reservations` says, are given the earliest start that all requested times allow, on
the host where that is (of equal ones that with the fewest free processors). All others may start only where
they disturb no start given before them in this pass. Starts are given anew in each pass; with `sticky` a job
that holds one goes before all that hold none, so that it never loses it (SJF-backfill, section 2.3).

A job that runs on beyond its request is expected to end at any moment.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, int64, void

from models.backfill.arrays import Floats, Ints
from models.backfill.ends import pop, push
from models.backfill.priority import priority
from models.backfill.profile import earliest, fits_now, occupy
from models.backfill.signature import FLOATS, INTS
from models.kernels import kernel

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


@kernel(
    void(
        FLOATS, FLOATS, FLOATS, INTS, INTS, INTS, INTS, FLOATS, boolean, int64, boolean, boolean,
        FLOATS, FLOATS, INTS, FLOATS, INTS, INTS, INTS, INTS, INTS, INTS, FLOATS, INTS, INTS, INTS, int64,
        FLOATS, INTS, INTS, INTS, FLOATS, int64,
    )
)  # fmt: skip
def run(
    submit: Floats, runtime: Floats, requested: Floats, size: Ints, need: Ints,
    processors: Ints, memory: Ints,
    weights: Floats, dynamic: bool, reservations: int, sticky: bool, instant: bool,
    start: Floats, end: Floats, host: Ints,
    key: Floats, bypassed: Ints, held: Ints, heap: Ints, queue: Ints,
    free: Ints, free_memory: Ints,
    due: Floats, due_size: Ints, due_need: Ints, n_due: Ints, places: int,
    time: Floats, step_processors: Ints, step_memory: Ints, n_steps: Ints, first_given: Floats, room: int,
) -> None:  # fmt: skip
    """Simulate jobs to their last end.

    A pass costs O(waiting jobs x hosts), O(running jobs) for each start that it makes or gives, and
    O(running jobs) for each waiting job that would run into a given start. Sorting adds O(waiting) as long as
    the order of priority changes little from pass to pass.

    Parameters
    ----------
    submit, runtime, requested, size, need : the jobs, in order of submission; `need` is memory
    processors, memory : of each host; every job fits on one of them
    weights : of the measures of a job's priority, see `priority`
    dynamic : whether priorities change with time
    reservations : how many waiting jobs are given a start, or `NOBODY_PASSES`
    sticky : whether who was given a start goes before all others
    instant : all ends of an instant, all its submissions, then one pass; otherwise a pass after each event,
        submissions first
    start, end, host : filled in
    key, bypassed, held, heap, queue : room for all jobs; `bypassed` 0, `held` NOT_HELD
    free, free_memory : room for all hosts
    due, due_size, due_need : expected ends of what runs, the last first: `places` for each host, as many jobs
        as can run on it
    n_due : 0 for each host
    time, step_processors, step_memory : `room` steps for each host, see `profile`; enough are 1, and 1 for
        each job that can run there, and 2 for each start that is given or made in a pass
    n_steps, first_given : room for all hosts
    """
    n_jobs = submit.shape[0]
    n_hosts = processors.shape[0]
    most_free = 0
    for h in range(n_hosts):
        free[h] = processors[h]
        free_memory[h] = memory[h]
        most_free = max(most_free, free[h])
    n_running = 0
    n_waiting = 0
    arrived = 0
    while arrived < n_jobs or n_running > 0:
        next_submit = submit[arrived] if arrived < n_jobs else np.inf
        next_end = end[heap[0]] if n_running > 0 else np.inf
        now = min(next_submit, next_end)
        has_ended = False
        while n_running > 0 and end[heap[0]] == now and (instant or next_submit > now):
            job = pop(end, heap, n_running)
            n_running -= 1
            h = host[job]
            free[h] += size[job]
            free_memory[h] += need[job]
            most_free = max(most_free, free[h])
            expected = start[job] + requested[job]
            n_due[h] -= 1
            stop = h * places + n_due[h]
            # Jobs that are alike are as good as each other in the list of expected ends.
            at = h * places
            while due[at] != expected or due_size[at] != size[job] or due_need[at] != need[job]:
                at += 1
            for i in range(at, stop):
                due[i] = due[i + 1]
                due_size[i] = due_size[i + 1]
                due_need[i] = due_need[i + 1]
            has_ended = True
            if not instant:
                break
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
                    weights, now - submit[job], requested[job], size[job], need[job], bypassed[job]
                )  # fmt: skip
        sort(queue, n_waiting, key, held)
        for h in range(n_hosts):
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
                push(end, heap, n_running, job)
                n_running += 1
                held[job] = NOT_HELD
                free[best] -= size[job]
                free_memory[best] -= need[job]
                bottom = best * places
                at = bottom + n_due[best]
                while at > bottom and due[at - 1] < until:
                    due[at] = due[at - 1]
                    due_size[at] = due_size[at - 1]
                    due_need[at] = due_need[at - 1]
                    at -= 1
                due[at] = until
                due_size[at] = size[job]
                due_need[at] = need[job]
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
                    elif processors[h] >= size[job] and memory[h] >= need[job]:
                        at = h * places + n_due[h]
                        available = free[h]
                        available_memory = free_memory[h]
                        when = now
                        while available < size[job] or available_memory < need[job]:
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
                queue[i - n_started] = queue[i]
        n_waiting -= n_started
