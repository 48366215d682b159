"""From curves and samples to parts of a claim: which points are compared, and why some cannot be.

Loads (or points of another axis) are chosen by declared ranges, never by the metric that is compared. Where
one of two policies is saturated and the other is not, what grows with the queue is infinitely more under the
first. That decides the comparison; dropping such points would hide the largest differences.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from analysis.claims import Decided, Open, Part, Within, shown
from analysis.study.curve import EXCLUDED, FAILED, SATURATED, UNFINISHED, Curve, Sample
from sweep.statistics import limits_shown
from sweep.statistics.capacity import ERRORS, FREEDOM, Capacity
from sweep.statistics.confidence import student


@dataclass(frozen=True)
class AxisRange:
    """Points of an axis, mostly loads, at which curves are compared.

    Parameters
    ----------
    name : str
        As the paper calls them.
    low, high : float
        Both included.
    only : tuple of float, optional
        Of the points between `low` and `high`, only these.
    """

    name: str
    low: float = 0.0
    high: float = np.inf
    only: tuple[float, ...] | None = None

    def choose(self, curves: Sequence[Curve]) -> tuple[np.ndarray, str]:
        """Return the points at which all curves are stable, and a reason if there are none.

        If a point is unfinished or failed, no points are chosen: the choice must not depend on the progress
        of a run.
        """
        x, axis = curves[0].x, curves[0].axis
        inside = self._inside(x)
        found = {name: _any(curves, name) & inside for name in (EXCLUDED, FAILED, UNFINISHED, SATURATED)}
        if not (inside & ~found[EXCLUDED]).any():
            return x[:0], f"this grid has no such points at {self.name}"
        for name in (FAILED, UNFINISHED):
            if found[name].any():
                where = f"{int(found[name].sum())} {axis}(s) {name} at {self.name}"
                return x[:0], f"{where}: {listed(axis, x[found[name]])}"
        stable = x[inside & np.all([curve.stable for curve in curves], axis=0)]
        if not stable.size:
            return stable, f"saturated at {self.name}: {listed(axis, x[found[SATURATED]])}"
        return stable, ""

    def lost(self, a: Curve, b: Curve) -> np.ndarray:
        """Return the points at which a is saturated and b is stable; none while any point is not finished."""
        inside = self._inside(a.x)
        if (_any([a, b], UNFINISHED) & inside).any() or (_any([a, b], FAILED) & inside).any():
            return a.x[:0]
        return a.x[inside & a.where(SATURATED) & b.stable]

    def _inside(self, x: np.ndarray) -> np.ndarray:
        # This tolerance for rounding is far below the step of any grid.
        inside = (x >= self.low - 1e-9) & (x <= self.high + 1e-9)
        return inside if self.only is None else inside & np.isin(x, self.only)


def ratio(
    label: str, a: Curve, b: Curve, loads: AxisRange, low: float = -np.inf, high: float = np.inf
) -> Part:
    """Ask for limits on the ratio of two metrics, paired batch by batch and averaged over loads."""
    return _averaged(_ratio, label, a, b, loads, low, high, 0.0)


def difference(
    label: str, a: Curve, b: Curve, loads: AxisRange, low: float = -np.inf, high: float = np.inf,
    *, percent: bool = False,
) -> Part:  # fmt: skip
    """Ask for limits on the difference of two metrics, paired batch by batch and averaged over loads."""
    compare = partial(_difference, scale=100.0, unit=" %") if percent else _difference
    return _averaged(compare, label, a, b, loads, low, high, -np.inf)


def _averaged(
    compare: Callable[..., Part], label: str, a: Curve, b: Curve, loads: AxisRange,
    low: float, high: float, least: float,
) -> Part:  # fmt: skip
    """Compare averages over loads; what grows with the queue is infinite where only one is saturated."""
    first, second = loads.lost(a, b), loads.lost(b, a)
    if a.diverges and b.diverges and bool(first.size) != bool(second.size):
        where = listed(a.axis, first if first.size else second)
        which = "the first" if first.size else "the second"
        # A ratio or difference that is infinite, or its smallest possible value.
        value = np.inf if first.size else least
        so = (value > low or low == -np.inf) and (value < high or high == np.inf)
        return Decided(f"{label}: only {which} is saturated at {where}", so)
    chosen, reason = loads.choose([a, b])
    if reason:
        return Open(label, reason)
    return compare(f"{label} at {listed(a.axis, chosen)}", a.over(chosen), b.over(chosen), low, high)


def level(
    label: str,
    a: Curve,
    loads: AxisRange,
    low: float = -np.inf,
    high: float = np.inf,
    *,
    percent: bool = False,
) -> Part:
    """Ask for limits on a metric averaged over loads."""
    chosen, reason = loads.choose([a])
    if reason:
        return Open(label, reason)
    scale, unit = (100.0, " %") if percent else (1.0, "")
    return level_of(f"{label} at {listed(a.axis, chosen)}", a.over(chosen), low, high, scale, unit)


def excess(label: str, a: tuple[Curve, Curve], b: tuple[Curve, Curve], loads: AxisRange) -> Part:
    """Ask that a[0] - a[1] is more than b[0] - b[1], the costs of a change to two schemes."""
    chosen, reason = loads.choose([*a, *b])
    if reason:
        return Open(label, reason)
    first, second = (Sample.computed(np.subtract, *(one.over(chosen) for one in pair)) for pair in (a, b))
    return _difference(f"{label} at {listed(a[0].axis, chosen)}", first, second, 0.0)


def rise(label: str, a: Curve, lower: AxisRange, upper: AxisRange) -> Part:
    """Ask that a metric is higher at the upper loads than at the lower ones."""
    below, reason_below = lower.choose([a])
    above, reason_above = upper.choose([a])
    if reason_below or reason_above:
        return Open(label, reason_below or reason_above)
    named = f"{label}, {listed(a.axis, above)} minus {listed(a.axis, below)}"
    return _difference(named, a.over(above), a.over(below), 0.0)


def rises_more(
    label: str, a: Curve, ends: tuple[AxisRange, AxisRange], before: tuple[AxisRange, AxisRange]
) -> Part:
    """Ask that a metric rises more between two ranges of loads than between two others."""
    chosen = [points.choose([a]) for points in (*ends, *before)]
    if reason := next((reason for _, reason in chosen if reason), ""):
        return Open(label, reason)
    low, high, first, second = (a.over(points) for points, _ in chosen)
    later, earlier = Sample.computed(np.subtract, high, low), Sample.computed(np.subtract, second, first)
    named = f"{label}, rise to {listed(a.axis, chosen[1][0])} minus rise to {listed(a.axis, chosen[3][0])}"
    return _difference(named, later, earlier, 0.0)


def turns(
    label: str, a: Curve, b: Curve, loads: AxisRange, tests: int, low: float = -np.inf, high: float = np.inf
) -> list[str]:
    """Return the single loads at which the ratio of two metrics exceeds a limit that its average may keep.

    Parameters
    ----------
    tests : int
        Pairs of curves that are examined in this way; the intervals are corrected for all their loads.
    """
    chosen, reason = loads.choose([a, b])
    if reason:
        return []
    confidence = 1 - (1 - a.confidence) / (tests * len(chosen))
    found = []
    for load in chosen:
        pair = a.sample(a.place(load)).against(b.sample(b.place(load)))
        if Within("", pair.ratio, low, high).fails(confidence):
            found.append(f"{label} at {load:g}: {shown(pair.ratio(a.confidence))}")
    return found


@dataclass(frozen=True)
class Sustains(Part):
    """Whether a policy sustains loads above a threshold: whether it delivers that much of more work."""

    label: str
    capacity: Capacity
    threshold: float

    def holds(self, confidence: float) -> bool:
        """Whether the lower limit of the capacity is above the threshold, one-sided."""
        return self.capacity.mean - self._reach(confidence) > self.threshold

    def fails(self, confidence: float) -> bool:
        """Whether the upper limit, with all work that may still be delivered, is below the threshold."""
        further = self.capacity.upper - self.capacity.mean - ERRORS * self.capacity.error
        return self.capacity.mean + self._reach(confidence) + further < self.threshold

    def describe(self, confidence: float) -> str:
        """Return the load up to which it keeps up."""
        if np.isnan(self.capacity.mean):
            return f"{self.label}: not tested, because no overload run has finished"
        return (
            f"{self.label}: keeps up to {limits_shown(*self.capacity)} (required: above {self.threshold:.2f})"
        )

    def _reach(self, confidence: float) -> float:
        return float(student(FREEDOM, confidence)) * self.capacity.error


@dataclass(frozen=True)
class Not(Part):
    """The opposite of a part."""

    part: Part

    def holds(self, confidence: float) -> bool:
        return self.part.fails(confidence)

    def fails(self, confidence: float) -> bool:
        return self.part.holds(confidence)

    def describe(self, confidence: float) -> str:
        """Return the part's line; the claim's statement requires its opposite."""
        return self.part.describe(confidence).replace("required: above", "required: not above")

    def at_level(self, confidence: float) -> str:
        return self.part.at_level(confidence)


@dataclass(frozen=True)
class Chosen(Part):
    """A part that the data chose among several: its intervals are widened for all of them (Bonferroni)."""

    part: Part
    among: int

    def holds(self, confidence: float) -> bool:
        """Whether the part holds at the corrected level."""
        return self.part.holds(self._level(confidence))

    def fails(self, confidence: float) -> bool:
        """Whether the part fails at the corrected level."""
        return self.part.fails(self._level(confidence))

    def describe(self, confidence: float) -> str:
        """Return the part's line at the corrected level."""
        return f"{self.part.describe(self._level(confidence))}, corrected for the choice among {self.among}"

    def _level(self, confidence: float) -> float:
        return 1 - (1 - confidence) / self.among


def ratio_of(label: str, a: Sample, b: Sample, low: float = -np.inf, high: float = np.inf) -> Part:
    """Ask for limits on the ratio of two samples, paired value by value."""
    if reason := a.reason or b.reason:
        return Open(label, reason)
    return _ratio(label, a, b, low, high)


def level_of(
    label: str, one: Sample, low: float = -np.inf, high: float = np.inf, scale: float = 1.0, unit: str = ""
) -> Part:
    """Ask for limits on a sample's mean; numbers are shown times `scale`."""
    if one.reason:
        return Open(label, one.reason)
    return Within(label, cache(one.interval), low, high, scale, unit)


def difference_of(label: str, a: Sample, b: Sample, low: float, scale: float = 1.0, unit: str = "") -> Part:
    """Ask for a limit on the difference of two samples, paired value by value."""
    if reason := a.reason or b.reason:
        return Open(label, reason)
    return _difference(label, a, b, low, scale=scale, unit=unit)


def _difference(
    label: str, a: Sample, b: Sample, low: float = -np.inf, high: float = np.inf, scale: float = 1.0,
    unit: str = "",
) -> Part:  # fmt: skip
    return Within(label, cache(a.against(b).difference), low, high, scale, unit, equal=0.0)


def _ratio(label: str, a: Sample, b: Sample, low: float, high: float) -> Part:
    # The same levels are computed repeatedly: for holds, for fails, for the description.
    return Within(label, cache(a.against(b).ratio), low, high, equal=1.0)


def _any(curves: Sequence[Curve], status: str) -> np.ndarray:
    return np.any([curve.where(status) for curve in curves], axis=0)


def listed(axis: str, points: np.ndarray) -> str:
    """Return points of an axis as text: all of a few, the ends of many."""
    texts = [f"{x:g}" for x in points]
    noun = axis.replace("_", " ")
    nouns = noun if noun.endswith("s") else f"{noun}s"
    if len(texts) > 3:
        return f"{nouns} {texts[0]}–{texts[-1]} ({len(texts)})"
    return f"{nouns if len(texts) > 1 else noun} {', '.join(texts)}"
