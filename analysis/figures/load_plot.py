"""A metric of several policies over the load or another axis, drawn so that nothing hides anything.

Curves end where a policy saturates: the mean of a growing queue is no number. The strip above the axes shows
at which loads that is, one row for each policy that saturates. Error bars are shifted sideways by a little,
the same for a policy everywhere. A hollow point is one to be careful with: it has no bar because its interval
was withheld, or some of its replications look saturated although the point as a whole does not. How many
stands beside it; where there are many such points, the strip has their counts, or dots where those are too
close to each other for numbers, and the range of the counts at its end. An arrow at the frame says that a bar
goes on beyond it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import Container
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.markers import CARETDOWN, CARETUP
from matplotlib.ticker import MaxNLocator, MultipleLocator

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

MOST_COUNTS = 6
"""Doubtful points of a plot that have their counts beside them."""

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
    doubtful : tuple of int
        Replications that look saturated at each point, see `Curve.doubtful`.
    replications : int
    """

    x: np.ndarray
    mean: np.ndarray
    half_width: np.ndarray
    saturated: np.ndarray
    finished: np.ndarray
    doubtful: tuple[int, ...] = ()
    replications: int = 1

    @classmethod
    def of(cls, curve: Curve) -> Line:
        """Return the intervals of a metric."""
        found = curve.intervals()
        finished = ~curve.where(UNFINISHED)
        n = curve.values.shape[1]
        return cls(curve.x, found.mean, found.half_width, curve.where(SATURATED), finished, curve.doubtful, n)

    @classmethod
    def delivered(cls, curve: Curve) -> Line:
        """Return the intervals of a utilisation minus the load: what a machine delivers of what is asked for.

        Saturated points are drawn as well, hollow: what is delivered there is all that can be.
        """
        full = curve.where(SATURATED)
        status = tuple(DONE if at else state for at, state in zip(full, curve.status, strict=True))
        less = replace(curve, values=curve.values - curve.x[:, None, None], status=status)
        return replace(cls.of(less), saturated=full)

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
        counts = zip_longest(curve.doubtful, reference.doubtful, fillvalue=0)
        doubtful = tuple(max(pair) for pair in counts)
        n = curve.values.shape[1]
        return cls(curve.x, mean, half, curve.where(SATURATED), finished, doubtful, n)

    @property
    def drawn(self) -> np.ndarray:
        """Where there is a point."""
        return np.isfinite(self.mean)

    @property
    def doubted(self) -> np.ndarray:
        """Where a point is drawn of which some replication looks saturated."""
        counts = np.array(self.doubtful or (0,) * len(self.x))
        return (counts > 0) & self.drawn

    @property
    def solid(self) -> np.ndarray:
        """Where there is a point that nothing is to be said of."""
        return self.drawn & np.isfinite(self.half_width) & self.finished & ~self.doubted & ~self.saturated


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
    direct : bool
        Lines have their names at their ends, beside the axes, and no legend.
    counted : bool
        Doubtful points have beside them how many replications look saturated, unless there are many points.
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
    direct: bool = False
    counted: bool = True

    @property
    def crowded(self) -> bool:
        """Whether there are too many doubtful points for counts beside them."""
        return sum(int(line.doubted.sum()) for line in self.lines.values()) > MOST_COUNTS

    def look(self, name: str) -> SchemeStyle:
        """Return the style of a line."""
        return self.looks.get(name) or policies.look(name)


def draw(*plots: LoadPlot) -> Figure:
    """Draw plots side by side, each with its legend or its lines' names to the right.

    If anything saturates, the strip above says where.
    """
    for plot in plots:
        _check(plot)
    marked = [_marked_above(plot) for plot in plots]
    most = max(map(len, marked))
    strip = STRIP_ROW * most + 0.1 if most else 0.0
    wide = len(plots) > 1
    figure = Figure(
        figsize=(5.1 * len(plots) if wide else 6.6, 3.7 + strip),
        layout=ConstrainedLayoutEngine(hspace=0, h_pad=0.02),
    )
    heights = [strip, 3.7] if most else [3.7]
    places = figure.subplots(len(heights), len(plots), sharex="col", height_ratios=heights, squeeze=False)
    for plot, names, column in zip(plots, marked, places.T, strict=True):
        if most:
            _draw_strip(column[0], plot, names)
        column[0].set_title(plot.title)
        draw_lines(column[-1], plot)
        if plot.direct:
            _name_lines(column[-1], plot)
    # All of them, without a short cut: each draws.
    cut = [mark_cut_bars(axes, plot) for axes, plot in zip(places[-1], plots, strict=True)]
    _put_legend(figure, plots, [CUT] * any(cut))
    return figure


PANEL = (2.45, 2.3)
"""Width and height of one of many panels, inches; of two, they are wider."""

PAGE_LETTERS = 102
"""Of all titles on a line."""

LABEL_LETTERS = 30
"""Of a panel's vertical axis on a line."""


def draw_panels(plots: Sequence[LoadPlot], title: str, n_columns: int, legend_columns: int = 4) -> Figure:
    """Draw many plots of the same lines in rows, all with one scale, and one legend below.

    Each has its strip of saturated points above it, where any of them has one.

    Raises
    ------
    DrawingError
        If none of them has a point that was run.
    """
    drawable = []
    for plot in plots:
        try:
            _check(plot)
            drawable.append(plot)
        except DrawingError as error:
            reason = error
    if not drawable:
        raise reason
    marked = [_marked_above(plot) for plot in plots]
    n_rows, most = -(-len(plots) // n_columns), max(map(len, marked))
    strip = STRIP_ROW * most + 0.1 if most else 0.0
    heights = [strip, PANEL[1]] if most else [PANEL[1]]
    lines = {name: line for plot in plots for name, line in plot.lines.items()}
    looks = {name: one for plot in plots for name, one in plot.looks.items()}
    handles = legend_handles(lines, looks)
    handles += special_signs([line for plot in plots for line in plot.lines.values()])
    handles = list({str(handle.get_label()): handle for handle in handles}.values())
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
            _draw_strip(top, plot, names)
        draw_lines(axes, plot, tick=0.2)
        if plot.xlim is None and np.ptp(axes.get_xlim()) < WIDE + 0.1:
            axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        axes.set_ylabel("\n".join(textwrap.wrap(plot.ylabel, LABEL_LETTERS)))
        told = "\n".join(textwrap.wrap(plot.title, PAGE_LETTERS // n_columns))
        top.set_title(told, fontsize=8.5, fontweight="normal", pad=4)
    _share_scale(list(main[: len(plots)]), n_columns)
    cut = [mark_cut_bars(axes, plot) for axes, plot in zip(main, plots, strict=False)]
    for number, top in enumerate(above):
        if most and number % n_columns:
            top.set_ylabel("")
    for axes in (*main[len(plots) :], *above[len(plots) :]):
        axes.set_visible(False)
    style.put_headline(figure, title)
    note = " ".join(dict.fromkeys([*(plot.note for plot in plots if plot.note), *[CUT] * any(cut)]))
    legend = figure.legend(
        handles=handles,
        loc="outside lower left",
        ncols=legend_columns,
        title=note,
        title_fontsize=7.5,
        alignment="left",
    )
    legend.get_title().set_color("#666666")
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


def _check(plot: LoadPlot) -> None:
    """Raise `DrawingError` where there is nothing to draw."""
    if all(np.isnan(line.x).all() for line in plot.lines.values()):
        raise DrawingError("its workload runs at one load of its own: give several, grid.load=[0.5,0.7,0.9]")
    if not any(line.saturated.any() or line.drawn.any() for line in plot.lines.values()):
        raise DrawingError("none of its points has been run yet: run the sweep to its end")


def _marked_above(plot: LoadPlot) -> list[str]:
    """Return the policies that have a row in the strip."""
    return [
        name
        for name, line in plot.lines.items()
        if line.saturated.any() or (plot.crowded and line.doubted.any())
    ]


def _put_legend(figure: Figure, plots: Sequence[LoadPlot], more: Sequence[str] = ()) -> None:
    """Add the legend to the right; where lines have their names, what hollow points are is a note below.

    Notes of all plots, and what more there is to say, are in one place below.
    """
    named = {name: line for plot in plots if not plot.direct for name, line in plot.lines.items()}
    looks = {name: one for plot in plots for name, one in plot.looks.items()}
    notes = list(dict.fromkeys([*(plot.note for plot in plots if plot.note), *more]))
    if named:
        figure.legend(handles=legend_handles(named, looks), loc="outside right center")
    elif hollow := hollow_words([line for plot in plots for line in plot.lines.values()]):
        notes.append(f"Hollow points: {', or '.join(hollow)}.")
    if notes:
        style.put_note(figure, "\n".join(notes))


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


CUT = "An arrow at the frame: a bar goes on beyond it."


def mark_cut_bars(axes: Axes, plot: LoadPlot) -> bool:
    """Draw an arrow where the frame cuts off the bar of a point inside it; tell whether there is any.

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
                x, found = _places(plot, number, line)[cut], True
                axes.plot(
                    x, np.full(x.size, edge), ls="", marker=marker, ms=4.5, color=plot.look(name).color,
                    mec="none", transform=axes.get_xaxis_transform(), clip_on=False, zorder=5,
                )  # fmt: skip
    return found


def bars(study: Study) -> str:
    """Say what the error bars are."""
    return f"Bars: {study.confidence:.0%} confidence intervals."


def legend_handles(lines: Mapping[str, Line], looks: Mapping[str, SchemeStyle] | None = None) -> list[Line2D]:
    """Return legend entries of the lines, and of the special signs as far as they occur."""
    looks = looks or {}
    handles = [(looks.get(name) or policies.look(name)).legend_handle() for name in lines]
    return handles + special_signs(list(lines.values()))


def special_signs(lines: Sequence[Line]) -> list[Line2D]:
    """Return a legend entry of hollow points that says what they may be, none if there are none."""
    if not (hollow := hollow_words(lines)):
        return []
    # In short lines: a legend does not fit into the figure that has one much longer than all others.
    text = " or\n".join(textwrap.fill(words, LEGEND_WIDTH) for words in hollow)
    return [Line2D([], [], linestyle="none", marker="o", color="white", mec="#444444", label=text)]


def hollow_words(lines: Sequence[Line]) -> list[str]:
    """Say what hollow points may be, as far as there are such."""
    hollow = []
    if any((line.drawn & ~np.isfinite(line.half_width)).any() for line in lines):
        hollow.append("interval withheld")
    if any((line.drawn & ~line.finished).any() for line in lines):
        hollow.append("replications missing")
    if any((line.drawn & line.saturated).any() for line in lines):
        hollow.append("saturated")
    if any(line.doubted.any() for line in lines):
        n = max(line.replications for line in lines)
        hollow.append(f"doubtful, some of {n} replications look saturated")
    return hollow


LEGEND_WIDTH = 24
"""Characters of a line of what hollow points may be."""

LABEL_HEIGHT = 0.052
"""Distance of two names beside the axes, of the axes' height."""


def _name_lines(axes: Axes, plot: LoadPlot) -> None:
    """Write each line's name beside the axes at the height of its end, moved only to keep names apart."""
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = {}
    for name, line in plot.lines.items():
        if line.drawn.any():
            points = np.column_stack([line.x, line.mean * plot.scale])[line.drawn]
            ends[name] = _end_inside(to_axes.transform(points))
    # Of lines that leave the axes the first to leave is named first, from above.
    if not ends:
        return
    names = sorted(ends, key=lambda name: (ends[name][1], -ends[name][0]))
    heights = spread(np.array([ends[name][1] for name in names]), LABEL_HEIGHT)
    for name, height in zip(names, heights, strict=True):
        look, (x, y) = plot.look(name), ends[name]
        axes.plot(
            [x + 0.01, 1.03, 1.05], [y, height, height], color=look.color, linewidth=0.5, alpha=0.7,
            transform=axes.transAxes, clip_on=False, zorder=1,
        )  # fmt: skip
        axes.plot(
            [1.055, 1.11], [height, height], color=look.color, linestyle=look.dashes, marker=look.marker,
            markevery=[1], ms=4, linewidth=1.1, transform=axes.transAxes, clip_on=False, label=look.label,
        )  # fmt: skip
        axes.text(
            1.135, height, look.label, color="#222222", fontsize=8, va="center", transform=axes.transAxes
        )


def _end_inside(points: np.ndarray) -> np.ndarray:
    """Return where a line of points, in the axes' own unit square, ends or leaves it for good."""
    x, y = points.T
    inside = np.flatnonzero((y >= 0) & (y <= 1))
    if not inside.size:
        return np.array([x[0], np.clip(y[0], 0, 1)])
    last = inside[-1]
    if last == len(y) - 1:
        return np.array([x[last], y[last]])
    edge = float(y[last + 1] > 1)
    part = (edge - y[last]) / (y[last + 1] - y[last])
    return np.array([x[last] + part * (x[last + 1] - x[last]), edge])


def spread(wanted: np.ndarray, apart: float) -> np.ndarray:
    """Return ascending places in [0, 1] at least so far apart, moved as little as possible (least squares).

    Examples
    --------
    >>> spread(np.array([0.4, 0.5, 0.5]), 0.2).round(3).tolist()
    [0.267, 0.467, 0.667]
    """
    steps = apart * np.arange(len(wanted))
    blocks: list[list[float]] = []  # of places that touch: their sum and their number
    for place in wanted - steps:
        blocks.append([float(place), 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, n = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += n
    places = np.concatenate([np.full(int(n), total / n) for total, n in blocks])
    found: np.ndarray = np.clip(places, 0.0, max(0.0, 1.0 - steps[-1])) + steps
    return found


def _draw_line(axes: Axes, plot: LoadPlot, number: int, name: str) -> None:
    """Draw a line of a plot; its number decides on its sideways shift and which points are marked."""
    line = plot.lines[name]
    look, drawn = plot.look(name), line.drawn
    if not drawn.any():
        return
    places = _places(plot, number, line)
    x, mean, half = places[drawn], line.mean[drawn] * plot.scale, line.half_width[drawn] * plot.scale
    known = np.isfinite(half)
    full = line.solid[drawn]
    # No line across a saturated load: what is between would be made up.
    known_or_not = drawn | line.saturated
    gaps = np.where(drawn, line.mean, np.nan)[known_or_not] * plot.scale
    axes.plot(places[known_or_not], gaps, color=look.color, linestyle=look.dashes, zorder=3)
    if (barred := known & (half > 0)).any():
        # No bar can go below nothing on a logarithmic axis.
        below = half[barred] if plot.yscale == "linear" else np.minimum(half[barred], 0.999 * mean[barred])
        _draw_error_bars(axes, x[barred], mean[barred] - below, mean[barred] + half[barred], look.color)
    joined = np.convolve(np.pad(drawn, 1), [1, 0, 1], "valid")[drawn] > 0  # to a neighbour, by a line
    marked = _marked(axes, x, plot.spacing, number) | ~joined
    for chosen, fill, edge, width in (
        (full & marked, look.color, "white", 0.4),
        (~full, "white", look.color, 0.9),
    ):
        if chosen.any():
            axes.plot(x[chosen], mean[chosen], look.marker, color=fill, mec=edge, mew=width, zorder=4)
    if plot.crowded or not plot.counted:
        return
    for i in np.flatnonzero(line.doubted[drawn]):
        axes.annotate(
            f"{np.array(line.doubtful)[drawn][i]}/{line.replications}",
            (x[i], mean[i]),
            xytext=(4, -7 if number % 2 else 3),
            textcoords="offset points",
            fontsize=6.5,
            color=look.color,
            zorder=5,
        )


def _draw_error_bars(axes: Axes, x: np.ndarray, low: np.ndarray, high: np.ndarray, color: str) -> None:
    """Draw error bars as two lines: `Axes.errorbar` makes a path of each bar, a tenth of a figure's time."""
    ends = np.column_stack([low, high, np.full(len(x), np.nan)]).ravel()
    (bars,) = axes.plot(np.repeat(x, 3), ends, color=color, linewidth=0.9, solid_capstyle="butt", zorder=2)
    size = 2 * mpl.rcParams["errorbar.capsize"]
    (caps,) = axes.plot(np.tile(x, 2), np.concatenate([low, high]), "_", color=color, ms=size, zorder=2)
    axes.add_container(Container((bars, caps), label="_nolegend_"))


def _places(plot: LoadPlot, number: int, line: Line) -> np.ndarray:
    """Return where the points of a line are on the horizontal axis, moved aside by its number."""
    found: np.ndarray = line.x + (number - (len(plot.lines) - 1) / 2) * plot.dodge
    return found


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
                told = f"of {line.replications}"
                for at, count in zip(x, counts, strict=True):
                    axes.text(
                        at, row, f"{count}", color=look.color, fontsize=6, ha="center", va="center_baseline",
                        clip_on=True,
                    )  # fmt: skip
            else:
                axes.plot(x, np.full(x.size, row), ".", color=look.color, ms=3, zorder=3)
                told = (
                    f"{least}–{most}/{line.replications}" if least < most else f"{most}/{line.replications}"
                )
            place = axes.get_yaxis_transform()
            axes.text(1.03, row, told, color=look.color, fontsize=6, va="center", transform=place)
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


DIGIT = 0.055
"""Width of a digit of a count in the strip with its share of the gap to the next count, inches."""

FRAME = 0.6
"""Share of a column of a figure that its axes take at least."""


def _has_room_for_counts(axes: Axes, plot: LoadPlot) -> bool:
    """Tell whether the counts of all doubtful points fit into the strip, side by side."""
    x = next(iter(plot.lines.values())).x
    low, high = plot.xlim or _load_limits(x)
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


def _load_limits(loads: np.ndarray) -> tuple[float, float]:
    """Return the axis's range: the unit interval for a wide grid, else the loads with some air."""
    low, high = float(np.nanmin(loads)), float(np.nanmax(loads))
    return (min(0.0, low), max(1.0, high + 0.02)) if high - low > WIDE else (low - 0.05, high + 0.05)
