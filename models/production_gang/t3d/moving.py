"""What becomes of a job: submitted, assigned, run, preempted, written to disk, ended."""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, void

from models.kernels.compiling import part
from models.production_gang.t3d.admission import enqueue, wait_for_nodes
from models.production_gang.t3d.clock import count_usage
from models.production_gang.t3d.events import push
from models.production_gang.t3d.placing import count_free
from models.production_gang.t3d.ranking import slice_ends
from models.production_gang.t3d.state import (
    ADMITTED_ALL,
    ADMITTED_BATCH,
    ADMITTED_BEYOND,
    ANSWERED,
    ASSIGNED,
    ASSIGNED_AT,
    BATCH,
    BEGINS_AT,
    CHILD,
    CLASS,
    END,
    END_OF_RUN,
    ENDED,
    GONE_AT,
    IMAGE_HAS_LEFT,
    IS_BEYOND,
    LEAVING,
    LEFT,
    LEVEL,
    N_ENDED,
    N_LEAVING_NODES,
    N_RESIDENCIES,
    N_RESIDENTS,
    N_RUNNING,
    N_SWITCHING,
    NONE,
    NOW,
    ON_DISK,
    PLACE,
    POSITION,
    PROCESSORS,
    QUEUE,
    READY_AT,
    RESIDENCY,
    RUN_BEGINS,
    RUN_SINCE,
    RUNNING,
    SCAN,
    SIBLING,
    START,
    STATE,
    STOPS,
    STOPS_AT,
    SUBMIT,
    SYSTEM,
    THINK,
    TIMER,
    USER,
    WIRE,
)


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
