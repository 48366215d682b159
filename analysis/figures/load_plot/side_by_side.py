"""One plot, or a few side by side, with one legend to the right."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from analysis.figures import style
from analysis.figures.load_plot.cut_bars import CUT, mark_cut_bars
from analysis.figures.load_plot.drawn_lines import draw_lines
from analysis.figures.load_plot.legend import legend_handles, special_signs
from analysis.figures.load_plot.plot import LoadPlot
from analysis.figures.load_plot.strip import STRIP_ROW, draw_strip, names_in_strip


def draw(*plots: LoadPlot) -> Figure:
    """Draw plots side by side, with one legend to the right.

    If anything saturates, the strip above says where.
    """
    for plot in plots:
        plot.check()
    marked = [names_in_strip(plot) for plot in plots]
    most = max(map(len, marked))
    strip = STRIP_ROW * most + 0.1 if most else 0.0
    wide = len(plots) > 1
    figure = Figure(
        figsize=(4.1 * len(plots) + 2.0 if wide else 6.6, 3.7 + strip),
        layout=ConstrainedLayoutEngine(hspace=0, h_pad=0.02),
    )
    heights = [strip, 3.7] if most else [3.7]
    places = figure.subplots(len(heights), len(plots), sharex="col", height_ratios=heights, squeeze=False)
    for plot, names, column in zip(plots, marked, places.T, strict=True):
        if most:
            draw_strip(column[0], plot, names)
        column[0].set_title(plot.title)
        draw_lines(column[-1], plot)
    # All of them, without a short cut: each draws.
    cut = [mark_cut_bars(axes, plot) for axes, plot in zip(places[-1], plots, strict=True)]
    _put_legend(figure, plots, [CUT] * any(cut))
    return figure


def _put_legend(figure: Figure, plots: Sequence[LoadPlot], more: Sequence[str] = ()) -> None:
    """Add one legend to the right; notes of all plots, and what more there is to say, are below."""
    lines = {name: line for plot in plots for name, line in plot.lines.items()}
    looks = {name: one for plot in plots for name, one in plot.looks.items()}
    every = [line for plot in plots for line in plot.lines.values()]
    handles = [*legend_handles(lines, looks), *special_signs(every)]
    unique = {str(handle.get_label()): handle for handle in handles}
    figure.legend(handles=list(unique.values()), loc="outside right center")
    if notes := list(dict.fromkeys([*(note for plot in plots for note in plot.notes), *more])):
        style.put_note(figure, "\n".join(notes))
