"""Sentences of the literature across families (``claims.yaml``), each tested on the same jobs.

Words of degree are named numbers. Where a sentence is on packing in general, the scheme is the one of the
grid whose switches have a cost. Ratios are of means over loads at which both contestants are stable; which
of two saturates first is shown by the figures, and by `analysis.families.tables`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from analysis.claims import Claim, Open, Part, tester
from analysis.claims.comparisons import AxisRange, Not, Sustains, difference_of, level_of, listed, ratio
from analysis.claims.rows import Rows
from analysis.claims.testers import listed as several
from analysis.families import labels
from analysis.families.contestants import Contestant, Field
from analysis.families.labels import FCFS_QUEUE, FREE, LINEAR, MEASURES, REAL, UNBOUNDED, WAIT, workload
from analysis.study import Study
from analysis.study.curve import DONE, Curve, Sample

ROWS = Rows(Path(__file__).parent)

SUBSTANTIAL = 10.0
"""Percent of a slice that a switch takes where a claim says that its cost is compensated: Jette's switches go
to disk, without a number."""

TO_COMPLETION = (labels.FCFS, labels.EASY, labels.CONSERVATIVE, labels.LXF_W)
"""Policies that run a job from its start to its end on the processors that it requests."""


@dataclass(frozen=True)
class Entry:
    """A contestant under conditions, whether or not the grid has it.

    Parameters
    ----------
    requests : str, optional
        By default the usual requests, as users make them.
    """

    policy: str
    level: str = UNBOUNDED
    queue: str = FCFS_QUEUE
    speedup: str = LINEAR
    cost: str = FREE
    requests: str | None = None

    @classmethod
    def of(cls, given: str | Mapping[str, str], requests: str | None = None) -> Entry:
        """Return the entry of a row: a policy, or a mapping of the fields."""
        fields: dict[str, Any] = {"policy": given} if isinstance(given, str) else dict(given)
        return cls(**{"requests": requests, **fields})


class Tester(tester.Tester):
    """Compares contestants on the same jobs."""

    def __init__(self, study: Study) -> None:
        super().__init__(study, labels.KEY)
        self.field = field = Field(study)
        self.workloads, self.levels = field.workloads, field.levels
        first = [policy for policy in TO_COMPLETION if policy in study.policies]
        in_order = [policy for policy in first if policy != labels.LXF_W]
        cost = min(field.costs[1:], key=lambda one: abs(field.share(one) - SUBSTANTIAL), default=FREE)
        self.names = {
            "scheme": field.scheme, "to_completion": first, "in_order_of_arrival": in_order,
            "most": field.levels[-1] if field.levels else "", "cost": cost, "cost_share": field.share(cost),
        }  # fmt: skip
        # Requirements of a row in addition to policies.
        there = {
            "gang": field.scheme in study.policies, "levels": bool(field.levels), "costs": bool(field.costly),
            "policies to completion": bool(first), "policies in order of arrival": bool(in_order),
        }  # fmt: skip
        self.names |= {f"has {name}": name for name, is_there in there.items() if is_there}

    def found(self, metric: str, entry: Entry, name: str) -> tuple[str, Curve]:
        """Return an entry's label and its curve under a workload."""
        family = str(self.study.config.get("policy", {}).get(entry.policy, {}).get("family", ""))
        one = Contestant(entry.policy, family, entry.level, entry.queue, entry.speedup)
        label = one.label
        if entry.cost != FREE:
            label += f", switches of {self.field.share(entry.cost):g} %"
        requests = entry.requests or self.field.usual
        if one.uses_requests and requests != REAL:
            label += f", {labels.asked(requests)}"
        return label, self.field.curve(metric, one, name, cost=entry.cost, requests=requests)


def _measure(metric: str) -> str:
    return MEASURES.get(metric, metric.replace("_", " "))


def _ratios(
    test: Tester, metrics: Any, of: Any, over: Any, at: AxisRange, requests: Any = (None,), **limits: float
) -> list[Part]:
    """Ask for limits on the ratio of two entries' means over stable loads, under every workload."""
    parts = []
    for a, b in product(several(of), several(over)):
        for metric, asked, name in product(several(metrics), several(requests), test.workloads):
            first, mine = test.found(metric, Entry.of(a, asked), name)
            second, others = test.found(metric, Entry.of(b, asked), name)
            label = f"{first} / {second}, {_measure(metric)}, {workload(test.study, name)}"
            parts.append(ratio(label, mine, others, at, **limits))
    return parts


def _sustain(test: Tester, of: Any, above: float, negated: bool = False) -> list[Part]:
    """Ask that policies sustain loads above a threshold, or that they do not."""
    parts: list[Part] = []
    for name, policy in product(test.workloads, several(of)):
        label, curve = test.found(labels.UTILIZATION, Entry(policy), name)
        part = Sustains(f"{label}, {workload(test.study, name)}", curve.capacity, above)
        parts.append(Not(part) if negated else part)
    return parts


def _excess(
    test: Tester, label: str, metric: str, more: Sequence[str], less: Sequence[str], at: AxisRange
) -> list[Part]:
    """Ask that one ratio is larger than another, replication by replication."""
    parts: list[Part] = []
    for name in test.workloads:
        curves = [test.found(metric, Entry(policy), name)[1] for policy in (*more, *less)]
        chosen, reason = at.choose(curves)
        named = f"{label}, {workload(test.study, name)}"
        if reason:
            parts.append(Open(named, reason))
            continue
        a, b, c, d = (curve.over(chosen) for curve in curves)
        first, second = (Sample.computed(np.divide, *pair) for pair in ((a, b), (c, d)))
        parts.append(difference_of(f"{named} at {listed('load', chosen)}", first, second, 0.0))
    return parts


def _growth(test: Tester, metric: str, of: str, than: str, low: AxisRange, high: AxisRange) -> list[Part]:
    """Ask that from some loads to others a metric grows by a smaller factor under one policy than another."""
    parts: list[Part] = []
    for name in test.workloads:
        (first, mine), (second, others) = (test.found(metric, Entry(one), name) for one in (of, than))
        label = f"growth of the {_measure(metric)} under {second} minus that under {first}"
        label += f", {workload(test.study, name)}"
        below, no_low = low.choose([mine, others])
        above, no_high = high.choose([mine, others])
        if no_low or no_high:
            parts.append(Open(label, no_low or no_high))
            continue
        theirs, own = (Sample.computed(np.divide, one.over(above), one.over(below)) for one in (others, mine))
        label += f", from {listed('load', below)} to {listed('load', above)}"
        parts.append(difference_of(label, theirs, own, 0.0))
    return parts


def _first_waits(test: Tester, queue: str, high: float) -> list[Part]:
    """Ask for a limit on the mean wait of bounded gang scheduling at the lowest load, in seconds."""
    parts = []
    for name, level in product(test.workloads, test.levels):
        label, curve = test.found(WAIT, Entry(test.field.scheme, level, queue), name)
        status = curve.status[0] if curve.x.size else ""
        lowest = curve.sample(0) if status == DONE else Sample.absent(*filter(None, [status]))
        label = f"{label}, mean wait, {workload(test.study, name)}, lowest load"
        parts.append(level_of(label, lowest, high=high, unit=" s"))
    return parts


TESTERS: Mapping[str, Callable[..., Any]] = {
    "ratios": _ratios, "sustain": _sustain, "excess": _excess, "growth": _growth, "first_waits": _first_waits,
}  # fmt: skip


@cache
def claims(study: Study) -> tuple[Claim, ...]:
    """Return every claim that the study's axes can decide, tested under one reading."""
    test = Tester(study)
    found: list[Claim] = []
    for level in test.levels:
        test.names["level"] = level
        found += ROWS.claims(test, TESTERS, "levels")
    return (*found, *ROWS.claims(test, TESTERS, "backfilling", "papers"))
