"""Testers of curves that the rows of several papers use: from policies and points to the parts of a claim.

A *curve* argument is a metric's name, or a mapping with ``metric``, ``along`` (the axis) and the point at
which the curve is taken. *of* and *over* are policies, *at* one or several ranges of the axis.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from analysis.claims import Part
from analysis.claims.comparisons import AxisRange, difference, ratio
from analysis.claims.exact import average, everywhere, monotone
from analysis.claims.tester import Tester
from analysis.study.curve import Curve

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
