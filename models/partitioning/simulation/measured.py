"""From jobs that ended to metrics: batches are jobs in the order in which they end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from models.arrays import Floats
from models.jobs.jobs import Jobs
from models.jobs.measures import Measures, of_jobs
from models.jobs.trace import Trace
from models.partitioning.metrics import Sums, of_classes
from models.partitioning.simulation.state import CLOSED

SHORTEST = 1e-9
"""Seconds that a job takes at least where its work is spread over its time: rounding may leave none."""


class Batches(NamedTuple):
    """Some consecutive batches.

    sums : Sums
        By class.
    common : dict of str to ndarray, shape (n_batches, ...)
        The common measures.
    """

    sums: Sums
    common: dict[str, Floats]

    @classmethod
    def of(
        cls,
        ended: np.recarray,
        jobs: Jobs,
        closed: np.recarray,
        size: int,
        n_processors: int,
        measures: Measures,
        delivered: Floats | None = None,
    ) -> Batches:
        """Measure jobs in the order in which they ended, of which the last batch may be short.

        Parameters
        ----------
        ended : recarray of `state.ENDED`
        jobs : Jobs
            The same ones.
        closed : recarray of `state.CLOSED`
            As many as there are batches.
        size : int
            Jobs in a batch.
        n_processors : int
        measures : Measures
        delivered : ndarray, shape (n_batches,), processor-seconds, optional
            In the time of each batch: processors that a job asks for times its runtime on them; None is that
            of the jobs that ended in it, and what more the jobs in the system have got by then.
        """
        n_batches = len(closed)
        response = ended.end - ended.submit
        batch = np.arange(len(response)) // size
        values = {"wait": ended.start - ended.submit, "response_time": response}
        common = of_jobs(jobs, values, batch, n_batches, measures)
        with np.errstate(invalid="ignore"):  # a batch whose jobs all end after the measured period
            if delivered is None:
                delivered = np.bincount(batch, ended["size"] * ended.runtime, n_batches) + closed.begun
            common["utilization"] = delivered / (closed.length * n_processors)
            common["allocated"] = closed.held_time / (closed.length * n_processors)
            common["jobs_in_system"] = closed.job_time / closed.length
        return cls(Sums.over(response, ended.work, ended.job_class, batch, n_batches), common)

    @classmethod
    def joined(cls, parts: list[Batches]) -> Batches:
        """Return the batches of several parts, one after the other."""
        sums = Sums(*map(np.concatenate, zip(*(part.sums for part in parts), strict=True)))
        common = {name: np.concatenate([part.common[name] for part in parts]) for name in parts[0].common}
        return cls(sums, common)

    def metrics(self, first: int, stop: int) -> dict[str, Floats]:
        """Return every metric of the family, of some of the batches."""
        these = slice(first, stop)
        sums = Sums(*(values[these] for values in self.sums))
        return {name: values[these].copy() for name, values in self.common.items()} | of_classes(sums)


def of_trace(
    ended: np.recarray, trace: Trace, size: int, held: Floats, limit: int, measures: Measures
) -> Batches:
    """Measure a trace that ran to its end.

    Parameters
    ----------
    ended : recarray of `state.ENDED`
        All jobs.
    trace : Trace
        It has the jobs that count and the end of the measured period.
    size : int
        Jobs in a batch.
    held : ndarray, shape (n_jobs + 1,)
        Processors that so many running jobs hold.
    limit : int
        Jobs that run at once.
    measures : Measures

    Notes
    -----
    The period of a batch ends with its last job; the first begins with the first submission that counts. None
    extends beyond the end of the measured period, and the last ends there. A job's work counts as delivered
    evenly from its start to its end.
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
    return Batches.of(chosen, jobs, closed, size, trace.machine.total, measures, delivered)


def _closed(submit: Floats, end: Floats, edges: Floats, held: Floats, limit: int) -> np.recarray:
    """Return the integrals between edges: all jobs in the system run, up to the limit."""
    instant, jobs = _levels(submit, end, np.ones(len(submit), np.int64))
    held = held[np.minimum(jobs, limit)]
    none, length = np.zeros(len(edges) - 1), np.diff(edges)  # what is delivered is known by another way
    columns = [_integral(instant, jobs, edges), _integral(instant, held, edges), none, length]
    return np.rec.fromarrays(columns, dtype=CLOSED)


def _levels(begin: Floats, end: Floats, height: np.ndarray) -> tuple[Floats, np.ndarray]:
    """Return instants in order, and the sum of all heights from each of them on."""
    instant = np.concatenate([begin, end])
    order = np.argsort(instant, kind="stable")
    return instant[order], np.cumsum(np.concatenate([height, -height])[order])


def _integral(instant: Floats, level: np.ndarray, edges: Floats) -> Floats:
    """Return the integrals of a step function between edges."""
    area = np.concatenate([[0.0], np.cumsum(level[:-1] * np.diff(instant))])
    return np.diff(np.interp(edges, instant, area))
