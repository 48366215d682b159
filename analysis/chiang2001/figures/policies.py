"""Figs. 3 to 10: NCSA-LSF*, the backfill policies against it, immediate service, EQspatial.

Metrics are drawn over months, over the actual runtime, and as improvements.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from analysis.chiang2001 import labels
from analysis.chiang2001.labels import AVERAGE, MAXIMUM, NOVEMBER, P95, SLOWDOWN, month, months, sample
from analysis.chiang2001.labels import month as name_of
from analysis.drawings.queue import draw_largest_waits
from analysis.drawings.remaking import point_of
from analysis.drawings.scene import run
from analysis.errors import AnalysisError, DrawingError
from analysis.figures.category_plot import CategoryPlot, Estimates, panels, series_of
from analysis.figures.policies import STYLES, style_of
from analysis.figures.style import SchemeStyle
from analysis.study import Study
from analysis.study.curve import Sample, together

SUMMARY = (labels.AVERAGE, labels.P95, labels.MAXIMUM, labels.SLOWDOWN)

RUNTIME = "Actual runtime (min)"

LSF = "ncsa_lsf"

LOGARITHMIC: dict[str, Any] = {"yscale": "log", "least": None}
"""NCSA-LSF*'s waits are many times the others'."""


def there(study: Study, policies: Sequence[str]) -> list[str]:
    """Return which of some policies the grid has, in the given order.

    Raises
    ------
    DrawingError
        If it has none of them.
    """
    found = [policy for policy in policies if policy in study.policies]
    if not found:
        raise DrawingError(f"none of its policies is in this grid: {', '.join(policies)}")
    return found


def over_months(
    study: Study, metric: str, policies: Sequence[str], title: str = "", **settings: Any
) -> CategoryPlot:
    """Return a metric of all jobs in each month; settings are further fields of the plot."""
    names, (ylabel, scale) = labels.months(study), labels.YLABELS[metric]
    settings = (LOGARITHMIC if LSF in policies else {}) | settings
    return series_of(
        study, policies, lambda policy: [sample(study, metric, policy, name) for name in names],
        [labels.short_month(name) for name in names], ylabel, "Month", scale, title=title, **settings,
    )  # fmt: skip


def over_runtimes(
    study: Study, metric: str, policies: Sequence[str], title: str = "", month: str | None = None,
    **settings: Any,
) -> CategoryPlot:  # fmt: skip
    """Return a metric in each range of the actual runtime, in one month or averaged over all of them."""
    names, (ylabel, scale) = labels.months(study) if month is None else [month], labels.YLABELS[metric]

    def samples(policy: str) -> list[Sample]:
        return [
            together([sample(study, metric, policy, name, runtime=one) for name in names])
            for one in labels.RANGES
        ]

    # A wait of hours is thousands of runtimes of the shortest jobs, and hardly one of the longest.
    usual = {"yscale": "log" if metric == labels.SLOWDOWN else "linear"}
    settings = (LOGARITHMIC if LSF in policies else usual) | settings
    return series_of(
        study, policies, samples, labels.SHORT_RANGES, ylabel, RUNTIME, scale, title=title, **settings
    )


def improvements(study: Study, metric: str, policies: Sequence[str], reference: str) -> CategoryPlot:
    """Return by how many percent a metric is lower than under another policy, paired by the same jobs."""
    names = labels.months(study)
    months = {
        policy: [sample(study, metric, policy, name) for name in names] for policy in (*policies, reference)
    }
    series = {}
    for policy in policies:
        found = Estimates.ratios(months[policy], months[reference], study.confidence)
        gain, low, high = (100 * (1 - one) for one in (found.mean, found.high, found.low))
        series[policy] = Estimates(gain, low, high, found.finished)
    styles = {policy: style_of(policy) for policy in policies}
    return CategoryPlot(
        [labels.short_month(name) for name in names], series, styles, "Improvement (%)", "Month",
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


FIG_5 = ("ncsa_lsf", "easy", "priority_backfill")
FIG_6 = ("easy", "priority_backfill")
FIG_7 = ("easy", "priority_backfill", "lxf_w_backfill", "sjf_backfill", "lxf_backfill")


LEAST_WAIT = 0.1
"""Lower end of the axis of waits by class, hours."""

Drawn = dict[str, Callable[[Study], Figure]]
"""Figures in the paper's order -> functions that draw them."""


def of_backfill(study: Study) -> Drawn:
    """Return the backfill policies against NCSA-LSF*."""
    alternatives: dict[str, Any] = {"policies": FIG_7, "title": "Alternative priority measures"}
    drawn: Drawn = {
        "fig3": _by_class,
        "fig4": _largest_waits,
        "fig5": _against_lsf,
        "fig5-months": partial(each_month, metric=labels.P95, policies=FIG_5),
        "fig6": _improvement,
        "fig7": partial(summary, **alternatives),
        "fig7-runtimes": partial(runtimes, **alternatives),
    }
    if set(study.policies) - {*FIG_5, *FIG_7}:
        drawn["all-policies"] = _all_policies
    return drawn


def _all_policies(study: Study) -> Figure:
    return summary(study, study.ordered("policy", STYLES), "All policies")


def _by_class(study: Study) -> Figure:
    there(study, (LSF,))
    styles = {
        size: SchemeStyle(labels.SIZE_NAMES[size], labels.SIZE_COLORS[size], "s") for size in labels.SIZES
    }

    def of_month(name: str) -> CategoryPlot:
        def waits(size: str) -> list[Sample]:
            classes = (f"{time}_{size}" for time in labels.TIMES)
            return [sample(study, labels.AVERAGE, LSF, name, job_class=one) for one in classes]

        return series_of(
            study, styles, waits, list(labels.TIME_NAMES.values()), "Average wait (h)", "Requested time",
            1 / labels.HOUR, title=month(name), bars=True, yscale="log", least=LEAST_WAIT,
        )  # fmt: skip

    plots = [of_month(name) for name in months(study)]
    return panels(plots, "Average wait of each class under NCSA-LSF*", 3, shared=True)


def _largest_waits(study: Study) -> Figure:
    there(study, (LSF,))
    if labels.JANUARY not in months(study):
        raise DrawingError("this grid lacks January 2000: add o2k_2000_01 to grid.workload")
    try:
        wait, runtime = month_of_jobs(study, LSF, labels.JANUARY)
    except (AnalysisError, ValueError) as error:  # why the policy cannot run again, in one line
        raise DrawingError(str(error)) from None
    return draw_largest_waits(wait, runtime, 0.05, "NCSA-LSF*, January 2000")


def _against_lsf(study: Study) -> Figure:
    policies = there(study, FIG_5)
    plots = [
        over_runtimes(study, labels.AVERAGE, policies, "(a) average wait"),
        over_runtimes(study, labels.P95, policies, "(b) 95th percentile of the wait"),
        *(
            over_months(study, metric, policies, f"({letter}) {name}")
            for letter, metric, name in (
                ("c", labels.AVERAGE, "average wait"),
                ("d", labels.P95, "95th percentile of the wait"),
                ("e", labels.MAXIMUM, "maximum wait"),
                ("f", labels.SLOWDOWN, "average slowdown"),
            )
        ),
    ]
    return panels(plots, "Priority-backfill, EASY (FCFS-backfill) and NCSA-LSF*", 2)


def _improvement(study: Study) -> Figure:
    there(study, (LSF,))
    policies = there(study, FIG_6)
    plots = [improvements(study, metric, policies, LSF) for metric in (labels.AVERAGE, labels.P95)]
    return panels(plots, "Improvement over NCSA-LSF*", 2)


def month_of_jobs(study: Study, policy: str, month: str) -> tuple[np.ndarray, np.ndarray]:
    """Return wait and actual runtime, seconds, of each job of a month of the first replication.

    The dataset has averages only, so the policy runs again, under the dataset's reading.
    """
    found = run(point_of(study, {"policy": policy, "workload": month}))
    made, measured = found.schedule, found.measured
    return made.delay[measured], made.jobs.runtime[measured]


IMMEDIATE = ("lxf_w_backfill", "lxf_w_immediate", "lxf_w_soon")
IMMEDIATE_TITLE = "LXF&W-backfill with one minute of immediate service"


def of_immediate(study: Study) -> Drawn:
    """Return the paper's figure, and figures of results that it describes only in words."""
    return {
        "fig8": partial(_months, metrics=(SLOWDOWN, P95)),
        "fig8-not-shown": partial(_months, metrics=(AVERAGE, MAXIMUM)),
        "fig8-runtimes": partial(runtimes, policies=IMMEDIATE, title=IMMEDIATE_TITLE),
    }


def _months(study: Study, metrics: tuple[str, ...]) -> Figure:
    policies = there(study, IMMEDIATE)
    plots = [over_months(study, metric, policies) for metric in metrics]
    return panels(plots, IMMEDIATE_TITLE, 2, height=2.6)


EQUIPARTITION = ("lxf_w_immediate", "eq_spatial_5m", "eq_spatial_5m_50h")
EQUIPARTITION_TITLE = "EQspatial and LXF&W-backfill with immediate service"


def of_equipartition(study: Study) -> Drawn:
    """Return EQspatial beside immediate service."""
    return {
        "fig9": _november,
        "fig9-months": partial(each_month, metric=P95, policies=EQUIPARTITION),
        "fig10": partial(summary, policies=EQUIPARTITION, title=EQUIPARTITION_TITLE),
        "fig10-all": _all_policies,
    }


FIGURES: dict[str, Callable[[Study], Drawn]] = {
    "ncsa_lsf": of_backfill,
    "lxf_w_soon": of_immediate,
    "eq_spatial_5m": of_equipartition,
}
"""The figures of a grid by a policy that they cannot do without."""


def _november(study: Study) -> Figure:
    if NOVEMBER not in months(study):
        raise DrawingError("this grid lacks November 1999: add o2k_1999_11 to grid.workload")
    return runtimes(study, EQUIPARTITION, f"{EQUIPARTITION_TITLE}, November 1999", NOVEMBER)
