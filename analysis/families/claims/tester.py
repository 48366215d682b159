"""Short ways from contestants to comparisons: paired by the same jobs, workload by workload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.claims import Open, Part, tester
from analysis.claims.comparisons import AxisRange, difference_of, listed, ratio
from analysis.families.claims.margins import ALL
from analysis.families.contestants import Contestant, Field
from analysis.families.labels import (
    BACKFILL_QUEUE,
    FCFS_QUEUE,
    FREE,
    KEY,
    LINEAR,
    MEASURES,
    REAL,
    UNBOUNDED,
    asked,
    workload,
)
from analysis.study import Study
from analysis.study.curve import Curve


@dataclass(frozen=True)
class Entry:
    """A contestant under conditions, whether or not the grid has it.

    Parameters
    ----------
    policy, level, queue, speedup, cost : str
    requests : str, optional
        By default the usual ones, as users make them.
    """

    policy: str
    level: str = UNBOUNDED
    queue: str = FCFS_QUEUE
    speedup: str = LINEAR
    cost: str = FREE
    requests: str | None = None


def bounded(policy: str, level: str, queue: str = BACKFILL_QUEUE, **more: str) -> Entry:
    """Return gang scheduling with so many slots at most, by default with a queue that is backfilled."""
    return Entry(policy, level, queue, **more)


class Tester(tester.Tester):
    """Compares contestants on the same jobs."""

    def __init__(self, study: Study) -> None:
        super().__init__(study, KEY)
        self.field = Field(study)
        self.workloads = self.field.workloads
        self.scheme, self.levels = self.field.scheme, self.field.levels

    def among(self, policy: str) -> bool:
        """Whether the grid has a policy."""
        return policy in self.study.policies

    def found(self, metric: str, entry: Entry, name: str) -> tuple[str, Curve]:
        """Return an entry's label and its curve under a workload."""
        family = str(self.study.config.get("policy", {}).get(entry.policy, {}).get("family", ""))
        one = Contestant(entry.policy, family, entry.level, entry.queue, entry.speedup)
        label = one.label
        if entry.cost != FREE:
            label += f", switches of {self.field.share(entry.cost):g} %"
        requests = entry.requests or self.field.usual
        if one.asks and requests != REAL:
            label += f", {asked(requests)}"
        return label, self.field.curve(metric, one, name, cost=entry.cost, requests=requests)

    def ratio(
        self, metric: str, a: Entry, b: Entry, name: str, loads: AxisRange = ALL,
        low: float = -float("inf"), high: float = float("inf"),
    ) -> Part:  # fmt: skip
        """Ask for limits on the ratio of two entries' means, averaged over loads at which both are stable."""
        (first, mine), (second, others) = (self.found(metric, entry, name) for entry in (a, b))
        label = f"{first} / {second}, {MEASURES.get(metric, metric.replace('_', ' '))}, {workload(name)}"
        return ratio(label, mine, others, loads, low, high)

    def better(
        self, metrics: Sequence[str], a: Entry, b: Entry, loads: AxisRange = ALL, below: float = 1.0
    ) -> list[Part]:
        """Ask that an entry has less of each metric than another, under every workload."""
        return [self.ratio(m, a, b, name, loads, high=below) for m in metrics for name in self.workloads]

    def excess(
        self, label: str, metric: str, more: tuple[Entry, Entry], less: tuple[Entry, Entry], name: str,
        loads: AxisRange,
    ) -> Part:  # fmt: skip
        """Ask that one ratio is larger than another, replication by replication."""
        curves = [self.found(metric, entry, name)[1] for entry in (*more, *less)]
        chosen, reason = loads.choose(curves)
        named = f"{label}, {workload(name)}"
        if reason:
            return Open(named, reason)
        a, b, c, d = (curve.over(chosen) for curve in curves)
        return difference_of(f"{named} at {listed('load', chosen)}", a / b, c / d, 0.0)

    def growth(self, metric: str, a: Entry, b: Entry, name: str, low: AxisRange, high: AxisRange) -> Part:
        """Ask that from some loads to others a metric grows by a smaller factor under a than under b."""
        (first, mine), (second, others) = (self.found(metric, entry, name) for entry in (a, b))
        what = MEASURES.get(metric, metric.replace("_", " "))
        label = f"growth of the {what} under {second} minus that under {first}, {workload(name)}"
        below, no = low.choose([mine, others])
        above, neither = high.choose([mine, others])
        if no or neither:
            return Open(label, no or neither)
        theirs, own = (curve.over(above) / curve.over(below) for curve in (others, mine))
        named = f"{label}, from {listed('load', below)} to {listed('load', above)}"
        return difference_of(named, theirs, own, 0.0)
