"""Table 4 as a page: the paper's numbers above the generated ones with their intervals."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.chiang2001.demands import table_4, table_of_month
from analysis.chiang2001.labels import DEMAND, HIGH_LOAD, MEMORY_DEMAND, NUMBER, TABLE_CLASS, month, months
from analysis.errors import require_points
from analysis.report.table import Cell, Table
from analysis.study import Study
from sweep import statistics

ROWS = {
    NUMBER: ("jobs", "jobs"),
    DEMAND: ("processors, %", "processor_demand"),
    MEMORY_DEMAND: ("memory, %", "memory_demand"),
}
"""Metric -> its name in the table, and the field of `PaperMonth`."""

SHOWN = 0.05
"""Half-width from which an interval is shown, in the digits of the table."""

PAPER, GENERATED = "#666666", "#111111"


def draw_table(study: Study, names: Sequence[str]) -> Figure:
    """Draw the rows of some months.

    Parameters
    ----------
    study : Study
        Of the experiment on the workload.
    names : sequence of str
        Workloads.
    """
    classes = study.values_of(TABLE_CLASS)
    figure = Figure(figsize=(10.4, 0.34 * (len(ROWS) * len(names) + 1) * 1.35 + 0.3 * len(names)))
    axes = figure.add_axes((0.005, 0.01, 0.99, 0.98))
    axes.set_axis_off()
    columns = 0.2 + np.arange(len(classes)) * 0.8 / len(classes) + 0.4 / len(classes)
    depth = len(names) * (len(ROWS) + 0.7) + 1
    axes.set(xlim=(0, 1), ylim=(depth, -0.1))
    for x, name in zip(columns, classes, strict=True):
        axes.text(x, 0.4, name.replace("_", "-"), ha="center", va="center", fontsize=8, fontweight="bold")
    y, any_drawn = 1.0, False
    for name in names:
        paper = table_4(name, study)
        axes.axhline(y - 0.12, color="#bbbbbb", linewidth=0.7)
        starred = "*" if name in HIGH_LOAD else ""
        axes.text(0.003, y + 0.2, f"{month(name)}{starred}", fontsize=9, fontweight="bold", va="center")
        y += 0.5
        for metric, (title, field) in ROWS.items():
            found = statistics.intervals(table_of_month(study, metric, name), study.confidence)
            any_drawn |= bool(np.isfinite(found.mean).any())
            axes.text(0.02, y + 0.32, title, fontsize=8, va="center")
            axes.text(0.19, y + 0.17, "paper", fontsize=6.5, va="center", ha="right", color=PAPER)
            axes.text(0.19, y + 0.5, "generated", fontsize=6.5, va="center", ha="right", color=GENERATED)
            _write(axes, columns, y, getattr(paper, field, None), found.mean, found.half_width)
            y += 1.0
        y += 0.2
    require_points(any_drawn)
    return figure


def lines(study: Study) -> list[str]:
    """Return Table 4 for a terminal: the paper's numbers, and below them the generated ones."""
    classes = [name.replace("_", "-") for name in study.values_of(TABLE_CLASS)]
    rows = []
    for name in months(study):
        paper = table_4(name, study)
        for metric, (title, field) in ROWS.items():
            found = statistics.intervals(table_of_month(study, metric, name), study.confidence)
            if paper is not None:
                rows.append([f"{month(name)}, {title}, paper", *(f"{x:,.0f}" for x in getattr(paper, field))])
            shown = (_shown(*pair) for pair in zip(found.mean, found.half_width, strict=True))
            rows.append([f"{month(name)}, {title}, generated", *shown])
    columns = ["Table 4 of the paper", *classes]
    return Table("table4", "", "", columns, [[Cell(text) for text in row] for row in rows]).as_lines()


def _write(
    axes: Axes, columns: np.ndarray, y: float, paper: np.ndarray | None, mean: np.ndarray, half: np.ndarray
) -> None:
    for place, x in enumerate(columns):
        if paper is not None:
            axes.text(
                x, y + 0.17, f"{paper[place]:,.0f}", fontsize=7.5, ha="center", va="center", color=PAPER
            )
        axes.text(
            x, y + 0.5, _shown(mean[place], half[place]), fontsize=7.5, ha="center", va="center",
            color=GENERATED,
        )  # fmt: skip


def _shown(mean: float, half: float) -> str:
    if not np.isfinite(mean):
        return "–"
    if mean == round(mean) and (not np.isfinite(half) or half == 0):
        return f"{mean:,.0f}"
    return f"{mean:.1f}" + (f" ± {half:.1f}" if half >= SHOWN else "")
