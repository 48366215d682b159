"""Parallel coordinates: every point of a study as a line over its values on all axes, and the metric's."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from bokeh.events import Reset, SelectionGeometry
from bokeh.models import BoxSelectTool, ColumnDataSource, FixedTicker, HoverTool, TapTool

from analysis.explorer import choice as chosen
from analysis.explorer import words
from analysis.explorer.choice import Choice
from analysis.explorer.points import ASIDE
from analysis.study import Study
from sweep.numbers import Unit, number

TICKS = 4
"""Steps of the metric that are labelled."""

MOST_LABELS = 12
"""Most labelled values of an axis; of more values, every second, third, … is labelled."""

OUTSIDE = 1.1
"""Height of points without a mean; the axes end at 1."""


VIVID, FAINT = 0.6, 0.04
"""Opacity of lines, and of lines that are filtered out."""


class Brushes:
    """Ranges that the reader marks on axes, by drawing boxes over them; a box over no axis removes all.

    Parameters
    ----------
    heights : ndarray, shape (n_axes, n_lines)
        Where the lines cross the axes.
    lines : ColumnDataSource
        Data of the lines, with their opacity, ``alpha``.
    """

    def __init__(self, made: Any, heights: np.ndarray, lines: ColumnDataSource) -> None:
        self.lines, self._heights = lines, heights
        self._ranges: dict[int, tuple[float, float]] = {}
        self._marked = ColumnDataSource({"left": [], "right": [], "bottom": [], "top": []})
        made.quad("left", "right", "top", "bottom", source=self._marked, fill_color="#777777",
                  fill_alpha=0.35, line_color="#444444")  # fmt: skip
        tool = BoxSelectTool(renderers=[], description="Mark a range of an axis")
        made.add_tools(tool)
        made.toolbar.active_drag = tool
        self.changed: Callable[[], None] = lambda: None
        made.on_event(SelectionGeometry, self._mark)
        made.on_event(Reset, lambda event: self._set({}))

    @property
    def kept(self) -> np.ndarray:
        """Whether each line is in all ranges, shape (n_lines,)."""
        inside = [(low <= self._heights[at]) & (self._heights[at] <= high)
                  for at, (low, high) in self._ranges.items()]  # fmt: skip
        return np.all([np.ones(self._heights.shape[1], bool), *inside], axis=0)

    def fade(self, kept: np.ndarray) -> None:
        """Let only these lines be vivid."""
        self.lines.data["alpha"] = np.where(kept, VIVID, FAINT)

    def _mark(self, event: Any) -> None:
        box = event.geometry
        if event.final and box["type"] == "rect":
            low, high = sorted((box["y0"], box["y1"]))
            crossed = [at for at in range(len(self._heights)) if box["x0"] <= at <= box["x1"]]
            self._set({**self._ranges, **dict.fromkeys(crossed, (low, high))} if crossed else {})

    def _set(self, ranges: dict[int, tuple[float, float]]) -> None:
        self._ranges = ranges
        lows, highs = zip(*ranges.values(), strict=True) if ranges else ((), ())
        self._marked.data = {
            "left": [at - 0.03 for at in ranges], "right": [at + 0.03 for at in ranges],
            "bottom": list(lows), "top": list(highs),
        }  # fmt: skip
        self.changed()


def parallel(
    study: Study, choice: Choice, frame: pd.DataFrame, unit: Unit, made: Any
) -> tuple[pd.DataFrame, Brushes]:
    """Draw the plot; return the points whose lines can be clicked, and the brushes.

    Parameters
    ----------
    frame : DataFrame
        The points of all slices, see `words.described`, with ``y``: the mean to draw.
    """
    frame = frame[frame["y"].notna() | frame["status"].isin(ASIDE)]
    styles = words.line_styles(study, choice)
    axes = chosen.axes(study, choice.metric)
    known = frame["y"].dropna()
    is_log = bool(len(known)) and bool(known.min() > 0 and known.max() > 10 * known.min())
    values = np.log(frame["y"]) if is_log else frame["y"]
    low, high = float(values.min()), float(values.max())
    heights, texts = [], []
    for at, axis in enumerate(axes):
        order = chosen.values(study, axis)
        places = np.linspace(0.0, 1.0, len(order)) if len(order) > 1 else np.array([0.5])
        heights.append(places[[order.index(place[axis]) for place in frame["place"]]])
        named = range(0, len(order), -(-len(order) // MOST_LABELS))
        texts += [(at, places[i], f" {words.value_name(study, axis, order[i])}") for i in named]
    heights.append(((values - low) / ((high - low) or 1.0)).fillna(OUTSIDE).to_numpy())
    for share in np.linspace(0.0, 1.0, TICKS + 1):
        value = low + share * (high - low)
        texts.append((len(axes), share, f" {number(np.exp(value) if is_log else value)}{unit.name}"))
    top = 1.0
    if frame["y"].isna().any():
        top = OUTSIDE
        texts.append((len(axes), OUTSIDE, " saturated or undecided"))
    across = np.arange(len(axes) + 1)
    crossings = np.array(heights)
    colors = [styles[one].color for one in frame["line"]]
    drawn = frame[["heading", "estimate"]].assign(color=colors, alpha=VIVID).to_dict("list")
    lines = ColumnDataSource(drawn | {"xs": [across] * len(frame), "ys": list(crossings.T)})
    made.segment(across, 0.0, across, 1.0, color="#888888")
    every = made.multi_line(
        "xs", "ys", source=lines, line_color="color", line_width=1.5, line_alpha="alpha",
        nonselection_line_alpha="alpha", selection_line_alpha=1, selection_line_width=4,
    )  # fmt: skip
    made.text(
        *map(list, zip(*texts, strict=True)), text_baseline="middle", text_font_size="8pt",
        text_color="#222222", background_fill_color="white", background_fill_alpha=0.8,
    )  # fmt: skip
    names = [*map(words.axis_name, axes), words.measure(study, choice)]
    made.xaxis[0].update(
        ticker=FixedTicker(ticks=across.tolist()), major_label_overrides=dict(enumerate(names)),
        major_label_orientation=0.35 if len(axes) > 4 else "horizontal",
    )  # fmt: skip
    made.yaxis.visible = made.grid.visible = False
    made.x_range.update(start=-0.1, end=len(axes) + 0.6, reset_start=-0.1, reset_end=len(axes) + 0.6)
    made.y_range.update(start=-0.06, end=top + 0.08, reset_start=-0.06, reset_end=top + 0.08)
    made.add_tools(
        HoverTool(renderers=[every], tooltips=[("", "@heading"), ("", "@estimate")]),
        TapTool(renderers=[every]),
    )
    return frame, Brushes(made, crossings, lines)
