"""From jobs that ended to metrics: batches are jobs in the order in which they end."""

import numpy as np

from models.arrays import Floats
from models.jobs.jobs import Jobs
from models.jobs.measures import Measures, of_jobs
from models.jobs.trace import Trace
from models.partitioning.metrics import of_classes, sums_over
from models.partitioning.simulation.state import CLOSED

SHORTEST = 1e-9
"""Minimum seconds of a job whose work is spread over its time: rounding may leave 0."""


SUMS = "sums"
"""Name of the result of `metrics.sums_over` among the measures of batches."""


def measured(
    ended: np.recarray,
    jobs: Jobs,
    closed: np.recarray,
    size: int,
    n_processors: int,
    measures: Measures,
    delivered: Floats | None = None,
) -> dict[str, Floats]:
    """Measure jobs in the order in which they ended, of which the last batch may be short.

    Parameters
    ----------
    ended, closed : recarray of `state.ENDED`, of `state.CLOSED`
    jobs : Jobs
        The jobs that ended.
    size : int
        Jobs in a batch.
    delivered : ndarray, shape (n_batches,), processor-seconds, optional
        Work delivered during each batch: processors that a job requests times its runtime on them; None means
        the time of the jobs that ended in it, plus the increase for the jobs in the system.

    Returns
    -------
    dict of str to ndarray, shape (n_batches, ...)
        The common measures, and `SUMS`.
    """
    n_batches = len(closed)
    response = ended.end - ended.submit
    batch = np.arange(len(response)) // size
    values = {"wait": ended.start - ended.submit, "response_time": response}
    found = of_jobs(jobs, values, batch, n_batches, measures)
    with np.errstate(invalid="ignore"):  # a batch whose jobs all end after the measured period
        if delivered is None:
            delivered = np.bincount(batch, ended["size"] * ended.runtime, n_batches) + closed.begun
        found["utilization"] = delivered / (closed.length * n_processors)
        found["allocated"] = closed.held_time / (closed.length * n_processors)
        found["jobs_in_system"] = closed.job_time / closed.length
    return found | {SUMS: sums_over(response, ended.work, ended.job_class, batch, n_batches)}


def metrics(parts: list[dict[str, Floats]], first: int, stop: int) -> dict[str, Floats]:
    """Return every metric of the family for some of the batches, given in consecutive parts."""
    found = {name: np.concatenate([part[name] for part in parts])[first:stop] for name in parts[0]}
    return found | of_classes(found.pop(SUMS))


def of_trace(
    ended: np.recarray, trace: Trace, size: int, held: Floats, limit: int, measures: Measures
) -> dict[str, Floats]:
    """Measure a trace that ran to its end, in batches of a size; see `measured`.

    Parameters
    ----------
    ended : recarray of `state.ENDED`
        All jobs.
    held : ndarray, shape (n_jobs + 1,)
        Processors that 0, 1, … running jobs hold.
    limit : int
        Jobs that run at once.

    Notes
    -----
    The period of a batch ends with its last job; the first period begins with the first measured submission.
    No period extends beyond the end of the measured period, and the last ends there. A job's work counts as
    delivered evenly from its start to its end.
    """
    first, stop, _ = trace.measured.indices(len(trace.jobs))
    counts = (ended.number >= first) & (ended.number < stop)
    chosen = ended[counts]
    n_batches = -(-len(chosen) // size)
    ends = chosen.end[np.minimum(np.arange(1, n_batches + 1) * size, len(chosen)) - 1]
    if trace.until is not None and n_batches:
        ends = np.minimum(ends, trace.until)
        ends[-1] = trace.until
    edges = np.concatenate([trace.jobs.submit[first : first + 1], ends])
    closed = _closed(trace.jobs.submit, ended.end, edges, held, limit)
    jobs = trace.jobs.part(chosen.number)
    length = np.maximum(ended.end - ended.start, SHORTEST)
    rate = ended["size"] * ended.runtime / length
    during = _levels(ended.start, ended.start + length, rate)
    delivered = _integral(*during, edges)
    return measured(chosen, jobs, closed, size, trace.machine.total, measures, delivered)


def _closed(submit: Floats, end: Floats, edges: Floats, held: Floats, limit: int) -> np.recarray:
    """Return the integrals between edges: all jobs in the system run, up to the limit."""
    instant, jobs = _levels(submit, end, np.ones(len(submit), np.int64))
    held = held[np.minimum(jobs, limit)]
    none, length = np.zeros(len(edges) - 1), np.diff(edges)  # delivered work is computed elsewhere
    columns = [_integral(instant, jobs, edges), _integral(instant, held, edges), none, length]
    return np.rec.fromarrays(columns, dtype=CLOSED)


def _levels(begin: Floats, end: Floats, height: np.ndarray) -> tuple[Floats, np.ndarray]:
    """Return the instants in order, and the sum of all heights from each of them on."""
    instant = np.concatenate([begin, end])
    order = np.argsort(instant, kind="stable")
    return instant[order], np.cumsum(np.concatenate([height, -height])[order])


def _integral(instant: Floats, level: np.ndarray, edges: Floats) -> Floats:
    """Return the integrals of a step function between edges."""
    area = np.concatenate([[0.0], np.cumsum(level[:-1] * np.diff(instant))])
    return np.diff(np.interp(edges, instant, area))
