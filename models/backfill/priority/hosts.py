"""Backfilling by priority on hosts with processors and memory: the event loop around `by_priority`.

The start that a job was first promised is kept, which means that it starts then at the latest, where requests
are respected (``kill``), one start is given, and who holds it is never passed: by order of submission (EASY)
or because it keeps it (`sticky`). With several starts the promise of all but the first may be broken, because
they are given anew in each pass; with other priorities a newcomer may take the start over.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, int64, void

from models.arrays import Floats, Ints
from models.backfill.expected_ends import remove
from models.backfill.priority.passing import start_jobs
from models.backfill.priority.priority import priority
from models.kernels.compiling import event_loop
from models.kernels.ends import pop
from models.kernels.types import FLOATS, INTS


@event_loop(
    void(
        FLOATS, FLOATS, FLOATS, INTS, INTS, INTS, INTS, FLOATS, boolean, int64, boolean, boolean,
        FLOATS, FLOATS, INTS, FLOATS, FLOATS, INTS, INTS, INTS, INTS, INTS, INTS, FLOATS, INTS, INTS, INTS,
        int64, FLOATS, INTS, INTS, INTS, FLOATS, int64,
    )
)  # fmt: skip
def run(
    submit: Floats, runtime: Floats, requested: Floats, size: Ints, need: Ints,
    processors: Ints, memory: Ints,
    weights: Floats, dynamic: bool, reservations: int, sticky: bool, instant: bool,
    start: Floats, end: Floats, host: Ints, promised: Floats,
    key: Floats, bypassed: Ints, held: Ints, heap: Ints, queue: Ints,
    free: Ints, free_memory: Ints,
    due: Floats, due_size: Ints, due_need: Ints, n_due: Ints, places: int,
    time: Floats, step_processors: Ints, step_memory: Ints, n_steps: Ints, first_given: Floats, room: int,
) -> None:  # fmt: skip
    """Simulate jobs to their last end, a pass at each event, see `by_priority.start_jobs`.

    Parameters
    ----------
    submit, runtime, requested, size, need : the jobs, in order of submission; `need` is memory
    processors, memory : of each host; every job fits on one of them
    weights : of the measures of a job's priority, see `priority`
    dynamic : whether priorities change with time
    reservations : how many waiting jobs are given a start, or `by_priority.NOBODY_PASSES`
    sticky : whether who was given a start goes before all others
    instant : all ends of an instant, all its submissions, then one pass; otherwise a pass after each event,
        submissions first
    start, end, host : filled in
    promised : NaN; filled in for those that are given a start while they wait
    key, bypassed, held, heap, queue : room for all jobs; `bypassed` 0, `held` NOT_HELD
    free, free_memory : room for all hosts
    due, due_size, due_need : `places` for each host, as many jobs as can run on it
    n_due : 0 for each host
    time, step_processors, step_memory : `room` for each host
    n_steps, first_given : room for all hosts
    """
    n_jobs = submit.shape[0]
    for h in range(processors.shape[0]):
        free[h] = processors[h]
        free_memory[h] = memory[h]
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
            expected = start[job] + requested[job]
            remove(due, due_size, due_need, h * places, n_due[h], expected, size[job], need[job])
            n_due[h] -= 1
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
        n_started = start_jobs(
            now, queue, n_waiting, runtime, requested, size, need,
            reservations, sticky, key, held, bypassed, start, end, host, promised, heap, n_running,
            free, free_memory, due, due_size, due_need, n_due,
            time, step_processors, step_memory, n_steps, first_given,
        )  # fmt: skip
        n_running += n_started
        n_waiting -= n_started
