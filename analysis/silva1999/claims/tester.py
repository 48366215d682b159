"""Short ways from a study to comparisons of schedulers, workload by workload and horizon by horizon."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.claims import Open, Part, shown, tester
from analysis.claims.comparisons import ratio_of
from analysis.silva1999.labels import (
    IDLE,
    IDLE_OF_TASKS,
    JOBS,
    KEY,
    MACHINE,
    MEASURES,
    MORE_IS_BETTER,
    at_time,
    last,
    policy,
    times,
    workload,
)
from analysis.study import Study
from analysis.study.curve import EXCLUDED
from analysis.study.sample import Sample
from sweep import statistics
from sweep.statistics import Interval

ANY_GAIN = "If any gain counts"
OF_TASKS = "With the time that tasks wait, whether or not their PE does something else (section 3.1)"


class Tester(tester.Tester):
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

    def gain(
        self, metric: str, a: str, b: str, name: str, time: str,
        least: float = 0.0, most: float = math.inf, **point: object,
    ) -> Part:  # fmt: skip
        """Ask by how much, as a share, one scheduler is better than another under a workload."""
        label = f"{policy(a)} / {policy(b)}, {MEASURES.get(metric, metric)}, {workload(name)}{at_time(time)}"
        pair = [self.sample(metric, one, name, time, **point) for one in (a, b)]
        low, high = 1 + least, 1 + most
        if metric not in MORE_IS_BETTER:
            low, high = (0.0 if math.isinf(most) else 1 / high), 1 / low
            low = -math.inf if low == 0.0 else low
        return ratio_of(label, pair[0], pair[1], low, high)

    def gains(
        self, metrics: Sequence[str], a: str, b: str, name: str, least: float = 0.0, most: float = math.inf
    ) -> list[Part]:
        """Ask the same by each of some metrics at every horizon."""
        return [self.gain(metric, a, b, name, time, least, most) for metric in metrics for time in self.times]

    def better(self, a: str, b: str, name: str) -> list[Part]:
        """Ask that one scheduler completes more jobs than another and idles less, at every horizon."""
        return self.gains((JOBS, IDLE), a, b, name)

    def other_readings(
        self, metric: str, a: str, b: str, name: str, least: float
    ) -> Mapping[str, list[Part]]:
        """Return what is told beside a significant gain: without the margin, and of the tasks' idle time."""
        found = {ANY_GAIN: self.gains((metric,), a, b, name)}
        if metric == IDLE:
            found[OF_TASKS] = self.gains((IDLE_OF_TASKS,), a, b, name, least)
        return found


def _first(study: Study, metric: str, policy: str, point: Mapping[str, object]) -> Sample:
    curve = study.curve(metric, policy, along="load", **dict(point))
    there = [state != EXCLUDED for state in curve.status]
    loads = study.data["load"].values.astype(float).tolist()
    for load in loads:
        for place in range(len(curve.x)):
            if there[place] and (curve.x[place] == load or math.isnan(load)):
                return Sample(curve.values[place], curve.status[place], curve.exact)
    return Sample.absent()


def combined(one: Sample, other: Sample, how: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Sample:
    """Return what is computed from two metrics of one run, replication by replication."""
    if one.reason or other.reason:
        bad = one if one.reason else other
        return Sample(np.full((1, 1), np.nan), bad.status)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Sample(how(one.values, other.values), one.status)


@dataclass(frozen=True)
class SameOrder:
    """Whether two schedulers compare alike on two machines: the same one is ahead, or neither by much.

    Parameters
    ----------
    label : str
    pairs : pair of pairs of Sample
        The two schedulers on one machine, and on the other.
    same : float
        Relative difference below which neither counts as ahead.
    """

    label: str
    pairs: tuple[tuple[Sample, Sample], tuple[Sample, Sample]]
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
        """Say both ratios."""
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


def same_order(
    test: Tester, metric: str, a: str, b: str, name: str, machines: Sequence[str], same: float
) -> Part:
    """Ask that two schedulers compare alike on two machines at the longest horizon."""
    label = f"{policy(a)} / {policy(b)}, {MEASURES[metric]}, {workload(name)}"
    found = [[test.sample(metric, one, name, **{MACHINE: machine}) for one in (a, b)] for machine in machines]
    for one in (one for pair in found for one in pair):
        if one.reason:
            return Open(label, one.reason)
    (a_small, b_small), (a_large, b_large) = found
    return SameOrder(label, ((a_small, b_small), (a_large, b_large)), same)
