"""From a study to plots and pages: metrics over months, over the actual runtime, and as improvements."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from analysis.chiang2001 import labels
from analysis.chiang2001.labels import month as name_of
from analysis.errors import DrawingError
from analysis.figures.category_plot import CategoryPlot, Estimates, panels
from analysis.figures.policies import LOOKS, look
from analysis.figures.style import SchemeStyle
from analysis.study import Study
from analysis.study.curve import DONE
from analysis.study.sample import Sample, together
from sweep import statistics

SUMMARY = (labels.AVERAGE, labels.P95, labels.MAXIMUM, labels.SLOWDOWN)

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


def sample(study: Study, metric: str, policy: str, month: str, **group: str) -> Sample:
    """Return a metric of a group of jobs in a month, see `labels.in_month`."""
    name, point = labels.in_month(metric, month, **group)
    return study.sample(name, policy, **point)


def over_months(study: Study, metric: str, policies: Sequence[str], title: str = "") -> CategoryPlot:
    """Return a metric of all jobs in each month."""
    names = labels.months(study)
    return _plot(
        study, metric, policies, [labels.short_month(name) for name in names], "Month",
        lambda policy: [sample(study, metric, policy, name) for name in names], title,
    )  # fmt: skip


def over_runtimes(
    study: Study, metric: str, policies: Sequence[str], title: str = "", month: str | None = None
) -> CategoryPlot:
    """Return a metric in each range of the actual runtime, in one month or averaged over all of them."""
    names = labels.months(study) if month is None else [month]

    def samples(policy: str) -> list[Sample]:
        return [
            together([sample(study, metric, policy, name, runtime=one) for name in names])
            for one in labels.RANGES
        ]

    made = _plot(study, metric, policies, labels.SHORT_RANGES, RUNTIME, samples, title)
    # A wait of hours is thousands of runtimes of the shortest jobs, and hardly one of the longest.
    return replace(made, yscale="log") if metric == labels.SLOWDOWN else made


def _plot(
    study: Study, metric: str, policies: Sequence[str], categories: Sequence[str], xlabel: str,
    samples: Callable[[str], Sequence[Sample]], title: str,
) -> CategoryPlot:  # fmt: skip
    ylabel, scale = labels.YLABELS[metric]
    looks: dict[str, SchemeStyle] = {policy: look(policy) for policy in policies}
    series = {policy: Estimates.of(samples(policy), study.confidence, scale) for policy in policies}
    return CategoryPlot(categories, series, looks, ylabel, xlabel, title)


def improvements(study: Study, metric: str, policies: Sequence[str], reference: str) -> CategoryPlot:
    """Return by how many percent a metric is lower than under another policy, paired by the same jobs."""
    names = labels.months(study)
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
        [labels.short_month(name) for name in names], series, looks, "Improvement (%)", "Month",
        labels.YLABELS[metric][0].partition(" (")[0], bars=True,
    )  # fmt: skip


def summary(study: Study, policies: Sequence[str], title: str) -> Figure:
    """Draw average, 95th percentile and maximum of the wait and the average slowdown over the months."""
    policies = there(study, policies)
    plots = [over_months(study, metric, policies) for metric in SUMMARY]
    return panels(plots, title, 2)


def runtimes(study: Study, policies: Sequence[str], title: str, month: str | None = None) -> Figure:
    """Draw the four measures over the actual runtime."""
    policies = there(study, policies)
    plots = [over_runtimes(study, metric, policies, "", month) for metric in SUMMARY]
    return panels(plots, title, 2)


def each_month(study: Study, metric: str, policies: Sequence[str]) -> Figure:
    """Draw a metric over the actual runtime, month by month."""
    policies = there(study, policies)
    plots = [over_runtimes(study, metric, policies, name_of(name), name) for name in labels.months(study)]
    return panels(plots, f"{labels.YLABELS[metric][0].partition(' (')[0]} month by month", 2)
