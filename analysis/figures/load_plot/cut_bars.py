"""Arrows at the frame, where it cuts off a bar."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.markers import CARETDOWN, CARETUP

from analysis.figures.load_plot.plot import LoadPlot

CUT = "An arrow at the frame: a bar continues beyond it."


def mark_cut_bars(axes: Axes, plot: LoadPlot) -> bool:
    """Draw an arrow where the frame cuts off the bar of a point inside it; return whether there is any.

    Limits of the axes have to be final.
    """
    low, high = axes.get_ylim()
    found = False
    for number, (name, line) in enumerate(plot.lines.items()):
        mean, half = line.mean * plot.scale, np.nan_to_num(line.half_width) * plot.scale
        inside = line.drawn & (mean >= low) & (mean <= high)
        # On a logarithmic axis every bar that holds 0 ends nowhere.
        for cut, edge, marker in (
            (inside & (mean + half > high), 1.0, CARETUP),
            (inside & (mean - half < low), 0.0, CARETDOWN),
        ):
            if cut.any():
                x, found = plot.places(number, line)[cut], True
                axes.plot(
                    x, np.full(x.size, edge), ls="", marker=marker, ms=4.5, color=plot.look(name).color,
                    mec="none", transform=axes.get_xaxis_transform(), clip_on=False, zorder=5,
                )  # fmt: skip
    return found
