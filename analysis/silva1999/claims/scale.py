"""Scalability: a clock signal for all PEs against a central controller (section 2.2, without results)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from analysis.claims import Claim, Open, Part
from analysis.claims.comparisons import difference_of, ratio_of
from analysis.silva1999.claims.margins import SIGNIFICANT, STEADY
from analysis.silva1999.claims.tester import Tester, combined
from analysis.silva1999.labels import (
    CENTRAL_COST,
    PE_TIME,
    PRIORITIES,
    PROCESSORS,
    STATES,
    SWITCHING,
    UTILIZATION,
    workload,
    workloads,
)
from analysis.study.sample import Sample

SCALABLE = (
    "2.2: “As decisions about context switch are made locally, without relying on a centralized "
    "controller or server, concurrent gang schedulers with global clocks provide gang service in a "
    "scalable manner.”"
)
LIMITED = (
    "2.2: “This differs from typical gang scheduling implementation where job-wide context switch relies "
    "in a centralized controller, which limits scalability and efficient utilization of processors”"
)
FIGURES = ("scale-switching", "scale-utilization")


def claims(test: Tester) -> Iterator[Claim]:
    """Yield the sentences on scalability, on a grid of machines and of costs of a controller."""
    sizes = sorted(test.study.values_of(PROCESSORS), key=float)
    costs = sorted((cost for cost in test.study.values_of(CENTRAL_COST) if float(cost)), key=float)
    names = workloads(test.study)
    first, largest = sizes[0], sizes[-1]
    yield test.claim(
        "2.2-clock-scales",
        SCALABLE,
        "With a clock signal, the share of the PEs' time that goes into switching is less than "
        f"{STEADY:.0%} larger on each larger machine than on the smallest, under every workload.",
        [
            ratio_of(
                f"switching, {_sized(size)} / {_sized(first)}, {_told('0')}, {workload(name)}",
                switching(test, name, "0", size),
                switching(test, name, "0", first),
                high=1 + STEADY,
            )
            for name in names
            for size in sizes[1:]
        ],
        figures=FIGURES,
    )
    yield test.claim(
        "2.2-clock-keeps-utilization",
        SCALABLE,
        f"With a clock signal, utilization on each larger machine is less than {STEADY:.0%} below that on "
        "the smallest, under every workload.",
        [_utilization(test, name, size, "0", first, "0", 1 - STEADY) for name in names for size in sizes[1:]],
        note="Of random times the longest of more tasks is longer: at barriers of larger jobs more is waited "
        "for, whoever switches.",
        figures=FIGURES,
    )
    yield test.claim(
        "2.2-central-grows",
        LIMITED,
        "With a central controller, the share of the PEs' time that goes into switching grows from each "
        "machine to the next larger one, at every cost and under every workload.",
        [
            _grows(test, name, cost, small, large)
            for name in names
            for cost in costs
            for small, large in pairwise(sizes)
        ],
        figures=FIGURES,
    )
    yield test.claim(
        "2.2-central-limits-utilization",
        LIMITED,
        f"On the largest machine, utilization with a clock signal is more than {SIGNIFICANT:.0%} higher "
        "than with a central controller at the highest of its costs, under every workload. The paper "
        "gives no cost.",
        [
            _utilization(test, name, largest, "0", largest, cost, 1 + SIGNIFICANT)
            for name in names
            for cost in costs[-1:]
        ],
        figures=FIGURES,
    )


def switching(test: Tester, name: str, cost: str, size: str) -> Sample:
    """Return the share of the PEs' time that goes into switching under Concurrent Gang."""
    at = {PROCESSORS: size, CENTRAL_COST: cost}
    found = [test.sample(PE_TIME, PRIORITIES, name, **at, pe_state=state) for state in STATES]
    total = found[0]
    for one in found[1:]:
        total = combined(total, one, np.add)
    return combined(found[STATES.index(SWITCHING)], total, np.divide)


def _grows(test: Tester, name: str, cost: str, small: str, large: str) -> Part:
    label = f"switching, {_sized(large)} minus {_sized(small)}, {_told(cost)}, {workload(name)}"
    a, b = (switching(test, name, cost, size) for size in (large, small))
    if reason := a.reason or b.reason:
        return Open(label, reason)
    return difference_of(label, a.values, b.values, 0.0, scale=100.0, unit=" %")


def _utilization(
    test: Tester, name: str, size: str, cost: str, other_size: str, other_cost: str, low: float
) -> Part:
    label = (
        f"utilization, {_sized(size)} with {_told(cost)} / {_sized(other_size)} with {_told(other_cost)}, "
        f"{workload(name)}"
    )
    a, b = (
        test.sample(UTILIZATION, PRIORITIES, name, **{PROCESSORS: n, CENTRAL_COST: c})
        for n, c in ((size, cost), (other_size, other_cost))
    )
    return ratio_of(label, a, b, low)


def _sized(size: str) -> str:
    return f"{float(size):,.0f} PEs"


def _told(cost: str) -> str:
    return f"{float(cost):g} s a PE" if float(cost) else "a clock"
