"""Figs. 3 to 10: NCSA-LSF*, the backfill policies against it, immediate service, EQspatial."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from analysis.chiang2001 import labels
from analysis.chiang2001.figures.panels import (
    all_policies,
    each_month,
    improvements,
    over_months,
    over_runtimes,
    runtimes,
    sample,
    summary,
    there,
)
from analysis.chiang2001.labels import AVERAGE, KEY, MAXIMUM, NOVEMBER, P95, SLOWDOWN, month, months
from analysis.drawings.remaking import point_of
from analysis.drawings.scene import run
from analysis.drawings.waits import draw_largest_waits
from analysis.errors import AnalysisError, DrawingError
from analysis.figures.captions import captioned
from analysis.figures.category_plot import CategoryPlot, Estimates, panels
from analysis.figures.style import SchemeStyle
from analysis.paper import Picture
from analysis.study import Study

LSF = "ncsa_lsf"
FIG_5 = ("ncsa_lsf", "easy", "priority_backfill")
FIG_6 = ("easy", "priority_backfill")
FIG_7 = ("easy", "priority_backfill", "lxf_w_backfill", "sjf_backfill", "lxf_backfill")


def of_backfill(study: Study) -> Iterator[Picture]:
    """Yield the figures in the paper's order."""
    alternatives: dict[str, Any] = {"policies": FIG_7, "title": "Alternative priority measures"}
    drawn: dict[str, Callable[[Study], Figure]] = {
        "fig3": _by_class,
        "fig4": _largest_waits,
        "fig5": _against_lsf,
        "fig5-months": partial(each_month, metric=labels.P95, policies=FIG_5),
        "fig6": _improvement,
        "fig7": partial(summary, **alternatives),
        "fig7-runtimes": partial(runtimes, **alternatives),
    }
    if set(study.policies) - {*FIG_5, *FIG_7}:
        drawn["all-policies"] = partial(summary, policies=all_policies(study), title="All policies")
    return captioned(labels.KEY, study, drawn)


def _by_class(study: Study) -> Figure:
    there(study, (LSF,))
    plots = []
    for name in months(study):
        series = {
            size: Estimates.of(
                [
                    sample(study, labels.AVERAGE, LSF, name, job_class=f"{time}_{size}")
                    for time in labels.TIMES
                ],
                study.confidence,
                1 / labels.HOUR,
            )
            for size in labels.SIZES
        }
        looks = {
            size: SchemeStyle(labels.SIZE_NAMES[size], color, "s")
            for size, color in labels.SIZE_LOOKS.items()
        }
        plots.append(
            CategoryPlot(
                list(labels.TIME_NAMES.values()),
                series,
                looks,
                "Average wait (h)",
                "Requested time",
                month(name),
                bars=True,
            )
        )
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


def of_immediate(study: Study) -> Iterator[Picture]:
    """Yield the paper's figure, and what it says without showing it."""
    drawn = {
        "fig8": partial(_months, metrics=(SLOWDOWN, P95)),
        "fig8-not-shown": partial(_months, metrics=(AVERAGE, MAXIMUM)),
        "fig8-runtimes": partial(runtimes, policies=IMMEDIATE, title=IMMEDIATE_TITLE),
    }
    return captioned(KEY, study, drawn)


def _months(study: Study, metrics: tuple[str, ...]) -> Figure:
    policies = there(study, IMMEDIATE)
    plots = [over_months(study, metric, policies) for metric in metrics]
    return panels(plots, IMMEDIATE_TITLE, 2, height=2.6)


EQUIPARTITION = ("lxf_w_immediate", "eq_spatial_5m", "eq_spatial_5m_50h")
EQUIPARTITION_TITLE = "EQspatial and LXF&W-backfill with immediate service"


def of_equipartition(study: Study) -> Iterator[Picture]:
    """Yield the figures in the paper's order."""
    drawn: dict[str, Callable[[Study], Figure]] = {
        "fig9": _november,
        "fig9-months": partial(each_month, metric=P95, policies=EQUIPARTITION),
        "fig10": partial(summary, policies=EQUIPARTITION, title=EQUIPARTITION_TITLE),
        "fig10-all": partial(summary, policies=all_policies(study), title="All policies"),
    }
    return captioned(KEY, study, drawn)


def _november(study: Study) -> Figure:
    if NOVEMBER not in months(study):
        raise DrawingError("this grid lacks November 1999: add o2k_1999_11 to grid.workload")
    return runtimes(study, EQUIPARTITION, f"{EQUIPARTITION_TITLE}, November 1999", NOVEMBER)
