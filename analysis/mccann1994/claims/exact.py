"""Testers of exact numbers: efficiency preservation, fairness, the birth-death chain (chapters 3 and 5)."""

from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np

from analysis.claims import Fact, Open, Part, testers
from analysis.claims.comparisons import AxisRange, listed
from analysis.claims.tester import Tester
from analysis.mccann1994.labels import BLOW_UP, EQUIPARTITION, FOLDING, LEAST_LOADED, LIMITS, MOST_LOADED
from analysis.study.curve import SATURATED, Curve
from sweep.policy_names import label

BOUNDS = {"most": MOST_LOADED, "least": LEAST_LOADED}


Exact = tuple[np.ndarray, np.ndarray, str]
"""Points, values there, and a reason if there are none."""


def _above(text: str, high: Exact, low: Exact) -> Part:
    """Ask that one average is above another."""
    if reason := high[2] or low[2]:
        return Open(text, reason)
    means = high[1].mean(), low[1].mean()
    return Fact(f"{text} ({means[0]:.4f} and {means[1]:.4f})", bool(means[0] > means[1]))


def _rises(test: Tester, curve: Mapping[str, Any], of: str, through: Sequence[AxisRange]) -> list[Part]:
    """Ask that the average rises from each range to the next."""
    found = [testers.exact_values([testers.curve_of(test, curve, of)], points) for points in through]
    return [
        _above(f"{label(of)}: {high.name} above {low.name}", above, below)
        for (low, below), (high, above) in pairwise(zip(through, found, strict=True))
    ]


def _most_below_one(test: Tester, curve: Mapping[str, Any], of: str, at: AxisRange) -> list[Part]:
    """Ask that a curve is below 1 at most points."""
    chosen, values, reason = testers.exact_values([testers.curve_of(test, curve, of)], at)
    if reason:
        return [Open(label(of), reason)]
    below = int(np.sum(values[0] < 1))
    text = f"{label(of)} below 1 at {below} of {len(chosen)} J from {chosen[0]:g} on"
    return [Fact(text, 2 * below > len(chosen))]


def _wider_spread(
    test: Tester, curve: Mapping[str, Any], of: list[str], deltas: list[float], at: AxisRange
) -> list[Part]:
    """Ask that curves are higher at each wider spread of thread times (ms)."""
    return [
        testers.everywhere(
            f"{label(policy)}, δ = {wide:g}|at δ = {narrow:g}",
            testers.curve_of(test, curve, policy, {"delta": wide}),
            "above",
            testers.curve_of(test, curve, policy, {"delta": narrow}),
            at,
        )
        for policy in of
        for narrow, wide in pairwise(deltas)
    ]


def _shortest_rotation(test: Tester) -> str:
    """Return a comparison of folding with the shortest rotation time, which decides nothing."""
    names = test.names
    found = [
        part.describe(test.study.confidence)
        for points in (names["moderate"], names["many"])
        for part in testers.averages(test, names["balanced"], "fold_20", points, list(EQUIPARTITION), low=1.0)
    ]
    return f"The shortest time, which is unrealistically small, decides nothing: {'; '.join(found)}."


def _bound(test: Tester, bound: str, q: float | None) -> Curve:
    return test.curve(BOUNDS[bound], "fold_q", "jobs", q=q)


def _distance(curve: Curve, points: AxisRange) -> Exact:
    """Return distances from 1."""
    chosen, values, reason = testers.exact_values([curve], points)
    return chosen, np.abs(values[0] - 1), reason


def _nearer_if_even(test: Tester, q: Mapping[str, float]) -> list[Part]:
    """Ask that both bounds are nearer to 1 at even numbers of jobs than at odd ones, on average."""
    return [
        _above(
            f"{bound} loaded job, q = {name}: farther from 1 at odd J than at even J",
            *(_distance(_bound(test, bound, value), test.names[kind]) for kind in ("odd", "even")),
        )
        for (name, value), bound in product(q.items(), BOUNDS)
    ]


def _near_one(test: Tester, q: float, margin: float) -> list[Part]:
    """Ask that both bounds are near 1 on average over the numbers of jobs that are not powers of two."""
    parts: list[Part] = []
    for bound in BOUNDS:
        _, found, reason = _distance(_bound(test, bound, q), test.names["no_power"])
        text, mean = f"{bound} loaded job", found.mean() if not reason else np.nan
        so = f"{text}: {mean:.3f} from 1 (required: below {margin:g})"
        parts.append(Open(text, reason) if reason else Fact(so, bool(mean < margin)))
    return parts


def _farthest(test: Tester, q: float) -> str:
    """Return where both bounds are farthest from 1."""
    texts = []
    for bound in BOUNDS:
        chosen, found, reason = _distance(_bound(test, bound, q), test.names["no_power"])
        where = "unknown" if reason else f"{found.max():.3f} from 1 at J = {chosen[np.argmax(found)]:g}"
        texts.append(f"{bound} loaded job {where}")
    return f"Farthest: {', '.join(texts)}."


def _as_without_rotation(test: Tester, q: float) -> list[Part]:
    """Ask that both bounds equal the bounds without rotation."""
    return [
        testers.everywhere(
            f"{bound} loaded job, q = {q:g}|without rotation", _bound(test, bound, q), relation,
            _bound(test, bound, None), test.names["all_points"],
        )
        for bound in BOUNDS
        for relation in ("at most", "at least")
    ]  # fmt: skip


def _below_at_each(test: Tester, **compared: Any) -> str:
    """Return at how many loads some policies are below others."""
    parts = testers.is_everywhere(
        test, compared.pop("curve"), compared.pop("of"), "below", compared.pop("over"), **compared
    )
    return " ".join(f"{part.describe(0.95)}." for part in parts)


def _below_all(test: Tester, curve: Mapping[str, Any], of: str, at: AxisRange) -> list[Part]:
    """Ask that a policy is below all others of the study."""
    others = [one for one in (*EQUIPARTITION, *FOLDING) if one in test.study.policies]
    return testers.is_everywhere(test, curve, of, "below", others, at)


def _gives_way(test: Tester, curve: Mapping[str, Any], of: str, to: str, at: AxisRange) -> list[Part]:
    """Ask that a policy is unstable at a high load at which another is stable."""
    mine, other, name = testers.curve_of(test, curve, of), testers.curve_of(test, curve, to), label(of)
    here = mine.where(SATURATED) & other.stable & (mine.x >= at.low)
    if not other.stable.any() or not (mine.stable | mine.where(SATURATED)).all():
        return [Open(name, "points are missing")]
    first = mine.first_saturated
    text = "stable at all loads" if first is None else f"unstable from {first:g} on"
    return [Fact(f"{name}: {text}", bool(here.any()))]


def _stable(test: Tester, curve: Mapping[str, Any], of: str, at: AxisRange) -> list[Part]:
    """Ask that a policy is stable at all loads of a range."""
    found, name = testers.curve_of(test, curve, of), label(of)
    inside = (found.x >= at.low) & (found.x <= at.high)
    known = found.stable | found.where(SATURATED)
    if not inside.any() or not known[inside].all():
        return [Open(name, f"points are missing at {at.name}")]
    n = int(found.stable[inside].sum())
    return [Fact(f"{name}: stable at {n} of {listed('load', found.x[inside])}", n == inside.sum())]


def _over_limits(test: Tester, ask: str, of: str, loads: list[float]) -> list[Part]:
    """Test the curve over the multiprogramming limit at each load."""
    parts: list[Part] = []
    for load in loads:
        name, curve = f"{label(of)}, load {load:g}", test.curve(BLOW_UP, of, LIMITS.name, load=load)
        if ask == "falls":
            parts.append(testers.monotone(name, curve, False, test.names["all_points"]))
        elif ask == "minimum_inside":
            parts.append(_minimum_inside(test, name, curve))
        else:
            parts.append(_above_best(test, name, curve))
    return parts


def _minimum_inside(test: Tester, name: str, curve: Curve) -> Part:
    chosen, values, reason = testers.exact_values([curve], test.names["all_points"])
    if reason or len(chosen) < 3:
        return Open(name, reason or "too few limits")
    at = int(np.argmin(values[0]))
    text = f"{name}: {values[0][at]:.4g} at L = {chosen[at]:g}, {values[0][-1]:.4g} at L = {chosen[-1]:g}"
    return Fact(text, 0 < at < len(chosen) - 1)


def _above_best(test: Tester, name: str, curve: Curve) -> Part:
    """Ask that no limit is much worse than the best; one at which the policy is unstable is."""
    chosen, values, reason = testers.exact_values([curve], test.names["all_points"])
    if reason:
        return Open(name, reason)
    limit, ratios = test.names["much_more"], values[0] / values[0].min()
    worst, unstable = int(np.argmax(ratios)), curve.x[curve.where(SATURATED)]
    text = f"{name}: up to {ratios[worst]:.3f} times, at L = {chosen[worst]:g} (required: below {limit})"
    text += f"; {ratios[-1]:.3f} times at L = {chosen[-1]:g}"
    beyond = chosen[ratios >= limit]
    if beyond.size:
        text += f"; {limit} times and more at {listed('limit', beyond)}"
    if unstable.size:
        text += f"; unstable at {listed('limit', unstable)}"
    return Fact(text, not beyond.size and not unstable.size)


def _grows(test: Tester, of: str, loads: list[float]) -> list[Part]:
    """Ask that the highest limit is the worse, relative to the best one, the higher the load."""
    name = "highest limit over best"
    curves = [test.curve(BLOW_UP, of, LIMITS.name, load=load) for load in loads]
    found = [testers.exact_values([curve], test.names["all_points"]) for curve in curves]
    if reason := next((reason for _, _, reason in found if reason), ""):
        return [Open(name, reason)]
    ratios = [float(values[0][-1] / values[0].min()) for _, values, _ in found]
    texts = ", ".join(f"{ratio:.3f}" for ratio in ratios)
    return [Fact(f"{name}, by load: {texts}", bool((np.diff(ratios) > 0).all()))]


TESTERS: Mapping[str, Any] = {
    "rises": _rises, "most_below_one": _most_below_one,
    "wider_spread": _wider_spread, "shortest_rotation": _shortest_rotation, "nearer_if_even": _nearer_if_even,
    "near_one": _near_one, "farthest": _farthest, "as_without_rotation": _as_without_rotation,
    "below_at_each": _below_at_each, "below_all": _below_all, "gives_way": _gives_way, "stable": _stable,
    "over_limits": _over_limits, "grows": _grows,
}  # fmt: skip
