"""From a study to plots: which curves are drawn along which axis, one plot or several side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from analysis import load_plot
from analysis.curve import EXCLUDED
from analysis.errors import DrawingError
from analysis.load_plot import LOAD, Line, LoadPlot
from analysis.mccann1994.looks import look
from analysis.study import Study
from analysis.style import SchemeStyle

POWERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)

XLABELS = {
    "load": LOAD,
    "jobs": "Jobs in the system (J)",
    "memory_limit": "Multiprogramming limit (L)",
    "short_fraction": "Fraction of short jobs (p)",
}

OF_THE_AXIS: dict[str, dict[str, Any]] = {
    "load": {},
    "jobs": {"xscale": "log", "xticks": POWERS, "spacing": 0.045},
    "memory_limit": {"xscale": "log", "xticks": POWERS, "spacing": 0.045},
    "short_fraction": {"xlim": (-0.02, 1.02), "dodge": 0.004},
}
"""What an axis asks of a plot. Folding repeats itself from one power of two to the next, so that numbers of
jobs are drawn on a logarithmic axis."""


@dataclass(frozen=True)
class Series:
    """One line of a figure.

    Parameters
    ----------
    metric, policy : str
    point : dict
        Where the curve is taken, see `Study.curve`.
    look : SchemeStyle, optional
        By default the policy's.
    """

    metric: str
    policy: str
    point: Mapping[str, object] = field(default_factory=dict)
    look: SchemeStyle | None = None

    @property
    def style(self) -> SchemeStyle:
        """How the line looks; its label is the line's name."""
        return self.look or look(self.policy)


def plot(
    study: Study, along: str, series: Sequence[Series], ylabel: str, title: str, **settings: Any
) -> LoadPlot:
    """Return a plot of all series that the grid has.

    Parameters
    ----------
    study : Study
    along : str
        Axis of the grid.
    series : sequence of Series
    ylabel, title : str
    **settings
        Further fields of the plot.

    Raises
    ------
    DrawingError
        If the grid has none of them.
    """
    lines, looks = {}, {}
    for one in series:
        curve = study.curve(one.metric, one.policy, along=along, **one.point)
        if len(curve.x) and not curve.where(EXCLUDED).all():
            lines[one.style.label] = Line.of(curve)
            looks[one.style.label] = one.style
    if not lines:
        raise DrawingError("its points are not in this grid")
    chosen = {"xlabel": XLABELS.get(along, along.replace("_", " "))} | OF_THE_AXIS.get(along, {}) | settings
    if along != "load" and "xlim" not in chosen:
        x = np.concatenate([line.x for line in lines.values()])
        chosen["xlim"] = (0.95 * x.min(), 1.05 * x.max())
    return LoadPlot(lines, ylabel, title, looks=looks, **chosen)


def draw(made: LoadPlot) -> Figure:
    """Draw one plot."""
    return load_plot.draw(made)


def panels(
    plots: Sequence[LoadPlot], title: str, *, note: str = "", height: float = 2.9, stacked: bool = False
) -> Figure:
    """Draw plots side by side, or one below the other, with one legend.

    Parameters
    ----------
    plots : sequence of LoadPlot
    title, note : str
    height : float, inches
        Of one plot.
    stacked : bool
    """
    n_rows, n_columns = (len(plots), 1) if stacked else (1, len(plots))
    lines = {name: line for one in plots for name, line in one.lines.items()}
    looks = {name: style for one in plots for name, style in one.looks.items()}
    figure = Figure(figsize=(7.4, height * n_rows + 0.7), layout="constrained")
    places = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for axes, one in zip(places, plots, strict=True):
        load_plot.draw_lines(axes, one)
        axes.set_title(one.title, fontsize=9, fontweight="normal")
    if stacked:
        for axes in places[:-1]:
            axes.set_xlabel("")
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
    if any(line.saturated.any() for line in lines.values()):
        note = f"{note} A line breaks where its policy is saturated.".strip()
    figure.legend(handles=load_plot.legend_handles(lines, looks), loc="outside lower center", ncols=4)
    if note:
        figure.supxlabel(note, fontsize=7.5, color="#666666", x=0.01, ha="left")
    return figure
