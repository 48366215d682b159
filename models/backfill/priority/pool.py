"""FCFS and backfilling past at most one start, on one pool of processors: the fast path of the family.

Orders do not change while jobs wait here (FCFS, shortest or smallest first, or fixed at submission). Jobs
start in the order of the queue. The first that does not fit holds a start: the shadow time, at which enough
processors will be free if all that runs uses up its requested time (EASY; in other orders Chiang and Vernon
2001, section 2.3, with one scheduled start). Another job may start at once if it ends before the shadow time,
as far as its requested time tells, or takes processors only that the first one leaves over.

A job that runs on beyond its request is expected to end at any moment.

References
----------
D. A. Lifka, "The ANL/IBM SP scheduling system", in *Job Scheduling Strategies for Parallel Processing*, LNCS
949, 1995.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, int64, void

from models.arrays import Floats, Ints
from models.backfill.priority.instants import Instants, insert, remove, soonest
from models.backfill.priority.line import (
    JOB_BITS,
    LINE,
    N_BLOCKS,
    Line,
    all_up_to,
    enter,
    first,
    goes_before,
    job_of,
    leave,
    may_have,
    take_out,
    tidy,
)
from models.backfill.priority.passing import NOBODY_PASSES
from models.kernels.bits import ONE, ZERO, lowest_position
from models.kernels.branches import mostly
from models.kernels.compiling import kernel, part
from models.kernels.lanes import LANES, fitting
from models.kernels.ties import takes_end, takes_submission
from models.kernels.types import record

NOBODY = -1
FROM_LANE = np.uint64(2**64 - LANES)
"""Bits of the place at which a place's eight begin."""


class PoolJobs(NamedTuple):
    """The jobs in order of submission; every array has the shape (n_jobs,).

    Parameters
    ----------
    submit : ndarray of float, shape (n_jobs + 1,), seconds
        The last one is inf.
    runtime, requested : ndarray of float, seconds
    size : ndarray of int
    start : ndarray of float, seconds
        Filled in.
    promised : ndarray of float, seconds
        NaN; filled in with the first shadow time that a job had, for those that had one.
    """

    submit: Floats
    runtime: Floats
    requested: Floats
    size: Ints
    start: Floats
    promised: Floats


class Pool(NamedTuple):
    """The processors, and when those that are taken become free again.

    Parameters
    ----------
    processors : int
    ends : Instants
        When each running job ends; room for as many as can run at once, as in `due`.
    due : Instants
        When so many processors should become free, as far as requested times tell; empty if nobody is given
        a start.
    """

    processors: int
    ends: Instants
    due: Instants


class Passing(NamedTuple):
    """Who passes whom, and when the scheduler looks.

    Parameters
    ----------
    reservations : int
        How many waiting jobs hold a start, 0 or 1, or `NOBODY_PASSES`.
    sticky : bool
        Whether a job that holds one goes before all others until it runs.
    reorders : bool
        Whether those that pass have another order than the queue.
    instant : bool
        See `models.kernels.ties`.
    """

    reservations: int
    sticky: bool
    reorders: bool
    instant: bool


JOBS, POOL, PASSING = record(PoolJobs), record(Pool), record(Passing)


@part(float64(JOBS, POOL, PASSING, float64, int64, int64))
def start(jobs: PoolJobs, pool: Pool, passing: Passing, now: float, n_running: int, job: int) -> float:
    """Start a job beside those that run, and return when it ends. O(running)."""
    at = np.uint64(job)
    jobs.start[at] = now
    end = now + jobs.runtime[at]
    insert(pool.ends, n_running, end, job)
    if passing.reservations == 1:
        insert(pool.due, n_running, now + jobs.requested[at], jobs.size[at])
    return end


@kernel(void(JOBS, POOL, PASSING, LINE, LINE))
def run(jobs: PoolJobs, pool: Pool, passing: Passing, queue: Line, line: Line) -> None:
    """Simulate jobs to their last end.

    An end costs O(running jobs), a look at two numbers of each block of waiting jobs, and one at the jobs of
    those blocks in which somebody may start, see `line`. So does a submission, unless somebody who goes
    before the newcomer holds a start: nothing has become free since, so that only the newcomer is looked at.

    Parameters
    ----------
    jobs, pool, passing : see there; nobody runs
    queue, line : who goes first, and who of those that pass, the same object unless it `reorders`; nobody
        waits
    """
    n_jobs = jobs.size.shape[0]
    passes = passing.reservations != NOBODY_PASSES
    in_order = queue.key.shape[0] == 0 and line.key.shape[0] == 0
    free = pool.processors
    n_running = 0
    n_waiting = 0
    arrived = 0
    next_submit, next_end = jobs.submit[0], np.inf
    head = NOBODY  # who holds the start, or keeps all others waiting
    settled = False  # whether nobody but newcomers can start, with this shadow time and extra processors
    shadow, extra = np.inf, 0
    holder = NOBODY  # whose shadow time that is
    missing = 0  # so many processors, or fewer, are too few for it at any time before
    while arrived < n_jobs or n_running > 0:
        now = min(next_submit, next_end)
        n_ended = 0
        while takes_end(passing.instant, now, next_end, next_submit, n_ended):
            job = np.uint64(pool.ends.what[np.uint64(n_running)])
            n_running -= 1
            next_end = soonest(pool.ends, n_running)
            free += jobs.size[job]
            if passing.reservations == 1:
                due = jobs.start[job] + jobs.requested[job]
                remove(pool.due, n_running, due, jobs.size[job])
                missing -= jobs.size[job] if due >= shadow else 0
                extra += jobs.size[job] if due > shadow else 0
            n_ended += 1
        settled = settled and n_ended == 0 and shadow > now
        n_events = n_ended
        while takes_submission(passing.instant, now, next_submit, n_events):
            newcomer = arrived
            size = jobs.size[np.uint64(newcomer)]
            arrived += 1
            n_events += 1
            next_submit = jobs.submit[np.uint64(arrived)]
            # It is looked at by itself unless others have to be as well, perhaps before it.
            single = in_order or not passing.instant or next_submit > now
            behind = single and settled
            behind = behind and (passing.sticky or head == NOBODY or goes_before(queue, head, newcomer))
            alone = single and n_waiting == 0
            late = (now + jobs.requested[np.uint64(newcomer)] > shadow) & (not alone)
            # One branch that nobody can guess instead of three.
            if (size <= free) & (alone | (behind & passes)) & ((not late) | (size <= extra)):
                next_end = min(next_end, start(jobs, pool, passing, now, n_running, newcomer))
                n_running += 1
                free -= size
                extra -= size if late else 0
                missing += size if late else 0
                continue
            settled = behind
            if not passing.sticky and head != NOBODY and goes_before(queue, newcomer, head):
                head = NOBODY
            n_waiting += 1
            enter(queue, newcomer, size, jobs.requested)
            if passing.reorders:
                enter(line, newcomer, size, jobs.requested)
        if settled or n_waiting == 0:
            continue

        # A pass: first the queue up to a job that does not fit.
        while passing.reservations != 0 and n_waiting > 0:
            if head == NOBODY:
                head = first(queue)
            size = jobs.size[np.uint64(head)]
            if size > free:
                break
            next_end = min(next_end, start(jobs, pool, passing, now, n_running, head))
            n_running += 1
            n_waiting -= 1
            free -= size
            take_out(queue, head)
            if passing.reorders:
                take_out(line, head)
            head = holder = NOBODY
        settled = n_waiting > 0
        if not settled or not passes:
            continue
        # What has ended or started since then moves the shadow time only where it gives enough before.
        if passing.reservations == 1 and (head != holder or missing <= 0 or shadow <= now):
            holder = head
            size = jobs.size[np.uint64(holder)]
            at = n_running + 1
            available = free
            while available < size:
                at -= 1
                available += pool.due.what[np.uint64(at)]
            shadow = max(pool.due.time[np.uint64(at)], now)
            if np.isnan(jobs.promised[np.uint64(holder)]):
                jobs.promised[np.uint64(holder)] = shadow
            missing = size - (available - pool.due.what[np.uint64(at)])
            while pool.due.time[np.uint64(at - 1)] <= shadow:
                at -= 1
                available += pool.due.what[np.uint64(at)]
            extra = available - size
        if n_waiting == 1 and passing.reservations == 1:
            continue  # nobody but the one that holds the start

        # Then all that end before the shadow time, or leave the job that holds it as many as it needs.
        place = 0
        while place < line.counts[N_BLOCKS] and free > 0:
            if not may_have(line, place, now, shadow, free, extra):
                place += 1
                continue
            block = np.uint64(line.blocks[np.uint64(place)])
            end = np.uint64(line.end[block])
            eight = np.uint64(line.begin[block]) & FROM_LANE
            n_before = n_waiting
            while eight < end:
                most, most_late = all_up_to(free), all_up_to(extra)
                fits = fitting(line.entries, line.wants, eight, most, most_late, now, shadow)
                while fits != ZERO:
                    there = eight + np.uint64(lowest_position(fits))
                    fits &= fits - ONE
                    job = job_of(line.entries[there])
                    size = line.entries[there] >> JOB_BITS
                    late = now + line.wants[there] > shadow
                    # Others may have started since the look.
                    if size > free or (late and size > extra):
                        continue
                    next_end = min(next_end, start(jobs, pool, passing, now, n_running, job))
                    n_running += 1
                    n_waiting -= 1
                    free -= size
                    extra -= size if late else 0
                    missing += size if late else 0
                    if passing.reorders:
                        take_out(queue, job)
                    leave(line, place, np.int64(there))
                eight += np.uint64(LANES)
            if n_waiting < n_before and line.n[block] == 0:
                continue  # it is gone, and the next one in its place
            if mostly(n_waiting < n_before or line.counts[N_BLOCKS] == 1):
                place += 1
            else:
                place = tidy(line, place)
