"""Medium-term schedules of random lists of requirements: theorems as facts, and averages (chapter 6)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.claims import Claim, Fact, Open, Part
from analysis.claims.comparisons import AxisRange, difference, listed, ratio
from analysis.claims.tester import Tester
from analysis.figures.policies import label
from analysis.mccann1994.claims import examples
from analysis.mccann1994.claims.margins import ALL, POWERS
from analysis.mccann1994.labels import EPOCHS, JOBS, REALLOCATIONS, UNINTERRUPTED_IN_GROUP, on_random_lists
from analysis.study.curve import Curve

POWER_JOBS = AxisRange("J that are powers of two", only=POWERS)
GROUPED = AxisRange("J that are no power of two", only=(5.0, 11.0))
ORDERS = ("buddy_schedule", "buddy_schedule_reversed")
"""Smallest and largest groups first."""

MACHINE = "64"
"""Processors of the averages, a power of two; the theorems are tested on all."""


def claims(test: Tester) -> Iterator[Claim]:
    """Yield the sentences of chapter 6: on its own lists, or on random ones of so many jobs."""
    if on_random_lists(test.study):
        yield from _theorems(test)
        yield from _averages(test)
    else:
        yield from examples.claims(test)


def _curve(test: Tester, metric: str, policy: str, workload: str, processors: str) -> Curve:
    return test.curve(metric, policy, JOBS.name, workload=workload, processors=processors)


def _powers(test: Tester) -> list[str]:
    """Return the numbers of processors that are powers of two."""
    return [text for text in test.study.values_of("processors") if (n := int(text)) & (n - 1) == 0]


def _theorems(test: Tester) -> Iterator[Claim]:
    workloads = test.study.values_of("workload")
    cases = [(workload, processors) for processors in _powers(test) for workload in workloads]
    yield test.claim(
        "6.4.2-buddy-optimal",
        "6.4.2, Theorem 6.4: “The BUDDY algorithm produces an optimal schedule when P, J, and allocations "
        "A_i are powers of two (for all i).”",
        "On every list, with up to 16 jobs, BUDDY has as many reallocations as the best of all schedules "
        "with allocations of powers of two, found by exhaustive search.",
        [
            _same(f"BUDDY, P = {processors}, {_named(workload)}",
                  _curve(test, REALLOCATIONS, "buddy_schedule", workload, processors),
                  _curve(test, REALLOCATIONS, "optimal_buddy", workload, processors),
                  AxisRange("up to 16 jobs", high=16, only=POWERS))
            for workload, processors in cases
        ],
    )  # fmt: skip
    yield test.claim(
        "6.5.2-equi-epoch-optimal",
        "6.5.2, Theorem 6.5: “EQUI-EPOCH is an optimal epoch scheduling policy for P = 2^p, for some "
        "integer p ≥ 0.”",
        "On every list EQUI-EPOCH has as few epochs as possible, on every machine of a power of two.",
        [
            _same(f"EQUI-EPOCH, P = {processors}, {_named(workload)}",
                  _curve(test, EPOCHS, "equi_epoch", workload, processors),
                  _curve(test, EPOCHS, "optimal_epoch", workload, processors), ALL)
            for workload, processors in cases
        ],
    )  # fmt: skip


def _averages(test: Tester) -> Iterator[Claim]:
    workloads = test.study.values_of("workload")
    others = [text for text in test.study.values_of("processors") if text not in _powers(test)]

    def compare(metric: str, a: str, b: str, workload: str, processors: str, points: AxisRange) -> Part:
        """Ask that a has more of something than b."""
        name = f"{label(a)} − {label(b)}, P = {processors}, {_named(workload)}"
        more, less = (_curve(test, metric, policy, workload, processors) for policy in (a, b))
        return difference(name, more, less, points, low=0.0)

    yield test.claim(
        "6.5.2-not-optimal-elsewhere",
        "6.5.2: “If P is not restricted to a power of two, the EQUI_EPOCH scheduling policy is not optimal.”",
        "On some machine that is no power of two, and for some distribution, EQUI-EPOCH has more epochs than "
        "necessary, on average.",
        [
            compare(EPOCHS, "equi_epoch", "optimal_epoch", workload, processors, ALL)
            for processors in others
            for workload in workloads
        ],
        needed=1,
    )
    yield test.claim(
        "6.5.2-greedy-not-optimal",
        "6.5.2: “there is a greedy algorithm similar to EQUI_EPOCH, but starting with the jobs with the "
        "largest minimum processors requirement … However, such a policy is not optimal.”",
        f"On {MACHINE} processors and for some distribution, it has more epochs than EQUI-EPOCH, on average.",
        [compare(EPOCHS, "greedy_largest", "equi_epoch", workload, MACHINE, ALL) for workload in workloads],
        needed=1,
    )
    yield test.claim(
        "6.6-buddy-fewer-reallocations",
        "6.6: “the non-epoch scheduling policy BUDDY can produce schedules with fewer reallocations, when "
        "it is applicable (i.e., when J as well as P is a power of two).”",
        f"On {MACHINE} processors and with numbers of jobs that are powers of two, BUDDY has fewer "
        "reallocations than EQUI-EPOCH, on average, for each distribution.",
        [
            ratio(f"BUDDY / EQUI-EPOCH, {_named(workload)}",
                  _curve(test, REALLOCATIONS, "buddy_schedule", workload, MACHINE),
                  _curve(test, REALLOCATIONS, "equi_epoch", workload, MACHINE), POWER_JOBS, high=1.0)
            for workload in workloads
        ],
    )  # fmt: skip
    costs = []
    for workload in workloads:
        first, last = (_curve(test, REALLOCATIONS, policy, workload, MACHINE) for policy in ORDERS)
        costs.append(ratio(_named(workload), first, last, GROUPED, high=1.0).describe(test.study.confidence))
    yield test.claim(
        "6.4.2-smallest-groups-first",
        "6.4.2: “One reasonable division would fill the smallest groups first, allocating the jobs with the "
        "largest memory requirements first. This strategy would provide the greatest opportunity for jobs "
        "with small processor requirements to run uninterrupted”",
        f"On {MACHINE} processors, more jobs run for the whole time of their group if the smallest groups "
        "are filled first than if the largest are, on average, for each distribution.",
        [compare(UNINTERRUPTED_IN_GROUP, *ORDERS, workload, MACHINE, GROUPED) for workload in workloads],
        note="With several groups no job runs for all of T: each group lasts for a part of it. "
        "Reallocations, smallest over largest groups first: " + "; ".join(costs),
    )


def _same(name: str, a: Curve, b: Curve, points: AxisRange) -> Part:
    """Ask that two metrics agree in every batch of lists: the optimum bounds each list, so the means tell."""
    chosen, reason = points.choose([a, b])
    if reason:
        return Open(name, reason)
    inside = np.isin(a.x, chosen)
    mine, best = a.values[inside], b.values[inside]
    equal = np.isclose(mine, best, rtol=1e-12, atol=1e-12) | (np.isnan(mine) & np.isnan(best))
    n = int((~np.isnan(mine)).sum())
    text = f"{name}: as good as the optimum in {int(equal.sum())} of {n} batches of lists"
    return Fact(f"{text} at {listed('jobs', chosen)}", bool(equal.all()))


def _named(workload: str) -> str:
    return workload.removeprefix("minimum_").replace("_", " ")
