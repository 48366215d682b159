"""From a study to plots: metrics over months, over ranges of the actual runtime, and as improvements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from analysis.backfill_style import LOOKS, look
from analysis.chiang2001.category_plot import CategoryPlot, Estimates
from analysis.chiang2001.looks import HOUR, RANGES, SHORT_RANGES, months, short_month
from analysis.chiang2001.samples import Sample, sample, together
from analysis.curve import DONE
from analysis.errors import DrawingError
from analysis.study import Study
from analysis.style import SchemeStyle
from sweep import statistics

AXES = {
    "wait": ("Average wait (h)", 1 / HOUR),
    "wait_p95": ("95th percentile of wait (h)", 1 / HOUR),
    "wait_max": ("Maximum wait (h)", 1 / HOUR),
    "slowdown": ("Average slowdown", 1.0),
}
"""Metric -> axis and what values are multiplied with."""

SUMMARY = ("wait", "wait_p95", "wait_max", "slowdown")

RUNTIME = "Actual runtime (min)"


def there(study: Study, policies: Sequence[str]) -> list[str]:
    """Return those of some policies that the grid has, in the given order.

    Raises
    ------
    DrawingError
        If it has none of them.
    """
    found = [policy for policy in policies if policy in study.policies]
    if not found:
        raise DrawingError(f"this grid has none of its policies: {', '.join(policies)}")
    return found


def all_policies(study: Study) -> list[str]:
    """Return all policies of the grid, those that the paper names first and in its order."""
    known = [policy for policy in LOOKS if policy in study.policies]
    return known + [policy for policy in study.policies if policy not in known]


def over_months(study: Study, metric: str, policies: Sequence[str], title: str = "") -> CategoryPlot:
    """Return a metric of all jobs in each month."""
    names = months(study)
    return _plot(
        study, metric, policies, [short_month(name) for name in names], "Month",
        lambda policy: [sample(study, metric, policy, name) for name in names], title,
    )  # fmt: skip


def over_runtimes(
    study: Study, metric: str, policies: Sequence[str], title: str = "", month: str | None = None
) -> CategoryPlot:
    """Return a metric in each range of the actual runtime, in one month or averaged over all of them."""
    names = months(study) if month is None else [month]

    def samples(policy: str) -> list[Sample]:
        return [
            together([sample(study, metric, policy, name, runtime_range=one) for name in names])
            for one in RANGES
        ]

    made = _plot(study, metric, policies, SHORT_RANGES, RUNTIME, samples, title)
    # A wait of hours is thousands of runtimes of the shortest jobs, and hardly one of the longest.
    return replace(made, yscale="log") if metric == "slowdown" else made


def _plot(
    study: Study, metric: str, policies: Sequence[str], categories: Sequence[str], xlabel: str,
    samples: Callable[[str], Sequence[Sample]], title: str,
) -> CategoryPlot:  # fmt: skip
    ylabel, scale = AXES[metric]
    looks: dict[str, SchemeStyle] = {policy: look(policy) for policy in policies}
    series = {policy: Estimates.of(samples(policy), study.confidence, scale) for policy in policies}
    return CategoryPlot(categories, series, looks, ylabel, xlabel, title)


def improvements(study: Study, metric: str, policies: Sequence[str], reference: str) -> CategoryPlot:
    """Return by how many percent a metric is lower than under another policy, paired by the same jobs."""
    names = months(study)
    series = {}
    for policy in policies:
        mean, half = np.full((2, len(names)), np.nan)
        finished = np.zeros(len(names), bool)
        for place, name in enumerate(names):
            mine, other = (sample(study, metric, one, name) for one in (policy, reference))
            if mine.shown and other.shown:
                found = statistics.paired_ratio(mine.values, other.values, study.confidence)
                mean[place], half[place] = 100 * (1 - found.mean), 100 * found.half_width
                finished[place] = mine.status == other.status == DONE
        series[policy] = Estimates(mean, half, finished)
    looks = {policy: look(policy) for policy in policies}
    return CategoryPlot(
        [short_month(name) for name in names], series, looks, "Improvement (%)", "Month",
        AXES[metric][0].partition(" (")[0], bars=True,
    )  # fmt: skip
