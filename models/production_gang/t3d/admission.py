"""The admission of batch jobs to the gang scheduler: queues of the site's batch system, with limits."""

import numpy as np
from numba import boolean, int64, void

from models.kernels.compiling import part
from models.kernels.types import INTS
from models.production_gang.t3d.events import push
from models.production_gang.t3d.periods import N_PERIODS, NIGHT
from models.production_gang.t3d.ranking import parameters_of
from models.production_gang.t3d.state import SYSTEM, JobState, Kind

ALWAYS, AT_NIGHT, AT_WEEKENDS = range(3)
REFUSED_IN_PERIOD, REFUSED_BY_QUEUE, REFUSED, WITHIN_LIMIT, BEYOND_LIMIT = range(5)
ALL_QUEUES = -1
"""Every bit: all queues are drained."""


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


@part(int64(INTS, int64, int64, SYSTEM))
def add_in_order(listed, n, job, system):
    """Add the job submitted last to a list in order of submission and number; return its place."""
    at = n
    while at > 0 and system.jobs[listed[at - 1]].submit == system.jobs[job].submit and listed[at - 1] > job:
        listed[at] = listed[at - 1]
        at -= 1
    listed[at] = job
    return at


@part(void(int64, SYSTEM))
def enqueue(job, system):
    """Add a submitted job to the queue."""
    state = system.state[0]
    add_in_order(system.submitted, state.n_submitted, job, system)
    at = add_in_order(system.queued, state.n_queued, job, system)
    system.jobs[job].state = JobState.QUEUED
    state.n_submitted += 1
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
    return opening == ALWAYS or 0 < system.state[0].weekend_day <= system.settings.weekend_days


@part(int64(int64, SYSTEM))
def admission_of(job, system):
    """Return whether one more job keeps all limits, or all except a batch limit that may be exceeded.

    If several limits refuse a job, the decisive one counts: a limit that is less than the job in this period,
    then its own queue's limit.
    """
    settings, state, it = system.settings, system.state[0], system.jobs[job]
    size, queue, period = it.processors, it.queue, state.period
    beyond_all = state.admitted + size > settings.aggregate_limit
    if not is_batch(job, system):
        return REFUSED if beyond_all else WITHIN_LIMIT
    batch, batch_limit = state.admitted_batch + size, system.batch_limit[period]
    may_be_on_top = period == NIGHT and settings.over_from <= size <= settings.over_most
    on_top = may_be_on_top and batch + state.admitted_beyond <= settings.over_most
    run_limit = system.run_limit[N_PERIODS * queue + period] if queue < settings.n_queues else np.inf
    if size > run_limit or (size > batch_limit and not may_be_on_top):
        return REFUSED_IN_PERIOD
    if system.queue_processors[queue] + size > run_limit:
        return REFUSED_BY_QUEUE
    if beyond_all or not (on_top or batch <= batch_limit):
        return REFUSED
    return BEYOND_LIMIT if on_top else WITHIN_LIMIT


@part(void(int64, int64, SYSTEM))
def count_admitted(job, sign, system):
    """Add a job to the processors to which limits apply, or subtract it."""
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


@part(int64(int64, int64, SYSTEM))
def drained_for(job, admission, system):
    """Return the queues, one bit each, that a refused batch job closes to later jobs once it is too old.

    No queue is closed if this period's limits are too small for the job, because no other job's end would
    help it.
    """
    it = system.jobs[job]
    young = it.submit + system.settings.drain_after > system.state[0].now
    if young or admission == REFUSED_IN_PERIOD:
        return 0
    return 1 << it.queue if admission == REFUSED_BY_QUEUE else ALL_QUEUES


@part(void(SYSTEM))
def admit(system):
    """Admit the jobs that the limits allow, in order of submission. O(queued jobs not yet refused).

    A job that is refused stays refused until another one ends or a period begins, so that only jobs submitted
    since, and jobs that have become too old, are considered.
    """
    jobs, queued, state = system.jobs, system.queued, system.state[0]
    n, first, drain_after = state.n_queued, state.scan_from, system.settings.drain_after
    if first >= n:
        return
    drained = 0
    for i in range(first):
        job = queued[i]
        if jobs[job].submit + drain_after > state.now or drained == ALL_QUEUES:
            break
        queue = jobs[job].queue
        if is_batch(job, system) and is_open(queue, system) and not (drained >> queue) & 1:
            drained |= drained_for(job, admission_of(job, system), system)
    kept = first
    for i in range(first, n):
        job = queued[i]
        it, batch = jobs[job], is_batch(job, system)
        closed = batch and (not is_open(it.queue, system) or (drained >> it.queue) & 1)
        admission = REFUSED if closed else admission_of(job, system)
        if admission >= WITHIN_LIMIT:
            it.is_beyond = admission == BEYOND_LIMIT
            count_admitted(job, 1, system)
            it.admitted = state.now
            it.state = JobState.NEW
            wait_for_nodes(job, system)
            continue
        if batch and not closed:
            drained |= drained_for(job, admission, system)
        queued[kept] = job
        kept += 1
    state.n_queued = kept
    state.scan_from = kept
