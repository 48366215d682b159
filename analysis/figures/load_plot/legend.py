"""Entries of legends, and words on what points and bars are."""

import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.lines import Line2D

from analysis.figures.load_plot.line import Line
from analysis.figures.load_plot.plot import LoadPlot
from analysis.study import Study

LEGEND_WIDTH = 24
"""Characters of a line of what hollow points may be."""


def legend_handles(plots: Sequence[LoadPlot]) -> list[Line2D]:
    """Return the entries of one legend of plots: of their lines, and what hollow points may be."""
    looks = {name: plot.look(name) for plot in plots for name in plot.lines}
    labels = {look.label: look for look in looks.values()}
    handles = [look.legend_handle() for look in labels.values()]
    if not (hollow := hollow_words([line for plot in plots for line in plot.lines.values()])):
        return handles
    # In short lines: a legend does not fit into the figure that has one much longer than all others.
    text = " or\n".join(textwrap.fill(words, LEGEND_WIDTH) for words in hollow)
    return [*handles, Line2D([], [], linestyle="none", marker="o", color="white", mec="#444444", label=text)]


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
