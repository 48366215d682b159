"""Short ways from a study of months to comparisons; every month is a part of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.chiang2001.labels import HOUR, KEY, MEASURES, in_month, month, months
from analysis.claims import Part, tester
from analysis.claims.comparisons import level_of, ratio_of
from analysis.figures.policies import label
from analysis.study import Study
from analysis.study.sample import Sample, together


class Tester(tester.Tester):
    """Compares policies month by month."""

    def __init__(self, study: Study) -> None:
        super().__init__(study, KEY)
        self.months = months(study)

    def sample(self, metric: str, policy: str, month: str, **group: str) -> Sample:
        """Return a metric of a group of jobs in a month, see `labels.in_month`."""
        name, point = in_month(metric, month, **group)
        return self.at(name, policy, **point)

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


def _versus(metric: str, a: str, b: str, group: dict[str, str]) -> str:
    return f"{label(a)} / {label(b)}, {_measured(metric, group)}"


def _measured(metric: str, group: dict[str, str]) -> str:
    named = MEASURES.get(metric, metric.replace("_", " "))
    of = ", ".join(value.replace("_", "-") for value in group.values())
    return f"{named} ({of})" if of else named
