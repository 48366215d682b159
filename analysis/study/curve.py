"""One metric of one policy: along an axis, with the state of each point; or at a single point."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from models.jobs.measures import OF_JOBS
from sweep import statistics
from sweep.statistics import Interval, Intervals, Paired
from sweep.statistics.capacity import UNKNOWN, Capacity
from sweep.statistics.confidence import Method

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
        NaN where not run; each adjusted by its batch's weight (`statistics.weighed`), so that plain means
        equal the dataset's means.
    status : tuple of str, length n_points
        `DONE` and the like.
    confidence : float
        Of `intervals`.
    axis : str
        Name of the axis.
    metric : str
        Name of the metric.
    exact : bool
        Whether the values were solved, not simulated.
    bias : tuple of float, length n_points or 0
        Expected, as a share of the mean, of points whose runs are too short; NaN at all others.
    capacity : Capacity
        Of a curve over the load.
    plain, weight : ndarray, shape (n_points, replications, batches), optional
        The batches' own values and their weights, where `values` come from the dataset.
    known : Intervals, optional
        The dataset's means and half-widths.
    """

    x: np.ndarray
    values: np.ndarray
    status: tuple[str, ...]
    confidence: float = 0.95
    axis: str = "load"
    metric: str = ""
    exact: bool = False
    bias: tuple[float, ...] = ()
    capacity: Capacity = UNKNOWN
    plain: np.ndarray | None = None
    weight: np.ndarray | None = None
    known: Intervals | None = None

    def where(self, *status: str) -> np.ndarray:
        """Return which points have one of the given states, shape (n_points,)."""
        return np.array([state in status for state in self.status], dtype=bool)

    @property
    def there(self) -> bool:
        """Whether the grid has points of this curve."""
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
        """Whether the metric grows without limit where a policy is saturated."""
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
            plain=None if self.plain is None else self.plain[chosen],
            weight=None if self.weight is None else self.weight[chosen],
            known=None if self.known is None else Intervals(*(one[chosen] for one in self.known)),
        )

    def changed(self, values: np.ndarray, status: tuple[str, ...] | None = None) -> Curve:
        """Return a curve of other values at the same points."""
        return replace(self, values=values, status=status or self.status, plain=None, weight=None, known=None)

    def place(self, x: float) -> int:
        """Return the index of a point; NaN is a workload at its own load."""
        return int(np.flatnonzero(np.isclose(self.x, x, equal_nan=True))[0])

    def at(self, x: float) -> Curve:
        """Return the curve at one of its points."""
        return self.part(np.arange(len(self.x)) == self.place(x))

    def sample(self, place: int) -> Sample:
        """Return the values at a point, by its index."""
        plain, weight = (None if one is None else one[place] for one in (self.plain, self.weight))
        return Sample(self.values[place], self.status[place], self.exact, plain, weight, self._known(place))

    def _known(self, place: int) -> Interval | None:
        """Return the dataset's mean at a point, None where it has none."""
        if self.known is None or np.isnan(self.known.mean[place]):
            return None
        mean, half_width, lag1 = (float(one[place]) for one in self.known)
        ran = ~np.isnan(self.values[place])
        of_runs = (runs := int(ran.any(axis=1).sum())) >= statistics.MIN_REPLICATIONS
        n = runs if of_runs else int(ran.sum())
        method: Method = "replications" if of_runs else "batch means"
        return Interval(mean, half_width, lag1, n, method, math.isnan(half_width))

    def over(self, points: np.ndarray) -> Sample:
        """Return the values averaged over points, shape (replications, batches) or (replications, 1).

        The same jobs arrive at every load, so loads are correlated: they are averaged before any interval is
        made. If the interval comes from replications, their means are averaged, over the batches that each
        load has; otherwise batches are averaged, and a batch that one point lacks is missing in the average.
        """
        places = np.flatnonzero(np.isin(self.x, points))
        chosen = self.values[places]
        if chosen.shape[1] >= statistics.MIN_REPLICATIONS:
            return Sample(over_batches(chosen).mean(axis=0), DONE, self.exact)
        return self.sample(places[0]) if len(places) == 1 else Sample(chosen.mean(axis=0), DONE, self.exact)

    def intervals(self) -> Intervals:
        """Return mean, half-width and lag-1 correlation at every point; NaN at points not `shown`."""
        if self.known is not None:
            return Intervals(*(np.where(self.shown, one, np.nan) for one in self.known))
        values = np.where(self.shown[:, None, None], self.values, np.nan)
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
        Whether the values were solved, not simulated.
    plain, weight : ndarray, shape (replications, batches), optional
        See `Curve`.
    known : Interval, optional
        The dataset's mean and half-width, which a control variate may have moved.
    """

    values: np.ndarray
    status: str
    exact: bool = False
    plain: np.ndarray | None = None
    weight: np.ndarray | None = None
    known: Interval | None = None

    @classmethod
    def absent(cls, status: str = EXCLUDED) -> Sample:
        """Return a sample without values."""
        return cls(np.full((1, 1), np.nan), status)

    @classmethod
    def computed(cls, how: Callable[..., np.ndarray], *samples: Sample) -> Sample:
        """Return a function of the values of samples; without values if one of them has none."""
        if bad := [one.status for one in samples if one.reason]:
            return cls.absent(bad[0])
        with np.errstate(divide="ignore", invalid="ignore"):
            return cls(how(*(one.values for one in samples)), samples[0].status)

    @property
    def reason(self) -> str:
        """The reason why there is no estimate; empty if there is one."""
        if self.status == EXCLUDED:
            return "not in this grid"
        if self.status != DONE:
            return self.status
        return "" if np.isfinite(self.values).any() else "no such jobs"

    def interval(self, confidence: float) -> Interval:
        """Return the mean with its interval."""
        return statistics.interval(self.values, confidence, exact=self.exact)

    def mean(self, confidence: float) -> Interval:
        """Return the dataset's mean, at the study's confidence; without one, the mean of the values.

        It is NaN where the sample is not `shown`.
        """
        if not self.shown:
            return Sample.absent().interval(confidence)
        return self.interval(confidence) if self.known is None else self.known

    @property
    def batches(self) -> np.ndarray:
        """The unweighted values of the batches, shape (replications, batches)."""
        return self.values if self.plain is None else self.plain

    def against(self, other: Sample) -> Paired:
        """Return these values paired with others of the same jobs: their ratio, difference and verdict."""
        exact = self.exact and other.exact
        if self.plain is None or other.plain is None or (self.weight is None) != (other.weight is None):
            return Paired.of(self.values, other.values, exact=exact)
        both = None if self.weight is None or other.weight is None else (self.weight, other.weight)
        return Paired.of(self.plain, other.plain, both, exact)

    @property
    def of_runs(self) -> Sample:
        """The means of replications: batches of different families hold different jobs and form no pairs."""
        return Sample(over_batches(self.values), self.status, self.exact)

    @property
    def shown(self) -> bool:
        """Whether a figure draws it: finished, or unfinished with some values."""
        return self.status in (DONE, UNFINISHED) and bool(np.isfinite(self.values).any())


def across(parts: Sequence[Curve], x: Sequence[float], axis: str) -> Curve:
    """Return a curve over another axis than its parts, which have one point each."""
    shape = max((part.values.shape[1:] for part in parts), key=lambda shape: shape[0] * shape[1])

    def joined(name: str) -> np.ndarray | None:
        found = [getattr(part, name) for part in parts]
        if all(one is None for one in found):
            return None
        fitting = [one is not None and one.shape[1:] == shape for one in found]
        pairs = zip(found, fitting, strict=True)
        return np.array([one[0] if fits else np.full(shape, np.nan) for one, fits in pairs])

    nothing = Intervals(*np.full((3, 1), np.nan))
    known = np.array([part.known or nothing for part in parts])[..., 0].T
    values = joined("values")
    assert values is not None
    return Curve(
        np.array(x, float), values, tuple(part.status[0] for part in parts), parts[0].confidence, axis,
        parts[0].metric, all(part.exact for part in parts),
        tuple(part.bias[0] if part.bias else math.nan for part in parts), UNKNOWN,
        joined("plain"), joined("weight"),
        Intervals(*known) if any(part.known for part in parts) else None,
    )  # fmt: skip


def ends(found: Sequence[Interval]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the means of intervals, their lower and their upper ends."""
    table = np.array([(one.mean, one.low, one.high) for one in found]).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def over_batches(values: np.ndarray) -> np.ndarray:
    """Return the means of replications, over the batches that each has, shape (..., replications, 1)."""
    return statistics.mean_of(values, np.isfinite(values))[..., np.newaxis]


def together(samples: Sequence[Sample]) -> Sample:
    """Return the average of samples, value by value; samples without such jobs are excluded."""
    bad = [one.status for one in samples if one.status != DONE]
    if bad or not samples:
        return Sample.absent(bad[0] if bad else EXCLUDED)
    table = np.array([one.values for one in samples])
    mean = statistics.mean_of(table, np.isfinite(table), axis=0)
    return Sample(mean, DONE, exact=all(one.exact for one in samples))
