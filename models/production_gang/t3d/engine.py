"""The event loop of the T3D's schedulers: "event driven […] with the ability to react instantly" (Jette 1997).

At each instant all events happen, then jobs are admitted and placed in one pass, see `placing` and `admission`.
An event costs O(log events); a pass O(jobs that wait), and for each of them that may find a place what
`placing.best_place` costs.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, void

from models.jobs.calendar import DAY
from models.kernels.compiling import kernel, part
from models.production_gang.t3d.admission import admit, enqueue, wait_for_nodes
from models.production_gang.t3d.events import drop_first, push
from models.production_gang.t3d.periods import N_PERIODS, NIGHT, PRIME
from models.production_gang.t3d.placing import best_place, count_free, has_free_place, somebody_yields
from models.production_gang.t3d.ranking import class_of, is_urgent, number_of, slice_ends, sort_waiting
from models.production_gang.t3d.state import (
    ACTIVE,
    ADMITTED_ALL,
    ADMITTED_BATCH,
    ADMITTED_BEYOND,
    ANSWERED,
    ASSIGNED,
    ASSIGNED_AT,
    BATCH,
    BEGINS_AT,
    BOUNDARY,
    CHILD,
    CLASS,
    DO_NOT_DISTURB,
    END,
    END_OF_RUN,
    ENDED,
    GONE_AT,
    IMAGE_HAS_LEFT,
    IS_BEYOND,
    IS_CHILD,
    LAST_TICK,
    LEAVING,
    LEFT,
    LEVEL,
    LIMITS,
    MAX_WAIT,
    N_ENDED,
    N_HEAP,
    N_LEAVING_NODES,
    N_LEVELS,
    N_QUEUED,
    N_RESIDENCIES,
    N_RESIDENTS,
    N_RUNNING,
    N_SWITCHING,
    N_TICKS,
    N_WAITING,
    NEXT,
    NEXT_BOUNDARY,
    NEXT_TICK,
    NO_WORK,
    NONE,
    NOW,
    ON_DISK,
    PACKING,
    PERIOD,
    PLACE,
    POSITION,
    PROCESSOR_LIMIT,
    PROCESSORS,
    QUEUE,
    READY_AT,
    RESIDENCY,
    RUN_BEGINS,
    RUN_SINCE,
    RUNNING,
    SCAN,
    SIBLING,
    SINCE,
    START,
    STATE,
    STOPS,
    STOPS_AT,
    SUBMIT,
    SYSTEM,
    THINK,
    TIMER,
    USER,
    WEEKEND,
    WIRE,
)

# Why `advance` returned.
ALL_ENDED, STUCK, NO_ROOM = range(3)

ROOM_A_NODE, ROOM_A_JOB = 8, 4
"""More events than one instant can add, for each node and for each job."""

LONGEST_IDLE = 8 * DAY
"""Queues open within a week; jobs that wait longer, while nothing happens, wait for ever."""

BOUNDARIES_A_DAY = 3


@part()
def boundary_second(which, costs):
    """Return the second of the day of a boundary: midnight, the begin of prime time, its end."""
    if which == 0:
        return 0.0
    return costs.prime_begin if which == 1 else costs.prime_end


@part()
def boundary_time(number, costs):
    """Return when a boundary comes; they are counted from Monday, 0:00, before time 0 on."""
    day = number // BOUNDARIES_A_DAY
    return day * DAY + boundary_second(number % BOUNDARIES_A_DAY, costs) - costs.clock


@part(void(float64, SYSTEM))
def set_timers(now, system):
    """Wake up when jobs become urgent, and when minimum slices are over, as things stand now."""
    work, counts = system.work, system.counts
    for i in range(counts[N_WAITING]):
        job = work.waiting[i]
        time = work.real[job, SINCE] + number_of(job, MAX_WAIT, system)
        if now < time < 1e300:
            push(time, TIMER, job, work.whole[job, STOPS], system)
    for i in range(counts[N_RESIDENTS]):
        job = work.residents[i]
        if work.whole[job, STATE] == RUNNING and slice_ends(job, system) > now:
            push(slice_ends(job, system), TIMER, job, work.whole[job, STOPS], system)


@part(void(SYSTEM))
def enter_period(system):
    """A boundary is passed: set period and weekend, and wake up for waits and slices of other lengths."""
    counts, costs = system.counts, system.costs
    now = system.clocks[NOW]
    number = counts[BOUNDARY]
    second = boundary_second(number % BOUNDARIES_A_DAY, costs)
    counts[WEEKEND] = number // BOUNDARIES_A_DAY % 7 >= 5
    prime = costs.prime_begin <= second < costs.prime_end and (
        system.settings.weekends == 1 or counts[WEEKEND] == 0
    )
    counts[PERIOD] = PRIME if prime else NIGHT
    counts[BOUNDARY] += 1
    system.clocks[NEXT_BOUNDARY] = boundary_time(counts[BOUNDARY], costs)
    counts[SCAN] = 0
    set_timers(now, system)


@part()
def count_usage(job, now, system):
    """Count what a running job has had since the last tick, for its user."""
    user = system.work.whole[job, USER]
    if user >= 0:
        since = max(system.work.real[job, RUN_SINCE], system.clocks[LAST_TICK])
        system.users.recent[user] += system.work.whole[job, PROCESSORS] * (now - since)


@part(void(SYSTEM))
def tick(system):
    """Look at what users have had, and at whose nice value is high. O(owners + users)."""
    clocks, users, work, counts, costs = (
        system.clocks, system.users, system.work, system.counts, system.costs,
    )  # fmt: skip
    now = clocks[NOW]
    for i in range(counts[N_RESIDENTS]):
        job = work.residents[i]
        if work.whole[job, STATE] == RUNNING:
            count_usage(job, now, system)
    fades = 2.0 ** (-costs.nice_every / costs.half_life)
    total, n_active = 0.0, 0
    for user in range(users.usage.shape[0]):
        users.usage[user] = users.usage[user] * fades + users.recent[user]
        users.recent[user] = 0.0
        if users.active[user] > 0:
            total += users.usage[user]
            n_active += 1
    changed = False
    for user in range(users.usage.shape[0]):
        high = n_active > 0 and users.usage[user] > costs.nice_above * (total / n_active)
        changed = changed or high != users.nice[user]
        users.nice[user] = high
    clocks[LAST_TICK] = now
    counts[N_TICKS] += 1
    clocks[NEXT_TICK] = (counts[N_TICKS] + 1) * costs.nice_every
    if changed:
        set_timers(now, system)


@part(void(int64, SYSTEM))
def submit(job, system):
    """A job is submitted now."""
    user = system.work.whole[job, USER]
    if user >= 0:
        system.users.active[user] += 1
    system.work.real[job, SUBMIT] = system.clocks[NOW]
    enqueue(job, system)


@part(void(int64, boolean, SYSTEM))
def give_up_nodes(job, leaves, system):
    """Take the nodes of a running job away, which it leaves free, or while its image is written."""
    torus, work, counts, now = system.torus, system.work, system.counts, system.clocks[NOW]
    whole, real = work.whole, work.real
    size, level = whole[job, PROCESSORS], whole[job, LEVEL]
    gone = now + size * system.costs.swap_out if leaves else now
    begin = torus.node_of[level] + ((whole[job, PLACE] - torus.first[level]) << level)
    for i in range(begin, begin + (1 << level)):
        node = torus.nodes[i]
        torus.owner[node] = NONE
        torus.left_by[node] = gone
        count_free(node, 1, system)
    if gone > now:
        counts[N_LEAVING_NODES] += 1 << level
    count_usage(job, now, system)
    counts[N_RUNNING] -= size
    system.wires[whole[job, WIRE]] -= 1
    counts[N_RESIDENTS] -= 1
    last = work.residents[counts[N_RESIDENTS]]
    work.residents[whole[job, POSITION]] = last
    whole[last, POSITION] = whole[job, POSITION]
    row = whole[job, RESIDENCY]
    system.record.times[row, STOPS_AT] = now
    system.record.times[row, GONE_AT] = gone
    real[job, LEFT] -= now - real[job, RUN_SINCE]
    whole[job, STOPS] += 1


@part(void(int64, SYSTEM))
def preempt(job, system):
    """Stop a running job; its image is written to disk."""
    work = system.work
    give_up_nodes(job, True, system)
    work.whole[job, STATE] = LEAVING
    gone = system.record.times[work.whole[job, RESIDENCY], GONE_AT]
    push(gone, IMAGE_HAS_LEFT, job, work.whole[job, STOPS], system)
    wait_for_nodes(job, system)


@part(void(int64, SYSTEM))
def image_has_left(job, system):
    """The image of a job is on disk: nodes that nobody has taken are free at last."""
    torus, work = system.torus, system.work
    level = work.whole[job, LEVEL]
    work.whole[job, STATE] = ON_DISK
    times, row = system.record.times, work.whole[job, RESIDENCY]
    gone = times[row, GONE_AT]
    if gone == times[row, STOPS_AT]:
        return
    begin = torus.node_of[level] + ((work.whole[job, PLACE] - torus.first[level]) << level)
    for i in range(begin, begin + (1 << level)):
        node = torus.nodes[i]
        if torus.owner[node] == NONE and torus.left_by[node] == gone:
            system.counts[N_LEAVING_NODES] -= 1


@part(void(int64, SYSTEM))
def end_run(job, system):
    """A job has done all of its work."""
    work, counts = system.work, system.counts
    whole, now = work.whole, system.clocks[NOW]
    give_up_nodes(job, False, system)
    whole[job, STOPS] -= 1  # it was not preempted
    whole[job, STATE] = ENDED
    work.real[job, END] = now
    size = whole[job, PROCESSORS]
    counts[ADMITTED_ALL] -= size
    if system.parameters.switches[whole[job, CLASS], BATCH]:
        counts[ADMITTED_BEYOND if whole[job, IS_BEYOND] else ADMITTED_BATCH] -= size
        if whole[job, QUEUE] < system.settings.n_queues:
            system.run_of_queue[whole[job, QUEUE]] -= size
        counts[SCAN] = 0
    elif system.costs.aggregate_limit < 1e300:
        counts[SCAN] = 0
    if whole[job, USER] >= 0:
        system.users.active[whole[job, USER]] -= 1
    counts[N_ENDED] += 1
    child = whole[job, CHILD]
    while child != NONE:
        push(now + work.real[child, THINK], ANSWERED, child, 0, system)
        child = whole[child, SIBLING]


@part(void(int64, SYSTEM))
def begin_run(job, system):
    """A job has its nodes, and its image is there: it runs."""
    work, counts, now = system.work, system.counts, system.clocks[NOW]
    size, stops = work.whole[job, PROCESSORS], work.whole[job, STOPS]
    work.whole[job, STATE] = RUNNING
    work.real[job, RUN_SINCE] = now
    if np.isnan(work.real[job, START]):
        work.real[job, START] = now
    counts[N_SWITCHING] -= size
    counts[N_RUNNING] += size
    push(now + work.real[job, LEFT], END_OF_RUN, job, stops, system)
    if slice_ends(job, system) > now:
        push(slice_ends(job, system), TIMER, job, stops, system)


@part(void(int64, int64, int64, float64, SYSTEM))
def assign(job, place, wire, ready, system):
    """Give a job its nodes; whoever is there is preempted. O(nodes of the place x log nodes)."""
    torus, work, counts, now = system.torus, system.work, system.counts, system.clocks[NOW]
    whole = work.whole
    level, size = whole[job, LEVEL], whole[job, PROCESSORS]
    begin = torus.node_of[level] + ((place - torus.first[level]) << level)
    for i in range(begin, begin + (1 << level)):
        if torus.owner[torus.nodes[i]] != NONE:
            preempt(torus.owner[torus.nodes[i]], system)
    for i in range(begin, begin + (1 << level)):
        node = torus.nodes[i]
        if torus.left_by[node] > now:
            counts[N_LEAVING_NODES] -= 1
        torus.owner[node] = job
        count_free(node, -1, system)
    begins = ready
    if whole[job, STATE] == ON_DISK:
        begins = ready + size * system.costs.swap_in
    whole[job, STATE] = ASSIGNED
    whole[job, PLACE] = place
    whole[job, WIRE] = wire
    system.wires[wire] += 1
    whole[job, POSITION] = counts[N_RESIDENTS]
    work.residents[counts[N_RESIDENTS]] = job
    counts[N_RESIDENTS] += 1
    counts[N_SWITCHING] += size
    row = counts[N_RESIDENCIES]
    counts[N_RESIDENCIES] += 1
    whole[job, RESIDENCY] = row
    record = system.record
    record.residency[row, 0] = job
    record.residency[row, 1] = place
    record.residency[row, 2] = wire
    record.times[row, ASSIGNED_AT] = now
    record.times[row, READY_AT] = ready
    record.times[row, BEGINS_AT] = begins
    push(begins, RUN_BEGINS, job, whole[job, STOPS], system)


@part(boolean(int64, SYSTEM))
def is_within_class_limit(job, system):
    """Tell whether the running jobs of a class have few enough processors for one more. O(owners of nodes)."""
    limit = number_of(job, PROCESSOR_LIMIT, system)
    if limit >= 1e300:
        return True
    work, job_class = system.work, class_of(job, system)
    had = work.whole[job, PROCESSORS]
    for i in range(system.counts[N_RESIDENTS]):
        other = work.residents[i]
        if class_of(other, system) == job_class:
            had += work.whole[other, PROCESSORS]
    return had <= limit


@part(void(SYSTEM))
def place_waiting(system):
    """Give nodes to jobs that wait, in order."""
    work, counts, settings = system.work, system.counts, system.settings
    sort_waiting(system)
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
        if place == NONE:
            blocked = settings.blocking == 2 or (settings.blocking == 1 and is_urgent(job, system))
            continue
        assign(job, place, np.int64(system.best[6]), system.best[7], system)
        work.waiting[i - 1] = NONE
    kept = 0
    for i in range(counts[N_WAITING]):
        if work.waiting[i] != NONE:
            work.waiting[kept] = work.waiting[i]
            kept += 1
    counts[N_WAITING] = kept


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
        if clocks[NEXT_BOUNDARY] == now:
            enter_period(system)
        if clocks[NEXT_TICK] == now:
            tick(system)
        admit(system)
        place_waiting(system)
        write_level(system)
    return ALL_ENDED
