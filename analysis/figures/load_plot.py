"""A metric of several policies over the load or another axis, drawn so that nothing hides anything.

Curves end where a policy saturates: the mean of a growing queue is no number. The strip above the axes shows
at which loads that is, one row for each policy that saturates. Error bars are shifted sideways by a little,
the same for a policy everywhere; a hollow point has no bar because its interval was withheld.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import MultipleLocator

from analysis.errors import DrawingError
from analysis.figures import policies, style
from analysis.figures.style import SchemeStyle
from analysis.study import Study
from analysis.study.curve import DONE, SATURATED, UNFINISHED, Curve
from sweep.statistics import paired_ratio

DODGE = 0.0016
"""Sideways distance of two neighbouring schemes over the unit interval: far below that of two loads."""

WIDE = 0.3
"""Range of loads from which the axis shows the whole unit interval."""

LOAD = "Offered load (fraction of capacity)"

STRIP_ROW = 0.115
"""Height of a row of the strip of saturated loads, inches."""


@dataclass(frozen=True)
class Line:
    """Estimates over an axis; every array has the shape (n_points,).

    Parameters
    ----------
    x, mean, half_width : ndarray
        `half_width` is NaN where the interval is withheld, both are where nothing is drawn.
    saturated, finished : ndarray of bool
        Saturated points, and those of which every replication is done.
    """

    x: np.ndarray
    mean: np.ndarray
    half_width: np.ndarray
    saturated: np.ndarray
    finished: np.ndarray

    @classmethod
    def of(cls, curve: Curve) -> Line:
        """Return the intervals of a metric."""
        found = curve.intervals()
        return cls(curve.x, found.mean, found.half_width, curve.where(SATURATED), ~curve.where(UNFINISHED))

    @classmethod
    def ratio(cls, curve: Curve, reference: Curve) -> Line:
        """Return the ratio of two metrics, paired batch by batch, where both can be drawn."""
        mean, half = np.full((2, len(curve.x)), np.nan)
        for place in np.flatnonzero(curve.shown & reference.shown):
            found = paired_ratio(
                curve.values[place],
                reference.values[place],
                curve.confidence,
                exact=curve.exact and reference.exact,
            )
            mean[place], half[place] = found.mean, found.half_width
        finished = curve.where(DONE) & reference.where(DONE)
        return cls(curve.x, mean, half, curve.where(SATURATED), finished)

    @property
    def drawn(self) -> np.ndarray:
        """Where there is a point."""
        return np.isfinite(self.mean)


@dataclass(frozen=True)
class LoadPlot:
    """What is drawn.

    Parameters
    ----------
    lines : dict of str to Line
        Scheme -> estimates, in the legend's order.
    ylabel : str
    title : str
    ylim : (float, float), optional
        Curves that leave it are clipped at its edge.
    note : str
        A line below the axes.
    guides : dict of float to str
        Horizontal lines, in the axis's scale, with their labels.
    scale : float
        Values are drawn times this.
    xlabel : str
    xlim : (float, float), optional
        By default what suits offered loads.
    xscale, yscale : {"linear", "log"}
    xticks, yticks : sequence of float, optional
        For logarithmic axes, where matplotlib's own are powers of ten.
    looks : dict of str to SchemeStyle
        Of lines that do not look like the scheme of their name.
    dodge : float
        Sideways distance of two neighbouring schemes.
    spacing : float
        Markers are at least this fraction of the axis apart, where points are many and close.
    """

    lines: Mapping[str, Line]
    ylabel: str
    title: str
    ylim: tuple[float | None, float | None] = (None, None)
    note: str = ""
    guides: Mapping[float, str] = field(default_factory=dict)
    scale: float = 1.0
    xlabel: str = LOAD
    xlim: tuple[float, float] | None = None
    xscale: str = "linear"
    yscale: str = "linear"
    xticks: Sequence[float] = ()
    yticks: Sequence[float] = ()
    looks: Mapping[str, SchemeStyle] = field(default_factory=dict)
    dodge: float = DODGE
    spacing: float = 0.0

    def look(self, name: str) -> SchemeStyle:
        """Return the style of a line."""
        return self.looks.get(name) or policies.look(name)


def draw(plot: LoadPlot) -> Figure:
    """Draw a plot with its legend to the right and, if anything saturates, the strip above."""
    if all(np.isnan(line.x).all() for line in plot.lines.values()):
        raise DrawingError("its workload runs at one load of its own: give several, grid.load=[0.5,0.7,0.9]")
    saturating = [name for name, line in plot.lines.items() if line.saturated.any()]
    if not saturating and not any(line.drawn.any() for line in plot.lines.values()):
        raise DrawingError("none of its points has been run yet: run the sweep to its end")
    strip = STRIP_ROW * len(saturating) + 0.1 if saturating else 0.0
    figure = Figure(figsize=(6.6, 3.7 + strip), layout=ConstrainedLayoutEngine(hspace=0, h_pad=0.02))
    if saturating:
        above, axes = figure.subplots(2, 1, sharex=True, height_ratios=[strip, 3.7])
        _draw_strip(above, plot, saturating)
        above.set_title(plot.title)
    else:
        axes = figure.subplots()
        axes.set_title(plot.title)
    draw_lines(axes, plot)
    figure.legend(handles=legend_handles(plot.lines, plot.looks), loc="outside right center")
    if plot.note:
        style.put_note(figure, plot.note)
    return figure


def draw_lines(axes: Axes, plot: LoadPlot, tick: float = 0.1) -> None:
    """Draw all lines with error bars into axes, with a tick every so much of a wide range of loads."""
    x = next(iter(plot.lines.values())).x
    axes.set(xscale=plot.xscale, yscale=plot.yscale, xlim=plot.xlim or _load_limits(x))
    for number, name in enumerate(plot.lines):
        _draw_line(axes, plot, number, name)
    for height, text in plot.guides.items():
        axes.axhline(height, color="#888888", linewidth=0.8, linestyle=(0, (5, 3)), zorder=1)
        axes.annotate(
            text,
            (0.01, height),
            xycoords=("axes fraction", "data"),
            xytext=(0, 2),
            textcoords="offset points",
            fontsize=7.5,
            color="#666666",
        )
    low, high = plot.ylim
    axes.set_ylim(low, high)
    limits = axes.get_xlim(), axes.get_ylim()
    for axis, ticks in ((axes.xaxis, plot.xticks), (axes.yaxis, plot.yticks)):
        if ticks:
            axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
            axis.minorticks_off()
    axes.set(xlim=limits[0], ylim=limits[1])  # ticks beyond them would move them
    axes.set_xlabel(plot.xlabel)
    axes.set_ylabel(plot.ylabel)
    if plot.xlim is None and np.nanmax(x) - np.nanmin(x) > WIDE:
        axes.xaxis.set_major_locator(MultipleLocator(tick))


def bars(study: Study) -> str:
    """Say what the error bars are."""
    return f"Bars: {study.confidence:.0%} confidence intervals."


def legend_handles(lines: Mapping[str, Line], looks: Mapping[str, SchemeStyle] | None = None) -> list[Line2D]:
    """Return legend entries of the lines, and of the special signs as far as they occur."""
    looks = looks or {}
    handles = [(looks.get(name) or policies.look(name)).legend_handle() for name in lines]
    hollow = []
    if any((line.drawn & ~np.isfinite(line.half_width)).any() for line in lines.values()):
        hollow.append("interval withheld")
    if any((line.drawn & ~line.finished).any() for line in lines.values()):
        hollow.append("replications missing")
    if hollow:
        text = " or\n".join(hollow)
        handles.append(Line2D([], [], linestyle="none", marker="o", color="white", mec="#444444", label=text))
    return handles


def _draw_line(axes: Axes, plot: LoadPlot, number: int, name: str) -> None:
    """Draw a line of a plot; its number decides on its sideways shift and which points are marked."""
    line = plot.lines[name]
    look, drawn = plot.look(name), line.drawn
    if not drawn.any():
        return
    places = line.x + (number - (len(plot.lines) - 1) / 2) * plot.dodge
    x, mean, half = places[drawn], line.mean[drawn] * plot.scale, line.half_width[drawn] * plot.scale
    known = np.isfinite(half)
    full = known & line.finished[drawn]
    # No line across a saturated load: what is between would be made up.
    known_or_not = drawn | line.saturated
    gaps = np.where(drawn, line.mean, np.nan)[known_or_not] * plot.scale
    axes.plot(places[known_or_not], gaps, color=look.color, linestyle=look.dashes, zorder=3)
    if (barred := known & (half > 0)).any():
        axes.errorbar(
            x[barred], mean[barred], half[barred], fmt="none", ecolor=look.color, elinewidth=0.9, zorder=2
        )
    joined = np.convolve(np.pad(drawn, 1), [1, 0, 1], "valid")[drawn] > 0  # to a neighbour, by a line
    marked = _marked(axes, x, plot.spacing, number) | ~joined
    for chosen, fill, edge, width in (
        (full & marked, look.color, "white", 0.4),
        (~full, "white", look.color, 0.9),
    ):
        axes.plot(x[chosen], mean[chosen], look.marker, color=fill, mec=edge, mew=width, zorder=4)


def _marked(axes: Axes, x: np.ndarray, spacing: float, number: int) -> np.ndarray:
    """Choose the points that have a marker; neighbouring lines begin elsewhere, so that markers lie apart."""
    at = axes.transAxes.inverted().transform(axes.transData.transform(np.column_stack([x, np.ones_like(x)])))
    after = at[0, 0] + spacing * (0.382 * number % 1)
    marked = np.zeros(len(x), dtype=bool)
    for i, place in enumerate(at[:, 0]):
        if place >= after - 1e-9:
            marked[i], after = True, place + spacing
    return marked


def _draw_strip(axes: Axes, plot: LoadPlot, names: Sequence[str]) -> None:
    """Mark the saturated loads, one row for each scheme."""
    for row, name in enumerate(reversed(names)):
        look, x = plot.look(name), plot.lines[name].x[plot.lines[name].saturated]
        axes.plot(x, np.full(x.size, row), color=look.color, linewidth=0.7, zorder=2)
        axes.plot(x, np.full(x.size, row), look.marker, color="white", mec=look.color, ms=4, zorder=3)
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.set_yticks([])
    axes.grid(visible=False)
    axes.tick_params(bottom=False, labelbottom=False)
    axes.set_ylabel("saturated", rotation=0, ha="right", va="center", fontsize=7.5, color="#666666")
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)


def _load_limits(loads: np.ndarray) -> tuple[float, float]:
    """Return the axis's range: the unit interval for a wide grid, else the loads with some air."""
    low, high = float(np.nanmin(loads)), float(np.nanmax(loads))
    return (min(0.0, low), max(1.0, high + 0.02)) if high - low > WIDE else (low - 0.05, high + 0.05)
