"""How the sentences of the paper are tested (``claims.yaml``): schedulers by workload and horizon."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

from analysis.claims import Claim, Open, Part, shown
from analysis.claims.comparisons import difference_of, level_of, ratio_of
from analysis.claims.rows import Rows
from analysis.claims.tester import Tester as Base
from analysis.claims.testers import listed
from analysis.silva1999 import labels
from analysis.silva1999.labels import at_time, last, times, workloads
from analysis.silva1999.labels import workload as title
from analysis.study import Study
from analysis.study.curve import EXCLUDED, Sample
from sweep.policy_names import label as policy_label
from sweep.statistics import Interval

ROWS = Rows(Path(__file__).parent)


class Tester(Base):
    """Compares schedulers on the same jobs."""

    def __init__(self, study: Study) -> None:
        super().__init__(study, labels.KEY)
        self.times = times(study)
        self.last = last(study)

    def at(self, metric: str, policy: str, **point: object) -> Sample:
        """Return a sample; of several loads, at the first of the grid that has the point."""
        curve = self.study.curve(metric, policy, along="load", **point)
        for load in self.study.data["load"].values.astype(float).tolist():
            for place, x in enumerate(curve.x):
                if curve.status[place] != EXCLUDED and (x == load or math.isnan(load)):
                    return curve.sample(place)
        return Sample.absent()

    def sample(self, metric: str, policy: str, workload: str, time: str = "", **point: object) -> Sample:
        """Return a metric of a scheduler under a workload at a horizon, the longest by default."""
        chosen = time or self.last
        at_horizon = {"horizon": chosen} if chosen else {}
        return self.at(metric, policy, workload=workload, **at_horizon, **point)


def switching(test: Tester, name: str, cost: str, size: str) -> Sample:
    """Return the share of the PEs' time spent on switching under Concurrent Gang."""
    at = {labels.PROCESSORS: size, labels.CENTRAL_COST: cost}
    found = [
        test.sample(labels.PE_TIME, labels.PRIORITIES, name, **at, pe_state=state) for state in labels.STATES
    ]
    whole = Sample.computed(lambda *parts: np.sum(parts, axis=0), *found)
    return Sample.computed(np.divide, found[labels.STATES.index(labels.SWITCHING)], whole)


def measured(test: Tester, measure: str, scheduler: str, name: str, time: str, **point: Any) -> Sample:
    """Return a metric, or a value computed from two: see `MEASURES` for their names in text.

    Tasks that compute more send and wait more often, hence waiting for each second of computation; and a
    class that computes more computes more outside of its slots, hence shares.
    """
    if measure == "waiting":
        busy = test.sample(labels.PE_TIME, scheduler, name, time, pe_state=labels.BUSY)
        return Sample.computed(np.divide, test.sample(labels.TASK_WAIT, scheduler, name, time, **point), busy)
    if measure == "local":
        filled, busy = (
            test.sample(one, scheduler, name, time, **point)
            for one in (labels.LOCAL_OF_CLASS, labels.BUSY_OF_CLASS)
        )
        return Sample.computed(np.divide, filled, busy)
    if measure == "empty":
        return test.sample(labels.PE_TIME, scheduler, name, time, **{labels.PE_STATE: "empty"}, **point)
    metric = labels.RESPONSE_OF_CLASS if measure == "response" else measure
    return test.sample(metric, scheduler, name, time, **point)


def _compared(
    test: Tester, measures: Any, of: Any, over: Any = None, workload: Any = "", last: bool = False,
    at: Mapping[str, Any] | None = None, least: float = 0.0, most: float = math.inf, **limits: float,
) -> list[Part]:  # fmt: skip
    """Ask that schedulers are better than others, by limits on the gain, at every horizon or at the longest.

    `of` and `over` are schedulers, or mappings of a scheduler and a point (``{policy: gang, of_class: io}``);
    `at` is a point that both share.
    """
    names = listed(workload) if workload else workloads(test.study)
    both = product(names, listed(of), listed(over), listed(measures), [test.last] if last else test.times)
    better = {"low": 1 + least, "high": 1 + most}, {"low": 1 / (1 + most), "high": 1 / (1 + least)}
    return [
        _ratio(
            test, measure, a, b, name, time, at or {}, limits or better[measure not in labels.MORE_IS_BETTER]
        )
        for name, a, b, measure, time in both
    ]


def _ratio(
    test: Tester, measure: str, a: Any, b: Any, name: str, time: str, at: Mapping[str, Any],
    limits: Mapping[str, float],
) -> Part:  # fmt: skip
    (one, here), (other, there), both = _point(a), _point(b), _where(at)
    of = f" of {both[labels.CLASS]} jobs" if labels.CLASS in both else ""
    label = f"{_named(one, here)} / {_named(other, there)}, {labels.MEASURES.get(measure, measure)}{of}"
    label += f", {title(name)}{at_time(time)}"
    mine, yours = (
        measured(test, measure, scheduler, name, time, **both, **point)
        for scheduler, point in ((one, here), (other, there))
    )
    return ratio_of(label, mine, yours, **limits)


def _point(of: Any) -> tuple[str, dict[str, Any]]:
    point = dict(of) if isinstance(of, Mapping) else {"policy": of}
    return point.pop("policy"), _where(point)


def _where(point: Mapping[str, Any]) -> dict[str, str]:
    return {labels.CLASS if key == "of_class" else key: str(value) for key, value in point.items()}


def _named(scheduler: str, point: Mapping[str, str]) -> str:
    where = ", ".join(
        x if key == labels.CLASS else f"{key.replace('_', ' ')} {x}" for key, x in point.items()
    )
    return f"{policy_label(scheduler)} ({where})" if where else policy_label(scheduler)


def _filled_locally(test: Tester, of: str, workload: str) -> list[Part]:
    """Ask that some busy time is spent on tasks outside their own slot."""
    return [
        level_of(
            f"{policy_label(of)}, busy time filled locally{at_time(time)}",
            test.sample(labels.LOCAL_SHARE, of, workload, time),
            0.0,
            scale=100.0,
            unit=" %",
        )
        for time in test.times
    ]


@dataclass(frozen=True)
class SameOrder(Part):
    """Whether two schedulers compare alike on two machines: the same one is ahead, or neither by a margin.

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
        sides, found = self._sides(confidence), self._found(confidence)
        alike = all(1 - self.same < one.low and one.high < 1 + self.same for one in found)
        return (0 not in sides and sides[0] == sides[1]) or alike

    def fails(self, confidence: float) -> bool:
        """Whether they lie on different sides of 1, at least one of them beyond the margin."""
        sides, found = self._sides(confidence), self._found(confidence)
        beyond = any(one.low > 1 + self.same or one.high < 1 - self.same for one in found)
        return 0 not in sides and sides[0] != sides[1] and beyond

    def describe(self, confidence: float) -> str:
        small, large = (shown(one) for one in self._found(confidence))
        return f"{self.label}: {small} on 16 PEs, {large} on 32 (required: one side of 1, or both near it)"

    def _found(self, confidence: float) -> list[Interval]:
        return [a.against(b).ratio(confidence) for a, b in self.pairs]

    def _sides(self, confidence: float) -> list[int]:
        return [(one.low > 1) - (one.high < 1) for one in self._found(confidence)]


def _same_order(test: Tester, metrics: list[str], machines: list[str], same: float) -> list[Part]:
    """Ask that each two of the paper's schedulers compare alike on two machines, at the longest horizon."""
    parts: list[Part] = []
    for name, metric, (b, a) in product(workloads(test.study), metrics, combinations(labels.OF_THE_PAPER, 2)):
        label = f"{policy_label(a)} / {policy_label(b)}, {labels.MEASURES[metric]}, {title(name)}"
        pairs = tuple(
            tuple(test.sample(metric, one, name, **{labels.MACHINE: machine}) for one in (a, b))
            for machine in machines
        )
        reason = next((one.reason for pair in pairs for one in pair if one.reason), "")
        parts.append(Open(label, reason) if reason else SameOrder(label, pairs, same))
    return parts


def _gains_most(test: Tester, metrics: list[str], of: str, over: str, workload: str) -> list[Part]:
    """Ask that the gain under one workload is larger than under each other, which has different jobs.

    Gains are relative to the other scheduler: additional jobs, or idle time saved. With the inverse ratio, a
    run with hardly any idle time left would dominate the mean.
    """
    parts = []
    for metric, name in product(metrics, workloads(test.study)):
        if name == workload:
            continue
        label = f"{labels.MEASURES[metric]}, gain under {title(workload)} minus gain under {title(name)}"
        gain = np.divide if metric == labels.JOBS else lambda mine, other: 1 - mine / other
        first, rest = (
            Sample.computed(gain, *(test.sample(metric, scheduler, one) for scheduler in (of, over)))
            for one in (workload, name)
        )
        parts.append(difference_of(label, first, rest, 0.0, scale=100.0, unit=" points"))
    return parts


def _larger_machines(test: Tester, low: float) -> list[Part]:
    """Ask that utilization is hardly lower on larger machines, with a clock signal."""
    first, *larger = sorted(test.study.values_of(labels.PROCESSORS), key=float)
    of, over = (
        [{"policy": labels.PRIORITIES, labels.PROCESSORS: size} for size in sizes]
        for sizes in (larger, [first])
    )
    return _compared(test, labels.UTILIZATION, of, over, at={labels.CENTRAL_COST: "0"}, low=low)


TESTERS: Mapping[str, Callable[..., Any]] = {
    "compared": _compared,
    "filled_locally": _filled_locally,
    "same_order": _same_order,
    "gains_most": _gains_most,
    "larger_machines": _larger_machines,
}


@cache
def claims(study: Study) -> tuple[Claim, ...]:
    """Return every claim that the study's axes can decide, tested under one reading."""
    if study.varies(labels.PROCESSORS) and study.values_of(labels.CENTRAL_COST):
        sections = ["scale"]
    elif labels.MIXED in workloads(study):
        sections = ["mixed"]
    elif {labels.GANG, labels.PRIORITIES} <= set(study.policies):
        sections = ["intensive"]
        sections += (
            ["machines"] if {labels.SMALL, labels.LARGE} <= set(study.values_of(labels.MACHINE)) else []
        )
        sections += ["summary"]
    else:
        return ()
    return ROWS.claims(Tester(study), TESTERS, *sections)
