"""Which batch jobs the gang scheduler is told of: the queues of the site's batch system, with limits."""

from __future__ import annotations

from numba import boolean, int64, void

from models.kernels.compiling import part
from models.production_gang.t3d.events import push
from models.production_gang.t3d.periods import NIGHT
from models.production_gang.t3d.ranking import number_of
from models.production_gang.t3d.state import (
    ADMITTED,
    ADMITTED_ALL,
    ADMITTED_BATCH,
    ADMITTED_BEYOND,
    BATCH,
    CLASS,
    IS_BEYOND,
    MAX_WAIT,
    N_QUEUED,
    N_WAITING,
    NEW,
    NOW,
    OPEN,
    PERIOD,
    PROCESSORS,
    QUEUE,
    QUEUED,
    RUN_LIMIT,
    SCAN,
    SINCE,
    STATE,
    STOPS,
    SUBMIT,
    SYSTEM,
    TIMER,
    WEEKEND,
)

ALWAYS, AT_NIGHT, AT_WEEKENDS = range(3)


@part(void(int64, SYSTEM))
def wait_for_nodes(job, system):
    """Put a job among those that wait for nodes, and wake up when it becomes urgent."""
    work, counts = system.work, system.counts
    now = system.clocks[NOW]
    work.real[job, SINCE] = now
    work.waiting[counts[N_WAITING]] = job
    counts[N_WAITING] += 1
    wakes = now + number_of(job, MAX_WAIT, system)
    if now < wakes < 1e300:
        push(wakes, TIMER, job, work.whole[job, STOPS], system)


@part(void(int64, SYSTEM))
def enqueue(job, system):
    """A job is submitted: it waits to be admitted, in order of submission and number."""
    work, counts = system.work, system.counts
    at = counts[N_QUEUED]
    while (
        at > 0
        and work.real[work.queued[at - 1], SUBMIT] == work.real[job, SUBMIT]
        and work.queued[at - 1] > job
    ):
        work.queued[at] = work.queued[at - 1]
        at -= 1
    work.queued[at] = job
    work.whole[job, STATE] = QUEUED
    counts[N_QUEUED] += 1
    counts[SCAN] = min(counts[SCAN], at)


@part(boolean(int64, SYSTEM))
def is_open(queue, system):
    """Tell whether jobs of a queue may be admitted now."""
    if queue == system.settings.n_queues:
        return True
    hours = system.parameters.queues[queue, OPEN]
    if hours == AT_NIGHT:
        return system.counts[PERIOD] == NIGHT
    return hours == ALWAYS or system.counts[WEEKEND] == 1


REFUSED, ADMITTED_SO, BEYOND = range(3)


@part(int64(int64, SYSTEM))
def admission_of(job, system):
    """Tell whether all limits are kept with one job more, and whether it comes on top of the batch limit."""
    whole, counts, costs, parameters = system.work.whole, system.counts, system.costs, system.parameters
    size, queue = whole[job, PROCESSORS], whole[job, QUEUE]
    if counts[ADMITTED_ALL] + size > costs.aggregate_limit:
        return REFUSED
    if not parameters.switches[whole[job, CLASS], BATCH]:
        return ADMITTED_SO
    period = counts[PERIOD]
    if queue < system.settings.n_queues and (
        system.run_of_queue[queue] + size > parameters.queues[queue, RUN_LIMIT + period]
    ):
        return REFUSED
    batch = counts[ADMITTED_BATCH] + size
    if period == NIGHT and size >= costs.over_from and batch + counts[ADMITTED_BEYOND] <= costs.over_most:
        return BEYOND
    return ADMITTED_SO if batch <= parameters.batch_limit[period] else REFUSED


@part(void(SYSTEM))
def admit(system):
    """Admit whom the limits let in, in order of submission; O(queued jobs that were not refused before).

    A job that is refused stays refused until another one ends or a period begins, so that only those
    submitted since are looked at.
    """
    work, counts, now = system.work, system.counts, system.clocks[NOW]
    n, first = counts[N_QUEUED], counts[SCAN]
    if first >= n:
        return
    blocked = False
    if system.costs.drain_after < 1e300:
        for i in range(first):  # jobs that were refused may have become too old since
            job = work.queued[i]
            if work.real[job, SUBMIT] + system.costs.drain_after > now:
                break
            if system.parameters.switches[work.whole[job, CLASS], BATCH] and is_open(
                work.whole[job, QUEUE], system
            ):
                blocked = True
                break
    kept = first
    for i in range(first, n):
        job = work.queued[i]
        is_batch = system.parameters.switches[work.whole[job, CLASS], BATCH] == 1
        refused = is_batch and not is_open(work.whole[job, QUEUE], system)
        admission = REFUSED
        if not refused and not (is_batch and blocked):
            admission = admission_of(job, system)
        if admission != REFUSED:
            size = work.whole[job, PROCESSORS]
            counts[ADMITTED_ALL] += size
            work.whole[job, IS_BEYOND] = admission == BEYOND
            if is_batch:
                counts[ADMITTED_BEYOND if admission == BEYOND else ADMITTED_BATCH] += size
                if work.whole[job, QUEUE] < system.settings.n_queues:
                    system.run_of_queue[work.whole[job, QUEUE]] += size
            work.real[job, ADMITTED] = now
            work.whole[job, STATE] = NEW
            wait_for_nodes(job, system)
            continue
        if is_batch and not refused and work.real[job, SUBMIT] + system.costs.drain_after <= now:
            blocked = True
        work.queued[kept] = job
        kept += 1
    counts[N_QUEUED] = kept
    counts[SCAN] = kept
