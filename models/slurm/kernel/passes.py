"""A pass of the main scheduler: it starts jobs in order, up to the first that does not fit in each
partition."""

import math

import numpy as np

from models.kernels.bits import ONE, ZERO
from models.kernels.compiling import part, passable
from models.slurm.kernel.budgets import lacks_licences
from models.slurm.kernel.gang import enter
from models.slurm.kernel.offering import count
from models.slurm.kernel.plan import NO_RESERVATION, keep_out
from models.slurm.kernel.preempting import preempt
from models.slurm.kernel.queue import QUEUED, drop_started, exceeded, is_low, limited, throttled
from models.slurm.kernel.running import copy_free, remove_in_future, start_job
from models.slurm.kernel.signatures import PASS_SIGNATURE
from models.slurm.kernel.tables import (
    ALL_JOBS,
    COMPLETING,
    EMPTY,
    FEWEST,
    FREE,
    LATER,
    MASK,
    NARROWED,
    NONE,
    NOW,
    UNAVAILABLE,
    USABLE,
)


@part(inline=False)
def fits_empty(system, record, whole, pick):
    """Return whether a job fits on the nodes in row `MASK` if no job runs. O(N); in rows O(allocations)."""
    if not system.settings[0].in_rows:
        return pick(system, record, whole, MASK, EMPTY) > 0
    copy_free(system)
    for k in range(system.state[0].n_running):
        remove_in_future(system, system.running[k], 1)
    return pick(system, record, whole, MASK, LATER) > 0


@part(inline=False)
def any_used(system):
    """Return whether a node in row `MASK` has a job. O(N)."""
    for node in range(len(system.offers)):
        if system.offers[node].jobs and system.sets[MASK, node // 64] & (ONE << np.uint64(node % 64)):
            return True
    return False


@part(inline=False)
def fail(system, partition):
    """Start no more jobs in a partition or on its nodes; return 1."""
    system.partitions[partition].failed = 1
    for w in range(system.sets.shape[1]):
        system.sets[USABLE, w] &= ~system.partition_words[partition, w]
    return 1


@part(inline=False)
def stop_partition(system, record, partition, now):
    """Start no more jobs in a partition or on its nodes, and return 1; or return 0 if the job has not waited
    for long or has a low priority."""
    job, settings = system.records[record].job, system.settings[0]
    waited = now - math.floor(max(system.jobs[job].submit, system.jobs[job].begin))
    if waited < settings.bf_min_age_reserve or is_low(system, record):
        return 0
    return fail(system, partition)


@passable(PASS_SIGNATURE)
def main_pass(system, full, pick):
    """Start jobs, and return their number; a pass for the default depth tests `default_queue_depth`
    records, a full one all of them.

    O(records tested x nodes). What a job needs is compared with what is free now: the main scheduler ignores
    plans of backfilling. If a reservation, or a partition in which a job waits, leaves a job fewer nodes
    than its partition has, it stops the jobs behind it only if it would fit on these nodes without other
    jobs, or if one of them is busy: completing or, for whole nodes, used (seen on Slurm 22.05.8).
    """
    state, settings = system.state[0], system.settings[0]
    partitions, records, jobs, fate = system.partitions, system.records, system.jobs, system.fate
    now = math.floor(state.now)
    state.n_passes += 1
    if state.n_queue == 0:
        return 0
    n_partitions = len(partitions)
    for p in range(n_partitions):
        partitions[p].failed, partitions[p].count = 0, 0
    n_words = system.sets.shape[1]
    for w in range(n_words):
        system.sets[USABLE, w] = ~system.sets[UNAVAILABLE, w]
    depth, n_started, n_failed = 0, 0, 0
    rejected = -1  # array whose last tested job did not start
    for k in range(state.n_queue):
        record = system.queue[k]
        job, partition = records[record].job, records[record].partition
        if fate[job].status != QUEUED:
            continue  # started in another partition
        if settings.preempts and fate[job].calling == state.n_passes + state.n_cycles:
            continue  # it preempts jobs in another partition
        if jobs[job].component != NONE:  # a cycle starts it; jobs behind it wait as usual
            if partitions[partition].failed and settings.ends_pass:
                break
            n_failed += 0 if partitions[partition].failed else fail(system, partition)
            continue
        if settings.sched_max_job_start and n_started >= settings.sched_max_job_start:
            break
        if jobs[job].array >= 0:
            if rejected == jobs[job].array * n_partitions + partition:
                continue
            rejected = jobs[job].array * n_partitions + partition
            if throttled(system, job):
                continue
        if settings.partition_job_depth:
            partitions[partition].count += 1
            if partitions[partition].count > settings.partition_job_depth:
                continue
        if not full:
            depth += 1
            if depth > settings.default_queue_depth + 1:
                break
        if partitions[partition].failed:
            state.last_update = now
            continue
        if limited(system, job):
            if settings.limit_stop:  # a number of jobs stops those behind it once (seen in Slurm's source)
                if not fate[job].limited or exceeded(system, job, 1) == NONE:
                    n_failed += stop_partition(system, record, partition, now)
                fate[job].limited = 1
                if n_failed == n_partitions:
                    break
            continue
        fate[job].limited = 0
        for w in range(n_words):
            system.sets[MASK, w] = system.sets[USABLE, w] & system.partition_words[records[record].words, w]
        is_enough = count(system, MASK) >= jobs[job].min_nodes
        if is_enough and lacks_licences(system, job):
            state.last_update = now
            if settings.plans_licences:  # the backfill thread deals with them
                break
            continue
        is_narrow = keep_out(system, now, now + jobs[job].limit) != NO_RESERVATION or n_failed > 0
        is_narrow = is_narrow or state.n_stopping > 0
        whole = jobs[job].whole or partitions[partition].whole
        idle, state.most_shared = True, FEWEST
        for w in range(n_words):
            used = ~system.sets[FREE, w] if whole and partitions[partition].rows == 1 else ZERO
            idle = idle and not system.sets[MASK, w] & (used | system.sets[COMPLETING, w])
        if settings.shares_cores and whole and partitions[partition].shares != ALL_JOBS:
            idle = idle and not any_used(system)
        fits, makes_room = count(system, MASK) >= jobs[job].min_nodes, False
        for w in range(n_words):
            system.sets[MASK, w] &= ~system.sets[COMPLETING, w]
            system.sets[NARROWED, w] = system.sets[MASK, w] & system.sets[FREE, w]
        if fits:
            fits = pick(system, record, whole, NARROWED, NOW) > 0
            makes_room = settings.preempts and not fits and preempt(system, record, whole, pick)
            fits = fits or (makes_room and settings.suspends)
            fate[job].tested = 1
        if fits:
            start_job(system, job, partition, 0)
            if settings.gang:
                enter(system, job)
            n_started += 1
            rejected = -1
            continue
        state.last_update = now
        if (
            is_narrow
            and is_enough
            and idle
            and not makes_room
            and not fits_empty(system, record, whole, pick)
        ):
            continue
        n_failed += stop_partition(system, record, partition, now)
        if n_failed == n_partitions:
            break
    if n_started:
        drop_started(system)
    return n_started
