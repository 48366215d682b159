"""One metric of one scheme: along an axis, with the state of each point; or at one point, or why not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from models.jobs.measures import OF_JOBS
from sweep import statistics
from sweep.statistics import Interval
from sweep.statistics.capacity import UNKNOWN, Capacity

GROWING = {*OF_JOBS, "jobs_in_system"}
"""Metrics that grow with the queue."""

DONE, SATURATED, UNFINISHED, FAILED, EXCLUDED = "done", "saturated", "unfinished", "failed", "excluded"
"""States of a point: all replications done and the policy not saturated; saturated; a replication not run
yet; a replication raised an error; no point of the grid."""


@dataclass(frozen=True)
class Curve:
    """Batch values of a metric at every point of an axis.

    Parameters
    ----------
    x : ndarray, shape (n_points,)
        Values on the axis, ascending: offered loads, numbers of jobs.
    values : ndarray, shape (n_points, replications, batches)
        NaN where not run; each moved by what its batch counts for (`statistics.weighed`), so that plain means
        are those of the dataset.
    status : tuple of str, length n_points
        `DONE` and the like.
    confidence : float
        Of `intervals`.
    axis : str
        Name of the axis.
    metric : str
        Name of the metric.
    exact : bool
        The values were solved, not simulated.
    bias : tuple of float, length n_points or 0
        Expected, as a share of the mean, of points whose runs are too short; NaN at all others.
    control : ndarray, shape (n_points, replications), optional
        Of the control variate of the means, see `sweep.statistics.control`.
    capacity : Capacity
        Of a curve over the load.
    """

    x: np.ndarray
    values: np.ndarray
    status: tuple[str, ...]
    confidence: float = 0.95
    axis: str = "load"
    metric: str = ""
    exact: bool = False
    bias: tuple[float, ...] = ()
    control: np.ndarray | None = None
    capacity: Capacity = UNKNOWN

    def where(self, *status: str) -> np.ndarray:
        """Return which points have one of the given states, shape (n_points,)."""
        return np.array([state in status for state in self.status], dtype=bool)

    @property
    def there(self) -> bool:
        """Whether the grid has points of it."""
        return len(self.x) > 0 and not self.where(EXCLUDED).all()

    @property
    def stable(self) -> np.ndarray:
        """Points whose values may be averaged: every replication is done, and the point is not saturated."""
        return self.where(DONE)

    @property
    def shown(self) -> np.ndarray:
        """Points that a figure draws: stable, or unfinished with some batches."""
        begun = ~np.isnan(self.values).all(axis=(-2, -1))
        return self.stable | (self.where(UNFINISHED) & begun)

    @property
    def diverges(self) -> bool:
        """Whether the metric grows beyond all limits where a policy is saturated."""
        return self.metric.partition("_by_")[0].removesuffix("_p95").removesuffix("_max") in GROWING

    @property
    def too_short(self) -> np.ndarray:
        """Points whose runs are too short for the mean of the long run, shape (n_points,)."""
        return np.isfinite(self.bias) if self.bias else np.zeros(len(self.x), dtype=bool)

    @property
    def first_saturated(self) -> float | None:
        """The lowest saturated load (or value on another axis)."""
        saturated = self.x[self.where(SATURATED)]
        return float(saturated[0]) if saturated.size else None

    def part(self, kept: np.ndarray) -> Curve:
        """Return the curve at some of its points, given as booleans."""
        chosen = np.flatnonzero(kept)
        return replace(
            self,
            x=self.x[chosen],
            values=self.values[chosen],
            status=tuple(self.status[i] for i in chosen),
            bias=tuple(self.bias[i] for i in chosen) if self.bias else (),
            control=None if self.control is None else self.control[chosen],
        )

    def at(self, x: float) -> np.ndarray:
        """Return the batch values at a point, shape (replications, batches)."""
        return self.values[int(np.flatnonzero(self.x == x)[0])]

    def over(self, points: np.ndarray) -> np.ndarray:
        """Return the values averaged over points, shape (replications, batches) or (replications, 1).

        The same jobs arrive at every load, so loads are correlated: they are averaged before any interval is
        made. Where replications make the interval, their means are averaged, over however many batches each
        load has; else batches are, and one that is missing at one of the points is missing in the average.
        """
        chosen = self.values[np.isin(self.x, points)]
        if chosen.shape[1] < statistics.MIN_REPLICATIONS:
            return chosen.mean(axis=0)
        ran = ~np.isnan(chosen)
        held = ran.sum(axis=-1)
        means = np.where(ran, chosen, 0.0).sum(axis=-1) / np.where(held, held, np.nan)
        return means.mean(axis=0)[:, np.newaxis]

    def intervals(self) -> statistics.Intervals:
        """Return mean, half-width and lag-1 correlation at every point; NaN at points not `shown`."""
        values = np.where(self.shown[:, None, None], self.values, np.nan)
        if self.control is not None:
            values = statistics.controlled(values, self.control, self.confidence)
        return statistics.intervals(values, self.confidence, exact=self.exact)


@dataclass(frozen=True)
class Sample:
    """Values of a metric.

    Parameters
    ----------
    values : ndarray, shape (replications, batches)
    status : str
        `curve.DONE` and the like.
    exact : bool
        The values are solved, not simulated.
    """

    values: np.ndarray
    status: str
    exact: bool = False

    @classmethod
    def absent(cls, status: str = EXCLUDED) -> Sample:
        """Return a sample without values."""
        return cls(np.full((1, 1), np.nan), status)

    @classmethod
    def computed(cls, how: Callable[..., np.ndarray], *samples: Sample) -> Sample:
        """Return what a function makes of the values of samples; one without values where one of them is."""
        if bad := [one.status for one in samples if one.reason]:
            return cls.absent(bad[0])
        with np.errstate(divide="ignore", invalid="ignore"):
            return cls(how(*(one.values for one in samples)), samples[0].status)

    @property
    def reason(self) -> str:
        """Why it has no estimate; empty if it has one."""
        if self.status == EXCLUDED:
            return "not in this grid"
        if self.status != DONE:
            return self.status
        return "" if np.isfinite(self.values).any() else "no such jobs"

    def interval(self, confidence: float) -> Interval:
        """Return the mean with its interval."""
        return statistics.interval(self.values, confidence, exact=self.exact)

    @property
    def shown(self) -> bool:
        """Whether a figure draws it: finished, or unfinished with some values."""
        return self.status in (DONE, UNFINISHED) and bool(np.isfinite(self.values).any())


def means(found: Sequence[Interval]) -> tuple[np.ndarray, np.ndarray]:
    """Return the means of intervals, and their half-widths."""
    return np.array([one.mean for one in found]), np.array([one.half_width for one in found])


def together(samples: Sequence[Sample]) -> Sample:
    """Return the average of samples, value by value; samples without such jobs are excluded."""
    bad = [one.status for one in samples if one.status != DONE]
    if bad or not samples:
        return Sample.absent(bad[0] if bad else EXCLUDED)
    table = np.array([one.values for one in samples])
    known = np.isfinite(table)
    count = known.sum(axis=0)
    mean = np.where(known, table, 0.0).sum(axis=0) / np.where(count, count, np.nan)
    return Sample(mean, DONE, exact=all(one.exact for one in samples))
