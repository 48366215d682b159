"""The plot in the middle of the page, made with hvPlot: lines, intervals, saturated points, what to hover."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import holoviews as hv
import hvplot.pandas  # noqa: F401 # gives DataFrame.hvplot
import numpy as np
import pandas as pd
from bokeh.models import ColumnDataSource, HoverTool, TapTool
from bokeh.models.renderers import GlyphRenderer

from analysis.explorer import choice as chosen
from analysis.explorer import rerun, words
from analysis.explorer.choice import Choice
from analysis.explorer.points import Spot
from analysis.figures.style import SchemeStyle
from analysis.report.numbers import Unit
from analysis.study import Study
from analysis.study.curve import SATURATED

MARKERS = {
    "o": "circle", "s": "square", "^": "triangle", "v": "inverted_triangle", "D": "diamond", "X": "square_x",
    "<": "triangle_dot", ">": "square_pin", "P": "circle_cross", "p": "hex_dot", "h": "hex", "*": "star",
    "8": "circle_dot", "d": "diamond_dot", "H": "square_dot",
}  # fmt: skip
"""Matplotlib's signs, by which policies are told apart in figures, as Bokeh has them."""

DASHES = {"-": "solid", "--": "dashed", ":": "dotted", "-.": "dashdot"}

WIDE_RANGE = 10.0
"""Largest over smallest value from which on the vertical axis is logarithmic, unless somebody says."""

NEAR_ZERO = 0.5
"""Share of the largest value; where the smallest is below it, the axis begins at nothing."""

STRIP = 0.045
"""Height of a row of saturated points, of the plot's."""

MOST_STRIP = 0.3
SHORT = 13
"""Letters of a line's name of which two fit beside each other in a narrow window."""

DODGE = 0.004
"""Sideways distance of two neighbouring lines' points, of the axis' length."""

SCALES = {"auto": "Automatic", "linear": "Linear", "log": "Logarithmic"}

BARE: dict[str, Any] = {"hover": False, "responsive": True}
FONT = {"title": "11pt", "labels": "10pt", "ticks": "9pt", "legend": "9pt"}


class View(NamedTuple):
    """The part of a plot that somebody has zoomed in on, in units of its axes; None where it is all."""

    x: tuple[float, float] | None = None
    y: tuple[float, float] | None = None


ALL = View()


class Drawing(NamedTuple):
    """A plot, its element that is hovered and clicked, the points of that in order, and where all is seen."""

    overlay: hv.Overlay
    target: hv.Scatter
    order: list[Spot]
    everything: View


def drawn(
    study: Study,
    choice: Choice,
    spots: Sequence[Spot],
    scale: str = "auto",
    *,
    narrow: bool = False,
    view: View = ALL,
) -> Drawing:
    """Return the plot.

    Parameters
    ----------
    study : Study
    choice : Choice
    spots : sequence of Spot
    scale : str
        A key of `SCALES`.
    narrow : bool
        For a narrow window: the legend goes below.
    view : View
        What is shown; to reset the plot shows all.
    """
    unit = words.unit_of(study, choice, spots)
    looks = words.line_looks(study, choice)
    frame = _frame(study, choice, spots, unit)
    positive = frame["y"].dropna()
    may = bool(len(positive)) and bool((positive > 0).all())
    wide = may and not choice.reference and positive.max() > WIDE_RANGE * positive.min()
    logarithmic = bool(may and (scale == "log" or (scale == "auto" and wide)))
    low, high, rows = _heights(frame, choice, logarithmic)
    layers: list[hv.Element] = []
    if choice.reference:
        layers.append(hv.HLine(1.0).opts(color="#888888", line_dash="dashed", line_width=1))
    for name in choice.shown:
        mine = frame[frame["line"] == name]
        if mine["y"].notna().any():
            layers += _line(mine, looks[name], low if logarithmic else -np.inf)
    marked = frame[frame["status"] == SATURATED]
    for name, height in rows.items():
        mine = marked[marked["line"] == name]
        layers.append(
            _saturated(
                mine.assign(y=height), looks[name], not frame.loc[frame["line"] == name, "y"].notna().any()
            )
        )
        frame.loc[mine.index, "y"] = height
    targets = frame[frame["y"].notna()].reset_index(drop=True)
    target = _targets(targets)
    top = _above(low, high, len(rows) + 0.3, logarithmic, len(rows)) if rows else high
    limits = _sides(frame["at"])
    if rows:
        edge = _above(low, high, 0, logarithmic, len(rows))
        layers.append(hv.HLine(edge).opts(color="#bbbbbb", line_width=0.8))
        layers.append(
            hv.Text(limits[0], top, " saturated", halign="left", valign="top").opts(
                text_color="#666666", text_font_size="8pt"
            )
        )
    everything = View(limits, (low, top))
    columns = 2 if narrow and max(len(look.label) for look in looks.values()) <= SHORT else 1
    rows_of_legend = -(-len(choice.shown) // columns) if choice.lines != choice.along else 0
    overlay = hv.Overlay([*layers, target]).opts(
        hv.opts.Overlay(
            responsive=True, height=380 + 22 * rows_of_legend if narrow else 500,
            xlim=view.x or everything.x, ylim=view.y or everything.y, logy=logarithmic,
            xlabel=words.along_label(study, choice), ylabel=words.value_label(study, choice, unit),
            title=words.where(study, choice.at) if choice.at else "", fontsize=FONT, show_grid=True,
            gridstyle={"grid_line_color": "#e8e8e8"}, toolbar="above",
            hooks=[_calm, partial(_reset_to_all, everything)],
            show_legend=choice.lines != choice.along,
            legend_position="bottom" if narrow else "right", legend_cols=columns,
            active_tools=[], xticks=_ticks(study, choice, spots, narrow=narrow),
            xrotation=30 if _is_crowded(study, choice, narrow=narrow) else 0,
        )
    )  # fmt: skip
    order = {(spot.line, spot.value): spot for spot in spots}
    pairs = zip(targets["line"], targets["value"], strict=True)
    return Drawing(overlay, target, [order[pair] for pair in pairs], everything)


def _frame(study: Study, choice: Choice, spots: Sequence[Spot], unit: Unit) -> pd.DataFrame:
    """Return a row for each point, in the unit of the plot."""
    x = np.array([spot.x for spot in spots])
    span = np.ptp(x) if len(x) and np.ptp(x) > 0 else 1.0
    number = {name: i - (len(choice.shown) - 1) / 2 for i, name in enumerate(choice.shown)}
    looks = words.line_looks(study, choice)
    step = 0.0 if choice.lines == choice.along else DODGE * span
    if not chosen.is_scale(study, choice.along):
        step = 0.0 if choice.lines == choice.along else min(0.08, 0.7 / len(choice.shown))
    return pd.DataFrame(
        {
            "line": [spot.line for spot in spots],
            "value": [spot.value for spot in spots],
            "at": x + step * np.array([number[spot.line] for spot in spots]),
            "y": np.array([spot.mean for spot in spots]) / unit.size,
            "half": np.array([spot.half_width for spot in spots]) / unit.size,
            "solid": [spot.is_solid for spot in spots],
            "status": [spot.status for spot in spots],
            "told": [_told(study, choice, spot, unit, looks[spot.line]) for spot in spots],
        }
    )


def _told(study: Study, choice: Choice, spot: Spot, unit: Unit, look: SchemeStyle) -> str:
    """Return what hovering over a point shows, as HTML."""
    rows = [*words.facts(study, choice, spot, unit), ("Seeds", rerun.seeds(study, spot.place))]
    cells = "".join(
        f"<div style='margin-top:2px'><span style='color:#666'>{words.escaped(name)}:</span> "
        f"{words.escaped(text)}</div>"
        for name, text in rows
    )
    typed = rerun.command(study, spot.place)
    again = (
        f"<div style='margin-top:4px;color:#666'>Run it again:</div><code style='font-size:11px;"
        f"overflow-wrap:anywhere'>{words.escaped(typed)}</code>"
        if typed
        else ""
    )
    head = words.escaped(words.heading(study, choice, spot))
    return (
        f"<div style='max-width:340px;white-space:normal;font:12px system-ui,sans-serif;color:#222'>"
        f"<strong style='border-left:4px solid {look.color};padding-left:6px'>{head}</strong>"
        f"{cells}{again}</div>"
    )


def _line(mine: pd.DataFrame, look: SchemeStyle, least: float) -> list[hv.Element]:
    """Return a line's elements: no line goes across what is saturated or missing."""
    shape: dict[str, Any] = {"color": look.color, "label": look.label}
    found = [
        mine.hvplot.line(
            x="at", y="y", line_dash=DASHES.get(str(look.dashes), "solid"), line_width=1.8, **BARE, **shape
        )
    ]
    barred = mine[(mine["half"] > 0) & mine["y"].notna()]
    if len(barred):
        below = (
            np.minimum(barred["half"], np.maximum(barred["y"] - least, 0))
            if np.isfinite(least)
            else barred["half"]
        )
        bars = barred.assign(below=below)
        found.append(
            bars.hvplot.errorbars(x="at", y="y", yerr1="below", yerr2="half", **BARE).opts(
                color=look.color, line_width=1.2, upper_head=None, lower_head=None
            )
        )
    for rows, fill in (
        (mine[mine["solid"]], look.color),
        (mine[~mine["solid"] & mine["y"].notna()], "white"),
    ):
        if len(rows):
            found.append(_signs(rows, look, fill, look.label))
    return found


def _signs(rows: pd.DataFrame, look: SchemeStyle, fill: str, label: str) -> hv.Element:
    marker = MARKERS.get(look.marker, "circle")
    signs = rows.hvplot.scatter(x="at", y="y", label=label, **BARE)
    edge = look.color if fill == "white" else "white"
    if marker.endswith(("_x", "_cross", "_dot")):
        edge = look.color if fill == "white" else "#ffffff"
    return signs.opts(
        fill_color=fill, line_color=edge, marker=marker, size=9, line_width=1.4 if fill == "white" else 0.8
    )


def _saturated(rows: pd.DataFrame, look: SchemeStyle, named: bool) -> hv.Element:
    """Return the signs of saturated points; a line that has no others is named in the legend by them."""
    return _signs(rows, look, "white", look.label if named else "")


def _targets(rows: pd.DataFrame) -> hv.Scatter:
    """Return what the pointer finds: every point, larger than it looks."""
    hover = HoverTool(tooltips="@told{safe}", point_policy="snap_to_data", attachment="horizontal", limit=1)
    return hv.Scatter(rows, "at", ["y", "told"]).opts(
        size=14, alpha=0, tools=[hover, "tap"], nonselection_alpha=0, show_legend=False,
        selection_fill_alpha=0, selection_line_alpha=1, selection_line_color="#111111",
        selection_line_width=2, selection_alpha=1,
    )  # fmt: skip


def _heights(frame: pd.DataFrame, choice: Choice, logarithmic: bool) -> tuple[float, float, dict[str, float]]:
    """Return the range of the values, and the height of the row of each line that has saturated points."""
    y, half = frame["y"], frame["half"].fillna(0)
    known = y.dropna()
    marked = [
        name for name in choice.shown if ((frame["line"] == name) & (frame["status"] == SATURATED)).any()
    ]
    if known.empty:
        low, high = 0.0, 1.0
    elif logarithmic:
        low, high = known.min() / 1.6, known.max() * 1.6
    else:
        top, bottom = (y + half).max(), (y - half).min()
        high = max(known.max(), min(top, known.max() + 1.5 * max(np.ptp(known), 0.2 * abs(known.max()))))
        low = min(known.min(), max(bottom, known.min() - 1.5 * max(np.ptp(known), 0.2 * abs(known.max()))))
        if known.min() >= 0 and low < NEAR_ZERO * high and not choice.reference:
            low = 0.0
        air = 0.06 * ((high - low) or abs(high) or 1.0)
        low, high = (low if low == 0 else low - air), high + air
    if choice.reference and not logarithmic:
        low, high = min(low, 0.95), max(high, 1.05)
    rows = {
        name: _above(low, high, len(marked) - i - 0.4, logarithmic, len(marked))
        for i, name in enumerate(marked)
    }
    return float(low), float(high), rows


def _above(low: float, high: float, rows: float, logarithmic: bool, of: int) -> float:
    """Return the height so many rows of saturated points, of all of them, above the values."""
    share = min(STRIP, MOST_STRIP / of) * (rows + 0.4)
    return float(high * (high / low) ** share) if logarithmic else high + share * (high - low)


def _sides(at: pd.Series[float]) -> tuple[float, float]:
    if at.empty:
        return (0.0, 1.0)
    air = 0.04 * ((at.max() - at.min()) or 1.0)
    return float(at.min() - air), float(at.max() + air)


def _ticks(study: Study, choice: Choice, spots: Sequence[Spot], *, narrow: bool) -> Any:
    """Return the names of values that are no numbers on a scale; Bokeh's own ticks else."""
    if chosen.is_scale(study, choice.along):
        return 6 if narrow else None
    names = {spot.x: words.value_name(study, choice.along, spot.value, spot.place) for spot in spots}
    return sorted(names.items())


def _is_crowded(study: Study, choice: Choice, *, narrow: bool) -> bool:
    if chosen.is_scale(study, choice.along):
        return False
    names = [words.value_name(study, choice.along, value) for value in study.values_of(choice.along)]
    return sum(map(len, names)) > (30 if narrow else 90)


def _calm(plot: Any, element: object) -> None:
    """Take away what distracts, and let the wheel scroll the page."""
    figure = plot.state
    figure.outline_line_color = None
    figure.output_backend = "canvas"
    figure.toolbar.logo = None
    for axis in (*figure.xaxis, *figure.yaxis):
        axis.axis_line_color = axis.major_tick_line_color = "#888888"
        axis.minor_tick_line_color = None
        axis.axis_label_text_font_style = "normal"
    for legend in figure.legend:
        legend.border_line_color = None
        legend.background_fill_alpha = 0.0
        legend.label_text_color = "#222222"
        legend.glyph_width = 26
        if legend in figure.right:
            legend.location = "top"
    figure.title.text_font_style = "normal"
    figure.title.text_color = "#444444"
    figure.min_border_right = 12
    figure.toolbar.active_scroll = None
    for tool in figure.tools:
        if isinstance(tool, TapTool):  # lines and signs would fade when one of them is clicked
            tool.renderers = [
                one
                for one in figure.renderers
                if isinstance(one, GlyphRenderer)
                and isinstance(one.data_source, ColumnDataSource)
                and "told" in one.data_source.data
            ]


def _reset_to_all(everything: View, plot: Any, element: object) -> None:
    """Have the button that resets show everything, also of a plot that began with a part of it."""
    for ends, limits in ((plot.state.x_range, everything.x), (plot.state.y_range, everything.y)):
        assert limits is not None
        ends.reset_start, ends.reset_end = limits


class Zoom:
    """What part of a drawing somebody looks at."""

    def __init__(self, drawing: Drawing) -> None:
        self._everything = drawing.everything
        self._stream = hv.streams.RangeXY(source=drawing.overlay)

    @property
    def view(self) -> View:
        """The part; None for an axis of which all is seen."""
        x, y = self._stream.x_range, self._stream.y_range
        return View(_part(x, self._everything.x), _part(y, self._everything.y))


def _part(
    seen: tuple[float, float] | None, everything: tuple[float, float] | None
) -> tuple[float, float] | None:
    return None if seen is None or everything is None or np.allclose(seen, everything) else seen


def selection(target: hv.Scatter) -> Any:
    """Return the stream of which points of an element are clicked: ``index``."""
    return hv.streams.Selection1D(source=target)
