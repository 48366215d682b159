"""The strip above the axes: at which loads policies saturate, and doubtful points where they are many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures.load_plot.plot import LoadPlot

STRIP_ROW = 0.115
"""Height of a row of the strip of saturated loads, inches."""

DIGIT = 0.055
"""Width of a digit of a count in the strip with its share of the gap to the next count, inches."""

FRAME = 0.6
"""Share of a column of a figure that its axes take at least."""


def names_in_strip(plot: LoadPlot) -> list[str]:
    """Return the policies that have a row in the strip."""
    return [
        name
        for name, line in plot.lines.items()
        if line.saturated.any() or (plot.crowded and line.doubted.any())
    ]


def draw_strip(axes: Axes, plot: LoadPlot, names: Sequence[str]) -> None:
    """Mark the saturated loads, and the doubtful ones where they are many: a row for each scheme."""
    numbered = _has_room_for_counts(axes, plot)
    for row, name in enumerate(reversed(names)):
        look, line = plot.look(name), plot.lines[name]
        x = line.x[line.saturated]
        axes.plot(
            x, np.full(x.size, row), color=look.color, linewidth=0.7, marker=look.marker, mfc="white",
            mec=look.color, ms=4, zorder=3,
        )  # fmt: skip
        if plot.crowded and line.doubted.any():
            x, counts = line.x[line.doubted], np.array(line.doubtful)[line.doubted]
            least, most = counts.min(), counts.max()
            if numbered:
                shown = f"of {line.replications}"
                for at, count in zip(x, counts, strict=True):
                    axes.text(
                        at, row, f"{count}", color=look.color, fontsize=6, ha="center", va="center_baseline",
                        clip_on=True,
                    )  # fmt: skip
            else:
                axes.plot(x, np.full(x.size, row), ".", color=look.color, ms=3, zorder=3)
                shown = (
                    f"{least}–{most}/{line.replications}" if least < most else f"{most}/{line.replications}"
                )
            place = axes.get_yaxis_transform()
            axes.text(1.03, row, shown, color=look.color, fontsize=6, va="center", transform=place)
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.set_yticks([])
    axes.grid(visible=False)
    axes.xaxis.set_visible(False)
    label = "saturated"
    if plot.crowded:
        label += ",\nnumbers: doubtful" if numbered else ",\n• doubtful"
    axes.set_ylabel(label, rotation=0, ha="right", va="center", fontsize=7.5, color="#666666")
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)


def _has_room_for_counts(axes: Axes, plot: LoadPlot) -> bool:
    """Whether the counts of all doubtful points fit into the strip, side by side."""
    low, high = plot.limits
    if plot.xscale != "linear" or not high > low:
        return False
    spec, figure = axes.get_subplotspec(), axes.get_figure()
    n_columns = spec.get_gridspec().ncols if spec else 1
    width = FRAME * (figure.get_figwidth() if isinstance(figure, Figure) else 0.0) / n_columns
    for line in plot.lines.values():
        there = np.sort(line.x[line.doubted | line.saturated])
        gap = float(np.diff(there).min(initial=np.inf)) * width / (high - low)
        digits = len(str(max(line.doubtful, default=0)))
        if line.doubted.any() and gap < DIGIT * (digits + 0.5):
            return False
    return True
