"""Break-evens: where along an axis one contestant stops being better than another, with intervals.

Both curves are known at the points of the grid, in every replication, with the same jobs. Between two points
each replication's difference is assumed linear. So there is a paired sample of differences at every value on
the axis, and the break-even is the value at which their mean is 0. Its interval consists of all values
around it at which the paired interval of both (`statistics.compare`) shows no difference: the inverted test
of equality, as Fieller does for a ratio. It has the level of that test, is not symmetric where the
difference is not, and is open if it reaches the end of the axis. It neglects the curvature of the difference
between two points of the grid.

References
----------
E. C. Fieller, "Some problems in interval estimation", Journal of the Royal Statistical Society B 16(2), 1954,
175-185.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.study.curve import SATURATED, Curve
from sweep import statistics
from sweep.statistics import Comparison

HALVINGS = 8
"""Steps between two points of the grid: an end is known to half a percent of their distance."""

State = Literal["better", "worse", "open"]


@dataclass(frozen=True)
class Crossing:
    """A break-even.

    Parameters
    ----------
    value, low, high : float
        The break-even and its interval; the ends are infinite where the grid ends first.
    wins : {"below", "above"}
        The side of it on which the contestant is better.
    """

    value: float
    low: float
    high: float
    wins: Literal["below", "above"]


@dataclass(frozen=True)
class Outcome:
    """The comparison of one contestant with another along an axis.

    Parameters
    ----------
    x : ndarray, shape (n_points,)
        Points at which both have a mean, ascending.
    states : tuple of str, length n_points
        Result at each point, by the interval of the difference: ``better``, ``worse`` or ``open``.
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
        """Whether the two can be compared at any point."""
        return self.x.size > 0 or not math.isnan(self.lost) or not math.isnan(self.left)


def compare(one: Curve, other: Curve) -> Outcome:
    """Return the comparison of a contestant with another one along the axis of their curves.

    Parameters
    ----------
    one, other : Curve
        Of a metric for which less is better, at the same points and under the same jobs.
    """
    full, its = one.where(SATURATED), other.where(SATURATED)
    both = one.stable & other.stable
    places = np.flatnonzero(both)
    found = [one.sample(i).against(other.sample(i)).comparison(one.confidence) for i in places.tolist()]
    means, states = np.array([each.mean for each in found]), tuple(map(_state, found))
    crossings: tuple[Crossing, ...] = ()
    # There is no interpolation across a point without a mean.
    for run in np.split(np.arange(places.size), np.flatnonzero(np.diff(places) > 1) + 1):
        kept = np.isin(np.arange(len(one.x)), places[run])
        crossings += _crossings(one.part(kept), other.part(kept), means[run], [states[i] for i in run])
    return Outcome(
        one.x[both], states, means, crossings,
        _first(one.x[full & other.stable]), _first(one.x[its & one.stable]),
    )  # fmt: skip


def _first(x: np.ndarray) -> float:
    return float(x[0]) if x.size else math.nan


def _state(found: Comparison) -> State:
    return "better" if found.high < 0 else "worse" if found.low > 0 else "open"


def _crossings(one: Curve, other: Curve, means: np.ndarray, states: Sequence[State]) -> tuple[Crossing, ...]:
    """Return the break-evens of two curves, given their mean differences and the result at each point."""
    x, crossings = one.x, []

    def state_at(value: float) -> State:
        right = int(np.clip(np.searchsorted(x, value), 1, len(x) - 1))
        share = (value - x[right - 1]) / (x[right] - x[right - 1])
        mine, others = (
            (1 - share) * curve.values[right - 1] + share * curve.values[right] for curve in (one, other)
        )
        return _state(statistics.compare(mine, others, one.confidence, exact=one.exact and other.exact))

    def end(closed: float, open_: float) -> float:
        """Return where a difference stops being significant, on the side where it is significant."""
        for _ in range(HALVINGS):
            middle = (closed + open_) / 2
            closed, open_ = (closed, middle) if state_at(middle) == "open" else (middle, open_)
        return closed

    for i in np.flatnonzero((means[:-1] < 0) != (means[1:] < 0)).tolist():
        value = float(x[i] + (x[i + 1] - x[i]) * means[i] / (means[i] - means[i + 1]))
        low = next((k for k in range(i, -1, -1) if states[k] != "open"), None)
        high = next((k for k in range(i + 1, len(x)) if states[k] != "open"), None)
        crossings.append(
            Crossing(
                value,
                -math.inf if low is None else end(float(x[low]), min(float(x[low + 1]), value)),
                math.inf if high is None else end(float(x[high]), max(float(x[high - 1]), value)),
                "below" if means[i] < 0 else "above",
            )
        )
    return tuple(crossings)


def describe(outcome: Outcome, unit: str = "", digits: int = 2) -> str:
    """Return the part of the axis on which the contestant is better, in words.

    Parameters
    ----------
    unit : str
        After each number.
    digits : int
        After the decimal point.
    """
    if not outcome.is_known:
        return "no common point"

    def number(x: float) -> str:
        return "unscaled" if math.isnan(x) else f"{x:.{digits}f}{unit}"

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
        state = "better" if outcome.means[0] < 0 else "worse"
        grid = " to ".join(dict.fromkeys((number(outcome.x[0]), number(outcome.x[-1]))))
        n_open = sum(one != state for one in outcome.states)
        if n_open == outcome.x.size:
            parts = [f"no significant difference ({grid})"]
        else:
            parts = [f"{'everywhere' if state == 'better' else 'nowhere'} ({grid})"]
            parts[0] += f", not significant at {n_open} of {outcome.x.size} points" if n_open else ""
    if not math.isnan(outcome.lost):
        parts.append(f"itself saturated from {number(outcome.lost)}")
    if not math.isnan(outcome.left):
        parts.append(f"from {number(outcome.left)} only the other one is saturated")
    return "; ".join(parts)
