"""Figs. 3 to 7: NCSA-LSF* by class, its largest waits, and the backfill policies against it."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

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
from analysis.chiang2001.labels import (
    AVERAGE,
    HOUR,
    JANUARY,
    KEY,
    MAXIMUM,
    P95,
    SIZE_LOOKS,
    SIZE_NAMES,
    SIZES,
    SLOWDOWN,
    TIME_NAMES,
    TIMES,
    month,
    months,
)
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


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the figures in the paper's order."""
    alternatives: dict[str, Any] = {"policies": FIG_7, "title": "Alternative priority measures"}
    drawn: dict[str, Callable[[Study], Figure]] = {
        "fig3": _by_class,
        "fig4": _largest_waits,
        "fig5": _against_lsf,
        "fig5-months": partial(each_month, metric=P95, policies=FIG_5),
        "fig6": _improvement,
        "fig7": partial(summary, **alternatives),
        "fig7-runtimes": partial(runtimes, **alternatives),
    }
    if set(study.policies) - {*FIG_5, *FIG_7}:
        drawn["all-policies"] = partial(summary, policies=all_policies(study), title="All policies")
    return captioned(KEY, study, drawn)


def _by_class(study: Study) -> Figure:
    there(study, (LSF,))
    plots = []
    for name in months(study):
        series = {
            size: Estimates.of(
                [sample(study, AVERAGE, LSF, name, job_class=f"{time}_{size}") for time in TIMES],
                study.confidence,
                1 / HOUR,
            )
            for size in SIZES
        }
        looks = {size: SchemeStyle(SIZE_NAMES[size], color, "s") for size, color in SIZE_LOOKS.items()}
        plots.append(
            CategoryPlot(
                list(TIME_NAMES.values()),
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
    if JANUARY not in months(study):
        raise DrawingError("this grid lacks January 2000: add o2k_2000_01 to grid.workload")
    try:
        wait, runtime = month_of_jobs(study, LSF, JANUARY)
    except (AnalysisError, ValueError) as error:  # why the policy cannot run again, in one line
        raise DrawingError(str(error)) from None
    return draw_largest_waits(wait, runtime, 0.05, "NCSA-LSF*, January 2000")


def _against_lsf(study: Study) -> Figure:
    policies = there(study, FIG_5)
    plots = [
        over_runtimes(study, AVERAGE, policies, "(a) average wait"),
        over_runtimes(study, P95, policies, "(b) 95th percentile of the wait"),
        *(
            over_months(study, metric, policies, f"({letter}) {name}")
            for letter, metric, name in (
                ("c", AVERAGE, "average wait"),
                ("d", P95, "95th percentile of the wait"),
                ("e", MAXIMUM, "maximum wait"),
                ("f", SLOWDOWN, "average slowdown"),
            )
        ),
    ]
    return panels(plots, "Priority-backfill, EASY (FCFS-backfill) and NCSA-LSF*", 2)


def _improvement(study: Study) -> Figure:
    there(study, (LSF,))
    policies = there(study, FIG_6)
    plots = [improvements(study, metric, policies, LSF) for metric in (AVERAGE, P95)]
    return panels(plots, "Improvement over NCSA-LSF*", 2)


def month_of_jobs(study: Study, policy: str, month: str) -> tuple[np.ndarray, np.ndarray]:
    """Return wait and actual runtime, seconds, of each job of a month of the first replication.

    The dataset has averages only, so the policy runs again, under the dataset's reading.
    """
    found = run(point_of(study, {"policy": policy, "workload": month}))
    made, measured = found.schedule, found.measured
    return made.delay[measured], made.jobs.runtime[measured]
