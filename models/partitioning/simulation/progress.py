"""The progress of jobs: compiled functions that update a job's remaining work and give it another partition.

A policy consists of three functions that divide the machine: `arrive` admits a job beside the running ones,
`depart` redivides the machine among the others after the job at a position ended, and `rotate` exchanges
partitions at an instant of rotation. They keep the list of running jobs in the order of their positions. The
engine takes any functions of the type that is declared here, so that it is compiled once for all policies and
found in the disk cache.

Progress is fluid. Where jobs repeat cycles of computing and communicating, a job works at 1 / step_time(its
partition) cycles a second, where the time of a cycle is its expected value over the threads' random times.
The model neglects the fluctuation of the sum over a job's cycles, below 0.1 % for a job of 300 (tests draw
every thread's time and compare).
"""

from numba import float64, int64, types, void

from models.kernels.compiling import part
from models.partitioning.simulation.state import NOT_YET, TABLES
from models.workloads.speedup.curves import CURVE

SIGNATURE = void(
    int64,  # the newcomer's place in the table of jobs, or the vacated position; else 0
    TABLES,
    CURVE,  # the speed of a job by its number of processors
)
FUNCTION = types.FunctionType(SIGNATURE)


@part(float64(int64, TABLES))
def work_left(job, tables):
    """Return the remaining work of a running job."""
    it, now = tables.jobs[job], tables.state[0].now
    left, since = it.left, it.since
    if now > it.resume:
        left -= (now - max(since, it.resume)) * it.rate
    if since < it.stop:
        left -= (min(now, it.stop) - since) * it.rate_before
    return left


@part(void(int64, TABLES))
def catch_up(job, tables):
    """Subtract the work done since the last update."""
    it = tables.jobs[job]
    it.left, it.since = work_left(job, tables), tables.state[0].now


@part(void(int64, TABLES))
def predict_end(job, tables):
    """Set when the job will end if nothing changes; its remaining work must be up to date."""
    it, now = tables.jobs[job], tables.state[0].now
    left = max(it.left, 0.0)  # rounding may have made it negative
    before = 0.0
    if now < it.stop:
        before = (it.stop - now) * it.rate_before
        if left <= before:
            it.finish = now + left / it.rate_before
            return
    it.finish = max(now, it.resume) + (left - before) / it.rate


@part(float64(int64, int64, TABLES, CURVE))
def rate_on(share, job, tables, curve):
    """Return the seconds alone on the machine that a job completes in a second on a share."""
    if tables.settings.by_shape:
        return tables.shares.rate[share]
    it = tables.jobs[job]
    return curve(tables.shares.processors[share], it.size, tables.curve) / it.alone


@part(void(int64, float64, float64, int64, TABLES, CURVE))
def reallocate(job, wait, pause, share, tables, curve):
    """Give a job another partition.

    It keeps its rate for `wait` seconds, stands still for `pause` seconds, then works as fast as the new
    partition lets it. If it is already standing still or about to, the moves are made one after the other.
    """
    it, now = tables.jobs[job], tables.state[0].now
    catch_up(job, tables)
    if now < it.stop:
        pause += it.resume - it.stop
    elif now < it.resume:
        pause += it.resume - now
        wait = 0.0
    else:
        it.rate_before = it.rate
    it.stop = now + wait
    it.resume = now + wait + pause
    it.rate = rate_on(share, job, tables, curve)
    it.share = share
    predict_end(job, tables)


@part(void(int64, float64, int64, TABLES, CURVE))
def begin(job, wait, share, tables, curve):
    """Give an admitted job a partition, on which it works after `wait` seconds."""
    it, now = tables.jobs[job], tables.state[0].now
    if it.start == NOT_YET:
        it.start = now
    it.since = it.stop = now
    it.resume = now + wait
    it.rate = rate_on(share, job, tables, curve)
    it.share = share
    predict_end(job, tables)
