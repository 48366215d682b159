"""The event loop of the NCSA-LSF policy, whose rules `models.backfill.ncsa_lsf.schedules` tells.

A host remembers how far it has looked through each list of waiting jobs: who did not fit then does not fit
until a job ends on that host.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, void

from models.arrays import Floats, Ints
from models.backfill.ncsa_lsf.waiting import NOBODY, append, holds_back, overdue, take_out
from models.kernels.compiling import kernel
from models.kernels.ends import pop, push
from models.kernels.types import FLOATS, INTS


@kernel(
    void(
        float64, int64, int64, int64, FLOATS, INTS, INTS, FLOATS, FLOATS, INTS, INTS, int64,
        INTS, INTS, INTS,
    ),
    inline=True,
)  # fmt: skip
def begin(
    now: float, job: int, h: int, here: int, runtime: Floats, size: Ints, need: Ints,
    start: Floats, end: Floats, host: Ints, heap: Ints, n_running: int,
    free: Ints, free_memory: Ints, n_here: Ints,
) -> None:  # fmt: skip
    """Start a job on host `h`; `here` is the place of its size class on it in `n_here`. O(log n)."""
    start[job] = now
    end[job] = now + runtime[job]
    host[job] = h
    push(end, heap, n_running, job)
    free[h] -= size[job]
    free_memory[h] -= need[job]
    n_here[here] += 1


@kernel(
    int64(
        FLOATS, FLOATS, INTS, INTS, INTS, INTS, INTS, INTS,
        FLOATS, INTS, int64, INTS, int64, INTS, INTS, boolean, boolean, boolean,
        FLOATS, FLOATS, INTS, INTS, INTS, FLOATS, FLOATS, INTS,
        INTS, INTS, INTS, INTS, INTS, INTS, INTS, INTS, INTS, FLOATS,
        INTS, INTS, INTS, INTS, INTS, INTS,
    )
)  # fmt: skip
def run(
    submit: Floats, runtime: Floats, size: Ints, need: Ints, job_class: Ints, user: Ints,
    processors: Ints, memory: Ints,
    reserve_wait: Floats, level: Ints, n_levels: int, system_limit: Ints, user_limit: int,
    order: Ints, limit: Ints, fullest: bool, hold_back: bool, instant: bool,
    start: Floats, end: Floats, host: Ints,
    held_job: Ints, held_host: Ints, held_begin: Floats, held_end: Floats, held_processors: Ints,
    heap: Ints, before: Ints, after: Ints,
    free: Ints, free_memory: Ints, turn: Ints, has_ended: Ints, reserved: Ints, n_here: Ints, since: Floats,
    n_system: Ints, cursor: Ints, first: Ints, last: Ints, seen: Ints, n_user: Ints,
) -> int:  # fmt: skip
    """Simulate jobs to their last end; return the number of held pieces.

    An event costs O(rounds x hosts x classes) and O(log running jobs); a round is repeated only after one
    that started somebody. An end adds O(waiting jobs) of the classes that its host may take, at most, and an
    arrival O(1) for each host.

    Parameters
    ----------
    submit, runtime, size, need, job_class, user : the jobs, in order of submission; `need` is memory, users
        count from 0
    processors, memory : of each host; every job may run on one of them
    reserve_wait, level, system_limit : of each time class; `level` 0 goes first
    n_levels : how many levels there are
    user_limit : executing jobs of a user
    order, limit : size classes of each host by priority, `NOBODY` after the last; executing jobs of each size
        class
    fullest : whether the host with the fewest free processors takes jobs first, or the first in the list
    hold_back : whether jobs barred by a system-wide or per-user limit hold back smaller size classes
    instant : all ends of an instant, all its submissions, then one pass; otherwise a pass after each event,
        submissions first
    start, end, host : filled in
    held_job, held_host, held_begin, held_end, held_processors : filled in; as much room as there
        are jobs, because every end ends one piece at most
    heap, before, after : room for all jobs
    free, free_memory, turn, has_ended, reserved, n_here, since : room for all hosts; `has_ended` and `n_here`
        (by host and size class) 0, `reserved` `NOBODY`
    n_system, cursor : room for all time classes; `n_system` 0
    first, last, seen : room for all classes, the last for each host; all `NOBODY`
    n_user : 0 for each user
    """
    n_jobs = submit.shape[0]
    n_hosts = processors.shape[0]
    n_times = level.shape[0]
    n_classes = first.shape[0]
    n_sizes = n_classes // n_times
    for h in range(n_hosts):
        free[h] = processors[h]
        free_memory[h] = memory[h]
        turn[h] = h
    n_running = 0
    n_waiting = 0
    n_held = 0
    arrived = 0
    while arrived < n_jobs or n_running > 0:
        next_submit = submit[arrived] if arrived < n_jobs else np.inf
        next_end = end[heap[0]] if n_running > 0 else np.inf
        now = min(next_submit, next_end)
        somebody_ended = False
        while n_running > 0 and end[heap[0]] == now and (instant or next_submit > now):
            job = pop(end, heap, n_running)
            n_running -= 1
            h = host[job]
            if reserved[h] != NOBODY:
                if now > since[h] and free[h] > 0:
                    held_job[n_held] = reserved[h]
                    held_host[n_held] = h
                    held_begin[n_held] = since[h]
                    held_end[n_held] = now
                    held_processors[n_held] = free[h]
                    n_held += 1
                since[h] = now
            free[h] += size[job]
            free_memory[h] += need[job]
            n_here[h * n_sizes + job_class[job] // n_times] -= 1
            n_system[job_class[job] % n_times] -= 1
            if n_user[user[job]] == user_limit:
                seen[:] = NOBODY
            n_user[user[job]] -= 1
            seen[h * n_classes : (h + 1) * n_classes] = NOBODY
            has_ended[h] = 1
            somebody_ended = True
            if not instant:
                break
        while arrived < n_jobs and submit[arrived] == now and (instant or not somebody_ended):
            append(first, last, before, after, job_class[arrived], arrived)
            n_waiting += 1
            arrived += 1
            if not instant:
                break

        for h in range(n_hosts if somebody_ended else 0):
            if has_ended[h] == 0:
                continue
            has_ended[h] = 0
            job = reserved[h]
            if job != NOBODY:
                if free[h] < size[job] or free_memory[h] < need[job]:
                    continue
                begin(
                    now, job, h, h * n_sizes + job_class[job] // n_times, runtime, size, need,
                    start, end, host, heap, n_running, free, free_memory, n_here,
                )  # fmt: skip
                n_running += 1
                reserved[h] = NOBODY
            job = NOBODY
            if n_waiting > 0:
                job = overdue(
                    now, h, submit, size, need, user, processors, memory,
                    reserve_wait, level, n_levels, system_limit, user_limit, order, limit,
                    after, n_here, n_system, first, n_user,
                )  # fmt: skip
            if job != NOBODY:
                c = job_class[job]
                take_out(first, last, before, after, c, job)
                n_waiting -= 1
                n_system[c % n_times] += 1
                n_user[user[job]] += 1
                if free[h] < size[job] or free_memory[h] < need[job]:
                    reserved[h] = job
                    since[h] = now
                else:
                    begin(
                        now, job, h, h * n_sizes + c // n_times, runtime, size, need,
                        start, end, host, heap, n_running, free, free_memory, n_here,
                    )  # fmt: skip
                    n_running += 1

        goes_on = n_waiting > 0
        while goes_on:
            goes_on = False
            if fullest:
                for i in range(1, n_hosts):
                    h = turn[i]
                    at = i
                    while at > 0 and (
                        free[turn[at - 1]] > free[h] or (free[turn[at - 1]] == free[h] and turn[at - 1] > h)
                    ):
                        turn[at] = turn[at - 1]
                        at -= 1
                    turn[at] = h
            for i in range(n_hosts):
                h = turn[i]
                if reserved[h] != NOBODY:
                    continue
                for rank in range(n_sizes):
                    s = order[h * n_sizes + rank]
                    # Without a free processor nobody can start, and nothing depends on who is held back.
                    if s == NOBODY or free[h] == 0:
                        break
                    here = h * n_sizes + s
                    if n_here[here] >= limit[here]:
                        continue
                    for at_level in range(n_levels):
                        for t in range(n_times):
                            cursor[t] = NOBODY
                            if level[t] != at_level or n_system[t] >= system_limit[t]:
                                continue
                            c = s * n_times + t
                            mark = seen[h * n_classes + c]
                            if mark == NOBODY:
                                cursor[t] = first[c]
                                continue
                            job = last[c]
                            while job > mark:
                                cursor[t] = job
                                job = before[job]
                        while n_here[here] < limit[here]:
                            job = NOBODY
                            t = 0
                            for other in range(n_times):
                                if cursor[other] != NOBODY and (job == NOBODY or cursor[other] < job):
                                    job = cursor[other]
                                    t = other
                            if job == NOBODY:
                                break
                            c = s * n_times + t
                            cursor[t] = after[job]
                            seen[h * n_classes + c] = job
                            if free[h] < size[job] or free_memory[h] < need[job]:
                                continue
                            if n_user[user[job]] >= user_limit:
                                continue
                            take_out(first, last, before, after, c, job)
                            n_waiting -= 1
                            n_system[t] += 1
                            n_user[user[job]] += 1
                            begin(
                                now, job, h, here, runtime, size, need,
                                start, end, host, heap, n_running, free, free_memory, n_here,
                            )  # fmt: skip
                            n_running += 1
                            goes_on = n_waiting > 0
                            if n_system[t] >= system_limit[t]:
                                cursor[t] = NOBODY
                    if n_here[here] >= limit[here]:
                        continue
                    if holds_back(
                        h, s, size, need, user, processors, memory, system_limit, user_limit, hold_back,
                        after, n_system, first, n_user,
                    ):  # fmt: skip
                        break
    return n_held
