"""Parallel coordinates: every point of a study as a line over its values on all axes, and the metric's."""

from collections.abc import Callable
from typing import Any

import holoviews as hv
import numpy as np
import pandas as pd

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


def parallel(
    study: Study, choice: Choice, frame: pd.DataFrame, unit: Unit, light: Callable[[Any, object], None]
) -> tuple[hv.Overlay, pd.DataFrame]:
    """Return the plot, and the points whose lines can be clicked.

    Parameters
    ----------
    frame : DataFrame
        The points of all slices, see `words.described`, with ``y``: the mean to draw.
    light : callable
        Hook that sets the colours of the plot.
    """
    frame = frame[frame["y"].notna() | frame["status"].isin(ASIDE)].reset_index(drop=True)
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
    lines = [
        {"x": across, "y": ys, "color": styles[line].color, "heading": heading, "estimate": estimate}
        for line, heading, estimate, *ys in zip(
            frame["line"], frame["heading"], frame["estimate"], *heights, strict=True
        )
    ]
    every = hv.Contours(lines, ["x", "y"], ["color", "heading", "estimate"]).opts(
        color="color", line_width=1.5, alpha=0.6, nonselection_alpha=0.15, selection_line_width=3,
        tools=["hover", "tap"], show_legend=False,
    )  # fmt: skip
    rules = hv.Segments([(at, 0.0, at, 1.0) for at in across]).opts(color="#888888", line_width=1)
    labels = hv.Labels(texts).opts(
        text_align="left", text_font_size="8pt", text_color="#222222", hooks=[_backed]
    )
    names = [*map(words.axis_name, axes), words.measure(study, choice)]
    overlay = (rules * every * labels).opts(
        responsive=True, height=520, xticks=list(zip(across.tolist(), names, strict=True)), yaxis=None,
        xlim=(-0.1, len(axes) + 0.6), ylim=(-0.06, top + 0.08), xlabel="", ylabel="", hooks=[light],
        toolbar="above", xrotation=20 * (len(axes) > 4),
    )  # fmt: skip
    return overlay, frame


def _backed(plot: Any, element: object) -> None:
    """Let lines pass behind labels."""
    plot.handles["glyph"].update(background_fill_color="white", background_fill_alpha=0.8)
