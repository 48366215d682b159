"""The plot in the middle of the page, by HoloViews: lines, intervals, points without a mean, tooltips."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import holoviews as hv
import matplotlib as mpl
import numpy as np
import pandas as pd
from bokeh.models import HoverTool, LogTicker, NoOverlap, NumeralTickFormatter, TapTool
from bokeh.models.annotations import ColorBar
from bokeh.models.renderers import GlyphRenderer

from analysis.compare.heat_map import MOST_TEXTS
from analysis.explorer import choice as chosen
from analysis.explorer import words
from analysis.explorer.choice import AUTO, HEAT_MAP, PARALLEL, Choice
from analysis.explorer.parallel import parallel
from analysis.explorer.points import ASIDE, UNDECIDED
from analysis.figures.style import SchemeStyle, text_on
from analysis.study import Study
from sweep.numbers import number

hv.extension("bokeh", logo=False)

MARKERS = {
    "o": "circle", "s": "square", "^": "triangle", "v": "inverted_triangle", "D": "diamond", "X": "square_x",
    "<": "triangle_dot", ">": "square_pin", "P": "circle_cross", "p": "hex_dot", "h": "hex", "*": "star",
    "8": "circle_dot", "d": "diamond_dot", "H": "square_dot",
}  # fmt: skip
"""Matplotlib's markers, which distinguish policies in figures -> Bokeh's."""

DASHES = {"-": "solid", "--": "dashed", ":": "dotted", "-.": "dashdot"}

WIDE_RANGE = 10.0
"""Ratio of the largest to the smallest value from which the automatic vertical axis is logarithmic."""

STRIP = 0.045
"""Height of a row of saturated or undecided points, as a share of the range of the values."""

MOST_STRIP = 0.3
"""Largest height of all such rows."""

TOOLTIP = """
<div style="max-width:340px; white-space:normal; font:12px system-ui,sans-serif; color:#222">
  <strong>@heading</strong><br>@estimate<br>@note<br>
  <span style="color:#666">Replications:</span> @runs<br>
  <span style="color:#666">Seeds:</span> @seeds<br>
  <span style="color:#666">Run it again:</span>
  <code style="font-size:11px; overflow-wrap:anywhere">@command</code>
</div>"""

COLORS = {False: "viridis", True: "RdBu_r"}
"""Colours of the heat map from low to high: of means, and of ratios, whose middle is 1."""

MOST_NUMBERS = 16
"""Most columns of a heat map with a number in each cell; up to `MOST_TEXTS` it has its half-width."""

NUMBERS = "0,0.[0000]"
"""How the ticks of a scale are written."""

LONG_NAME = 16
"""Characters of a name from which on a short legend has one column: two would not fit a phone."""

MOST_ROWS = 6
"""Most rows of the legend, below which the panel of a point begins."""

INK = "#222222"
"""Colour of texts and axes."""

CANVAS = {"plot.output_backend": "canvas"}
"""Without WebGL, which some browsers lack."""

Range = tuple[float, float]


class View(NamedTuple):
    """A part of a plot, in units of its axes."""

    x: Range
    y: Range


class Drawing(NamedTuple):
    """A plot with the data that the page needs.

    Parameters
    ----------
    points : DataFrame
        The points that can be clicked, in the order of `clicked`.
    clicked : Selection1D
        Stream of the points that are clicked: ``index``.
    zoomed : RangeXY
        Stream of the part that is shown.
    everything : View
        The whole plot.
    """

    overlay: hv.Overlay
    points: pd.DataFrame
    clicked: hv.streams.Selection1D
    zoomed: hv.streams.RangeXY
    everything: View

    @property
    def view(self) -> View | None:
        """The part that is shown; None if it is the whole plot."""
        shown = View(self.zoomed.x_range or self.everything.x, self.zoomed.y_range or self.everything.y)
        return None if np.allclose(shown, self.everything) else shown


def drawn(study: Study, choice: Choice, points: pd.DataFrame, *, view: View | None = None) -> Drawing:
    """Return the plot.

    Parameters
    ----------
    points : DataFrame
        See `words.described`.
    view : View, optional
        The part that is shown; the button that resets the plot shows all of it.
    """
    styles, several = words.line_styles(study, choice), choice.lines != choice.along
    unit = words.unit_of(study, choice, points)
    aside = points["status"].isin(ASIDE)
    means, halves = points["mean"].mask(aside), points["half_width"]
    frame = points.assign(y=means / unit.size, half=halves / unit.size)
    if choice.kind == HEAT_MAP:
        return _heat_map(study, choice, frame, {name: own.label for name, own in styles.items()})
    if choice.kind == PARALLEL:
        overlay, frame = parallel(study, choice, frame, unit, drawn_light)
        every = overlay.get(1)
        everything = View((0.0, 1.0), (0.0, 1.0))
        return Drawing(overlay, frame, hv.streams.Selection1D(source=every), hv.streams.RangeXY(), everything)
    frame["at"] = frame["x"] + _shift(frame, choice, chosen.is_scale(study, choice.along))
    known = frame["y"].dropna()
    is_positive = bool(len(known)) and bool((known > 0).all())
    is_wide = is_positive and not choice.reference and known.max() > WIDE_RANGE * known.min()
    logarithmic = bool(is_positive and (choice.scale == "log" or (choice.scale == AUTO and is_wide)))
    low, high = _limits(frame, choice, logarithmic)
    layers: list[hv.Element] = []
    if choice.reference:
        layers.append(hv.HLine(1.0).opts(color="#888888", line_dash="dashed", line_width=1))
    for name in choice.shown:
        layers += _line(frame[frame["line"] == name], styles[name], low if logarithmic else -np.inf)
    sides = _wider(frame["at"].min(), frame["at"].max(), 0.04) if len(frame) else (0.0, 1.0)
    full = [name for name in choice.shown if (aside & (frame["line"] == name)).any()]
    top = high
    if full:  # a row above the values for each line that has some
        step = min(STRIP, MOST_STRIP / len(full))
        heights = [_above(low, high, step * (row + 0.8), logarithmic) for row in range(len(full))]
        top = _above(low, high, step * (len(full) + 0.6), logarithmic)
        for name, height in zip(full, reversed(heights), strict=True):
            rows = (frame["line"] == name) & aside
            is_named = not frame[frame["line"] == name]["y"].notna().any()
            frame.loc[rows, "y"] = height
            layers.append(
                _markers(frame[rows], styles[name], "white", styles[name].label if is_named else "")
            )
        layers.append(hv.HLine(high).opts(color="#bbbbbb", line_width=0.8))
        states = " saturated" + " or undecided" * (UNDECIDED in set(frame["status"]))
        label = hv.Text(sides[0], top, states, halign="left", valign="top")
        layers.append(label.opts(text_color="#666666", text_font_size="8pt"))
    targets = frame[frame["y"].notna()].reset_index(drop=True)
    target = _targets(targets)
    everything = View(sides, (low, top))
    shown = view or everything
    is_long = any(len(styles[name].label) > LONG_NAME for name in choice.shown)
    n_columns = max(1 if is_long else 2, -(-len(choice.shown) // MOST_ROWS))
    overlay = hv.Overlay([*layers, target]).opts(
        responsive=True, height=460 + 24 * -(-len(choice.shown) // n_columns) * several,
        xlim=shown.x, ylim=shown.y, logy=logarithmic, yformatter=_ticks_of_numbers(),
        xlabel=words.along_label(study, choice), ylabel=words.value_label(study, choice, unit),
        title=words.where(study, choice.at), fontsize={"title": "11pt", "labels": "10pt", "legend": "9pt"},
        show_grid=True, gridstyle={"grid_line_color": "#e8e8e8"}, toolbar="above", active_tools=[],
        show_legend=several, legend_position="bottom", legend_cols=n_columns, legend_limit=10_000,
        hooks=[partial(_finish, everything, high), drawn_light], **_ticks(study, choice, points),
    )  # fmt: skip
    clicked = hv.streams.Selection1D(source=target)
    return Drawing(overlay, targets, clicked, hv.streams.RangeXY(source=overlay), everything)


def _heat_map(study: Study, choice: Choice, frame: pd.DataFrame, names: dict[str, str]) -> Drawing:
    """Return the means in colours, with the axis of the plot in columns and the lines in rows."""
    columns = {one: words.value_name(study, choice.along, one, choice.at) for one in frame["value"].unique()}
    shown = frame.assign(column=frame["value"].map(columns), row=frame["line"].map(names))
    label = words.value_label(study, choice, words.unit_of(study, choice, frame))
    is_positive = bool((frame["y"].dropna() > 0).all()) and bool(frame["y"].notna().any())
    heights = np.log(frame["y"]) if is_positive else frame["y"]
    low, high = float(heights.min()), float(heights.max())
    if is_ratio := bool(choice.reference) and is_positive:
        low, high = -max(-low, high, 1e-3), max(-low, high, 1e-3)
    shades = mpl.colormaps[COLORS[is_ratio]]
    colors = hv.HeatMap(shown, ["column", "row"], ["y", "heading", "estimate", "note"]).opts(
        responsive=True, height=140 + 44 * len(choice.shown), cmap=shades.name, colorbar=True, clabel=label,
        xlabel=words.along_label(study, choice), ylabel="", logz=is_positive, tools=["tap"],
        clim=(np.exp(low), np.exp(high)) if is_ratio else (None, None),
        title=words.where(study, choice.at), clipping_colors={"NaN": "#dddddd"}, backend_opts=CANVAS,
    )  # fmt: skip
    everything = View((0.0, 1.0), (0.0, 1.0))
    shares = (heights - low) / ((high - low) or 1.0)
    shown["ink"] = ["#111111" if np.isnan(one) else text_on(shades(one)) for one in shares]
    shown["text"] = shown["estimate"]
    if len(columns) > MOST_TEXTS:
        shown["text"] = [number(one) if one == one else "" for one in shown["y"]]
    if len(columns) > MOST_NUMBERS:
        shown["text"] = ""
    texts = hv.Labels(shown, ["column", "row"], ["text", "ink"]).opts(text_color="ink", text_font_size="9pt")
    clicked, zoomed = hv.streams.Selection1D(source=colors), hv.streams.RangeXY()
    overlay = (colors * texts).opts(hooks=[drawn_light])
    return Drawing(overlay, shown, clicked, zoomed, everything)


def schedule(boxes: pd.DataFrame, title: str) -> hv.Rectangles:
    """Return a Gantt chart that can be zoomed, of the rectangles of `views.rectangles`."""
    return hv.Rectangles(boxes, ["begin", "low", "end", "high"], ["job", "color"]).opts(
        responsive=True, height=440, color="color", line_color="#333333", line_width=0.4, title=title,
        tools=["hover"], xlabel="Time since the first submission (h)", ylabel="Processors",
        hooks=[drawn_light], backend_opts=CANVAS,
    )  # fmt: skip


def _shift(frame: pd.DataFrame, choice: Choice, is_scale: bool) -> pd.Series[float]:
    """Return the sideways shift of each point, so that lines with equal values remain visible.

    All lines together take at most a tenth of the distance between two points; whole numbers are not moved.
    """
    order = {name: i - (len(choice.shown) - 1) / 2 for i, name in enumerate(choice.shown)}
    x = np.unique(frame["x"])
    moved = choice.lines != choice.along and len(x) > 1 and not (is_scale and (x == np.rint(x)).all())
    return frame["line"].map(order) * (0.1 * np.diff(x).min() / max(len(choice.shown), 1) if moved else 0.0)


def _line(mine: pd.DataFrame, own: SchemeStyle, least: float) -> list[hv.Element]:
    """Return the elements of a line; it is interrupted where a point is saturated or missing."""
    there = mine[mine["y"].notna()]
    if there.empty:
        return []
    dashes = DASHES.get(str(own.dashes), "solid")
    line = hv.Curve(mine, "at", "y", label=own.label)
    found: list[hv.Element] = [line.opts(color=own.color, line_dash=dashes, line_width=1.8)]
    bars = there[there["half"] > 0]
    if len(bars):
        bars = bars.assign(below=np.minimum(bars["half"], bars["y"] - least))
        whiskers = hv.ErrorBars(bars, "at", ["y", "below", "half"])
        found.append(whiskers.opts(color=own.color, line_width=1.2, upper_head=None, lower_head=None))
    for rows, fill in ((there[there["solid"]], own.color), (there[~there["solid"]], "white")):
        if len(rows):
            found.append(_markers(rows, own, fill, own.label))
    return found


def _markers(rows: pd.DataFrame, own: SchemeStyle, fill: str, label: str) -> hv.Element:
    edge = own.color if fill == "white" else "white"
    return hv.Scatter(rows, "at", "y", label=label).opts(
        marker=MARKERS.get(own.marker, "circle"), fill_color=fill, line_color=edge, size=9, line_width=1.0
    )


def _targets(rows: pd.DataFrame) -> hv.Scatter:
    """Return the areas that react to the pointer: every point, larger than its marker."""
    hover = HoverTool(tooltips=TOOLTIP, point_policy="snap_to_data", attachment="horizontal", limit=1)
    texts = ["heading", "estimate", "note", "runs", "seeds", "command"]
    return hv.Scatter(rows, "at", ["y", *texts]).opts(
        size=14, alpha=0, nonselection_alpha=0, selection_fill_alpha=0, selection_line_alpha=1,
        selection_line_color="#111111", selection_line_width=2, tools=[hover, "tap"], show_legend=False,
    )  # fmt: skip


def _limits(frame: pd.DataFrame, choice: Choice, logarithmic: bool) -> Range:
    """Return the range of the values; wide intervals are cut off before they squeeze the means together."""
    known, half = frame["y"].dropna(), frame["half"].fillna(0)
    if known.empty:
        return 0.0, 1.0
    least, most = float(known.min()), float(known.max())
    if logarithmic:
        return least / 1.6, most * 1.6
    reach = 1.5 * max(most - least, 0.2 * abs(most))
    low = max(float((frame["y"] - half).min()), least - reach)
    high = min(float((frame["y"] + half).max()), most + reach)
    if choice.reference:
        low, high = min(low, 0.95), max(high, 1.05)
    from_zero = least >= 0 and low < 0.5 * high and not choice.reference
    low, high = _wider(0.0 if from_zero else low, high, 0.06)
    return (0.0 if from_zero else low), high


def _wider(low: float, high: float, share: float) -> Range:
    """Return a range with some margin at both ends."""
    air = share * ((high - low) or abs(high) or 1.0)
    return float(low - air), float(high + air)


def _above(low: float, high: float, share: float, logarithmic: bool) -> float:
    """Return the height that is a share of the range above its upper end."""
    return high * (high / low) ** share if logarithmic else high + share * (high - low)


def _ticks_of_numbers() -> NumeralTickFormatter:
    """Return a formatter of its own for each axis: Bokeh gives a model to one session only."""
    return NumeralTickFormatter(format=NUMBERS)


def _ticks(study: Study, choice: Choice, points: pd.DataFrame) -> dict[str, Any]:
    """Return the settings of the horizontal ticks: names if the values are not numbers on a scale."""
    if chosen.is_scale(study, choice.along):
        return {"xformatter": _ticks_of_numbers()}
    names = {
        row.x: words.value_name(study, choice.along, row.value, row.place) for row in points.itertuples()
    }
    is_crowded = sum(map(len, names.values())) > 60
    return {"xticks": sorted(names.items()), "xrotation": 30 if is_crowded else 0}


def drawn_light(plot: Any, element: object) -> None:
    """Set the colours of paper under any theme: on a dark page all pictures are inverted together."""
    figure = plot.state
    figure.update(background_fill_color="white", border_fill_color="white")
    figure.title.text_color = INK
    for axis in figure.axis:
        axis.update(axis_label_text_color=INK, major_label_text_color=INK, axis_line_color=INK,
                    major_tick_line_color=INK, minor_tick_line_color=None)  # fmt: skip
    for legend in figure.legend:
        legend.update(background_fill_color="white", label_text_color=INK)
    for bar in figure.select(ColorBar):
        bar.update(background_fill_color="white", title_text_color=INK, major_label_text_color=INK)


def _finish(everything: View, high: float, plot: Any, element: object) -> None:
    """Set what HoloViews has no option for: plain text, the reset to all, clicks on targets only."""
    figure = plot.state
    figure.yaxis.bounds = (everything.y[0], high)  # points above it have no value
    figure.output_backend, figure.toolbar.logo = "canvas", None
    figure.title.text_font_style = "normal"
    for axis in (*figure.xaxis, *figure.yaxis):
        if isinstance(axis.ticker, LogTicker):
            axis.ticker.mantissas = [1, 2, 5]
        axis.axis_label_text_font_style = "normal"
        axis.major_label_policy = NoOverlap(min_distance=8)
    for legend in figure.legend:
        legend.border_line_color = None
    for ends, (start, end) in zip((figure.x_range, figure.y_range), everything, strict=True):
        ends.reset_start, ends.reset_end = start, end
    for tool in figure.tools:
        if isinstance(tool, TapTool):  # lines and markers would fade when one of them is clicked
            tool.renderers = [one for one in figure.renderers if _is_target(one)]


def _is_target(renderer: Any) -> bool:
    return isinstance(renderer, GlyphRenderer) and "heading" in getattr(renderer.data_source, "data", {})
