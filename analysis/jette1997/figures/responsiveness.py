"""Responsiveness in a few numbers, and the use of the processor time."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.errors import require_points
from analysis.figures import stacked_bars, style
from analysis.figures.policies import style_of
from analysis.figures.stacked_bars import Shares
from analysis.jette1997 import derived, labels
from analysis.study import Study
from analysis.study.curve import Sample
from sweep.statistics import Interval

PANELS = (
    ("Interactive slowdown\n(% over the runtimes)", 18.0, "paper: 18"),
    ("Jobs ever\npreempted (%)", 8.0, "paper: 8"),
    ("Interactive jobs ended /\nUNICOS MAX's", 1.21, "paper: 1.21"),
    ("Processor time delivered /\nUNICOS MAX's", 1.0, "1: no loss"),
)
"""Label of each panel, and the paper's number with its name."""


def _intervals(study: Study, policy: str, workload: str) -> list[Interval | None]:
    """Return the sample of each panel for a scheduler, None where there is none."""
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
        found.append(a.against(b).ratio(study.confidence) if both else None)
    return found


def draw(study: Study) -> Figure:
    """Draw each measure beside the paper's number, a row for each workload and scheduler."""
    names, policies = labels.workloads(study), labels.schedulers(study)
    figure, places = style.page(7.4, 0.36 * len(names) * len(policies) + 1.6, 1, len(PANELS), sharey=True)
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
    style.key_below(figure, [style_of(policy).legend_handle() for policy in policies], 3)
    return figure


def _row(places: Sequence[Axes], row: int, policy: str, found: list[Interval | None]) -> int:
    one, drawn = style_of(policy), 0
    for axes, each in zip(places, found, strict=True):
        if each is None or not np.isfinite(each.mean):
            continue
        # The values are never negative, and the axis may be logarithmic.
        left = min(np.nan_to_num(each.mean - each.low), 0.999 * each.mean)
        axes.errorbar(
            each.mean,
            row,
            xerr=[[max(left, 0)], [np.nan_to_num(each.high - each.mean)]],
            fmt=one.marker,
            color=one.color,
            ms=5,
            elinewidth=0.9,
            zorder=3,
        )
        drawn += 1
    return drawn


PARTS = {
    labels.UTILIZATION: ("used by jobs", "#0072b2", ""),
    labels.SWITCHING: ("switching", "#111111", ""),
    labels.PACKING: ("packing: a waiting job fits nowhere", "#d55e00", ""),
    labels.LIMITS: ("limits hold back all waiting jobs", "#e69f00", ""),
    labels.NO_WORK: ("no work", "#e6e6e6", ""),
}
"""Share -> name, colour and hatches, from the left."""


def shares(study: Study, policy: str, workload: str) -> Shares:
    """Return the share of each cause of `PARTS`, none where a point has not run."""
    found = {metric: derived.of_months(study, metric, policy, workload, 1, labels.MONTHS) for metric in PARTS}
    if not all(one.shown for one in found.values()):
        return {}
    return {metric: float(np.nanmean(one.values)) for metric, one in found.items()}


def draw_lost(study: Study) -> Figure:
    """Draw the use of the processor time, a panel for each workload."""
    panels = {
        labels.workload_title(workload): {
            policy: shares(study, policy, workload) for policy in labels.schedulers(study)
        }
        for workload in labels.workloads(study)
    }
    require_points(any(found for rows in panels.values() for found in rows.values()))
    n_bars = max(map(len, panels.values()))
    figure = Figure(figsize=(7.4, len(panels) * (0.34 * n_bars + 0.5) + 1.2), layout="constrained")
    places = figure.subplots(len(panels), 1, sharex=True, squeeze=False).ravel()
    for axes, (name, rows) in zip(places, panels.items(), strict=True):
        stacked_bars.draw(axes, rows, PARTS)
        _numbers(axes, rows)
        axes.set_title(name[:1].upper() + name[1:], fontsize=9, fontweight="normal")
    places[-1].set_xlabel("Share of all processor time (%)")
    style.put_headline(figure, "Use of the processor time")
    style.key_below(figure, stacked_bars.key(PARTS, list(PARTS)), 3)
    return figure


def _numbers(axes: Axes, rows: Mapping[str, Shares]) -> None:
    """Write the larger shares into their bars."""
    for row, found in enumerate(rows.values()):
        begin = 0.0
        for metric, share in found.items():
            if share >= 0.05:
                axes.text(
                    100 * (begin + share / 2), row, f"{100 * share:.0f}", ha="center", va="center",
                    fontsize=7.5, color=style.text_on(PARTS[metric][1]),
                )  # fmt: skip
            begin += share
    axes.set_xlim(0, 100.5)
