"""Testers of curves that the rows of several papers use: from policies and points to the parts of a claim.

A *curve* argument is a metric's name, or a mapping with ``metric``, ``along`` (the axis) and the point at
which the curve is taken. *of* and *over* are policies, *at* one or several ranges of the axis. Comparisons of
exact numbers are facts, because they are not stochastic.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from analysis.claims import Fact, Open, Part
from analysis.claims.comparisons import AxisRange, difference, ratio
from analysis.claims.comparisons import listed as in_words
from analysis.claims.tester import Tester
from analysis.study.curve import Curve
from models.counting import counted

CurveOf = str | Mapping[str, Any]
Several = Any
"""One value or a list of them."""


def listed(values: Several) -> list[Any]:
    """Return a list of one value or of several."""
    return list(values) if isinstance(values, list | tuple) else [values]


def curve_of(test: Tester, of: CurveOf, policy: str, where: Mapping[str, Any] | None = None) -> Curve:
    """Return the curve of a policy."""
    spec = {"metric": of} if isinstance(of, str) else dict(of)
    return test.curve(spec.pop("metric"), policy, **{**spec, **(where or {})})


def compared(
    compare: Callable[..., Part], sign: str, test: Tester, curve: CurveOf, at: Several, of: Several = (),
    over: Several = (), pairs: Sequence[str] = (), suffix: str = "", where: Mapping[str, Any] | None = None,
    **limits: Any,
) -> list[Part]:  # fmt: skip
    """Compare each of some policies with each of others (or each two of `pairs`) at each range of points."""
    both = combinations(pairs, 2) if pairs else product(listed(of), listed(over))
    chosen = [(a, b) for a, b in both if a != b]
    return [
        compare(
            f"{test.label(a)} {sign} {test.label(b)}{suffix}",
            curve_of(test, curve, a, where),
            curve_of(test, curve, b, where),
            points,
            **limits,
        )
        for points in listed(at)
        for a, b in chosen
    ]


ratios = partial(compared, ratio, "/")
"""Tester of limits on the ratio of a metric under two policies."""

differences = partial(compared, difference, "−")
"""The same by differences, for metrics that may be zero; `percent` shows shares in percent."""


def is_everywhere(
    test: Tester, curve: CurveOf, of: Several, relation: str, than: Several, at: AxisRange,
    where: Mapping[str, Any] | None = None, than_where: Mapping[str, Any] | None = None, names: str = "",
) -> list[Part]:  # fmt: skip
    """Ask that exact curves lie below (above, at most, at least) others, or a number, at every point."""
    return [
        everywhere(names or _names(test, a, b), curve_of(test, curve, a, where), relation, other, at)
        for a, b in product(listed(of), listed(than))
        if a != b
        for other in [b if isinstance(b, int | float) else curve_of(test, curve, b, than_where or where)]
    ]


def averages(
    test: Tester, curve: CurveOf, of: Several, at: AxisRange, over: Several = 1.0, label: str = "",
    low: float = -np.inf, high: float = np.inf, where: Mapping[str, Any] | None = None,
) -> list[Part]:  # fmt: skip
    """Ask for limits on the average over points of the ratio of exact curves, or of a curve and a number."""
    return [
        average(
            label or f"{test.label(a)} / {test.label(b)}",
            curve_of(test, curve, a, where),
            b if isinstance(b, int | float) else curve_of(test, curve, b, where),
            at,
            low,
            high,
        )
        for a, b in product(listed(of), listed(over))
    ]


def never_turns(
    test: Tester, curve: CurveOf, of: str, at: AxisRange, rising: bool = True, label: str = "",
    where: Mapping[str, Any] | None = None,
) -> list[Part]:  # fmt: skip
    """Ask that an exact curve rises (or falls) and never turns."""
    return [monotone(label or test.label(of), curve_of(test, curve, of, where), rising, at)]


def _names(test: Tester, a: str, b: Any) -> str:
    return test.label(a) if isinstance(b, int | float) else f"{test.label(a)}|{test.label(b)}"


CURVES: Mapping[str, Callable[..., Any]] = {
    "ratios": ratios,
    "differences": differences,
    "everywhere": is_everywhere,
    "averages": averages,
    "never_turns": never_turns,
}


RELATIONS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "below": operator.lt,
    "above": operator.gt,
    "at most": lambda a, b: a <= b + ROUNDING,
    "at least": lambda a, b: a >= b - ROUNDING,
}

ROUNDING = 1e-9
"""Rounding differences between two computations of the same number."""

SHOWN = 6
"""Number of exceptions that are listed."""


def exact_values(curves: Sequence[Curve], points: AxisRange) -> tuple[np.ndarray, np.ndarray, str]:
    """Return points, values of shape (n_curves, n_points), and a reason where there are none."""
    chosen, reason = points.choose(curves)
    if reason:
        return chosen, np.zeros((len(curves), 0)), reason
    values = []
    for curve in curves:
        batches = curve.values[np.isin(curve.x, chosen)].reshape(len(chosen), -1)
        if np.isnan(batches).all(axis=1).any():
            return chosen[:0], np.zeros((len(curves), 0)), "it has no value"
        if not (np.nanmax(batches, axis=1) - np.nanmin(batches, axis=1) <= ROUNDING).all():
            return chosen[:0], np.zeros((len(curves), 0)), "its values are not exact"
        values.append(np.nanmean(batches, axis=1))
    return chosen, np.array(values), ""


def everywhere(names: str, a: Curve, relation: str, b: Curve | float, points: AxisRange) -> Part:
    """Ask that a is below (above, at most, at least) b at every point.

    Parameters
    ----------
    names : str
        Of a, and after a vertical bar of b if that is a curve.
    relation : str
        One of `RELATIONS`.
    """
    name, _, than = names.partition("|")
    label = f"{name} {relation} {than or f'{b:g}'}"
    chosen, first, other, reason = _pair(a, b, points)
    if reason:
        return Open(label, reason)
    so = RELATIONS[relation](first, other)
    where = f"{label} at {counted(int(so.sum()), 'point', of=len(chosen))}, {in_words(a.axis, chosen)}"
    return Fact(where + ("" if so.all() else f"; not at {_some(chosen[~so])}"), bool(so.all()))


def monotone(label: str, a: Curve, rising: bool, points: AxisRange) -> Part:
    """Ask that a never falls (or never rises) from point to point, and does not stay the same."""
    chosen, values, reason = exact_values([a], points)
    if reason:
        return Open(label, reason)
    steps = np.diff(values[0]) if rising else -np.diff(values[0])
    so = bool((steps >= -ROUNDING).all() and steps.sum() > ROUNDING)
    way = f"{'rises' if rising else 'falls'} from {values[0][0]:.4g} to {values[0][-1]:.4g}"
    wrong = "" if (steps >= -ROUNDING).all() else f"; not at {_some(chosen[1:][steps < -ROUNDING])}"
    return Fact(f"{label} never turns and {way}, {in_words(a.axis, chosen)}{wrong}", so)


def average(
    label: str, a: Curve, b: Curve | float, points: AxisRange, low: float = -np.inf, high: float = np.inf
) -> Part:
    """Ask for limits on the average over points of a / b.

    The ratio is taken at each point, so that a few points with large values do not dominate.
    """
    chosen, first, other, reason = _pair(a, b, points)
    if reason:
        return Open(label, reason)
    ratio = float((first / other).mean())
    asked = f"above {low:.4g}" if np.isinf(high) else f"below {high:.4g}"
    if not np.isinf(low) and not np.isinf(high):
        asked = f"between {low:.4g} and {high:.4g}"
    where = f"{label}, averaged over {in_words(a.axis, chosen)}: {ratio:.4f}"
    so, missed = low < ratio < high, ""
    if not so and ((low >= 1 and ratio > 1) or (high <= 1 and ratio < 1)):
        missed = "below" if (ratio <= low) == (low >= 1) else "above"
    return Fact(f"{where} (required: {asked})", so, missed)


def _pair(a: Curve, b: Curve | float, points: AxisRange) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    """Return points, the values of a and of b there, and a reason where there are none."""
    chosen, values, reason = exact_values([a, b] if isinstance(b, Curve) else [a], points)
    return chosen, values[0], values[1] if isinstance(b, Curve) else np.full(len(chosen), b), reason


def _some(points: np.ndarray) -> str:
    texts = [f"{x:g}" for x in points]
    return ", ".join(texts[:SHOWN]) + (f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else "")
