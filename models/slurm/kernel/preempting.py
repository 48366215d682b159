"""Preemption: which running jobs are preempted for a job, in which order, and how they continue.

Jobs that may be preempted are taken out one after the other, jobs of low partitions (or QOS) and with few
nodes first, until the job fits. Then `preempt_reorder_count` times the last one is taken out first, and of
the jobs before it the ones that share most nodes with the job; jobs that are still in the way are preempted,
and the job starts at a later pass, once their nodes have answered (slurm.conf, PreemptType and
SchedulerParameters).
"""

import math

import numpy as np

from models.kernels.bits import ONE, population
from models.kernels.compiling import part
from models.slurm.kernel.budgets import count_submitted
from models.slurm.kernel.plan import picked_set
from models.slurm.kernel.priority import add_usage
from models.slurm.kernel.queue import HELD
from models.slurm.kernel.rows import order_by_key
from models.slurm.kernel.running import (
    ENDED,
    REQUEUED,
    copy_free,
    end_on_nodes,
    insert_running,
    overlaps,
    remove_end,
    remove_in_future,
    remove_running,
)
from models.slurm.kernel.tables import FUTURE, LATER, MASK, NARROWED, NONE, PICKED, REQUEUE

FIRST = 1 << 40
"""Key of the job that is to be taken out first."""


@part()
def level_of(system, job, partition):
    """Return the row of `System.levels` for a job in a partition: its QOS's (-1 for none) or the
    partition's."""
    return system.jobs[job].qos if system.settings[0].by_qos else partition


@part(inline=False)
def may_preempt(system, record, other):
    """Return whether a job may preempt a running one: that job is not ending and is not a component, as Slurm
    preempts a heterogeneous job as a whole or not at all. O(nodes of the running job)."""
    job, partition = system.records[record].job, system.records[record].partition
    mine, its = level_of(system, job, partition), level_of(system, other, system.fate[other].partition)
    if (
        mine == NONE
        or its == NONE
        or system.fate[other].killed
        or system.jobs[other].component != NONE
        or not system.preempts[mine * len(system.levels) + its]
    ):
        return False
    if math.floor(system.state[0].now) < math.floor(system.fate[other].start) + system.jobs[other].exempt:
        return False
    return overlaps(system, system.partition_words, other, partition)


@part(inline=False)
def may_preempt_any(system, record):
    """Return whether some running job may be preempted; O(running jobs)."""
    k = 0
    while k < system.state[0].n_running and not may_preempt(system, record, system.running[k]):
        k += 1
    return k < system.state[0].n_running


@part(inline=False)
def find_candidates(system, record):
    """Write the running jobs that a job may preempt, in order, and return their number. O(running jobs^2)."""
    fate, candidates = system.fate, system.candidates
    n = 0
    for k in range(system.state[0].n_running):
        other = system.running[k]
        if may_preempt(system, record, other):
            candidates[n].job, candidates[n].key = other, other
            n += 1
    order_by_key(system, n)
    for k in range(n):
        other = candidates[k].job
        if system.settings[0].youngest_first:
            candidates[k].key = -math.floor(fate[other].start)
            continue
        rank = system.levels[level_of(system, other, fate[other].partition)].rank
        candidates[k].key = (rank << 16) + fate[other].n_nodes
    order_by_key(system, n)
    return n


@part(inline=False)
def shared_nodes(system, job, row):
    """Return how many of the nodes of a row a running job has; O(its nodes)."""
    n, entry = 0, system.fate[job].entry
    while entry != NONE:
        node = system.entries[entry].node
        n += population(system.sets[row, node // 64] & (ONE << np.uint64(node % 64)))
        entry = system.entries[entry].next
    return n


@part(inline=False)
def reorder(system, n, last):
    """Put the candidate that was taken out last first."""
    candidates, settings = system.candidates, system.settings[0]
    row = NARROWED if settings.suspends else PICKED
    if settings.strict_order and not settings.suspends:
        for k in range(n):
            candidates[k].key = k
    else:
        for k in range(n):
            candidates[k].key = -shared_nodes(system, candidates[k].job, row) if k < last else 0
    candidates[last].key = -FIRST
    order_by_key(system, n)


@part(inline=False)
def preempt(system, record, whole, pick):
    """Preempt jobs so that a job fits on nodes of row `MASK`; return whether it fits once they are gone.

    If they are suspended, the job may start at once, on the nodes that are picked. Once resumed, they are
    ended at the first test of limits after the end that is expected now: the time for which they are
    suspended does not postpone it, and OverTimeLimit does not count (seen on Slurm 22.05.8). O(candidates x
    nodes) for each order that is tried.
    """
    state, settings, fate = system.state[0], system.settings[0], system.fate
    if settings.in_rows:
        return False  # it has the cores of jobs that it suspends in a row of its own partition
    job, now = system.records[record].job, math.floor(system.state[0].now)
    n = find_candidates(system, record)
    n_orders, last, fits = 0, -1, True
    state.most_shared = system.partitions[system.records[record].partition].rows - 1
    while fits:
        copy_free(system)
        fits = False
        for k in range(n):
            if not overlaps(system, system.sets, system.candidates[k].job, MASK):
                continue
            remove_in_future(system, system.candidates[k].job, 1)
            for w in range(system.sets.shape[1]):
                system.sets[NARROWED, w] = system.sets[MASK, w] & system.sets[FUTURE, w]
            if pick(system, record, whole, NARROWED, LATER):
                last, fits = k, True
                break
        if not fits:
            return False
        picked_set(system)
        n_orders += 1
        if n_orders > settings.reorder_count + 1 or n <= n_orders:
            break
        reorder(system, n, last)
    if settings.suspends:
        for k in range(last + 1):
            if overlaps(system, system.sets, system.candidates[k].job, PICKED):
                fate[system.candidates[k].job].warned = 1
        return True
    if fate[job].called > 0 and fate[job].called > now - settings.kill_wait - settings.message_timeout:
        return True  # the jobs that it preempted may still be ending
    fate[job].called, fate[job].calling = now, state.n_passes + state.n_cycles
    for k in range(last + 1):
        if overlaps(system, system.sets, system.candidates[k].job, PICKED):
            make_way(system, system.candidates[k].job)
    return True


@part(inline=False)
def make_way(system, job):
    """End a running job for another one, after its grace time. O(nodes + running jobs)."""
    fate, now = system.fate, math.floor(system.state[0].now)
    grace = system.levels[level_of(system, job, fate[job].partition)].grace
    if fate[job].warned == 0 and grace > 0:
        fate[job].warned = 1
        remove_running(system, job)
        fate[job].expected = min(fate[job].expected, now + grace)
        insert_running(system, job)
    elif fate[job].warned == 0 or fate[job].expected <= now:
        stop(system, job)


@part(inline=False)
def stop(system, job):
    """End a running job now: it is requeued, or does not run again. O(nodes + running jobs + heap)."""
    state, fate = system.state[0], system.fate
    remove_end(system, fate[job].end, 2 * job)
    fate[job].end, fate[job].killed, fate[job].status = state.now, 2, ENDED
    if system.settings[0].weight_fair > 0 and system.settings[0].used_at_end:
        add_usage(system, job, state.last_calc, state.now)
    if system.levels[level_of(system, job, fate[job].partition)].mode == REQUEUE:
        fate[job].status = REQUEUED
        if state.n_pieces < len(system.pieces):
            at = state.n_pieces
            system.pieces[at].begin, system.pieces[at].end = fate[job].start, state.now
            system.pieces[at].job, system.pieces[at].cpus = job, fate[job].cpus
            system.pieces[at].drawn, system.pieces[at].spared = fate[job].drawn, fate[job].spared
            state.n_pieces += 1
    end_on_nodes(system, job)


@part(inline=False)
def requeue(system, job):
    """Submit a preempted job again, once its nodes have answered; with priority/basic it keeps its place."""
    state, settings, jobs = system.state[0], system.settings[0], system.jobs
    if jobs[job].leaves <= state.now:  # it was cancelled while its nodes were completing
        system.fate[job].status = ENDED
        count_submitted(system, job, -1)
        return
    system.fate[job].status, system.fate[job].killed, system.fate[job].warned = HELD, 0, 0
    if settings.multifactor:
        jobs[job].submit = state.now
    jobs[job].begin = math.floor(state.now) + settings.requeue_wait
    system.held[state.n_held] = job
    state.n_held += 1
