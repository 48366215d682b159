"""A metric of several policies over the load or another axis, drawn so that no line hides another.

Curves end where a policy saturates: a growing queue has no mean. The strip above the axes shows
these loads, with one row for each policy that saturates; a tick on the load axis is the load up to
which a policy keeps up. Error bars are shifted sideways by a little, the same for a policy everywhere. A
hollow point is one to be careful with: its runs are too short for the mean of the long run, or it has no bar
because its interval was withheld. An arrow at the frame marks a bar or a curve
that continues beyond it.
"""

from analysis.figures.load_plot.drawn_lines import draw_lines, mark_cut_bars
from analysis.figures.load_plot.pages import bars, draw, draw_panels, legend_handles, notes_below
from analysis.figures.load_plot.plot import DODGE, LOAD, Line, LoadPlot

__all__ = [
    "DODGE", "LOAD", "Line", "LoadPlot", "bars", "draw", "draw_lines", "draw_panels",
    "legend_handles", "mark_cut_bars", "notes_below",
]  # fmt: skip
