"""Figs. 3 to 7: NCSA-LSF* by class, its largest waits, and the backfill policies against it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from matplotlib.figure import Figure

from analysis.chiang2001.category_plot import CategoryPlot, Estimates, panels
from analysis.chiang2001.looks import HOUR, JANUARY, SIZE_LOOKS, SIZES, TIMES, month, months
from analysis.chiang2001.models_output import month_of_jobs
from analysis.chiang2001.plots import (
    AXES,
    SUMMARY,
    all_policies,
    improvements,
    over_months,
    over_runtimes,
    there,
)
from analysis.chiang2001.samples import sample
from analysis.errors import DrawingError
from analysis.papers import Picture
from analysis.schedule_drawings.largest_waits import draw_largest_waits
from analysis.study import Study
from analysis.style import SchemeStyle

LSF = "ncsa_lsf"
FIG_5 = ("ncsa_lsf", "easy", "priority_backfill")
FIG_6 = ("easy", "priority_backfill")
FIG_7 = ("easy", "priority_backfill", "lxf_w_backfill", "sjf_backfill", "lxf_backfill")


def bars(study: Study) -> str:
    """Say in a caption what bars show."""
    return (
        f"Bars are {100 * study.confidence:g} % confidence intervals over independent months with the "
        "demands of Table 4."
    )


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the figures in the paper's order."""
    yield Picture(
        "fig3",
        "Fig. 3: Performance of NCSA-LSF*",
        "Average wait of each job class. The paper shows four of the months, and its text does not say "
        f"which: here are all. {bars(study)}",
        partial(_by_class, study),
    )
    yield Picture(
        "fig4",
        "Fig. 4: The largest waits under NCSA-LSF*, January 2000",
        "Wait over actual runtime of the 5 % of the jobs with the largest waits, of the first replication. "
        "From the policy itself, run with the dataset's parameters.",
        partial(_largest_waits, study),
    )
    yield Picture(
        "fig5",
        "Fig. 5: Priority-backfill, FCFS-backfill and NCSA-LSF*",
        "Over ranges of the actual runtime (a, b; averages over the months, the paper's own month is not in "
        "its text) and over the months (c to f). The paper's fig. 5(a) also has the waits measured on the "
        f"machine, whose numbers were not published. {bars(study)}",
        partial(_against_lsf, study),
    )
    yield Picture(
        "fig5-months",
        "Fig. 5(b) of each month",
        f"95th percentile of the wait over the actual runtime. {bars(study)}",
        partial(_each_month, study, "wait_p95", FIG_5),
    )
    yield Picture(
        "fig6",
        "Fig. 6: Improvement over NCSA-LSF*, simulated",
        "The paper shows the improvement measured on the machine after it changed from NCSA-LSF* to "
        "Priority-backfill in July 2000. Those measurements were not published, nor the workloads of April "
        "to August 2000: here is what simulation predicts for the six months, paired by the same jobs. "
        f"{bars(study)}",
        partial(_improvement, study),
    )
    yield Picture(
        "fig7",
        "Fig. 7: Alternative priority measures",
        f"Over the months. {bars(study)}",
        partial(_summary, study, FIG_7, "Alternative priority measures"),
    )
    yield Picture(
        "fig7-runtimes",
        "Alternative priority measures over the actual runtime",
        f"Averages over the months. {bars(study)} The paper has no such figure.",
        partial(_runtimes, study, FIG_7, "Alternative priority measures"),
    )
    if set(study.policies) - {*FIG_5, *FIG_7}:
        yield Picture(
            "all-policies",
            "All policies of this grid",
            f"Over the months. {bars(study)} The paper has no such figure.",
            partial(_summary, study, tuple(all_policies(study)), "All policies"),
        )


def _by_class(study: Study) -> Figure:
    there(study, (LSF,))
    plots = []
    for name in months(study):
        series = {
            size: Estimates.of(
                [sample(study, "wait_by_class", LSF, name, job_class=f"{time}_{size}") for time in TIMES],
                study.confidence,
                1 / HOUR,
            )
            for size in SIZES
        }
        looks = {size: SchemeStyle(size, color, "s") for size, color in SIZE_LOOKS.items()}
        plots.append(
            CategoryPlot(TIMES, series, looks, "Average wait (h)", "Time class", month(name), bars=True)
        )
    return panels(plots, "Average wait of each class under NCSA-LSF*", 3, shared=True)


def _largest_waits(study: Study) -> Figure:
    there(study, (LSF,))
    if JANUARY not in months(study):
        raise DrawingError("this grid lacks January 2000: add o2k_2000_01 to grid.workload")
    try:
        wait, runtime = month_of_jobs(study, LSF, JANUARY)
    except ValueError as error:  # what a model says of parameters that it cannot simulate, in one line
        raise DrawingError(str(error)) from None
    return draw_largest_waits(wait, runtime, 0.05, "NCSA-LSF*, January 2000")


def _against_lsf(study: Study) -> Figure:
    policies = there(study, FIG_5)
    plots = [
        over_runtimes(study, "wait", policies, "(a) average wait"),
        over_runtimes(study, "wait_p95", policies, "(b) 95th percentile of the wait"),
        *(
            over_months(study, metric, policies, f"({letter}) {name}")
            for letter, metric, name in (
                ("c", "wait", "average wait"),
                ("d", "wait_p95", "95th percentile of the wait"),
                ("e", "wait_max", "maximum wait"),
                ("f", "slowdown", "average slowdown"),
            )
        ),
    ]
    return panels(plots, "Priority-backfill, FCFS-backfill and NCSA-LSF*", 2)


def _each_month(study: Study, metric: str, policies: tuple[str, ...]) -> Figure:
    return each_month(study, metric, there(study, policies))


def each_month(study: Study, metric: str, policies: list[str]) -> Figure:
    """Draw a metric over the actual runtime, month by month."""
    plots = [over_runtimes(study, metric, policies, month(name), name) for name in months(study)]
    return panels(plots, f"{AXES[metric][0].partition(' (')[0]} month by month", 2)


def _improvement(study: Study) -> Figure:
    there(study, (LSF,))
    policies = there(study, FIG_6)
    plots = [improvements(study, metric, policies, LSF) for metric in ("wait", "wait_p95")]
    return panels(plots, "Improvement over NCSA-LSF*", 2)


def _summary(study: Study, policies: tuple[str, ...], title: str) -> Figure:
    return summary(study, there(study, policies), title)


def summary(study: Study, policies: list[str], title: str) -> Figure:
    """Draw average, 95th percentile and maximum of the wait and the average slowdown over the months."""
    plots = [over_months(study, metric, policies) for metric in SUMMARY]
    return panels(plots, title, 2)


def _runtimes(study: Study, policies: tuple[str, ...], title: str) -> Figure:
    return runtimes(study, there(study, policies), title)


def runtimes(study: Study, policies: list[str], title: str, month: str | None = None) -> Figure:
    """Draw the four measures over the actual runtime."""
    plots = [over_runtimes(study, metric, policies, "", month) for metric in SUMMARY]
    return panels(plots, title, 2)
