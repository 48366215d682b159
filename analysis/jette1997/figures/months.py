"""Fig. 1, monthly utilization under the three schedulers; and the same week by week."""

from datetime import date

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from analysis.errors import require_points
from analysis.figures import style
from analysis.figures.policies import style_of
from analysis.jette1997 import derived, labels
from analysis.jette1997.claims import ROWS
from analysis.study import Study

WEEK = 7 * 86400.0
SUSTAINED, HIGHEST, WELL = (ROWS.names[name] for name in ("sustained", "highest", "well"))
GUIDES = {0.33: "33 % before", SUSTAINED: "95 %: conclusions", HIGHEST: "96 %: section on the T3D"}
"""Utilizations that the paper names."""

LEAST_EXCESS = 0.001
"""The excess of a slowdown over 1 at which the logarithmic axis begins."""


def month_name(first: date | None, number: int) -> str:
    """Return a month's name on an axis, numbered from 1 on.

    Examples
    --------
    >>> month_name(date(1995, 10, 1), 4), month_name(None, 4)
    ('Jan\\n96', '4')
    """
    if first is None:
        return str(number)
    year, month = divmod(first.month + number - 2, 12)
    name = date(first.year + year, month + 1, 1)
    names = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
    return names[name.month - 1] + (f"\n{name.year % 100:02}" if number == 1 or name.month == 1 else "")


def draw_months(study: Study) -> Figure:
    """Draw Fig. 1."""
    workload = labels.long_one(study)
    figure, axes = style.page(7.4, 3.9)
    drawn, x = 0, np.arange(1, labels.MONTHS + 1)
    for number, policy in enumerate(labels.schedulers(study)):
        one = style_of(policy)
        samples = [
            derived.of_months(study, labels.UTILIZATION, policy, workload, month)
            for month in range(1, labels.MONTHS + 1)
        ]
        found = [sample.mean(study.confidence) if sample.shown else None for sample in samples]
        mean = np.array([100 * each.mean if each else np.nan for each in found])
        half = np.array([100 * each.half_width if each else np.nan for each in found])
        place = x + 0.12 * (number - 1)
        within = np.minimum(np.nan_to_num(half), np.clip(np.nan_to_num([mean, 100 - mean]), 0, None))
        axes.errorbar(
            place, mean, within, color=one.color, linestyle=one.dashes, marker=one.marker,
            ms=3.2, linewidth=1.0, elinewidth=0.8, zorder=3,
        )  # fmt: skip
        drawn += int(np.isfinite(mean).sum())
        if policy in labels.HISTORY:
            first, last = labels.HISTORY[policy]
            had = (x >= first) & (x <= last)
            axes.plot(
                place[had], mean[had], one.marker, color=one.color, mec="#111111", mew=0.9, ms=8.0, zorder=4
            )
            _period(axes, policy, first, last)
    _guide(axes, drawn)
    begin = derived.first_day(study, workload)
    axes.set_xticks(x, [month_name(begin, int(number)) for number in x])
    axes.set(xlim=(0.5, labels.MONTHS + 0.5), ylim=(0, 108), ylabel="Utilization (%)", xlabel="Month")
    axes.set_yticks([0, 20, 40, 60, 80, 100])
    axes.grid(visible=False, axis="x")
    style.put_headline(figure, "Fig. 1: monthly utilization of the Cray T3D")
    handles = _handles(study)
    handles.append(
        Line2D(
            [],
            [],
            linestyle="none",
            marker="o",
            color="white",
            mec="#111111",
            ms=8,
            label="scheduler in use at the site",
        )
    )
    style.key_below(figure, handles, 4)
    return figure


def _guide(axes: Axes, drawn: int) -> None:
    """Draw the utilizations that the paper names; `DrawingError` if there is nothing to compare with them."""
    require_points(drawn)
    for share, name in GUIDES.items():
        style.guide(axes, 100 * share, name, below=share != HIGHEST)


def _period(axes: Axes, policy: str, first: int, last: int) -> None:
    """Shade the months in which the site had a scheduler, and name it at the top."""
    axes.axvspan(
        first - 0.5, last + 0.5, color=style.shade(style_of(policy).color, 0.9), zorder=0, linewidth=0
    )
    axes.text(
        (first + last) / 2, 104, style_of(policy).label, ha="center", va="center", fontsize=8, color="#333333"
    )


def draw_weeks(study: Study) -> Figure:
    """Draw the utilization of each week, the mean and the range of all runs."""
    workload = labels.long_one(study)
    figure, axes = style.page(7.4, 3.4)
    drawn = 0
    for policy in labels.schedulers(study):
        sample = derived.weekly(study, labels.UTILIZATION, policy, workload)
        if not sample.shown:
            continue
        x = derived.middles(study, policy, workload) / WEEK
        there = np.isfinite(sample.values).any(axis=0)
        values = 100 * sample.values[:, there]
        one = style_of(policy)
        axes.fill_between(
            x[there],
            np.nanmin(values, axis=0),
            np.nanmax(values, axis=0),
            color=one.color,
            alpha=0.16,
            linewidth=0,
        )
        axes.plot(x[there], np.nanmean(values, axis=0), color=one.color, linestyle=one.dashes, linewidth=1.3)
        drawn += 1
    _guide(axes, drawn)
    axes.set(xlabel="Week", ylabel="Utilization (%)", ylim=(0, 102))
    axes.set_xlim(left=0)
    style.put_headline(figure, "Weekly utilization of the Cray T3D")
    handles = _handles(study, marker="None")
    band = Patch(color="#888888", alpha=0.3, linewidth=0, label="from the lowest to the highest run")
    style.key_below(figure, [*handles, band], 4)
    return figure


def scatter(study: Study) -> Figure:
    """Draw the slowdown of each week over its utilization."""
    workload = labels.long_one(study)
    figure, axes = style.page(7.4, 4.2)
    drawn = 0
    for policy in labels.schedulers(study):
        used = derived.weekly(study, labels.UTILIZATION, policy, workload)
        slowdown, runtime = (
            derived.raw(study, metric, policy, workload, **{labels.SITE_CLASS: labels.INTERACTIVE})
            for metric in (labels.CLASS_SLOWDOWN, labels.CLASS_RUNTIME)
        )
        if not (used.shown and slowdown.shown):
            continue
        excess = np.where(runtime.values > 0, np.maximum(slowdown.values - 1, LEAST_EXCESS), np.nan)
        one = style_of(policy)
        axes.plot(
            100 * used.values.ravel(), 100 * excess.ravel(), one.marker, color=one.color, ms=3.0,
            alpha=0.45, mew=0, linestyle="none",
        )  # fmt: skip
        drawn += 1
    require_points(drawn)
    axes.set_yscale("log")
    axes.set(
        xlabel="Utilization of the week (%)",
        ylabel="Slowdown of its interactive workload\n(% over the runtimes)",
    )
    axes.set_xlim(0, 102)
    bottom = axes.get_ylim()[0]
    axes.fill_between(
        [100 * SUSTAINED, 102], bottom, 100 * WELL, color="#117733", alpha=0.15, linewidth=0, zorder=0
    )
    axes.set_ylim(bottom=bottom)
    axes.text(
        98.5, 90 * WELL, "the conclusions", ha="center", va="top", fontsize=7, color="#117733", rotation=90
    )
    style.plain_ticks(axes.yaxis)
    style.put_headline(figure, "Utilization and responsiveness, week by week")
    style.key_below(figure, _handles(study, linestyle="none"), 3)
    return figure


def _handles(study: Study, **changed: str) -> list[Line2D]:
    """Return the legend's entries of the schedulers, with some properties changed."""
    handles = [style_of(policy).legend_handle() for policy in labels.schedulers(study)]
    for handle in handles:
        handle.set(**changed)
    return handles
