"""Where one contestant stops being better than another: break-evens along an axis, with intervals.

Both curves are known at the points of the grid, in every replication, with the same jobs. Between two points
each replication's difference is taken to be linear. So there is a paired sample of differences at every place
of the axis, and the break-even is where their mean is 0. Its interval has all places around it at which the
usual interval of that mean, Student's t, holds 0: the test of "both are equal here" turned round, as Fieller
does for a ratio. It is as sure as that test, needs no drawing, is not symmetric where the difference is
not, and is open where it reaches the end of the axis. What it does not know is how the difference bends
between two points of the grid.

References
----------
E. C. Fieller, "Some problems in interval estimation", Journal of the Royal Statistical Society B 16(2), 1954,
175-185.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from analysis.study.curve import SATURATED, Curve
from sweep import statistics

STEPS = 200
"""Places that are looked at between two points of the grid: an end is known to half a percent of the gap."""

State = Literal["better", "worse", "open"]


@dataclass(frozen=True)
class Crossing:
    """A break-even.

    Parameters
    ----------
    value, low, high : float
        The break-even and its interval; the ends are infinite where the grid ends first.
    wins : {"below", "above"}
        On which side of it the contestant is better.
    """

    value: float
    low: float
    high: float
    wins: Literal["below", "above"]


@dataclass(frozen=True)
class Outcome:
    """How one contestant compares with another along an axis.

    Parameters
    ----------
    x : ndarray, shape (n_points,)
        Points at which both have a mean, ascending.
    states : tuple of str, length n_points
        What the interval of the difference says at each: ``better``, ``worse`` or ``open``.
    means : ndarray, shape (n_points,)
        Mean differences, contestant minus the other one.
    crossings : tuple of Crossing
        In order.
    lost, left : float
        The first point at which only the contestant is saturated, and only the other one; NaN if there is
        none.
    """

    x: np.ndarray
    states: tuple[State, ...]
    means: np.ndarray
    crossings: tuple[Crossing, ...]
    lost: float = math.nan
    left: float = math.nan

    @property
    def is_known(self) -> bool:
        """Whether there is any point to compare at."""
        return self.x.size > 0 or not math.isnan(self.lost) or not math.isnan(self.left)


def compare(one: Curve, other: Curve) -> Outcome:
    """Return how a contestant compares with another one along the axis of their curves.

    Parameters
    ----------
    one, other : Curve
        Of a metric of which less is better, at the same points and under the same jobs.
    """
    full, its = one.where(SATURATED), other.where(SATURATED)
    both = one.stable & other.stable
    x, differences = one.x[both], one.values[both] - other.values[both]
    found = statistics.intervals(differences, one.confidence)
    states = tuple(_state(m, h) for m, h in zip(found.mean, found.half_width, strict=True))
    crossings: tuple[Crossing, ...] = ()
    places = np.flatnonzero(both)
    # Across a point without a mean nothing is interpolated.
    for run in np.split(np.arange(places.size), np.flatnonzero(np.diff(places) > 1) + 1):
        crossings += _crossings(x[run], differences[run], one.confidence)
    return Outcome(
        x, states, np.asarray(found.mean), crossings,
        _first(one.x[full & other.stable]), _first(one.x[its & one.stable]),
    )  # fmt: skip


def _first(x: np.ndarray) -> float:
    return float(x[0]) if x.size else math.nan


def _state(mean: float, half_width: float) -> State:
    if not abs(mean) > half_width:  # also where there is no interval
        return "open"
    return "better" if mean < 0 else "worse"


def _crossings(x: np.ndarray, differences: np.ndarray, confidence: float) -> tuple[Crossing, ...]:
    """Return the break-evens of differences of shape (n_points, replications, batches)."""
    if len(x) < 2:
        return ()
    fine = np.unique(np.concatenate([np.linspace(a, b, STEPS + 1) for a, b in pairwise(x)]))
    right = np.clip(np.searchsorted(x, fine), 1, len(x) - 1)
    weight = ((fine - x[right - 1]) / (x[right] - x[right - 1]))[:, None, None]
    found = statistics.intervals(
        (1 - weight) * differences[right - 1] + weight * differences[right], confidence
    )
    mean, open_ = found.mean, ~(np.abs(found.mean) > found.half_width)
    crossings = []
    for i in np.flatnonzero((mean[:-1] < 0) != (mean[1:] < 0)):
        low, high = i, i + 1
        while low > 0 and open_[low]:
            low -= 1
        while high < len(fine) - 1 and open_[high]:
            high += 1
        value = fine[i] + (fine[i + 1] - fine[i]) * mean[i] / (mean[i] - mean[i + 1])
        crossings.append(
            Crossing(
                float(value),
                -math.inf if open_[low] and low == 0 else float(fine[low]),
                math.inf if open_[high] and high == len(fine) - 1 else float(fine[high]),
                "below" if mean[i] < 0 else "above",
            )
        )
    return tuple(crossings)


def told(outcome: Outcome, unit: str = "", digits: int = 2) -> str:
    """Return where the contestant is better, in words.

    Parameters
    ----------
    outcome : Outcome
    unit : str
        After each number.
    digits : int
        After the point.
    """
    if not outcome.is_known:
        return "not told: no point has both"

    def number(x: float) -> str:
        return "as it is" if math.isnan(x) else f"{x:.{digits}f}{unit}"

    def ends(one: Crossing) -> str:
        if math.isinf(one.low) and math.isinf(one.high):
            return "anywhere in the grid"
        if math.isinf(one.low):
            return f"below {number(one.high)}"
        return (
            f"above {number(one.low)}" if math.isinf(one.high) else f"{number(one.low)} to {number(one.high)}"
        )

    parts = [
        f"{'up to' if one.wins == 'below' else 'from'} {number(one.value)} ({ends(one)})"
        for one in outcome.crossings
    ]
    if not parts and outcome.x.size:
        better = outcome.means[0] < 0
        where = (
            f"{number(outcome.x[0])} to {number(outcome.x[-1])}"
            if outcome.x.size > 1
            else number(outcome.x[0])
        )
        wanted = "better" if better else "worse"
        unsure = sum(state != wanted for state in outcome.states)
        if unsure == outcome.x.size:
            parts.append(f"nowhere for certain ({where})")
        else:
            parts.append(f"{'everywhere' if better else 'nowhere'} ({where})")
            if unsure:
                parts[-1] += f", not shown at {unsure} of {outcome.x.size} points"
    if not math.isnan(outcome.lost):
        parts.append(f"saturated itself from {number(outcome.lost)}")
    if not math.isnan(outcome.left):
        parts.append(f"alone from {number(outcome.left)}, where the other is saturated")
    return "; ".join(parts)
