"""Estimates over an axis, as a plot draws them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analysis.study.curve import DONE, SATURATED, UNFINISHED, Curve
from sweep.statistics import paired_ratio


@dataclass(frozen=True)
class Line:
    """Estimates over an axis; every array has the shape (n_points,).

    Parameters
    ----------
    x, mean, half_width : ndarray
        `half_width` is NaN where the interval is withheld, both are where nothing is drawn.
    saturated, finished : ndarray of bool
        Saturated points, and those of which every replication is done.
    too_short : ndarray of bool, optional
        Points whose runs are too short for the mean of the long run.
    capacity : float
        The load up to which the policy keeps up; NaN where it is not known.
    """

    x: np.ndarray
    mean: np.ndarray
    half_width: np.ndarray
    saturated: np.ndarray
    finished: np.ndarray
    too_short: np.ndarray | None = None
    capacity: float = np.nan

    @classmethod
    def of(cls, curve: Curve) -> Line:
        """Return the intervals of a metric."""
        found = curve.intervals()
        full, finished = curve.where(SATURATED), ~curve.where(UNFINISHED)
        known = curve.capacity.mean
        return cls(curve.x, found.mean, found.half_width, full, finished, curve.too_short, known)

    @classmethod
    def delivered(cls, curve: Curve) -> Line:
        """Return the intervals of a utilization minus the load: what a machine delivers of what is asked for.

        Saturated points are drawn as well, hollow: what is delivered there is all that can be.
        """
        full = curve.where(SATURATED)
        status = tuple(DONE if at else state for at, state in zip(full, curve.status, strict=True))
        less = replace(curve, values=curve.values - curve.x[:, None, None], status=status)
        return replace(cls.of(less), saturated=full)

    @classmethod
    def ratio(cls, curve: Curve, reference: Curve) -> Line:
        """Return the ratio of two metrics, paired batch by batch, where both can be drawn."""
        mean, half = np.full((2, len(curve.x)), np.nan)
        for place in np.flatnonzero(curve.shown & reference.shown):
            found = paired_ratio(
                curve.values[place],
                reference.values[place],
                curve.confidence,
                exact=curve.exact and reference.exact,
            )
            mean[place], half[place] = found.mean, found.half_width
        finished = curve.where(DONE) & reference.where(DONE)
        short = curve.too_short | reference.too_short
        return cls(curve.x, mean, half, curve.where(SATURATED), finished, short, curve.capacity.mean)

    @property
    def drawn(self) -> np.ndarray:
        """Where there is a point."""
        return np.isfinite(self.mean)

    @property
    def short(self) -> np.ndarray:
        """Where a point is drawn whose runs are too short."""
        return np.zeros(len(self.x), bool) if self.too_short is None else self.too_short & self.drawn

    @property
    def solid(self) -> np.ndarray:
        """Where there is a point that nothing is to be said of."""
        return self.drawn & np.isfinite(self.half_width) & self.finished & ~self.short & ~self.saturated
