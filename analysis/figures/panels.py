"""Several plots over an axis on one page, and plots from declared lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from analysis.errors import DrawingError, require_points
from analysis.figures import load_plot, style
from analysis.figures.load_plot import Line, LoadPlot
from analysis.figures.policies import style_of
from analysis.figures.style import SchemeStyle
from analysis.study import Study


@dataclass(frozen=True)
class PlotAxis:
    """An axis of the grid, for plots.

    Parameters
    ----------
    settings : dict
        Fields of `LoadPlot` that suit it.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Series:
    """One line of a figure.

    Parameters
    ----------
    point : dict
        The point at which the curve is taken, see `Study.curve`.
    own_style : SchemeStyle, optional
        By default the policy's.
    """

    metric: str
    policy: str
    point: Mapping[str, object] = field(default_factory=dict)
    own_style: SchemeStyle | None = None

    @property
    def style(self) -> SchemeStyle:
        """The style of the line; its label is the line's name."""
        return self.own_style or style_of(self.policy)


def plot(
    study: Study, along: PlotAxis, series: Sequence[Series], ylabel: str, title: str, **settings: Any
) -> LoadPlot:
    """Return a plot of all series that the grid has.

    Parameters
    ----------
    **settings
        Further fields of the plot, which override the axis's.

    Raises
    ------
    DrawingError
        If the grid has none of them.
    """
    lines, styles, chosen = {}, {}, {**along.settings, **settings}
    for one in series:
        curve = study.curve(one.metric, one.policy, along=along.name, **one.point)
        if curve.there:
            lines[one.style.label] = Line.of(curve)
            styles[one.style.label] = one.style
    if not lines:
        raise DrawingError("this grid lacks the figure's points")
    if along.name != "load" and "xlim" not in chosen:
        x = np.concatenate([line.x for line in lines.values()])
        chosen["xlim"] = (0.95 * x.min(), 1.05 * x.max())
    return LoadPlot(lines, ylabel, title, styles=styles, **chosen)


def panels(
    plots: Sequence[LoadPlot], title: str, *, note: str = "", height: float = 2.9, stacked: bool = False
) -> Figure:
    """Draw plots side by side, or one below the other, with one legend.

    Parameters
    ----------
    height : float, inches
        Of one plot.

    Raises
    ------
    DrawingError
        If no point has been run.
    """
    lines = [line for one in plots for line in one.lines.values()]
    require_points(any(line.drawn.any() or line.saturated.any() for line in lines))
    if any(line.saturated.any() for line in lines):
        note = f"{note} A line breaks where its policy is saturated.".strip()
    return grid([[one] for one in plots] if stacked else [plots], title, note, height)


def grid(rows: Sequence[Sequence[LoadPlot]], title: str, note: str = "", height: float = 2.35) -> Figure:
    """Draw rows of plots, each `height` inches high, with one legend below; empty plots are omitted."""
    figure, places = style.page(7.4, height * len(rows) + 0.9, len(rows), max(map(len, rows)), squeeze=False)
    drawn, cut = [], []
    for row, axes_row in zip(rows, places, strict=True):
        for axes in axes_row[len(row) :]:
            axes.set_visible(False)
        for axes, one in zip(axes_row, row, strict=False):
            if not one.lines:
                axes.set_visible(False)
                continue
            load_plot.draw_lines(axes, one)
            cut.append(load_plot.mark_cut_bars(axes, one))
            axes.set_title(one.title, fontsize=9, fontweight="normal")
            if row is not rows[-1]:
                axes.set_xlabel("")
            drawn.append(one)
    style.put_headline(figure, title)
    handles = load_plot.legend_handles(drawn)
    notes = load_plot.notes_below(drawn, cut, note)
    style.key_below(figure, handles, 4, notes)
    # A legend of many rows and notes need additional height.
    figure.set_figheight(height * len(rows) + 0.6 + 0.18 * -(-len(handles) // 4) + 0.2 * len(notes))
    return figure
