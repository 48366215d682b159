"""From curves and samples to parts of a claim: which points are compared, and what if they cannot be.

Loads (or points of another axis) are chosen by declared ranges and by saturation alone, never by the metric
that is compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from analysis.claims import Estimated, Open, Part, Within, shown
from analysis.study.curve import DONE, EXCLUDED, FAILED, SATURATED, UNFINISHED, Curve
from analysis.study.sample import Sample
from sweep import statistics
from sweep.statistics import Interval


@dataclass(frozen=True)
class AxisRange:
    """Points of an axis, mostly loads, at which curves are compared.

    Parameters
    ----------
    name : str
        As the paper calls them.
    low, high : float
        Both included.
    highest : int, optional
        Of the points at which all compared curves are stable, only so many highest.
    only : tuple of float, optional
        Of the points between `low` and `high`, only these.
    """

    name: str
    low: float = 0.0
    high: float = np.inf
    highest: int | None = None
    only: tuple[float, ...] | None = None

    def choose(self, curves: Sequence[Curve]) -> tuple[np.ndarray, str]:
        """Return the points at which all curves are stable, and a reason where there are none.

        A point that is unfinished or failed spoils the choice: the points used must not depend on how far a
        run has come.
        """
        x, axis = curves[0].x, curves[0].axis
        # Half a step of the finest grid anyone declares: 0.8 is 0.8 whatever its last bit.
        inside = (x >= self.low - 1e-9) & (x <= self.high + 1e-9)
        if self.only is not None:
            inside &= np.isin(x, self.only)
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
        return (stable if self.highest is None else stable[-self.highest :]), ""


def ratio(
    label: str, a: Curve, b: Curve, loads: AxisRange, low: float = -np.inf, high: float = np.inf
) -> Part:
    """Ask for limits on the ratio of two metrics, paired batch by batch and averaged over loads."""
    chosen, reason = loads.choose([a, b])
    if reason:
        return Open(label, reason)
    name, exact = f"{label} at {listed(a.axis, chosen)}", a.exact and b.exact
    return _ratio(name, a.over(chosen), b.over(chosen), low, high, exact)


def difference(
    label: str, a: Curve, b: Curve, loads: AxisRange, low: float = -np.inf, high: float = np.inf,
    *, percent: bool = False,
) -> Part:  # fmt: skip
    """Ask for limits on the difference of two metrics, paired batch by batch and averaged over loads."""
    chosen, reason = loads.choose([a, b])
    if reason:
        return Open(label, reason)
    scale, unit = (100.0, " %") if percent else (1.0, "")
    name = f"{label} at {listed(a.axis, chosen)}"
    exact = a.exact and b.exact
    return difference_of(name, a.over(chosen), b.over(chosen), low, high, scale, unit, exact)


def level(
    label: str,
    a: Curve,
    loads: AxisRange,
    low: float = -np.inf,
    high: float = np.inf,
    *,
    percent: bool = False,
) -> Part:
    """Ask for limits on a metric averaged over loads: on its difference from nothing."""
    nothing = replace(a, values=np.zeros_like(a.values))
    return difference(label, a, nothing, loads, low, high, percent=percent)


def excess(label: str, a: tuple[Curve, Curve], b: tuple[Curve, Curve], loads: AxisRange) -> Part:
    """Ask that a[0] - a[1] is more than b[0] - b[1]: what a change costs one scheme and another."""
    chosen, reason = loads.choose([*a, *b])
    if reason:
        return Open(label, reason)
    first, second = (pair[0].over(chosen) - pair[1].over(chosen) for pair in (a, b))
    return difference_of(f"{label} at {listed(a[0].axis, chosen)}", first, second, 0.0)


def rise(label: str, a: Curve, lower: AxisRange, upper: AxisRange) -> Part:
    """Ask that a metric is higher at the upper loads than at the lower ones."""
    below, reason_below = lower.choose([a])
    above, reason_above = upper.choose([a])
    if reason_below or reason_above:
        return Open(label, reason_below or reason_above)
    named = f"{label}, {listed(a.axis, above)} minus {listed(a.axis, below)}"
    return difference_of(named, a.over(above), a.over(below), 0.0, exact=a.exact)


def turns(
    label: str, a: Curve, b: Curve, loads: AxisRange, tests: int, low: float = -np.inf, high: float = np.inf
) -> list[str]:
    """Return at which single loads the ratio of two metrics lies beyond a limit that its average may keep.

    Parameters
    ----------
    tests : int
        Pairs of curves that are looked at so; the intervals are corrected for all their loads.
    """
    chosen, reason = loads.choose([a, b])
    if reason:
        return []
    confidence = 1 - (1 - a.confidence) / (tests * len(chosen))
    found = []
    for load in chosen:
        part = _ratio("", a.at(load), b.at(load), low, high, a.exact and b.exact)
        if part.fails(confidence):
            ratio_there = statistics.paired_ratio(a.at(load), b.at(load), a.confidence)
            found.append(f"{label} at {load:g}: {shown(ratio_there)}")
    return found


CLEARLY_MORE = 0.019
"""Load offered above a threshold of utilization from which a lower utilization is held against a scheme."""


@dataclass(frozen=True)
class Sustains:
    """Whether a scheme sustains a utilization.

    It does if it keeps up with some load at which its utilization is above the threshold; the highest one
    that it keeps up with is looked at. What refutes is the highest load of all: if clearly more than the
    threshold is offered, it saturates, and less is delivered. Where no more is offered, no less can be held
    against it, nor where it does not saturate: then all that is offered is delivered in the long run, which
    was too short to show it.
    """

    label: str
    utilization: Curve
    threshold: float

    def holds(self, confidence: float) -> bool:
        """Whether the interval at the highest load that it keeps up with lies above the threshold."""
        found = self._at(self._kept_up, confidence)
        return found is not None and found.mean - found.half_width > self.threshold

    def fails(self, confidence: float) -> bool:
        """Whether it saturates at the highest load, and less is delivered, though clearly more is offered."""
        load = self._offered
        found = self._at(load, confidence)
        enough = load is not None and load > self.threshold + CLEARLY_MORE and load != self._kept_up
        return enough and found is not None and found.mean + found.half_width < self.threshold

    def describe(self, confidence: float) -> str:
        """Return the utilization at both loads."""
        kept_up, offered = self._kept_up, self._offered
        texts = []
        if (stable := self._at(kept_up, confidence)) is not None:
            texts.append(f"{shown(stable, 100)} % at load {kept_up:g}, the highest that it keeps up with")
        if offered is None:
            texts.append("no finished points")
        elif offered <= self.threshold + CLEARLY_MORE:
            texts.append(f"no load of this grid is clearly above {self.threshold:.0%}, to refute it")
        elif offered == kept_up:
            if not self.holds(confidence):
                texts.append("it is not saturated there: longer runs show what it delivers")
        elif (most := self._at(offered, confidence)) is not None:
            texts.append(f"{shown(most, 100)} % at load {offered:g}, the highest of this grid")
        return f"{self.label}: {'; '.join(texts)} (asked: above {self.threshold:.0%})"

    @property
    def _kept_up(self) -> float | None:
        curve = self.utilization
        if not curve.stable.any() or curve.where(UNFINISHED, FAILED).any():
            return None
        return float(curve.x[curve.stable][-1])

    @property
    def _offered(self) -> float | None:
        curve = self.utilization
        run = curve.where(DONE, SATURATED)
        if not run.any() or curve.where(UNFINISHED, FAILED).any():
            return None
        return float(curve.x[run][-1])

    def _at(self, load: float | None, confidence: float) -> Interval | None:
        if load is None:
            return None
        return statistics.interval(self.utilization.at(load), confidence)


@dataclass(frozen=True)
class Not:
    """The opposite of a part."""

    part: Part

    def holds(self, confidence: float) -> bool:
        """Whether the part fails."""
        return self.part.fails(confidence)

    def fails(self, confidence: float) -> bool:
        """Whether the part holds."""
        return self.part.holds(confidence)

    def describe(self, confidence: float) -> str:
        """Return the part's line; the claim's statement asks for its opposite."""
        return self.part.describe(confidence).replace("asked: above", "asked: not above")

    def at_level(self, confidence: float) -> str:
        """Return the part's interval at a level."""
        return self.part.at_level(confidence) if isinstance(self.part, Estimated) else ""


def ratio_of(label: str, a: Sample, b: Sample, low: float = -np.inf, high: float = np.inf) -> Part:
    """Ask for limits on the ratio of two samples, paired value by value."""
    if reason := a.reason or b.reason:
        return Open(label, reason)
    return _ratio(label, a.values, b.values, low, high, a.exact and b.exact)


def level_of(
    label: str, one: Sample, low: float = -np.inf, high: float = np.inf, scale: float = 1.0, unit: str = ""
) -> Part:
    """Ask for limits on a sample's mean; numbers are shown times `scale`."""
    if one.reason:
        return Open(label, one.reason)
    return Within(label, cache(one.interval), low, high, scale, unit)


def difference_of(
    label: str, a: np.ndarray, b: np.ndarray,
    low: float = -np.inf, high: float = np.inf, scale: float = 1.0, unit: str = "", exact: bool = False,
) -> Part:  # fmt: skip
    """Ask for limits on the difference of two sets of values, paired one by one."""
    measure = statistics.levels(statistics.paired_values(a, b), exact=exact)
    return Within(label, cache(measure), low, high, scale, unit)


def _ratio(label: str, a: np.ndarray, b: np.ndarray, low: float, high: float, exact: bool) -> Part:
    # The same levels are asked for again: to hold, to fail, to be described.
    return Within(label, cache(statistics.ratio_levels(a, b, exact=exact)), low, high)


def _any(curves: Sequence[Curve], status: str) -> np.ndarray:
    found: np.ndarray = np.any([curve.where(status) for curve in curves], axis=0)
    return found


def listed(axis: str, points: np.ndarray) -> str:
    """Return points of an axis as text: all of a few, the ends of many."""
    texts = [f"{x:g}" for x in points]
    noun = axis.replace("_", " ")
    nouns = noun if noun.endswith("s") else f"{noun}s"
    if len(texts) > 3:
        return f"{nouns} {texts[0]}–{texts[-1]} ({len(texts)})"
    return f"{nouns if len(texts) > 1 else noun} {', '.join(texts)}"
