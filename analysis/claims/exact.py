"""Comparisons of exact numbers: facts, because they are not stochastic."""

import operator
from collections.abc import Callable, Sequence

import numpy as np

from analysis.claims import Fact, Open, Part
from analysis.claims.comparisons import AxisRange, listed
from analysis.study.curve import Curve

RELATIONS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "below": operator.lt,
    "above": operator.gt,
    "at most": lambda a, b: a <= b + ROUNDING,
    "at least": lambda a, b: a >= b - ROUNDING,
}

ROUNDING = 1e-9
"""Differences that two ways to compute the same number may have."""

SHOWN = 6
"""Exceptions that are named."""


def exact_values(curves: Sequence[Curve], points: AxisRange) -> tuple[np.ndarray, np.ndarray, str]:
    """Return points, values of shape (n_curves, n_points), and a reason where there are none."""
    chosen, reason = points.choose(curves)
    if reason:
        return chosen, np.zeros((len(curves), 0)), reason
    values = []
    for curve in curves:
        batches = curve.values[np.isin(curve.x, chosen)].reshape(len(chosen), -1)
        if not (np.nanmax(batches, axis=1) - np.nanmin(batches, axis=1) <= ROUNDING).all():
            return chosen[:0], np.zeros((len(curves), 0)), "its numbers are not exact"
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
    where = f"{label} at {int(so.sum())} of {len(chosen)} points, {listed(a.axis, chosen)}"
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
    return Fact(f"{label} never turns and {way}, {listed(a.axis, chosen)}{wrong}", so)


def average(
    label: str, a: Curve, b: Curve | float, points: AxisRange, low: float = -np.inf, high: float = np.inf
) -> Part:
    """Ask for limits on the average over points of a / b.

    The ratio is taken at each point, so that a few points with large numbers do not decide alone.
    """
    chosen, first, other, reason = _pair(a, b, points)
    if reason:
        return Open(label, reason)
    ratio = float((first / other).mean())
    asked = f"above {low:.4g}" if np.isinf(high) else f"below {high:.4g}"
    if not np.isinf(low) and not np.isinf(high):
        asked = f"between {low:.4g} and {high:.4g}"
    where = f"{label}, averaged over {listed(a.axis, chosen)}: {ratio:.4f}"
    return Fact(f"{where} (asked: {asked})", low < ratio < high)


def _pair(a: Curve, b: Curve | float, points: AxisRange) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    """Return points, the values of a and of b there, and a reason where there are none."""
    chosen, values, reason = exact_values([a, b] if isinstance(b, Curve) else [a], points)
    return chosen, values[0], values[1] if isinstance(b, Curve) else np.full(len(chosen), b), reason


def _some(points: np.ndarray) -> str:
    texts = [f"{x:g}" for x in points]
    return ", ".join(texts[:SHOWN]) + (f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else "")
