"""How the sentences of the paper are tested (``claims.yaml``): schedulers by workload and horizon."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, reduce
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

from analysis.claims import Claim, Fact, Open, Part, shown
from analysis.claims.comparisons import difference_of, level_of, ratio_of
from analysis.claims.rows import Rows
from analysis.claims.tester import Tester as Base
from analysis.claims.testers import listed
from analysis.silva1999.engine import scene, watching
from analysis.silva1999.labels import (
    BUSY,
    CENTRAL_COST,
    CHANGES,
    GANG,
    HORIZON,
    JOBS,
    KEY,
    LARGE,
    LOCAL_SHARE,
    MACHINE,
    MEASURES,
    MORE_IS_BETTER,
    NOTIFIED,
    OF_THE_PAPER,
    PE_TIME,
    PRIORITIES,
    PROCESSORS,
    SMALL,
    STATES,
    SWITCHING,
    TASK_WAIT,
    UTILIZATION,
    at_time,
    last,
    policy,
    times,
    workload,
    workloads,
)  # fmt: skip
from analysis.study import Study
from analysis.study.curve import EXCLUDED
from analysis.study.sample import Sample
from sweep import statistics
from sweep.statistics import Interval

ROWS = Rows(Path(__file__).parent)

UNTIL = 5000.0
"""Seconds of the run with changes of phase; some hundred tasks change from I/O to computation in them."""


class Tester(Base):
    """Compares schedulers on the same jobs."""

    def __init__(self, study: Study) -> None:
        super().__init__(study, KEY)
        self.times = times(study)
        self.last = last(study)

    def at(self, metric: str, policy: str, **point: object) -> Sample:
        """Return a sample; of several loads, at the first of the grid that has the point."""
        key = (metric, policy, *sorted(point.items()))
        if key not in self._samples:
            self._samples[key] = _first(self.study, metric, policy, point)
        return self._samples[key]

    def sample(self, metric: str, policy: str, workload: str, time: str = "", **point: object) -> Sample:
        """Return a metric of a scheduler under a workload at a horizon, the longest by default."""
        chosen = time or self.last
        at_horizon = {"horizon": chosen} if chosen else {}
        return self.at(metric, policy, workload=workload, **at_horizon, **point)


def _first(study: Study, metric: str, policy: str, point: Mapping[str, object]) -> Sample:
    curve = study.curve(metric, policy, along="load", **dict(point))
    for load in study.data["load"].values.astype(float).tolist():
        for place, x in enumerate(curve.x):
            if curve.status[place] != EXCLUDED and (x == load or math.isnan(load)):
                return Sample(curve.values[place], curve.status[place], curve.exact)
    return Sample.absent()


def combined(one: Sample, other: Sample, how: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Sample:
    """Return what is computed from two metrics of one run, replication by replication."""
    if one.reason or other.reason:
        bad = one if one.reason else other
        return Sample(np.full((1, 1), np.nan), bad.status)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Sample(how(one.values, other.values), one.status)


def _sum(samples: list[Sample]) -> Sample:
    return reduce(lambda one, other: combined(one, other, np.add), samples)


def switching(test: Tester, name: str, cost: str, size: str) -> Sample:
    """Return the share of the PEs' time spent on switching under Concurrent Gang."""
    at = {PROCESSORS: size, CENTRAL_COST: cost}
    found = [test.sample(PE_TIME, PRIORITIES, name, **at, pe_state=state) for state in STATES]
    return combined(found[STATES.index(SWITCHING)], _sum(found), np.divide)


def _gains(
    test: Tester, metrics: Any, of: Any, over: Any, workload: str = "", last: bool = False,
    least: float = 0.0, most: float = math.inf,
) -> list[Part]:  # fmt: skip
    """Ask by how much, as a share, schedulers are better than others, at every horizon or at the longest."""
    names = [workload] if workload else workloads(test.study)
    both = product(names, listed(of), listed(over), listed(metrics), [test.last] if last else test.times)
    return [_gain(test, metric, a, b, name, time, least, most) for name, a, b, metric, time in both]


def _gain(test: Tester, metric: str, a: str, b: str, name: str, time: str, least: float, most: float) -> Part:
    label = f"{policy(a)} / {policy(b)}, {MEASURES.get(metric, metric)}, {workload(name)}{at_time(time)}"
    low, high = 1 + least, 1 + most
    if metric not in MORE_IS_BETTER:
        low, high = (-math.inf if math.isinf(most) else 1 / high), 1 / low
    mine, other = (test.sample(metric, one, name, time) for one in (a, b))
    return ratio_of(label, mine, other, low, high)


def _filled_locally(test: Tester, of: str, workload: str) -> list[Part]:
    """Ask that some busy time is that of tasks outside their own slot."""
    return [
        level_of(
            f"{policy(of)}, busy time filled locally{at_time(time)}",
            test.sample(LOCAL_SHARE, of, workload, time),
            0.0,
            scale=100.0,
            unit=" %",
        )
        for time in test.times
    ]


def _pe_time(test: Tester, of: str, over: str, workload: str, state: str, what: str) -> list[Part]:
    """Ask that PEs are in a state for less time under one scheduler than under another."""
    return [
        ratio_of(
            f"{policy(of)} / {policy(over)}, {what}{at_time(time)}",
            test.sample(PE_TIME, of, workload, time, pe_state=state),
            test.sample(PE_TIME, over, workload, time, pe_state=state),
            high=1.0,
        )
        for time in test.times
    ]


def _waits(test: Tester, of: str, over: str, workload: str, cause: str) -> list[Part]:
    """Compare waits for each second of computation: tasks that compute more send and wait more often."""

    def waited(scheduler: str, time: str) -> Sample:
        wait = test.sample(TASK_WAIT, scheduler, workload, time, cause=cause)
        busy = test.sample(PE_TIME, scheduler, workload, time, pe_state=BUSY)
        return combined(wait, busy, np.divide)

    return [
        ratio_of(
            f"{policy(of)} / {policy(over)}, waiting for each second of computation{at_time(time)}",
            waited(of, time),
            waited(over, time),
            high=1.0,
        )
        for time in test.times
    ]


@dataclass(frozen=True)
class SameOrder:
    """Whether two schedulers compare alike on two machines: the same one is ahead, or neither by much.

    Parameters
    ----------
    pairs : pair of pairs of Sample
        The two schedulers on one machine, and on the other.
    same : float
        Relative difference below which neither counts as ahead.
    """

    label: str
    pairs: tuple[tuple[Sample, ...], ...]
    same: float

    def holds(self, confidence: float) -> bool:
        """Whether both intervals lie on one side of 1, or both within the margin."""
        sides = self._sides(confidence)
        return (0 not in sides and sides[0] == sides[1]) or all(map(self._equal, self._found(confidence)))

    def fails(self, confidence: float) -> bool:
        """Whether they lie on two sides of 1, one of them beyond the margin."""
        sides, found = self._sides(confidence), self._found(confidence)
        beyond = any(abs(one.mean - 1) - one.half_width > self.same for one in found)
        return 0 not in sides and sides[0] != sides[1] and beyond

    def describe(self, confidence: float) -> str:
        """Return both ratios in words."""
        small, large = (shown(one) for one in self._found(confidence))
        return f"{self.label}: {small} on 16 PEs, {large} on 32 (asked: the same side of 1, or both near it)"

    def _found(self, confidence: float) -> list[Interval]:
        return [statistics.paired_ratio(a.values, b.values, confidence) for a, b in self.pairs]

    def _sides(self, confidence: float) -> list[int]:
        return [
            (one.mean - one.half_width > 1) - (one.mean + one.half_width < 1)
            for one in self._found(confidence)
        ]

    def _equal(self, one: Interval) -> bool:
        return abs(one.mean - 1) + one.half_width < self.same


def _same_order(test: Tester, metrics: list[str], machines: list[str], same: float) -> list[Part]:
    """Ask that each two of the paper's schedulers compare alike on two machines, at the longest horizon."""
    parts: list[Part] = []
    for name, metric, (b, a) in product(workloads(test.study), metrics, combinations(OF_THE_PAPER, 2)):
        label = f"{policy(a)} / {policy(b)}, {MEASURES[metric]}, {workload(name)}"
        pairs = tuple(
            tuple(test.sample(metric, one, name, **{MACHINE: machine}) for one in (a, b))
            for machine in machines
        )
        reason = next((one.reason for pair in pairs for one in pair if one.reason), "")
        parts.append(Open(label, reason) if reason else SameOrder(label, pairs, same))
    return parts


def _gains_most(test: Tester, metrics: list[str], of: str, over: str, workload: str) -> list[Part]:
    """Ask that the gain under one workload is larger than under each other, whose jobs are others."""
    others = [name for name in workloads(test.study) if name != workload]
    return [_gain_over(test, metric, of, over, workload, name) for metric in metrics for name in others]


def _gain_over(test: Tester, metric: str, of: str, over: str, best: str, name: str) -> Part:
    """Compare gains as shares of what the other scheduler has: jobs beyond its own, its idle time saved.

    The other way round, a run with hardly any idle time left would be all of the mean.
    """
    label = f"{MEASURES[metric]}, gain under {workload(best)} minus that under {workload(name)}"
    found = []
    for one in (best, name):
        mine, other = (test.sample(metric, scheduler, one) for scheduler in (of, over))
        found.append(combined(mine, other, np.divide))
        if reason := found[-1].reason:
            return Open(label, reason)
    first, rest = (one.values if metric == JOBS else 1 - one.values for one in found)
    return difference_of(label, first, rest, 0.0, scale=100.0, unit=" points")


def _notified(test: Tester, of: str) -> list[Part]:
    """Ask that a change of the trace diagram is sent to fewer PEs than there are."""
    parts = []
    for name in workloads(test.study):
        sent, changes = (test.sample(metric, of, name) for metric in (NOTIFIED, CHANGES))
        # All that the PEs do adds up to their number times the horizon, so that this needs no other source.
        states = test.study.values_of("pe_state")
        busy = _sum([test.sample(PE_TIME, of, name, pe_state=state) for state in states])
        n_pes = combined(busy, test.sample("period", of, name), np.divide)
        label = f"PEs notified of a change / all PEs, {workload(name)}{at_time(test.last)}"
        parts.append(ratio_of(label, sent, combined(changes, n_pes, np.multiply), high=1.0))
    return parts


def _phase_changes(test: Tester, measures: int) -> tuple[Part, ...]:
    return phase_changes(measures)


@cache
def phase_changes(measures: int, until: float = UNTIL) -> tuple[Part, ...]:
    """Return what is so of every task that changed its phase and was measured often enough afterwards.

    From a run of the engine (section 2.1), which depends on no assumption of a grid.
    """
    settings = {**scene.SOURCE, "policy": PRIORITIES, "workload": "changing_phases"}
    found = watching.gradings(scene.point(settings), until)
    often = [one for one in found if len(one.after) >= measures and len(one.before)]
    if not often:
        return (Open("changes of phase", f"no task was measured often enough in {until:g} s"),)
    last = [one.after[measures - 1] for one in often]
    io = np.array([one.io[place] for one, place in zip(often, last, strict=True)])
    computation = np.array([one.computation[place] for one, place in zip(often, last, strict=True)])
    followed = int(((io == 0) & (computation == 1)).sum())
    had = int(sum(one.io[one.before[-1]] > 0 for one in often))
    n = len(often)
    return (
        Fact(f"tasks that were graded as doing I/O before: {had} of {n}", had > n / 2),
        Fact(f"tasks that are graded as computing only afterwards: {followed} of {n}", followed == n),
    )


def _sizes(test: Tester) -> list[str]:
    return sorted(test.study.values_of(PROCESSORS), key=float)


def _costs(test: Tester) -> list[str]:
    """Return the costs of a central controller, ascending."""
    return sorted((cost for cost in test.study.values_of(CENTRAL_COST) if float(cost)), key=float)


def _larger_switching(test: Tester, high: float) -> list[Part]:
    """Ask that switching takes hardly more of the time on larger machines, with a clock signal."""
    first, *larger = _sizes(test)
    return [
        ratio_of(
            f"switching, {_sized(size)} / {_sized(first)}, {_controlled('0')}, {workload(name)}",
            switching(test, name, "0", size),
            switching(test, name, "0", first),
            high=high,
        )
        for name in workloads(test.study)
        for size in larger
    ]


def _larger_utilization(test: Tester, low: float) -> list[Part]:
    """Ask that utilization is hardly lower on larger machines, with a clock signal."""
    first, *larger = _sizes(test)
    names = workloads(test.study)
    return [_utilization(test, name, (size, "0"), (first, "0"), low) for name in names for size in larger]


def _central_grows(test: Tester) -> list[Part]:
    """Ask that switching by a central controller grows with the machine, at every cost."""
    parts: list[Part] = []
    for name, cost, (small, large) in product(workloads(test.study), _costs(test), pairwise(_sizes(test))):
        label = f"switching, {_sized(large)} minus {_sized(small)}, {_controlled(cost)}, {workload(name)}"
        a, b = (switching(test, name, cost, size) for size in (large, small))
        reason = a.reason or b.reason
        grows = None if reason else difference_of(label, a.values, b.values, 0.0, scale=100.0, unit=" %")
        parts.append(grows or Open(label, reason))
    return parts


def _clock_over_central(test: Tester, low: float) -> list[Part]:
    """Ask that utilization on the largest machine is higher with a clock than with the slowest controller."""
    largest = _sizes(test)[-1]
    return [
        _utilization(test, name, (largest, "0"), (largest, cost), low)
        for name in workloads(test.study)
        for cost in _costs(test)[-1:]
    ]


def _utilization(test: Tester, name: str, a: tuple[str, str], b: tuple[str, str], low: float) -> Part:
    """Compare utilization at two pairs of a size and a cost."""
    first, second = (f"{_sized(size)} with {_controlled(cost)}" for size, cost in (a, b))
    mine, other = (
        test.sample(UTILIZATION, PRIORITIES, name, **{PROCESSORS: size, CENTRAL_COST: cost})
        for size, cost in (a, b)
    )
    return ratio_of(f"utilization, {first} / {second}, {workload(name)}", mine, other, low)


def _sized(size: str) -> str:
    return f"{float(size):,.0f} PEs"


def _controlled(cost: str) -> str:
    return f"{float(cost):g} s a PE" if float(cost) else "a clock"


TESTERS: Mapping[str, Callable[..., Any]] = {
    "gains": _gains, "filled_locally": _filled_locally, "pe_time": _pe_time, "waits": _waits,
    "same_order": _same_order, "gains_most": _gains_most, "notified": _notified,
    "phase_changes": _phase_changes, "larger_switching": _larger_switching,
    "larger_utilization": _larger_utilization, "central_grows": _central_grows,
    "clock_over_central": _clock_over_central,
}  # fmt: skip


@cache
def claims(study: Study) -> tuple[Claim, ...]:
    """Return every claim that the study's axes can decide, tested under one reading."""
    if study.varies(PROCESSORS) and study.values_of(CENTRAL_COST):
        sections = ["scale"]
    elif {GANG, PRIORITIES} <= set(study.policies):
        sections = ["intensive", "coordinated"]
        sections += ["machines"] if {SMALL, LARGE} <= set(study.values_of(MACHINE)) else []
        sections += ["summary"]
        # What the engine does with a change of phase does not depend on a grid's assumptions.
        sections += ["phases"] if study.values_of(HORIZON) else []
    else:
        return ()
    return ROWS.claims(Tester(study), TESTERS, *sections)
