"""Figs. 1 and 2 and Table 4: the generated months beside the paper's numbers."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from analysis.chiang2001 import labels
from analysis.chiang2001.labels import table_4, table_of_month
from analysis.errors import require_points
from analysis.figures import style
from analysis.figures.captions import captioned
from analysis.paper import Picture
from analysis.report.table import Cell, Table
from analysis.study import Study
from sweep import statistics

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
DAY_COLORS = ("#332288", "#0072b2", "#009e73", "#999933", "#d55e00")
TIME_STYLES = {
    "vst": ("#d55e00", "-"),
    "st": ("#009e73", "-"),
    "mt": ("#0072b2", "--"),
    "lt": ("#332288", "-."),
}


def pictures(study: Study) -> Iterator[Picture]:
    """Yield Table 4, a page for each half of the months, and the two figures."""
    for number, names in enumerate(_halves(labels.months(study)), start=1):
        page = {f"table4-{number}": partial(draw_table, names=names)}
        ends = {"first": labels.month(names[0]), "last": labels.month(names[-1])}
        yield from captioned(labels.KEY, study, page, "table4", **ends)
    yield from captioned(labels.KEY, study, {"fig1": _arrivals, "fig2": _runtimes})


def _halves(names: list[str]) -> list[list[str]]:
    half = -(-len(names) // 2) if len(names) > 3 else len(names)
    return [names[i : i + half] for i in range(0, len(names), half)]


def _arrivals(study: Study) -> Figure:
    there = labels.months(study)
    name = labels.MARCH if labels.MARCH in there else there[-1]
    found = statistics.intervals(table_of_month(study, "arrivals", name), study.confidence)
    days, hours = study.values_of("weekday"), study.data["hour"].values
    require_points(not np.isnan(found.mean).all())
    figure, axes = style.page(6.6, 3.7)
    for day, color in zip(WEEKDAYS, DAY_COLORS, strict=True):
        place = days.index(day)
        mean, half = found.mean[place], found.half_width[place]
        axes.plot(hours + 0.5, mean, color=color, label=day, marker="o", ms=2.5, linewidth=1.1)
        axes.fill_between(hours + 0.5, mean - half, mean + half, color=color, alpha=0.1, linewidth=0)
    axes.set(xlim=(0, 24), ylim=(0, None), xlabel="Hour of the day", ylabel="Jobs submitted per hour")
    axes.xaxis.set_major_locator(MultipleLocator(3))
    axes.set_title(f"Arrivals, {labels.month(name)}")
    figure.legend(loc="outside right center")
    return figure


def _runtimes(study: Study) -> Figure:
    seconds = study.data["actual_runtime"].values.astype(float)
    classes = study.values_of(labels.TABLE_CLASS)
    table = np.array([table_of_month(study, "runtime_cdf", name) for name in labels.months(study)])
    # Months have equal weights; months without such jobs are excluded from a class's mean.
    known = np.isfinite(table)
    require_points(known.any())
    mean = np.where(known, table, 0.0).sum((0, -2, -1)) / np.maximum(known.sum((0, -2, -1)), 1)
    figure = Figure(figsize=(7.4, 3.1), layout="constrained")
    for axes, size in zip(figure.subplots(1, len(labels.SIZES), sharey=True), labels.SIZES, strict=True):
        for time in labels.TIMES:
            color, dashes = TIME_STYLES[time]
            share = mean[classes.index(f"{time}_{size}")]
            axes.plot(
                seconds / 60,
                100 * share,
                color=color,
                linestyle=dashes,
                label=f"{labels.TIME_NAMES[time]} ({time})",
            )
        _dress(axes, labels.SIZE_NAMES[size].capitalize())
        axes.label_outer()
    style.put_headline(figure, "Distribution of the actual runtime")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _dress(axes: Axes, title: str) -> None:
    axes.set(xscale="log", ylim=(0, 102), xlim=(1, 60000), ylabel="Jobs (%)", xlabel="Actual runtime (min)")
    axes.set_xticks([1, 10, 100, 1000, 10000])
    axes.xaxis.set_major_formatter(style.THOUSANDS)
    axes.set_title(title, fontsize=9, fontweight="normal")


ROWS = {
    labels.NUMBER: ("jobs", "jobs"),
    labels.DEMAND: ("processors, %", "processor_demand"),
    labels.MEMORY_DEMAND: ("memory, %", "memory_demand"),
}
"""Metric -> its name in the table, and the field of `PaperMonth`."""

SHOWN = 0.05
"""Smallest half-width that is shown, given the digits of the table."""

PAPER, GENERATED = "#666666", "#111111"
SIZE = 8
"""Points of the numbers: a page that shows the table in 800 pixels has them at 11."""


def draw_table(study: Study, names: Sequence[str]) -> Figure:
    """Draw the rows of some months.

    Parameters
    ----------
    study : Study
        The experiment on the workload.
    names : sequence of str
        Workloads.
    """
    classes = study.values_of(labels.TABLE_CLASS)
    figure = Figure(figsize=(8.4, 0.34 * (len(ROWS) * len(names) + 1) * 1.35 + 0.3 * len(names)))
    axes = figure.add_axes((0.005, 0.01, 0.99, 0.98))
    axes.set_axis_off()
    columns = 0.21 + np.arange(len(classes)) * 0.79 / len(classes) + 0.4 / len(classes)
    depth = len(names) * (len(ROWS) + 0.7) + 1
    axes.set(xlim=(0, 1), ylim=(depth, -0.1))
    for x, name in zip(columns, classes, strict=True):
        axes.text(x, 0.4, name.replace("_", "-"), ha="center", va="center", fontsize=SIZE, fontweight="bold")
    y, any_drawn = 1.0, False
    for name in names:
        paper = table_4(name, study)
        axes.axhline(y - 0.12, color="#bbbbbb", linewidth=0.7)
        starred = "*" if name in labels.HIGH_LOAD else ""
        axes.text(
            0.003, y + 0.2, f"{labels.month(name)}{starred}", fontsize=9, fontweight="bold", va="center"
        )
        y += 0.5
        for metric, (title, field) in ROWS.items():
            found = statistics.intervals(table_of_month(study, metric, name), study.confidence)
            any_drawn |= bool(np.isfinite(found.mean).any())
            axes.text(0.005, y + 0.32, title, fontsize=SIZE, va="center")
            axes.text(0.205, y + 0.17, "paper", fontsize=SIZE, va="center", ha="right", color=PAPER)
            axes.text(0.205, y + 0.5, "generated", fontsize=SIZE, va="center", ha="right", color=GENERATED)
            _write(axes, columns, y, getattr(paper, field, None), found.mean, found.half_width)
            y += 1.0
        y += 0.2
    require_points(any_drawn)
    return figure


def lines(study: Study) -> list[str]:
    """Return Table 4 for a terminal: the paper's numbers, and below them the generated ones."""
    classes = [name.replace("_", "-") for name in study.values_of(labels.TABLE_CLASS)]
    rows = []
    for name in labels.months(study):
        paper = table_4(name, study)
        for metric, (title, field) in ROWS.items():
            found = statistics.intervals(table_of_month(study, metric, name), study.confidence)
            if paper is not None:
                rows.append(
                    [f"{labels.month(name)}, {title}, paper", *(f"{x:,.0f}" for x in getattr(paper, field))]
                )
            shown = (_shown(*pair) for pair in zip(found.mean, found.half_width, strict=True))
            rows.append([f"{labels.month(name)}, {title}, generated", *shown])
    columns = ["Table 4 of the paper", *classes]
    return Table("table4", "", "", columns, [[Cell(text) for text in row] for row in rows]).as_lines()


def _write(
    axes: Axes, columns: np.ndarray, y: float, paper: np.ndarray | None, mean: np.ndarray, half: np.ndarray
) -> None:
    write = partial(axes.text, fontsize=SIZE, ha="center", va="center")
    for place, x in enumerate(columns):
        if paper is not None:
            write(x, y + 0.17, f"{paper[place]:,.0f}", color=PAPER)
        value, plus_minus, within = _shown(mean[place], half[place]).partition(" ±")
        write(x, y + 0.5, value, color=GENERATED)
        write(x, y + 0.8, plus_minus.strip() + within, color=GENERATED)


def _shown(mean: float, half: float) -> str:
    if not np.isfinite(mean):
        return "–"
    if mean == round(mean) and (not np.isfinite(half) or half == 0):
        return f"{mean:,.0f}"
    return f"{mean:.1f}" + (f" ± {half:.1f}" if half >= SHOWN else "")
