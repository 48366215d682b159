"""The event loop of the T3D's schedulers: "event driven […] with the ability to react instantly" (Jette
1997).

At each instant all events happen, then jobs are admitted and placed in one pass, see `placing` and
`admission`. An event costs O(log events); a pass O(jobs that wait), and for each of them that may find a
place what `placing.best_place` costs.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, int64, void

from models.jobs.calendar import DAY
from models.kernels.compiling import kernel, part
from models.production_gang.t3d.admission import admit
from models.production_gang.t3d.clock import enter_period, tick
from models.production_gang.t3d.events import drop_first
from models.production_gang.t3d.moving import assign, begin_run, end_run, image_has_left, submit
from models.production_gang.t3d.placing import (
    best_place,
    has_free_place,
    is_within_class_limit,
    look_around,
    somebody_yields,
)
from models.production_gang.t3d.ranking import is_urgent, sort_waiting
from models.production_gang.t3d.state import (
    ACTIVE,
    AGAIN,
    ANSWERED,
    END_OF_RUN,
    IMAGE_HAS_LEFT,
    IS_CHILD,
    LEAVING,
    LEVEL,
    LIMITS,
    N_ENDED,
    N_HEAP,
    N_LEAVING_NODES,
    N_LEVELS,
    N_QUEUED,
    N_RESIDENCIES,
    N_RUNNING,
    N_SWITCHING,
    N_WAITING,
    NEXT,
    NEXT_BOUNDARY,
    NEXT_TICK,
    NO_WORK,
    NONE,
    NOW,
    PACKING,
    RUN_BEGINS,
    STATE,
    STOPS,
    SUBMIT,
    SYSTEM,
)

# Why `advance` returned.
ALL_ENDED, STUCK, NO_ROOM = range(3)

ROOM_A_NODE, ROOM_A_JOB = 8, 4
"""More events than one instant can add, for each node and for each job."""

LONGEST_IDLE = 8 * DAY
"""Queues open within a week; jobs that wait longer, while nothing happens, wait for ever."""


@part(boolean(SYSTEM))
def place_waiting(system):
    """Give nodes to jobs that wait, in order; return whether anybody was preempted.

    Then the classes have fewer processors than before, and who was kept back by a limit may fit: another pass
    is due.
    """
    work, counts, settings = system.work, system.counts, system.settings
    preempting = False
    if counts[N_WAITING] == 0:
        return preempting
    sort_waiting(system)
    look_around(system)
    n = counts[N_WAITING]  # those that are preempted in this pass come after these
    too_large = settings.n_nodes  # no place of so many nodes is free, nor of more
    too_large <<= 1
    i = 0
    blocked = False
    while i < n and not blocked:
        job = work.waiting[i]
        state = work.whole[job, STATE]
        i += 1
        if state == LEAVING or not is_within_class_limit(job, system):
            continue
        level = work.whole[job, LEVEL]
        place = NONE
        if (1 << level) < too_large:
            place = best_place(job, False, system)
            if place == NONE and not has_free_place(level, system):
                too_large = 1 << level
        if place == NONE and settings.preemptive and somebody_yields(job, system):
            place = best_place(job, True, system)
            if place != NONE:
                too_large = settings.n_nodes << 1
                preempting = True
        if place == NONE:
            blocked = settings.blocking == 2 or (settings.blocking == 1 and is_urgent(job, system))
            continue
        assign(job, place, np.int64(system.best[6]), system.best[7], system)
        look_around(system)
        work.waiting[i - 1] = NONE
    kept = 0
    for i in range(counts[N_WAITING]):
        if work.waiting[i] != NONE:
            work.waiting[kept] = work.waiting[i]
            kept += 1
    counts[N_WAITING] = kept
    return preempting


@part(void(SYSTEM))
def write_level(system):
    """Write down what the processors do from now on."""
    counts, record, settings = system.counts, system.record, system.settings
    switching = counts[N_SWITCHING] + counts[N_LEAVING_NODES] * settings.node_processors
    reason = NO_WORK
    if counts[N_WAITING] > 0:
        reason = PACKING
    elif counts[N_QUEUED] > 0:
        reason = LIMITS
    row = counts[N_LEVELS]
    if row > 0 and record.level_time[row - 1] == system.clocks[NOW]:
        row -= 1
    record.level_time[row] = system.clocks[NOW]
    record.level[row, 0] = counts[N_RUNNING]
    record.level[row, 1] = switching
    record.level[row, 2] = reason
    counts[N_LEVELS] = row + 1


@part(void(SYSTEM))
def happens(system):
    """Let the first event of the heap happen."""
    heap = system.work.heap
    kind, job, stops = heap[0, 0], heap[0, 1], heap[0, 2]
    drop_first(system)
    if kind == ANSWERED:
        submit(job, system)
    elif stops == system.work.whole[job, STOPS]:
        if kind == END_OF_RUN:
            end_run(job, system)
        elif kind == IMAGE_HAS_LEFT:
            image_has_left(job, system)
        elif kind == RUN_BEGINS:
            begin_run(job, system)


@kernel(int64(SYSTEM))
def advance(system):
    """Simulate until all jobs have ended, or something is needed from outside, and say what."""
    work, counts, clocks, settings = system.work, system.counts, system.clocks, system.settings
    while counts[N_ENDED] < settings.n_jobs:
        needed = ROOM_A_NODE * settings.n_nodes + ROOM_A_JOB * settings.n_jobs
        if (
            counts[N_HEAP] + needed > work.heap_time.shape[0]
            or counts[N_RESIDENCIES] + 2 * settings.n_nodes > system.record.times.shape[0]
            or counts[N_LEVELS] + 2 > system.record.level_time.shape[0]
        ):
            return NO_ROOM
        now = np.inf
        while counts[NEXT] < settings.n_jobs and work.whole[counts[NEXT], IS_CHILD]:
            counts[NEXT] += 1
        if counts[NEXT] < settings.n_jobs:
            now = work.real[counts[NEXT], SUBMIT]
        if counts[N_HEAP] > 0:
            now = min(now, work.heap_time[0])
        if now < np.inf:
            clocks[ACTIVE] = now
        now = min(now, min(clocks[NEXT_BOUNDARY], clocks[NEXT_TICK]))
        if counts[AGAIN]:
            now = clocks[NOW]
        if now > clocks[ACTIVE] + LONGEST_IDLE:
            return STUCK
        clocks[NOW] = now
        while counts[N_HEAP] > 0 and work.heap_time[0] == now:
            happens(system)
        while counts[NEXT] < settings.n_jobs and (
            work.whole[counts[NEXT], IS_CHILD] or work.real[counts[NEXT], SUBMIT] == now
        ):
            if not work.whole[counts[NEXT], IS_CHILD]:
                submit(counts[NEXT], system)
            counts[NEXT] += 1
        while clocks[NEXT_BOUNDARY] == now:  # prime time may end with the day
            enter_period(system)
        if clocks[NEXT_TICK] == now:
            tick(system)
        admit(system)
        counts[AGAIN] = place_waiting(system)
        write_level(system)
    return ALL_ENDED
