"""Names of lines at their ends, beside the axes, in place of a legend.

A policy that is saturated wherever it was run has no line: its name is beside its row of the strip.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from analysis.figures.load_plot.plot import LoadPlot
from analysis.figures.style import NAME_OF_LINE

LABEL_HEIGHT = 0.052
"""Distance of two names beside the axes, of the axes' height."""

NAMED_ROW = 0.145
"""Height of a row of the strip if rows have names, inches."""


def name_lines(axes: Axes, plot: LoadPlot) -> None:
    """Write each line's name beside the axes at the height of its end, moved only to keep names apart."""
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = {}
    for name, line in plot.lines.items():
        if line.drawn.any():
            points = np.column_stack([line.x, line.mean * plot.scale])[line.drawn]
            ends[name] = _end_inside(to_axes.transform(points))
    # Of lines that leave the axes the first to leave is named first, from above.
    if not ends:
        return
    names = sorted(ends, key=lambda name: (ends[name][1], -ends[name][0]))
    heights = spread(np.array([ends[name][1] for name in names]), LABEL_HEIGHT)
    for name, height in zip(names, heights, strict=True):
        look, (x, y) = plot.look(name), ends[name]
        to_name = Line2D(
            [x + 0.01, 1.03, 1.05], [y, height, height], color=look.color, linewidth=0.5, alpha=0.7, zorder=1,
            label="_nolegend_", transform=axes.transAxes,
        )  # fmt: skip
        sample = Line2D(
            [1.055, 1.11], [height, height], color=look.color, linestyle=look.dashes, marker=look.marker,
            markevery=[1], ms=4, linewidth=1.1, label=look.label, transform=axes.transAxes,
        )  # fmt: skip
        _put_beside(axes, to_name, sample)
        axes.text(
            1.135, height, look.label, color="#222222", fontsize=8, va="center", transform=axes.transAxes,
            gid=NAME_OF_LINE,
        )  # fmt: skip


def _put_beside(axes: Axes, *lines: Line2D) -> None:
    """Add lines that lead to a name. Layout need not measure them: the name is as high, and further out."""
    for line in lines:
        line.set_clip_on(False)
        line.set_in_layout(False)
        axes.add_artist(line)


def _end_inside(points: np.ndarray) -> np.ndarray:
    """Return where a line of points, in the axes' own unit square, ends or leaves it for good."""
    x, y = points.T
    inside = np.flatnonzero((y >= 0) & (y <= 1))
    if not inside.size:
        return np.array([x[0], np.clip(y[0], 0, 1)])
    last = inside[-1]
    if last == len(y) - 1:
        return np.array([x[last], y[last]])
    edge = float(y[last + 1] > 1)
    part = (edge - y[last]) / (y[last + 1] - y[last])
    return np.array([x[last] + part * (x[last + 1] - x[last]), edge])


def spread(wanted: np.ndarray, apart: float) -> np.ndarray:
    """Return ascending places in [0, 1] at least so far apart, moved as little as possible (least squares).

    Examples
    --------
    >>> spread(np.array([0.4, 0.5, 0.5]), 0.2).round(3).tolist()
    [0.267, 0.467, 0.667]
    """
    steps = apart * np.arange(len(wanted))
    blocks: list[list[float]] = []  # of places that touch: their sum and their number
    for place in wanted - steps:
        blocks.append([float(place), 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, n = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += n
    places = np.concatenate([np.full(int(n), total / n) for total, n in blocks])
    found: np.ndarray = np.clip(places, 0.0, max(0.0, 1.0 - steps[-1])) + steps
    return found


def name_rows(axes: Axes, plot: LoadPlot, names: Sequence[str]) -> None:
    """Write beside the strip, whose policies are given from above, the names of those without a line."""
    for row, name in enumerate(reversed(names)):
        if name not in without_line(plot, names):
            continue
        look = plot.look(name)
        sample = Line2D(
            [1.055, 1.11], [row, row], color=look.color, linewidth=0.7, marker=look.marker, mfc="white",
            markevery=[1], ms=4, label=look.label, transform=axes.get_yaxis_transform(),
        )  # fmt: skip
        _put_beside(axes, sample)
        axes.text(
            1.135, row, look.label, color="#222222", fontsize=7, va="center",
            transform=axes.get_yaxis_transform(), gid=NAME_OF_LINE,
        )  # fmt: skip


def without_line(plot: LoadPlot, names: Sequence[str]) -> list[str]:
    """Return those of the policies of a strip that have no line in the axes below, and so no name there."""
    return [name for name in names if plot.direct and not plot.lines[name].drawn.any()]
