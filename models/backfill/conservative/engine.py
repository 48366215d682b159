"""Conservative backfilling with compression: everybody holds a start time, and it only ever moves forward.

A submitted job gets the earliest start time that disturbs nobody's. Where a job ends, the waiting ones are
placed anew, one by one in order of submission: each gives up its place and takes the earliest that there is
with all others where they are, so that it never starts later than it was told. Of several hosts a job takes
the one where it starts first, of equal ones that with the fewest free processors now; it changes its host
only for an earlier start.

References
----------
D. G. Feitelson, A. M. Weil, "Utilization and predictability in scheduling the IBM SP2 with backfilling",
*12th Intl. Parallel Processing Symposium*, 1998.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, int64, void

from models.arrays import Floats, Ints
from models.backfill.profile import earliest, forget, occupy
from models.kernels.compiling import kernel
from models.kernels.ends import pop, push
from models.kernels.types import FLOATS, INTS


@kernel(
    void(
        FLOATS, FLOATS, FLOATS, INTS, INTS, INTS, INTS, boolean, FLOATS, FLOATS, INTS, FLOATS,
        FLOATS, INTS, INTS, INTS, FLOATS, INTS, INTS, INTS, int64,
    )
)  # fmt: skip
def run(
    submit: Floats, runtime: Floats, requested: Floats, size: Ints, need: Ints,
    processors: Ints, memory: Ints, instant: bool, start: Floats, end: Floats, host: Ints, promised: Floats,
    planned: Floats, heap: Ints, queue: Ints, free: Ints,
    time: Floats, free_processors: Ints, free_memory: Ints, n_steps: Ints, room: int,
) -> None:  # fmt: skip
    """Simulate jobs to their last end.

    A submission costs O(waiting + running) jobs, an end O(waiting (waiting + running)).

    Parameters
    ----------
    submit, runtime, requested, size, need : the jobs, in order of submission; none runs longer than requested
    processors, memory : of each host; every job fits on one of them
    instant : all ends of an instant, all its submissions, then one pass; otherwise a pass after each event,
        submissions first
    start, end, host : filled in
    promised : NaN; filled in for those that have to wait, with the first start that they were given
    planned, heap, queue : room for all jobs
    free : room for all hosts
    time, free_processors, free_memory : `room` steps for each host, see `profile`; 2 jobs + 2 are enough
    n_steps : room for all hosts
    """
    n_jobs = submit.shape[0]
    n_hosts = processors.shape[0]
    for h in range(n_hosts):
        free[h] = processors[h]
        time[h * room] = -np.inf
        free_processors[h * room] = processors[h]
        free_memory[h * room] = memory[h]
        n_steps[h] = 1
    n_running = 0
    n_waiting = 0
    arrived = 0
    next_start = np.inf
    while arrived < n_jobs or n_running > 0 or n_waiting > 0:
        next_submit = submit[arrived] if arrived < n_jobs else np.inf
        next_end = end[heap[0]] if n_running > 0 else np.inf
        now = min(next_submit, next_end, next_start)
        for h in range(n_hosts):
            at = h * room
            n_steps[h] = forget(time, free_processors, free_memory, at, n_steps[h], now)

        # Whose time has come starts, whatever else happens now: the plan has a place for it.
        if next_start <= now:
            kept = 0
            next_start = np.inf
            for i in range(n_waiting):
                job = queue[i]
                if planned[job] <= now:
                    start[job] = now
                    end[job] = now + runtime[job]
                    push(end, heap, n_running, job)
                    n_running += 1
                    free[host[job]] -= size[job]
                else:
                    next_start = min(next_start, planned[job])
                    queue[kept] = job
                    kept += 1
            n_waiting = kept

        has_ended = False
        while n_running > 0 and end[heap[0]] == now and (instant or next_submit > now):
            job = pop(end, heap, n_running)
            n_running -= 1
            h = host[job]
            free[h] += size[job]
            expected = start[job] + requested[job]
            if expected > now:
                n_steps[h] = occupy(
                    time, free_processors, free_memory, h * room, n_steps[h],
                    now, expected, -size[job], -need[job],
                )  # fmt: skip
            has_ended = True
            if not instant:
                break
        first_fresh = n_waiting
        while arrived < n_jobs and submit[arrived] == now and (instant or not has_ended):
            queue[n_waiting] = arrived
            planned[arrived] = np.inf
            n_waiting += 1
            arrived += 1
            if not instant:
                break

        # Newcomers are placed after all those that were there before them.
        begin = first_fresh
        if has_ended:
            begin = 0
            next_start = np.inf
        for i in range(begin, n_waiting):
            job = queue[i]
            before = planned[job]
            if before < np.inf:
                h = host[job]
                n_steps[h] = occupy(
                    time, free_processors, free_memory, h * room, n_steps[h],
                    before, before + requested[job], -size[job], -need[job],
                )  # fmt: skip
            best = -1
            for h in range(n_hosts):
                when = earliest(
                    time, free_processors, free_memory, h * room, n_steps[h],
                    size[job], need[job], requested[job],
                )  # fmt: skip
                if when < planned[job] or (when == planned[job] and best >= 0 and free[h] < free[best]):
                    planned[job] = when
                    best = h
            if best >= 0:
                host[job] = best
            h = host[job]
            n_steps[h] = occupy(
                time, free_processors, free_memory, h * room, n_steps[h],
                planned[job], planned[job] + requested[job], size[job], need[job],
            )  # fmt: skip
            next_start = min(next_start, planned[job])
            if i >= first_fresh and planned[job] > now:
                promised[job] = planned[job]
