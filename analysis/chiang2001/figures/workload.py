"""Figs. 1 and 2 and Table 4: the generated months beside the paper's numbers."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from analysis.chiang2001.demands import table_of_month
from analysis.chiang2001.figures.table4 import draw_table
from analysis.chiang2001.labels import (
    KEY,
    MARCH,
    SIZE_NAMES,
    SIZES,
    TABLE_CLASS,
    TIME_NAMES,
    TIMES,
    month,
    months,
)
from analysis.errors import require_points
from analysis.figures import style
from analysis.figures.captions import captioned
from analysis.paper import Picture
from analysis.study import Study
from sweep import statistics

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
DAY_COLORS = ("#332288", "#0072b2", "#009e73", "#999933", "#d55e00")
TIME_LOOKS = {
    "vst": ("#d55e00", "-"),
    "st": ("#009e73", "-"),
    "mt": ("#0072b2", "--"),
    "lt": ("#332288", "-."),
}


def pictures(study: Study) -> Iterator[Picture]:
    """Yield Table 4, a page for each half of the months, and the two figures."""
    for number, names in enumerate(_halves(months(study)), start=1):
        page = {f"table4-{number}": partial(draw_table, names=names)}
        ends = {"first": month(names[0]), "last": month(names[-1])}
        yield from captioned(KEY, study, page, "table4", **ends)
    yield from captioned(KEY, study, {"fig1": _arrivals, "fig2": _runtimes})


def _halves(names: list[str]) -> list[list[str]]:
    half = -(-len(names) // 2) if len(names) > 3 else len(names)
    return [names[i : i + half] for i in range(0, len(names), half)]


def _arrivals(study: Study) -> Figure:
    there = months(study)
    name = MARCH if MARCH in there else there[-1]
    found = statistics.intervals(table_of_month(study, "arrivals", name), study.confidence)
    days, hours = study.values_of("weekday"), study.data["hour"].values
    require_points(not np.isnan(found.mean).all())
    figure = Figure(figsize=(6.6, 3.7), layout="constrained")
    axes = figure.subplots()
    for day, color in zip(WEEKDAYS, DAY_COLORS, strict=True):
        place = days.index(day)
        mean, half = found.mean[place], found.half_width[place]
        axes.plot(hours + 0.5, mean, color=color, label=day, marker="o", ms=2.5, linewidth=1.1)
        axes.fill_between(hours + 0.5, mean - half, mean + half, color=color, alpha=0.1, linewidth=0)
    axes.set(xlim=(0, 24), ylim=(0, None), xlabel="Hour of the day", ylabel="Jobs submitted in an hour")
    axes.xaxis.set_major_locator(MultipleLocator(3))
    axes.set_title(f"Arrivals, {month(name)}")
    figure.legend(loc="outside right center")
    return figure


def _runtimes(study: Study) -> Figure:
    seconds = study.data["actual_runtime"].values.astype(float)
    classes = study.values_of(TABLE_CLASS)
    table = np.array([table_of_month(study, "runtime_cdf", name) for name in months(study)])
    # Months count alike; one without such jobs is left out of a class' mean.
    known = np.isfinite(table)
    require_points(known.any())
    mean = np.where(known, table, 0.0).sum((0, -2, -1)) / np.maximum(known.sum((0, -2, -1)), 1)
    figure = Figure(figsize=(7.4, 3.1), layout="constrained")
    for axes, size in zip(figure.subplots(1, len(SIZES), sharey=True), SIZES, strict=True):
        for time in TIMES:
            color, dashes = TIME_LOOKS[time]
            share = mean[classes.index(f"{time}_{size}")]
            axes.plot(
                seconds / 60, 100 * share, color=color, linestyle=dashes, label=f"{TIME_NAMES[time]} ({time})"
            )
        _dress(axes, SIZE_NAMES[size].capitalize())
        axes.label_outer()
    style.put_headline(figure, "Distribution of the actual runtime")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def _dress(axes: Axes, title: str) -> None:
    axes.set(xscale="log", ylim=(0, 102), xlim=(1, 60000), ylabel="Jobs (%)", xlabel="Actual runtime (min)")
    axes.set_xticks([1, 10, 100, 1000, 10000])
    axes.xaxis.set_major_formatter(style.THOUSANDS)
    axes.set_title(title, fontsize=9, fontweight="normal")
