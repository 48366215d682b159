"""Intervals of several policies over categories (months, ranges of runtime, classes), as points or bars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from analysis.errors import require_points
from analysis.figures import style
from analysis.figures.policies import style_of
from analysis.figures.style import SchemeStyle
from analysis.study import Study
from analysis.study.curve import DONE, SATURATED, Sample, ends

DODGE, JOINED_DODGE = 0.62, 0.2
"""Widths of the points of a category and of joined points, as shares of the distance between categories."""

FILLED = 0.84
"""The same for bars."""


LETTERS = 95
"""Number of letters of category names that fit a page's width."""

LEAST = 0.9
"""Lower end of logarithmic axes: slowdowns are at least 1."""


@dataclass(frozen=True)
class Estimates:
    """Means with their intervals; every array has the shape (n_categories,).

    Parameters
    ----------
    mean, low, high : ndarray
        NaN where nothing is drawn; ends of intervals are NaN where they are withheld.
    finished : ndarray of bool
        Whether every replication is there.
    saturated : ndarray of bool, optional
        Points without a mean because their queue grew; they are marked at the upper edge.
    """

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    finished: np.ndarray
    saturated: np.ndarray | None = None

    @classmethod
    def of(cls, samples: Sequence[Sample], confidence: float, scale: float = 1.0) -> Estimates:
        """Return the intervals of samples, times `scale`."""
        states = np.array([one.status for one in samples])
        mean, low, high = ends([one.mean(confidence) for one in samples])
        return cls(scale * mean, scale * low, scale * high, states == DONE, states == SATURATED)

    @classmethod
    def ratios(cls, mine: Sequence[Sample], others: Sequence[Sample], confidence: float) -> Estimates:
        """Return the ratios of samples to others under the same jobs, where both can be drawn."""
        mean, low, high = np.full((3, len(mine)), np.nan)
        for place, (one, other) in enumerate(zip(mine, others, strict=True)):
            if one.shown and other.shown:
                found = one.against(other).ratio(confidence)
                mean[place], low[place], high[place] = found.mean, found.low, found.high
        done = [one.status == other.status == DONE for one, other in zip(mine, others, strict=True)]
        return cls(mean, low, high, np.array(done), np.array([one.status == SATURATED for one in mine]))

    @property
    def drawn(self) -> np.ndarray:
        """Where a point is drawn."""
        return np.isfinite(self.mean)


@dataclass(frozen=True)
class CategoryPlot:
    """The content of one pair of axes.

    Parameters
    ----------
    series : dict of str to Estimates
        In the legend's order.
    styles : dict of str to SchemeStyle
        Of each series.
    yscale : {"linear", "log"}
    bars : bool
        Bars from 0 on instead of points joined by lines.
    guides : mapping of float to str
        Heights of horizontal lines, and their names.
    least : float, optional
        Lower end of a logarithmic axis; None chooses it from the values.
    joined : bool
        Whether lines join the points of a series.
    any_names : bool
        Whether categories may have names of any length, which are tilted if they do not fit.
    most : float
        The largest possible value, at which bars end.
    """

    categories: Sequence[str]
    series: Mapping[str, Estimates]
    styles: Mapping[str, SchemeStyle]
    ylabel: str
    xlabel: str = ""
    title: str = ""
    yscale: str = "linear"
    bars: bool = False
    guides: Mapping[float, str] = field(default_factory=dict)
    least: float | None = LEAST
    joined: bool = True
    any_names: bool = False
    most: float = np.inf

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not any(one.drawn.any() for one in self.series.values())


def series_of(
    study: Study, styles: Sequence[str] | Mapping[str, SchemeStyle],
    samples: Callable[[str], Sequence[Sample]], categories: Sequence[str],
    ylabel: str, xlabel: str = "", scale: float = 1.0, **settings: Any,
) -> CategoryPlot:  # fmt: skip
    """Return a plot of samples, one for each category, times `scale`.

    Parameters
    ----------
    styles : sequence of str or dict of str to SchemeStyle
        The policies, or other series with their styles.
    samples : callable
        Series -> its samples.
    **settings
        Further fields of the plot.
    """
    known = styles if isinstance(styles, Mapping) else {policy: style_of(policy) for policy in styles}
    series = {name: Estimates.of(samples(name), study.confidence, scale) for name in known}
    return CategoryPlot(categories, series, known, ylabel, xlabel, **settings)


def panels(
    plots: Sequence[CategoryPlot], title: str, n_columns: int, *, height: float = 2.25, shared: bool = False
) -> Figure:
    """Draw plots in rows with one legend below.

    Parameters
    ----------
    height : float, inches
        Of a plot.
    shared : bool
        Whether all have one scale, and labels at the page's edges only.

    Raises
    ------
    DrawingError
        If no point has been run.
    """
    require_points(not all(one.is_empty for one in plots))
    n_rows = -(-len(plots) // n_columns)
    legend_rows = -(-len({name for one in plots for name in one.series}) // 3)
    figure = Figure(figsize=(7.4, height * n_rows + 0.5 + 0.18 * legend_rows), layout="constrained")
    places = figure.subplots(n_rows, n_columns, squeeze=False, sharey=shared).ravel()
    for axes, one in zip(places, plots, strict=False):
        draw(axes, one)
    for axes, one in zip(places, plots, strict=False):
        _fit(axes, one, shared)
    for axes in places[len(plots) :]:
        axes.set_visible(False)
    style.put_headline(figure, title)
    style.key_below(figure, _legend(plots), 3)
    return figure


def draw(axes: Axes, plot: CategoryPlot) -> None:
    """Draw one plot into axes."""
    place = np.arange(len(plot.categories), dtype=float)
    n = len(plot.series)
    width = (FILLED if plot.bars else JOINED_DODGE if plot.joined else DODGE) / max(n, 1)
    axes.set_yscale(plot.yscale)
    for number, (name, one) in enumerate(plot.series.items()):
        x = place + (number - (n - 1) / 2) * width
        mine = plot.styles[name] if plot.joined else replace(plot.styles[name], dashes="")
        one = replace(one, high=np.minimum(one.high, np.fmax(plot.most, one.mean)))
        (_draw_bars if plot.bars else _draw_points)(axes, x, one, mine, width, plot.least)
        if one.saturated is not None and one.saturated.any():
            top = np.full(int(one.saturated.sum()), 0.97)
            axes.plot(
                x[one.saturated], top, mine.marker, color="white", mec=mine.color, ms=4.4, zorder=4,
                transform=axes.get_xaxis_transform(),
            )  # fmt: skip
    for height, name in plot.guides.items():
        style.guide(axes, height, name)
    tilted = (
        plot.any_names and sum(map(len, plot.categories)) > LETTERS * axes.bbox.width / axes.figure.bbox.width
    )
    axes.set_xticks(place, plot.categories)
    if tilted:
        axes.tick_params(axis="x", rotation=30)
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("right")
    axes.set_xlim(-0.55, len(plot.categories) - 0.45)
    axes.set(xlabel=plot.xlabel, ylabel=plot.ylabel)
    axes.grid(visible=False, axis="x")
    axes.tick_params(axis="x", length=0, labelsize=7.5)
    axes.set_title(plot.title, fontsize=9, fontweight="normal")


def _fit(axes: Axes, plot: CategoryPlot, shared: bool) -> None:
    """Fix the lower end of the scale, once all plots that share it are drawn."""
    if shared:
        axes.label_outer()
    if plot.yscale == "linear":
        style.begin_at_0(axes, not plot.is_empty)
        return
    if plot.least is not None:
        axes.set_ylim(bottom=plot.least)
    low, high = axes.get_ylim()
    if plot.least not in (None, LEAST):
        axes.set_ylim(top=high * (high / low) ** 0.04)  # space for markers if the lower end differs
    style.plain_ticks(axes.yaxis, 100)


def _draw_points(
    axes: Axes, x: np.ndarray, one: Estimates, own: SchemeStyle, width: float, least: float | None
) -> None:
    drawn = one.drawn
    axes.plot(x[drawn], one.mean[drawn], color=own.color, linestyle=own.dashes, linewidth=0.9, zorder=3)
    _error_bars(axes, x, one, own.color, least)
    full = drawn & one.finished & np.isfinite(one.high)
    for chosen, fill, edge in ((full, own.color, "white"), (drawn & ~full, "white", own.color)):
        style.mark(
            axes, x[chosen], one.mean[chosen], own.marker, color=fill, mec=edge,
            mew=0.4 + 0.5 * (fill == "white"), ms=4.4, zorder=4,
        )  # fmt: skip


def _draw_bars(
    axes: Axes, x: np.ndarray, one: Estimates, own: SchemeStyle, width: float, least: float | None
) -> None:
    drawn = one.drawn
    axes.bar(x[drawn], one.mean[drawn], 0.92 * width, color=own.color, zorder=2)
    _error_bars(axes, x, one, "#222222", least)


def _error_bars(axes: Axes, x: np.ndarray, one: Estimates, color: str, least: float | None) -> None:
    barred = one.drawn & (one.high > one.low)
    mean = one.mean[barred]
    # Measurements are never negative, so bars end at 0, and inside the frame of a slowdown.
    longest = mean if axes.get_yscale() == "linear" else 0.999 * mean
    if least is not None and axes.get_yscale() == "log":
        longest = np.clip(mean - least, 0, longest)
    below = np.minimum(mean - one.low[barred], longest)
    axes.errorbar(
        x[barred], mean, [below, one.high[barred] - mean], fmt="none", ecolor=color, elinewidth=0.8,
        capsize=1.6, zorder=3,
    )  # fmt: skip


def _legend(plots: Sequence[CategoryPlot]) -> list[Artist]:
    handles: dict[str, Artist] = {}
    for one in plots:
        for name in one.series:
            mine = one.styles[name]
            handles[name] = Patch(color=mine.color, label=mine.label) if one.bars else mine.legend_handle()
    series = [found for one in plots for found in one.series.values()]
    points = [found for one in plots if not one.bars for found in one.series.values()]
    if any((found.drawn & ~np.isfinite(found.high)).any() for found in points):
        handles["withheld"] = style.hollow("interval withheld")
    if any((found.drawn & ~found.finished).any() for found in series):
        handles["missing"] = style.hollow("replications missing")
    if any(found.saturated is not None and found.saturated.any() for found in series):
        handles["saturated"] = style.hollow("at the upper edge: saturated")
    return list(handles.values())
