"""Short ways from a study of months to comparisons and claims; every month is a part of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.backfill_style import label
from analysis.chiang2001.looks import HOUR, month, months
from analysis.chiang2001.samples import Sample, sample, together
from analysis.claims import Claim, Open, Part, Within, judge
from analysis.study import Study
from sweep import statistics
from sweep.statistics import Interval

AVERAGE, P95, MAXIMUM, SLOWDOWN = "wait", "wait_p95", "wait_max", "slowdown"

MEASURES = {
    AVERAGE: "average wait",
    P95: "95th percentile of the wait",
    MAXIMUM: "maximum wait",
    SLOWDOWN: "average slowdown",
}


class Tester:
    """Short ways to samples and claims of one study under one reading."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.months = months(study)
        self._samples: dict[tuple[object, ...], Sample] = {}

    def sample(self, metric: str, policy: str, month: str, **group: str) -> Sample:
        """Return a metric in a month; most of them serve several claims."""
        key = (metric, policy, month, *sorted(group.items()))
        if key not in self._samples:
            self._samples[key] = sample(self.study, metric, policy, month, **group)
        return self._samples[key]

    def together(self, metric: str, policy: str, **group: str) -> Sample:
        """Return a metric averaged over all months of the grid."""
        return together([self.sample(metric, policy, one, **group) for one in self.months])

    def ratio(
        self, metric: str, a: str, b: str, month_: str,
        low: float = -np.inf, high: float = np.inf, **group: str,
    ) -> Part:  # fmt: skip
        """Ask for limits on the ratio of two policies in a month, paired by the same jobs."""
        pair = [self.sample(metric, policy, month_, **group) for policy in (a, b)]
        return ratio_of(f"{_versus(metric, a, b, group)}, {month(month_)}", pair[0], pair[1], low, high)

    def ratios(
        self, metrics: Sequence[str], schemes: Sequence[str], others: Sequence[str],
        low: float = -np.inf, high: float = np.inf, *, only: Sequence[str] | None = None, **group: str,
    ) -> list[Part]:  # fmt: skip
        """Compare each of some policies with each of others by each of some metrics in each month."""
        return [
            self.ratio(metric, a, b, one, low, high, **group)
            for metric in metrics
            for a in schemes
            for b in others
            for one in (self.months if only is None else only)
        ]

    def ratio_together(
        self, metric: str, a: str, b: str, low: float = -np.inf, high: float = np.inf, **group: str
    ) -> Part:
        """Ask for limits on the ratio of two policies over all months together."""
        pair = [self.together(metric, policy, **group) for policy in (a, b)]
        return ratio_of(f"{_versus(metric, a, b, group)}, all months", pair[0], pair[1], low, high)

    def hours(
        self, metric: str, policy: str, month_: str,
        low: float = -np.inf, high: float = np.inf, **group: str,
    ) -> Part:  # fmt: skip
        """Ask for limits, in hours, on a wait in a month."""
        name = f"{label(policy)}, {_measured(metric, group)}, {month(month_)}"
        one = self.sample(metric, policy, month_, **group)
        return level_of(name, one, low * HOUR, high * HOUR, 1 / HOUR, " h")

    def share(
        self, metric: str, policy: str, month_: str, low: float = -np.inf, high: float = np.inf
    ) -> Part:
        """Ask for limits on a share in a month, shown in percent."""
        name = f"{label(policy)}, {month(month_)}"
        return level_of(name, self.sample(metric, policy, month_), low, high, 100.0, " %")

    def claim(
        self,
        name: str,
        source: str,
        statement: str,
        parts: Sequence[Part],
        *,
        needed: int | None = None,
        note: str = "",
    ) -> Claim:
        """Return the verdict over some parts, with a note that bears on it but decides nothing."""
        verdict, evidence = judge(parts, self.study.confidence, needed)
        evidence = (*evidence, note) if note else evidence
        return Claim(f"chiang2001-{name}", source, statement, verdict, evidence, self.study.label)


def ratio_of(name: str, a: Sample, b: Sample, low: float = -np.inf, high: float = np.inf) -> Part:
    """Ask for limits on the ratio of two samples, paired month by month."""
    if reason := a.reason or b.reason:
        return Open(name, reason)

    def measure(confidence: float) -> Interval:
        return statistics.paired_ratio(a.values, b.values, confidence)

    return Within(name, measure, low, high)


def difference_of(
    name: str, a: np.ndarray, b: np.ndarray,
    low: float = -np.inf, high: float = np.inf, scale: float = 1.0, unit: str = "",
) -> Part:  # fmt: skip
    """Ask for limits on the difference of two sets of values, paired month by month."""

    def measure(confidence: float) -> Interval:
        return statistics.paired_difference(a, b, confidence)

    return Within(name, measure, low, high, scale, unit)


def level_of(
    name: str, one: Sample, low: float = -np.inf, high: float = np.inf, scale: float = 1.0, unit: str = ""
) -> Part:
    """Ask for limits on a sample's mean."""
    if one.reason:
        return Open(name, one.reason)
    return Within(name, one.interval, low, high, scale, unit)


def _versus(metric: str, a: str, b: str, group: dict[str, str]) -> str:
    return f"{label(a)} / {label(b)}, {_measured(metric, group)}"


def _measured(metric: str, group: dict[str, str]) -> str:
    named = MEASURES.get(metric.removesuffix("_by_class"), metric.replace("_", " "))
    of = ", ".join(value.replace("_", "-") for value in group.values())
    return f"{named} ({of})" if of else named
