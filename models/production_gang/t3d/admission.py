"""The admission of batch jobs to the gang scheduler: queues of the site's batch system, with limits."""

from __future__ import annotations

from numba import boolean, int64, void

from models.kernels.compiling import part
from models.production_gang.t3d.events import push
from models.production_gang.t3d.periods import N_PERIODS, NIGHT
from models.production_gang.t3d.ranking import parameters_of
from models.production_gang.t3d.state import SYSTEM, JobState, Kind

ALWAYS, AT_NIGHT, AT_WEEKENDS = range(3)
REFUSED, WITHIN_LIMIT, BEYOND_LIMIT = range(3)


@part(void(int64, SYSTEM))
def wait_for_nodes(job, system):
    """Add a job to those that wait for nodes, and a timer for when it becomes urgent."""
    state = system.state[0]
    system.jobs[job].since = state.now
    system.waiting[state.n_waiting] = job
    state.n_waiting += 1
    urgent_from = state.now + parameters_of(job, system).max_wait
    if state.now < urgent_from < 1e300:
        push(urgent_from, Kind.TIMER, job, system)


@part(void(int64, SYSTEM))
def enqueue(job, system):
    """Add a submitted job to the queue, in order of submission and number."""
    jobs, queued, state = system.jobs, system.queued, system.state[0]
    at = state.n_queued
    while at > 0 and jobs[queued[at - 1]].submit == jobs[job].submit and queued[at - 1] > job:
        queued[at] = queued[at - 1]
        at -= 1
    queued[at] = job
    jobs[job].state = JobState.QUEUED
    state.n_queued += 1
    state.scan_from = min(state.scan_from, at)


@part(boolean(int64, SYSTEM))
def is_batch(job, system):
    """Return whether jobs of this class are submitted to queues."""
    return system.classes[N_PERIODS * system.jobs[job].job_class].batch == 1


@part(boolean(int64, SYSTEM))
def is_open(queue, system):
    """Return whether jobs of a queue may be admitted now."""
    if queue == system.settings.n_queues:
        return True
    opening = system.opening[queue]
    if opening == AT_NIGHT:
        return system.state[0].period == NIGHT
    return opening == ALWAYS or system.state[0].is_weekend == 1


@part(int64(int64, SYSTEM))
def admission_of(job, system):
    """Return whether all limits are kept with one more job, or all but the batch limit where that may be."""
    settings, state, it = system.settings, system.state[0], system.jobs[job]
    size, queue, period = it.processors, it.queue, state.period
    if state.admitted + size > settings.aggregate_limit:
        return REFUSED
    if not is_batch(job, system):
        return WITHIN_LIMIT
    if queue < settings.n_queues and (
        system.queue_processors[queue] + size > system.run_limit[N_PERIODS * queue + period]
    ):
        return REFUSED
    batch = state.admitted_batch + size
    if period == NIGHT and size >= settings.over_from and batch + state.admitted_beyond <= settings.over_most:
        return BEYOND_LIMIT
    return WITHIN_LIMIT if batch <= system.batch_limit[period] else REFUSED


@part(void(int64, int64, SYSTEM))
def count_admitted(job, sign, system):
    """Add a job to the processors that limits apply to, or subtract it."""
    state, it = system.state[0], system.jobs[job]
    size = sign * it.processors
    state.admitted += size
    if is_batch(job, system):
        if it.is_beyond:
            state.admitted_beyond += size
        else:
            state.admitted_batch += size
        if it.queue < system.settings.n_queues:
            system.queue_processors[it.queue] += size


@part(void(SYSTEM))
def admit(system):
    """Admit the jobs that the limits allow, in order of submission. O(queued jobs not yet refused).

    A job that is refused stays refused until another one ends or a period begins, so that only those
    submitted since are considered.
    """
    jobs, queued, state = system.jobs, system.queued, system.state[0]
    n, first, drain_after = state.n_queued, state.scan_from, system.settings.drain_after
    if first >= n:
        return
    blocked = False
    if drain_after < 1e300:
        for i in range(first):  # jobs that were refused may have become too old since
            job = queued[i]
            if jobs[job].submit + drain_after > state.now:
                break
            if is_batch(job, system) and is_open(jobs[job].queue, system):
                blocked = True
                break
    kept = first
    for i in range(first, n):
        job = queued[i]
        it, batch = jobs[job], is_batch(job, system)
        closed = batch and not is_open(it.queue, system)
        admission = REFUSED
        if not closed and not (batch and blocked):
            admission = admission_of(job, system)
        if admission != REFUSED:
            it.is_beyond = admission == BEYOND_LIMIT
            count_admitted(job, 1, system)
            it.admitted = state.now
            it.state = JobState.NEW
            wait_for_nodes(job, system)
            continue
        if batch and not closed and it.submit + drain_after <= state.now:
            blocked = True
        queued[kept] = job
        kept += 1
    state.n_queued = kept
    state.scan_from = kept
