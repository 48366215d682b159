"""The strip above the axes: at which loads policies saturate."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from analysis.figures.load_plot.plot import LoadPlot

STRIP_ROW = 0.115
"""Height of a row of the strip of saturated loads, inches."""


def names_in_strip(plot: LoadPlot) -> list[str]:
    """Return the policies that have a row in the strip."""
    return [name for name, line in plot.lines.items() if line.saturated.any()]


def draw_strip(axes: Axes, plot: LoadPlot, names: Sequence[str]) -> None:
    """Mark the saturated loads: a row for each scheme."""
    for row, name in enumerate(reversed(names)):
        look, line = plot.look(name), plot.lines[name]
        x = line.x[line.saturated]
        axes.plot(
            x, np.full(x.size, row), color=look.color, linewidth=0.7, marker=look.marker, mfc="white",
            mec=look.color, ms=4, zorder=3,
        )  # fmt: skip
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.set_yticks([])
    axes.grid(visible=False)
    axes.xaxis.set_visible(False)
    axes.set_ylabel("saturated", rotation=0, ha="right", va="center", fontsize=7.5, color="#666666")
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
