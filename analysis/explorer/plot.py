"""The plot in the middle of the page, by Bokeh: lines, intervals, points without a mean, tooltips."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

import matplotlib as mpl
import numpy as np
import pandas as pd
from bokeh import models
from bokeh.models import ColumnDataSource, HoverTool, LogTicker, NumeralTickFormatter, TapTool
from bokeh.models.annotations import ColorBar, Span
from bokeh.models.renderers import GlyphRenderer
from bokeh.plotting import figure

from analysis.compare.heat_map import MOST_TEXTS
from analysis.explorer import choice as chosen
from analysis.explorer import words
from analysis.explorer.choice import AUTO, HEAT_MAP, PARALLEL, Choice
from analysis.explorer.parallel import Brushes, parallel
from analysis.explorer.points import ASIDE, UNDECIDED
from analysis.figures.style import SchemeStyle, text_on
from analysis.study import Study
from sweep.numbers import number

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

TEXTS = ("heading", "estimate", "note", "runs", "seeds", "command")
"""Columns of the tooltip."""

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
        The points that can be clicked, in the order of `targets`.
    targets : ColumnDataSource
        Its ``selected`` has the points that are clicked.
    everything : View, optional
        The whole plot, if it can be zoomed.
    brushes : Brushes, optional
        The ranges that the reader has marked on the axes of parallel coordinates.
    """

    figure: Any
    points: pd.DataFrame
    targets: ColumnDataSource
    everything: View | None = None
    brushes: Brushes | None = None

    @property
    def view(self) -> View | None:
        """The part that is shown; None if it is the whole plot."""
        x, y = self.figure.x_range, self.figure.y_range
        shown = View((x.start, x.end), (y.start, y.end))
        return None if self.everything is None or np.allclose(shown, self.everything) else shown


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
        made = sheet("", 520, "")
        frame, brushes = parallel(study, choice, frame, unit, made)
        return Drawing(made, frame, brushes.lines, brushes=brushes)
    frame["at"] = frame["x"] + _shift(frame, choice, chosen.is_scale(study, choice.along))
    known = frame["y"].dropna()
    is_positive = bool(len(known)) and bool((known > 0).all())
    is_wide = is_positive and not choice.reference and known.max() > WIDE_RANGE * known.min()
    logarithmic = bool(is_positive and (choice.scale == "log" or (choice.scale == AUTO and is_wide)))
    low, high = _limits(frame, choice, logarithmic)
    sides = _wider(frame["at"].min(), frame["at"].max(), 0.04) if len(frame) else (0.0, 1.0)
    full = [name for name in choice.shown if (aside & (frame["line"] == name)).any()]
    step = min(STRIP, MOST_STRIP / max(len(full), 1))
    everything = View(sides, (low, _above(low, high, step * (len(full) + 0.6) * bool(full), logarithmic)))
    is_long = any(len(styles[name].label) > LONG_NAME for name in choice.shown)
    n_columns = max(1 if is_long else 2, -(-len(choice.shown) // MOST_ROWS))
    height = 460 + 24 * -(-len(choice.shown) // n_columns) * several
    title, across = words.where(study, choice.at), words.along_label(study, choice)
    made = sheet(
        title, height, across, words.value_label(study, choice, unit), "log" if logarithmic else "linear"
    )
    if choice.reference:
        made.add_layout(Span(location=1.0, dimension="width", line_color="#888888", line_dash="dashed"))
    for name in choice.shown:  # a line is interrupted where a point is saturated or missing
        mine, own = frame[frame["line"] == name], styles[name]
        if mine["y"].notna().any():
            made.line(
                mine["at"], mine["y"], legend_label=own.label, color=own.color, line_width=1.8,
                line_dash=DASHES.get(str(own.dashes), "solid"),
            )  # fmt: skip
            _markers(made, mine[mine["y"].notna()], own)
    bars = frame[frame["half"] > 0]
    below = np.minimum(bars["half"], bars["y"] - (low if logarithmic else -np.inf))
    made.segment(
        bars["at"], bars["y"] - below, bars["at"], bars["y"] + bars["half"], line_width=1.2,
        color=[styles[name].color for name in bars["line"]],
    )  # fmt: skip
    if full:  # a row above the values for each line that has some
        for row, name in enumerate(reversed(full)):
            rows = (frame["line"] == name) & aside
            is_named = not frame[frame["line"] == name]["y"].notna().any()
            frame.loc[rows, "y"] = _above(low, high, step * (row + 0.8), logarithmic)
            _markers(made, frame[rows].assign(solid=False), styles[name], is_named)
        made.add_layout(Span(location=high, dimension="width", line_color="#bbbbbb", line_width=0.8))
        states = " saturated" + " or undecided" * (UNDECIDED in set(frame["status"]))
        made.text(
            sides[0], everything.y[1], [states], text_baseline="top", text_color="#666666",
            text_font_size="8pt",
        )  # fmt: skip
    targets = frame[frame["y"].notna()].reset_index(drop=True)
    source = ColumnDataSource(targets[["at", "y", *TEXTS]].to_dict("list"))
    marks = made.scatter(
        "at", "y", source=source, size=14, alpha=0, nonselection_alpha=0, selection_fill_alpha=0,
        selection_line_alpha=1, selection_line_color="#111111", selection_line_width=2,
    )  # fmt: skip
    _react(made, marks)
    for ends, (start, end), part in zip(
        (made.x_range, made.y_range), everything, view or everything, strict=True
    ):
        ends.update(start=part[0], end=part[1], reset_start=start, reset_end=end)
    made.yaxis.bounds = (low, high)  # points above it have no value
    made.yaxis.formatter = NumeralTickFormatter(format=NUMBERS)
    if chosen.is_scale(study, choice.along):
        made.xaxis.formatter = NumeralTickFormatter(format=NUMBERS)
    else:
        names = {
            row.x: words.value_name(study, choice.along, row.value, row.place) for row in points.itertuples()
        }
        _name_ticks(made.xaxis, names)
    for legend in made.legend:  # none without a mean
        legend.update(
            location="center", ncols=n_columns, border_line_color=None, background_fill_color="white",
            label_text_color=INK, label_text_font_size="9pt", click_policy="mute",
        )  # fmt: skip
        made.add_layout(legend, "below") if several else legend.update(visible=False)
    return Drawing(made, targets, source, everything)


def sheet(
    title: str, height: int, across: str, up: str = "", scale: Literal["linear", "log"] = "linear"
) -> Any:
    """Return an empty figure of the colours of paper; on a dark page all pictures are inverted together."""
    made: Any = figure(
        height=height, sizing_mode="stretch_width", tools="pan,wheel_zoom,auto_box_zoom,save,reset",
        toolbar_location="above", y_axis_type=scale, x_range=models.Range1d(), y_range=models.Range1d(),
        background_fill_color="white", border_fill_color="white",
    )  # fmt: skip
    made.title.update(text=title, text_font_style="normal", text_font_size="11pt", text_color=INK)
    made.toolbar.update(logo=None, active_drag=None, active_scroll=None)
    made.grid.grid_line_color = "#e8e8e8"
    for axis, label in ((made.xaxis[0], across), (made.yaxis[0], up)):
        axis.update(
            axis_label=label, axis_label_text_font_style="normal", axis_label_text_font_size="10pt",
            axis_label_text_color=INK, major_label_text_color=INK, axis_line_color=INK,
            major_tick_line_color=INK, minor_tick_line_color=None,
            major_label_policy=models.NoOverlap(min_distance=8),
        )  # fmt: skip
        if isinstance(axis.ticker, LogTicker):
            axis.ticker.mantissas = [1, 2, 5]
    return made


def _react(made: Any, marks: GlyphRenderer) -> None:
    """Show the tooltip at, and take clicks on, these marks only: others would fade when one is clicked."""
    made.add_tools(
        HoverTool(
            tooltips=TOOLTIP, point_policy="snap_to_data", attachment="horizontal", limit=1, renderers=[marks]
        ),
        TapTool(renderers=[marks]),
    )


def _name_ticks(axis: Any, names: Mapping[float, str]) -> None:
    """Label an axis with names at their places."""
    axis.ticker = models.FixedTicker(ticks=sorted(names))
    axis.major_label_overrides = dict(names)
    axis.major_label_orientation = math.radians(30) if sum(map(len, names.values())) > 60 else "horizontal"


def _heat_map(study: Study, choice: Choice, frame: pd.DataFrame, names: dict[str, str]) -> Drawing:
    """Return the means in colours, with the axis of the plot in columns and the lines in rows."""
    columns = {one: words.value_name(study, choice.along, one, choice.at) for one in frame["value"].unique()}
    rows = [name for name in choice.shown if name in set(frame["line"])]
    order = {one: place for place, one in enumerate(columns)}
    shown = frame.assign(at=frame["value"].map(order), row=frame["line"].map(rows.index))
    label = words.value_label(study, choice, words.unit_of(study, choice, frame))
    is_positive = bool((frame["y"].dropna() > 0).all()) and bool(frame["y"].notna().any())
    heights = np.log(frame["y"]) if is_positive else frame["y"]
    low, high = float(heights.min()), float(heights.max())
    if is_ratio := bool(choice.reference) and is_positive:
        low, high = -max(-low, high, 1e-3), max(-low, high, 1e-3)
    shades = mpl.colormaps[COLORS[is_ratio]]
    shares = (heights - low) / ((high - low) or 1.0)
    shown["ink"] = ["#111111" if np.isnan(one) else text_on(shades(one)) for one in shares]
    shown["text"] = shown["estimate"]
    if len(columns) > MOST_TEXTS:
        shown["text"] = [number(one) if one == one else "" for one in shown["y"]]
    if len(columns) > MOST_NUMBERS:
        shown["text"] = ""
    title = ", ".join(filter(None, [label, words.where(study, choice.at)]))
    made = sheet(title, 140 + 44 * len(rows), words.along_label(study, choice))
    ends = (float(np.exp(low)), float(np.exp(high))) if is_positive else (low, high)
    colors = (models.LogColorMapper if is_positive else models.LinearColorMapper)(
        palette=[mpl.colors.to_hex(shades(share)) for share in np.linspace(0, 1, 256)],
        low=ends[0], high=ends[1], nan_color="#dddddd",
    )  # fmt: skip
    source = ColumnDataSource(shown[["at", "row", "y", "text", "ink", *TEXTS]].to_dict("list"))
    cells = made.rect(
        "at", "row", 1, 1, source=source, fill_color={"field": "y", "transform": colors}, line_color="white",
        nonselection_alpha=1, selection_line_color="#111111", selection_line_width=2,
    )  # fmt: skip
    made.text("at", "row", "text", source=source, text_color="ink", text_font_size="9pt", text_align="center",
              text_baseline="middle", nonselection_text_alpha=1)  # fmt: skip
    _react(made, cells)
    made.grid.visible = False
    made.x_range.update(start=-0.5, end=len(columns) - 0.5)
    made.y_range.update(start=len(rows) - 0.5, end=-0.5)
    _name_ticks(made.xaxis[0], dict(enumerate(columns.values())))
    made.yaxis[0].update(ticker=models.FixedTicker(ticks=list(range(len(rows)))),
                         major_label_overrides={i: names[one] for i, one in enumerate(rows)})  # fmt: skip
    ticker = LogTicker(mantissas=[1, 2, 5]) if is_positive else models.BasicTicker()
    bar = ColorBar(color_mapper=colors, ticker=ticker, formatter=NumeralTickFormatter(format=NUMBERS),
                   background_fill_color="white", major_label_text_color=INK)  # fmt: skip
    made.add_layout(bar, "right")
    return Drawing(made, shown, source)


def schedule(boxes: pd.DataFrame, title: str) -> Any:
    """Return a Gantt chart that can be zoomed, of the rectangles of `views.rectangles`."""
    made = sheet(title, 440, "Time since the first submission (h)", "Processors")
    marks = made.quad(
        "begin", "end", "high", "low", source=ColumnDataSource(boxes.to_dict("list")), fill_color="color",
        line_color="#333333", line_width=0.4,
    )  # fmt: skip
    made.add_tools(HoverTool(renderers=[marks], tooltips=[("job", "@job")]))
    for ends, low, high in ((made.x_range, "begin", "end"), (made.y_range, "low", "high")):
        start, end = float(boxes[low].min()), float(boxes[high].max())
        ends.update(start=start, end=end, reset_start=start, reset_end=end)
    return made


def _shift(frame: pd.DataFrame, choice: Choice, is_scale: bool) -> pd.Series[float]:
    """Return the sideways shift of each point, so that lines with equal values remain visible.

    All lines together take at most a tenth of the distance between two points; whole numbers are not moved.
    """
    order = {name: i - (len(choice.shown) - 1) / 2 for i, name in enumerate(choice.shown)}
    x = np.unique(frame["x"])
    moved = choice.lines != choice.along and len(x) > 1 and not (is_scale and (x == np.rint(x)).all())
    return frame["line"].map(order) * (0.1 * np.diff(x).min() / max(len(choice.shown), 1) if moved else 0.0)


def _markers(made: Any, rows: pd.DataFrame, own: SchemeStyle, is_named: bool = True) -> None:
    """Draw the markers of a line, hollow where a point is not solid."""
    if len(rows):
        own_if = partial(np.where, rows["solid"])
        made.scatter(
            rows["at"], rows["y"], marker=MARKERS.get(own.marker, "circle"), size=9,
            fill_color=own_if(own.color, "white"), line_color=own_if("white", own.color),
            **({"legend_label": own.label} if is_named else {}),
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
