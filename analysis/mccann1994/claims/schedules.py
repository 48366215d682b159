"""Testers of schedules of random lists of requirements: theorems as facts, and averages (chapter 6)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from analysis.claims import Fact, Open, Part
from analysis.claims.comparisons import AxisRange, difference, listed, ratio
from analysis.claims.tester import Tester
from analysis.mccann1994.labels import JOBS, REALLOCATIONS
from analysis.study.curve import Curve
from sweep.policy_names import label

MACHINE = "64"
"""Processors of the averages, a power of two; the theorems are tested on all."""


def _curve(test: Tester, metric: str, policy: str, workload: str, processors: str) -> Curve:
    return test.curve(metric, policy, JOBS.name, workload=workload, processors=processors)


def _sizes(test: Tester, powers: bool) -> list[str]:
    """Return the numbers of processors that are powers of two, or the others."""
    every = test.study.values_of("processors")
    return [text for text in every if (int(text) & (int(text) - 1) == 0) == powers]


def _as_good(test: Tester, metric: str, of: str, optimum: str, at: AxisRange) -> list[Part]:
    """Ask that a policy is as good as the optimum on every list, on machines of a power of two."""
    return [
        _same(
            f"{label(of)}, P = {processors}, {_named(workload)}",
            _curve(test, metric, of, workload, processors),
            _curve(test, metric, optimum, workload, processors),
            at,
        )
        for processors in _sizes(test, powers=True)
        for workload in test.study.values_of("workload")
    ]


def _same(name: str, a: Curve, b: Curve, points: AxisRange) -> Part:
    """Ask that two metrics agree in every batch of lists: the optimum bounds each list, so means suffice."""
    chosen, reason = points.choose([a, b])
    if reason:
        return Open(name, reason)
    inside = np.isin(a.x, chosen)
    mine, best = a.values[inside], b.values[inside]
    equal = np.isclose(mine, best, rtol=1e-12, atol=1e-12) | (np.isnan(mine) & np.isnan(best))
    n = int((~np.isnan(mine)).sum())
    text = f"{name}: as good as the optimum in {int(equal.sum())} of {n} batches of lists"
    return Fact(f"{text} at {listed('jobs', chosen)}", bool(equal.all()))


def _more(
    test: Tester, metric: str, of: str, than: str, at: AxisRange, processors: str = MACHINE
) -> list[Part]:
    """Ask that one policy has more of something than another on average, for each distribution."""
    sizes = [processors] if processors.isdecimal() else _sizes(test, powers=False)
    return [
        difference(
            f"{label(of)} − {label(than)}, P = {size}, {_named(workload)}",
            _curve(test, metric, of, workload, size),
            _curve(test, metric, than, workload, size),
            at,
            low=0.0,
        )
        for size in sizes
        for workload in test.study.values_of("workload")
    ]


def _fewer(test: Tester, metric: str, of: str, than: str, at: AxisRange) -> list[Part]:
    """Ask that one policy has a smaller number than another, by their ratio, for each distribution."""
    return [
        ratio(
            f"{label(of)} / {label(than)}, {_named(workload)}",
            _curve(test, metric, of, workload, MACHINE),
            _curve(test, metric, than, workload, MACHINE),
            at,
            high=1.0,
        )
        for workload in test.study.values_of("workload")
    ]


def _with_several_groups(test: Tester, of: str, than: str, at: AxisRange) -> str:
    """Return how many reallocations the two orders of groups take."""
    parts = _fewer(test, REALLOCATIONS, of, than, at)
    costs = [part.describe(test.study.confidence).partition(", ")[2] for part in parts]
    return (
        "With several groups no job runs for all of T: each group lasts for a part of it. Reallocations, "
        f"smallest over largest groups first: {'; '.join(costs)}"
    )


def _named(workload: str) -> str:
    return workload.removeprefix("minimum_").replace("_", " ")


TESTERS: Mapping[str, Any] = {
    "as_good": _as_good,
    "more": _more,
    "fewer": _fewer,
    "with_several_groups": _with_several_groups,
}
