"""Entries of legends, and words on what points and bars are."""

import textwrap
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.lines import Line2D

from analysis.figures import policies
from analysis.figures.load_plot.line import Line
from analysis.figures.style import SchemeStyle
from analysis.study import Study

LEGEND_WIDTH = 24
"""Characters of a line of what hollow points may be."""


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
    """Return what hollow points may be, as far as there are any."""
    hollow = []
    if any((line.drawn & ~np.isfinite(line.half_width)).any() for line in lines):
        hollow.append("interval withheld")
    if any((line.drawn & ~line.finished).any() for line in lines):
        hollow.append("replications missing")
    if any((line.drawn & line.saturated).any() for line in lines):
        hollow.append("saturated")
    if any(line.short.any() for line in lines):
        hollow.append("runs too short for the mean of the long run")
    return hollow


def bars(study: Study) -> str:
    """Return what the error bars are; nothing where the study has no interval."""
    name = f"{study.headline}_ci"
    has_none = name in study.data and not (study.data[name] > 0).any()
    return "" if has_none else f"Bars: {study.level} confidence intervals."
