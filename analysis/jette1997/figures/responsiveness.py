"""Responsiveness in a few numbers: aggregate slowdown, jobs preempted, throughput against UNICOS MAX."""

from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.errors import require_points
from analysis.figures import style
from analysis.figures.captions import captioned
from analysis.figures.policies import look
from analysis.jette1997 import derived, labels
from analysis.paper import Picture
from analysis.study import Study
from analysis.study.sample import Sample
from sweep import statistics
from sweep.statistics import Interval

PANELS = (
    ("Interactive slowdown\n(% over the runtimes)", 18.0, "paper: 18"),
    ("Jobs ever\npreempted (%)", 8.0, "paper: 8"),
    ("Interactive jobs ended /\nUNICOS MAX's", 1.21, "paper: 1.21"),
    ("Processor time delivered /\nUNICOS MAX's", 1.0, "1: no loss"),
)
"""Of each panel, what is shown, and the paper's number with its name."""


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the figure."""
    return captioned(labels.KEY, study, {"responsiveness": _draw})


def _intervals(study: Study, policy: str, workload: str) -> list[Interval | None]:
    """Return what each panel shows of a scheduler, None where there is nothing."""
    point = {labels.WORKLOAD: workload} if workload else {}
    slowdown = derived.interactive_slowdown(study, policy, workload)
    excess = Sample(100 * (slowdown.values - 1), slowdown.status)
    preempted = study.sample(labels.PREEMPTED, policy, **point)
    found = [
        excess.interval(study.confidence) if slowdown.shown else None,
        Sample(100 * preempted.values, preempted.status).interval(study.confidence)
        if preempted.shown
        else None,
    ]
    for metric, classes in ((labels.CLASS_ENDED, (labels.INTERACTIVE,)), (labels.CLASS_DELIVERED, ())):
        a, b = (derived.rate(study, metric, one, workload, classes) for one in (policy, labels.UNICOS_MAX))
        both = a.shown and b.shown
        found.append(statistics.paired_ratio(a.values, b.values, study.confidence) if both else None)
    return found


def _draw(study: Study) -> Figure:
    names, policies = labels.workloads(study), labels.schedulers(study)
    figure = Figure(figsize=(7.4, 0.36 * len(names) * len(policies) + 1.6), layout="constrained")
    places = figure.subplots(1, len(PANELS), sharey=True)
    drawn, rows = 0, list[str]()
    for workload in names:
        for policy in policies:
            drawn += _row(places, len(rows), policy, _intervals(study, policy, workload))
            rows.append(labels.workload_title(workload) if policy == policies[len(policies) // 2] else "")
    require_points(drawn)
    for axes, (label, number, name) in zip(places, PANELS, strict=True):
        style.guide(axes, number, name, vertical=True)
        axes.set_xlabel(label, fontsize=8)
        axes.grid(visible=False, axis="y")
        for border in range(len(policies), len(rows), len(policies)):
            axes.axhline(border - 0.5, color="#cccccc", linewidth=0.6)
        axes.margins(x=0.12)
    places[0].set_xscale("log")
    style.plain_ticks(places[0].xaxis, decades=10)
    places[1].set_xlim(left=-0.5)
    places[0].set_yticks(range(len(rows)), rows)
    places[0].tick_params(axis="y", length=0)
    places[0].set_ylim(len(rows) - 0.5, -0.5)
    style.put_headline(figure, "Responsiveness and throughput")
    figure.legend(
        handles=[look(policy).legend_handle() for policy in policies], loc="outside lower center", ncols=3
    )
    return figure


def _row(places: Sequence[Axes], row: int, policy: str, found: list[Interval | None]) -> int:
    one, drawn = look(policy), 0
    for axes, each in zip(places, found, strict=True):
        if each is None or not np.isfinite(each.mean):
            continue
        half = np.nan_to_num(each.half_width)
        left = min(
            half, 0.999 * each.mean
        )  # what is shown is never negative, and may be on a logarithmic axis
        axes.errorbar(
            each.mean,
            row,
            xerr=[[max(left, 0)], [half]],
            fmt=one.marker,
            color=one.color,
            ms=5,
            elinewidth=0.9,
            zorder=3,
        )
        drawn += 1
    return drawn
