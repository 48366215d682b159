"""Pages of plots: one or a few side by side with one legend, or panels in rows; entries of legends."""

import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from analysis.errors import DrawingError
from analysis.figures import style
from analysis.figures.load_plot import drawn_lines
from analysis.figures.load_plot.plot import WIDE, Line, LoadPlot
from analysis.study import Study

PANEL = (2.45, 2.3)
"""Width and height of one of many panels, inches; two panels are wider."""

PAGE_LETTERS = 102
"""Most letters of all titles on a line."""

LABEL_LETTERS = 30
"""Most letters of a panel's vertical label on a line."""


def draw_panels(plots: Sequence[LoadPlot], title: str, n_columns: int, legend_columns: int = 4) -> Figure:
    """Draw many plots of the same lines in rows, all with one scale, and one legend below.

    Each has a strip of saturated points above it, if any of them has one.

    Raises
    ------
    DrawingError
        If none of them has a point that was run.
    """
    drawable = []
    for plot in plots:
        try:
            plot.check()
            drawable.append(plot)
        except DrawingError as error:
            reason = error
    if not drawable:
        raise reason
    marked = [drawn_lines.names_in_strip(plot) for plot in plots]
    n_rows, most = -(-len(plots) // n_columns), max(map(len, marked))
    strip = drawn_lines.STRIP_ROW * most + 0.1 if most else 0.0
    heights = [strip, PANEL[1]] if most else [PANEL[1]]
    handles = legend_handles(plots)
    width = max(7.4, PANEL[0] * n_columns)
    figure = Figure(
        figsize=(width, n_rows * (sum(heights) + 0.35) + 0.7 + 0.18 * -(-len(handles) // legend_columns)),
        layout=ConstrainedLayoutEngine(hspace=0, h_pad=0.02),
    )
    places = figure.subplots(
        n_rows * len(heights), n_columns, sharex="col", height_ratios=heights * n_rows, squeeze=False
    )
    main = places[len(heights) - 1 :: len(heights)].ravel()
    above = places[:: len(heights)].ravel()
    for plot, names, axes, top in zip(plots, marked, main, above, strict=False):
        if most:
            drawn_lines.draw_strip(top, plot, names)
        drawn_lines.draw_lines(axes, plot, tick=0.2)
        if plot.xlim is None and np.ptp(axes.get_xlim()) < WIDE + 0.1:
            axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        axes.set_ylabel(textwrap.fill(plot.ylabel, LABEL_LETTERS))
        top.set_title(
            textwrap.fill(plot.title, PAGE_LETTERS // n_columns), fontsize=8.5, fontweight="normal", pad=4
        )
    _share_scale(list(main[: len(plots)]), n_columns)
    cut = [drawn_lines.mark_cut_bars(axes, plot) for axes, plot in zip(main, plots, strict=False)]
    for number, top in enumerate(above):
        if most and number % n_columns:
            top.set_ylabel("")
    for axes in (*main[len(plots) :], *above[len(plots) :]):
        axes.set_visible(False)
    style.put_headline(figure, title)
    style.key_below(figure, handles, legend_columns, notes_below(plots, cut))
    return figure


def _share_scale(places: Sequence[Axes], n_columns: int) -> None:
    """Give all panels that show something one vertical scale, and labels to those at the edges only."""
    limits = np.array([axes.get_ylim() for axes in places if axes.lines])
    for number, axes in enumerate(places):
        axes.set_ylim(limits[:, 0].min(), limits[:, 1].max())
        if number % n_columns:
            axes.set_ylabel("")
            axes.tick_params(axis="y", which="both", labelleft=False)
        if number + n_columns < len(places):
            axes.set_xlabel("")
        else:
            axes.tick_params(axis="x", labelbottom=True)


def draw(*plots: LoadPlot) -> Figure:
    """Draw plots side by side, with one legend to the right.

    If any policy saturates, the strip above shows the loads.
    """
    for plot in plots:
        plot.check()
    marked = [drawn_lines.names_in_strip(plot) for plot in plots]
    most = max(map(len, marked))
    strip = drawn_lines.STRIP_ROW * most + 0.1 if most else 0.0
    wide = len(plots) > 1
    figure = Figure(
        figsize=(4.1 * len(plots) + 2.0 if wide else 6.6, 3.7 + strip),
        layout=ConstrainedLayoutEngine(hspace=0, h_pad=0.02),
    )
    heights = [strip, 3.7] if most else [3.7]
    places = figure.subplots(len(heights), len(plots), sharex="col", height_ratios=heights, squeeze=False)
    for plot, names, column in zip(plots, marked, places.T, strict=True):
        if most:
            drawn_lines.draw_strip(column[0], plot, names)
        column[0].set_title(plot.title)
        drawn_lines.draw_lines(column[-1], plot)
    # Each call draws, so all of them must run.
    cut = [drawn_lines.mark_cut_bars(axes, plot) for axes, plot in zip(places[-1], plots, strict=True)]
    figure.legend(handles=legend_handles(plots), loc="outside right center")
    if notes := notes_below(plots, cut):
        style.put_note(figure, "\n".join(notes))
    return figure


def notes_below(plots: Sequence[LoadPlot], cut: Sequence[bool], *more: str) -> list[str]:
    """Return further notes, the notes of all plots, and a note if bars are cut."""
    notes = [*more, *(note for plot in plots for note in plot.notes), *[drawn_lines.CUT] * any(cut)]
    return list(dict.fromkeys(filter(None, notes)))


LEGEND_WIDTH = 24
"""Characters of a line on the meaning of hollow points."""


def legend_handles(plots: Sequence[LoadPlot]) -> list[Line2D]:
    """Return the entries of one legend of plots: their lines, and the meaning of hollow points."""
    styles = {name: plot.style_of(name) for plot in plots for name in plot.lines}
    labels = {own.label: own for own in styles.values()}
    handles = [own.legend_handle() for own in labels.values()]
    if not (hollow := hollow_words([line for plot in plots for line in plot.lines.values()])):
        return handles
    # Lines are short, because one long entry would not fit the figure.
    text = " or\n".join(textwrap.fill(words, LEGEND_WIDTH) for words in hollow)
    return [*handles, style.hollow(text)]


def hollow_words(lines: Sequence[Line]) -> list[str]:
    """Return the meanings of hollow points, if there are any."""
    hollow = []
    if any((line.drawn & ~np.isfinite(line.half_width)).any() for line in lines):
        hollow.append("interval withheld")
    if any((line.drawn & ~line.finished).any() for line in lines):
        hollow.append("replications missing")
    if any((line.drawn & line.saturated).any() for line in lines):
        hollow.append("saturated")
    if any(line.short.any() for line in lines):
        hollow.append("runs too short for the long-run mean")
    return hollow


def bars(study: Study) -> str:
    """Return the meaning of the error bars; empty if the study has no interval."""
    name = f"{study.headline}_ci"
    has_none = name in study.data and not (study.data[name] > 0).any()
    return "" if has_none else f"Bars: {study.level} confidence intervals."
