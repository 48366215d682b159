"""Lines with their error bars and markers, the strip of saturated loads above them, arrows at the frame."""

import textwrap
from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import Container
from matplotlib.markers import CARETDOWN, CARETUP
from matplotlib.ticker import MultipleLocator

from analysis.figures import style
from analysis.figures.load_plot.plot import WIDE, LoadPlot

LABEL_LETTERS = 44
"""Most letters of a vertical axis's label on a line."""


def draw_lines(axes: Axes, plot: LoadPlot, tick: float = 0.1) -> None:
    """Draw all lines with error bars into axes, with regular ticks over a wide range of loads."""
    x = next(iter(plot.lines.values())).x
    axes.set(xscale=plot.xscale, yscale=plot.yscale, xlim=plot.limits)
    # Dashes over solid lines: of two equal curves both are visible.
    for number, name in sorted(enumerate(plot.lines), key=lambda one: plot.style_of(one[1]).dashes != "-"):
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
    if low == 0 and high is None and plot.yscale == "linear":
        style.begin_at_0(axes)
    axes.set_ylim(low, high)
    limits = axes.get_xlim(), axes.get_ylim()
    for axis, ticks in ((axes.xaxis, plot.xticks), (axes.yaxis, plot.yticks)):
        if ticks:
            axis.set_ticks(ticks, [style.THOUSANDS(tick) for tick in ticks])
            axis.minorticks_off()
    axes.set(xlim=limits[0], ylim=limits[1])  # ticks beyond them would move them
    axes.set_xlabel(plot.xlabel)
    axes.set_ylabel(plot.ylabel if "\n" in plot.ylabel else textwrap.fill(plot.ylabel, LABEL_LETTERS))
    if plot.xlim is None and np.nanmax(x) - np.nanmin(x) > WIDE:
        axes.xaxis.set_major_locator(MultipleLocator(tick))


def _draw_line(axes: Axes, plot: LoadPlot, number: int, name: str) -> None:
    """Draw a line of a plot; its number decides on its sideways shift and which points are marked."""
    line = plot.lines[name]
    own = plot.style_of(name)
    # A logarithmic axis has no place for 0, and a marker there that is not clipped would enlarge the figure.
    drawn = line.drawn if plot.yscale == "linear" else line.drawn & (line.mean > 0)
    if not drawn.any():
        return
    places = plot.places(number, line)
    x = places[drawn]
    mean, low, high = (plot.scale * one[drawn] for one in (line.mean, line.low, line.high))
    full = line.solid[drawn]
    # No line crosses a saturated load, where there are no values.
    known_or_not = drawn | line.saturated
    gaps = np.where(drawn, line.mean, np.nan)[known_or_not] * plot.scale
    axes.plot(places[known_or_not], gaps, color=own.color, linestyle=own.dashes, zorder=3)
    if (barred := high > low).any():
        # On a logarithmic axis no bar can reach 0.
        ends = low[barred] if plot.yscale == "linear" else np.maximum(low[barred], 0.001 * mean[barred])
        _draw_error_bars(axes, x[barred], ends, high[barred], own.color)
    joined = np.convolve(np.pad(drawn, 1), [1, 0, 1], "valid")[drawn] > 0  # to a neighbour, by a line
    marked = _marked(axes, x, plot.spacing, number) | ~joined
    for chosen, fill, edge, width in (
        (full & marked, own.color, "white", 0.4),
        (~full, "white", own.color, 0.9),
    ):
        style.mark(axes, x[chosen], mean[chosen], own.marker, color=fill, mec=edge, mew=width, zorder=4)
    if plot.has_capacities and line.capacity <= plot.limits[1]:
        at = line.capacity + places[0] - line.x[0]
        axes.plot(
            [at], [0], "|", color=own.color, ms=9, mew=1.6, transform=axes.get_xaxis_transform(), zorder=5
        )


def _draw_error_bars(axes: Axes, x: np.ndarray, low: np.ndarray, high: np.ndarray, color: str) -> None:
    """Draw error bars as two lines: `Axes.errorbar` makes a path of each bar, a tenth of a figure's time."""
    ends = np.column_stack([low, high, np.full(len(x), np.nan)]).ravel()
    (bars,) = axes.plot(np.repeat(x, 3), ends, color=color, linewidth=0.9, solid_capstyle="butt", zorder=2)
    size = 2 * mpl.rcParams["errorbar.capsize"]
    (caps,) = axes.plot(np.tile(x, 2), np.concatenate([low, high]), "_", color=color, ms=size, zorder=2)
    axes.add_container(Container((bars, caps), label="_nolegend_"))


def _marked(axes: Axes, x: np.ndarray, spacing: float, number: int) -> np.ndarray:
    """Choose the points that have a marker; neighbouring lines begin elsewhere, so that markers lie apart."""
    at = axes.transAxes.inverted().transform(axes.transData.transform(np.column_stack([x, np.ones_like(x)])))
    after = at[0, 0] + spacing * (0.382 * number % 1)
    marked = np.zeros(len(x), dtype=bool)
    for i, place in enumerate(at[:, 0]):
        if place >= after - 1e-9:
            marked[i], after = True, place + spacing
    return marked


def _crossings(axes: Axes, x: np.ndarray, y: np.ndarray, edge: float) -> np.ndarray:
    """Return where the lines between neighbouring points cross an edge of the frame."""
    to_page = axes.transData.transform
    at = to_page(np.column_stack([x, np.where(y > 0, y, np.nan) if axes.get_yscale() == "log" else y]))
    height = to_page((x[0], edge))[1]
    (x0, y0), (x1, y1) = at[:-1].T, at[1:].T
    crossed = (y0 - height) * (y1 - height) < 0
    share = (height - y0[crossed]) / (y1 - y0)[crossed]
    places = np.column_stack([x0[crossed] + share * (x1 - x0)[crossed], np.full(crossed.sum(), height)])
    return np.asarray(axes.transData.inverted().transform(places)[:, 0])


STRIP_ROW = 0.115
"""Height of a row of the strip of saturated loads, inches."""


def names_in_strip(plot: LoadPlot) -> list[str]:
    """Return the policies that have a row in the strip."""
    return [name for name, line in plot.lines.items() if line.saturated.any()]


def draw_strip(axes: Axes, plot: LoadPlot, names: Sequence[str]) -> None:
    """Mark the saturated loads: a row for each scheme."""
    for row, name in enumerate(reversed(names)):
        own, line = plot.style_of(name), plot.lines[name]
        x = line.x[line.saturated]
        axes.plot(
            x, np.full(x.size, row), color=own.color, linewidth=0.7, marker=own.marker, mfc="white",
            mec=own.color, ms=4, zorder=3,
        )  # fmt: skip
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.set_yticks([])
    axes.grid(visible=False)
    axes.xaxis.set_visible(False)
    axes.set_ylabel("saturated", rotation=0, ha="right", va="center", fontsize=7.5, color="#666666")
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)


CUT = "An arrow at the frame marks a bar or a curve that continues beyond it."


def mark_cut_bars(axes: Axes, plot: LoadPlot) -> bool:
    """Draw an arrow where the frame cuts off a curve or the bar of a point; return whether there is any.

    Limits of the axes have to be final.
    """
    (low, high), (left, right) = axes.get_ylim(), axes.get_xlim()
    found = False
    for number, (name, line) in enumerate(plot.lines.items()):
        mean, least, most = (plot.scale * one for one in (line.mean, line.low, line.high))
        inside = line.drawn & (mean >= low) & (mean <= high)
        # On a logarithmic axis a bar that includes 0 has no lower end.
        for cut, edge, marker in (
            (inside & (most > high), 1.0, CARETUP),
            (inside & (least < low), 0.0, CARETDOWN),
        ):
            places = plot.places(number, line)
            x = np.append(places[cut], _crossings(axes, places, mean, axes.get_ylim()[int(edge)]))
            x = x[(left <= x) & (x <= right)]
            if x.size:
                found = True
                axes.plot(
                    x, np.full(x.size, edge), ls="", marker=marker, ms=4.5, color=plot.style_of(name).color,
                    mec="none", transform=axes.get_xaxis_transform(), clip_on=False, zorder=5,
                )  # fmt: skip
    return found
