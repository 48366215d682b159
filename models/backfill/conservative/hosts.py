"""Conservative backfilling with compression: everybody holds a start time, and it only ever moves forward.

A submitted job gets the earliest start time that disturbs nobody's. Where a job ends, the waiting ones are
placed anew, one by one in order of submission: each gives up its place and takes the earliest that there is
with all others where they are, so that it never starts later than it was told. Of several hosts a job takes
the one where it starts first, of equal ones that with the fewest free processors now; it changes its host
only for an earlier start. This kernel looks at every job on every host; `pool` makes the same schedules on
one host without limit on memory, and looks at few.

References
----------
D. G. Feitelson, A. M. Weil, "Utilization and predictability in scheduling the IBM SP2 with backfilling",
*12th Intl. Parallel Processing Symposium*, 1998.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import boolean, void

from models.arrays import Floats, Ints
from models.backfill.conservative.rules import Conservative
from models.backfill.profile import PROFILE, Profile, all_free, earliest, forget, occupy
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule
from models.kernels.compiling import kernel
from models.kernels.ends import pop, push
from models.kernels.ties import next_end, next_submission, takes_end, takes_submission
from models.kernels.types import INTS, record


class PlannedJobs(NamedTuple):
    """The jobs in order of submission, none longer than requested; every array has the shape (n_jobs,).

    Parameters
    ----------
    submit, runtime, requested : ndarray of float, seconds
    size, need : ndarray of int
        Processors, and memory in KB.
    start, end : ndarray of float, seconds
        Filled in, like `host`.
    host : ndarray of int
    promised : ndarray of float, seconds
        NaN; filled in for those that have to wait, with the first start that they were given.
    planned : ndarray of float, seconds
        The start that a job holds.
    """

    submit: Floats
    runtime: Floats
    requested: Floats
    size: Ints
    need: Ints
    start: Floats
    end: Floats
    host: Ints
    promised: Floats
    planned: Floats


JOBS = record(PlannedJobs)


@kernel(void(JOBS, PROFILE, INTS, boolean, INTS, INTS))
def run(jobs: PlannedJobs, profile: Profile, free: Ints, instant: bool, heap: Ints, queue: Ints) -> None:
    """Simulate jobs to their last end.

    A submission costs O(waiting + running) jobs, an end O(waiting (waiting + running)).

    Parameters
    ----------
    jobs : every job fits on a host
    profile : all hosts are free for ever; room for 2 jobs + 2 steps is enough
    free : all processors of each host
    instant : see `models.kernels.ties`; jobs start first of all when their time has come
    heap, queue : room for all jobs
    """
    n_jobs = jobs.submit.shape[0]
    n_hosts = free.shape[0]
    n_running = 0
    n_waiting = 0
    arrived = 0
    next_start = np.inf
    while arrived < n_jobs or n_running > 0 or n_waiting > 0:
        next_submit = next_submission(jobs.submit, arrived)
        now = min(next_submit, next_end(jobs.end, heap, n_running), next_start)
        for h in range(n_hosts):
            forget(profile, h, now)

        # A job whose time has come starts, whatever else happens now: the plan has a place for it.
        if next_start <= now:
            kept = 0
            next_start = np.inf
            for i in range(n_waiting):
                job = queue[i]
                if jobs.planned[job] <= now:
                    jobs.start[job] = now
                    jobs.end[job] = now + jobs.runtime[job]
                    push(jobs.end, heap, n_running, job)
                    n_running += 1
                    free[jobs.host[job]] -= jobs.size[job]
                else:
                    next_start = min(next_start, jobs.planned[job])
                    queue[kept] = job
                    kept += 1
            n_waiting = kept

        n_ended = 0
        while takes_end(instant, now, next_end(jobs.end, heap, n_running), next_submit, n_ended):
            job = pop(jobs.end, heap, n_running)
            n_running -= 1
            free[jobs.host[job]] += jobs.size[job]
            expected = jobs.start[job] + jobs.requested[job]
            if expected > now:
                occupy(profile, jobs.host[job], now, expected, -jobs.size[job], -jobs.need[job])
            n_ended += 1
        first_new = n_waiting
        n_events = n_ended
        while takes_submission(instant, now, next_submission(jobs.submit, arrived), n_events):
            queue[n_waiting] = arrived
            jobs.planned[arrived] = np.inf
            n_waiting += 1
            arrived += 1
            n_events += 1

        # Newcomers are placed after all those that were there before them.
        begin = first_new
        if n_ended > 0:
            begin = 0
            next_start = np.inf
        for i in range(begin, n_waiting):
            job = queue[i]
            size, need, requested = jobs.size[job], jobs.need[job], jobs.requested[job]
            before = jobs.planned[job]
            if before < np.inf:
                occupy(profile, jobs.host[job], before, before + requested, -size, -need)
            best = -1
            planned = before
            for h in range(n_hosts):
                when = earliest(profile, h, size, need, requested)
                if when < planned or (when == planned and best >= 0 and free[h] < free[best]):
                    planned = when
                    best = h
            if best >= 0:
                jobs.host[job] = best
            jobs.planned[job] = planned
            occupy(profile, jobs.host[job], planned, planned + requested, size, need)
            next_start = min(next_start, planned)
            if i >= first_new and planned > now:
                jobs.promised[job] = planned


def simulate(jobs: Jobs, machine: Machine, rules: Conservative) -> Schedule:
    """Run all jobs to their ends.

    Parameters
    ----------
    jobs : Jobs
        As they run under the rules, none of them longer than requested.
    machine : Machine
        With a host for each of them.
    rules : Conservative
    """
    n = len(jobs)
    start, end, promised = (np.full(n, np.nan) for _ in range(3))
    columns = PlannedJobs(
        jobs.submit, jobs.runtime, jobs.requested, jobs.size, jobs.memory,
        start, end, np.zeros(n, np.int64), promised, planned=np.empty(n),
    )  # fmt: skip
    run(
        columns,
        all_free(machine, 2 * n + 2),
        machine.processors.copy(),
        rules.instant,
        *(np.empty(n, np.int64) for _ in range(2)),
    )
    return Schedule(jobs, machine, start, end, columns.host, promised=promised)
