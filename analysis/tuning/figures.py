"""Pictures of a search: its path, and the front of its trade-offs."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.errors import DrawingError
from analysis.figures import style
from analysis.figures.captions import captioned
from analysis.operators import figures as operators
from analysis.operators import panels
from analysis.operators.acceptance import accepted
from analysis.operators.labels import BETTER
from analysis.paper import Picture
from analysis.study import Study
from analysis.tuning.found import Found, Trial
from sweep.policy_names import label

STOPPED, USUAL = "#9a9a9a", "#222222"
BEYOND = 60.0
"""Percent above which a change would compress the axis for all others."""


def pictures(study: Study) -> Sequence[Picture]:
    """Return the pictures of the weeks held back, and of the search."""
    found = Found(study)
    if not found.searched:
        return operators.pictures(study)
    drawn = {"search-path": _path, "search-front": _front}
    return [
        *operators.pictures(found.held_back),
        *captioned("tuning", study, drawn, subject=found, reference=label(found.reference)),
    ]


def _trials(found: Found) -> list[Trial]:
    if not found.trials:
        raise DrawingError("no settings were tried")
    return found.trials


def _path(found: Found) -> Figure:
    trials = _trials(found)
    figure, (axes,) = panels.page(1, 1, 14, panels.TRADED)
    best = np.inf
    reached: list[float] = []
    for place, one in enumerate(trials, 1):
        change, low, high = (min(100 * value, BEYOND) for value in (one.change, one.low, one.high))
        bar = None if np.isnan(low) or one.broken or not one.is_full else [[change - low], [high - change]]
        _draw(axes, place, change, one, bar)
        best = min(best, change if one.is_full and not one.broken else np.inf)
        reached.append(best)
    axes.step(np.arange(1, len(trials) + 1), np.where(np.isfinite(reached), reached, np.nan), where="post",
              color=BETTER, lw=1.2, zorder=1)  # fmt: skip
    axes.axhline(0, color=USUAL, lw=0.8)
    axes.set_xlabel("settings, in the order of the search")
    axes.set_ylabel("mean wait: change (%)")
    _key(figure)
    return figure


def _draw(axes: Axes, x: float, y: float, one: Trial, bar: list[list[float]] | None = None) -> None:
    color = BETTER if one.is_full else STOPPED
    face = "white" if one.broken and one.is_full else color
    axes.errorbar(x, y, yerr=bar, color=color, marker="o", markersize=3.6, mfc=face, lw=0.7, zorder=2)


def _key(figure: Figure) -> None:
    marks = [
        (BETTER, BETTER, "within the limits"),
        (BETTER, "white", "breaks a limit"),
        (STOPPED, STOPPED, "stopped early"),
    ]
    handles = [
        Line2D([], [], color=color, marker="o", markersize=4, mfc=face, linestyle="", label=text)
        for color, face, text in marks
    ]
    style.key_below(figure, handles, 3)


def _front(found: Found) -> Figure:
    trials = [one for one in _trials(found) if one.is_full]
    if not trials:
        raise DrawingError("no settings ran on all weeks of the search")
    figure, (axes,) = panels.page(1, 1, 16, panels.NARROW)
    for one in trials:
        _draw(axes, 1 + one.change, one.longest_wait, one)
    kept = sorted((1 + one.change, one.longest_wait) for one in trials if not one.broken)
    front = [point for place, point in enumerate(kept) if all(point[1] < other[1] for other in kept[:place])]
    if front:
        axes.step(*zip(*front, strict=True), where="post", color=BETTER, lw=1.0, zorder=1)
    limit = accepted(found.confirmed)["longest_wait"]
    if limit is not None:
        axes.axhline(limit, **panels.RECORD)
    axes.plot(1, 1, marker="*", color=USUAL, markersize=8, linestyle="")
    axes.margins(x=0.12)
    axes.set_xlim(right=min(axes.get_xlim()[1], 1 + BEYOND / 100))
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(style.THOUSANDS)
    axes.yaxis.set_minor_formatter(style.THOUSANDS)
    axes.set_xlabel("mean wait (ratio)")
    axes.set_ylabel("longest wait (ratio)")
    named = [
        (label(one.name), 1 + one.change, one.longest_wait) for one in trials if one.name in found.finalists
    ]
    _name(axes, figure.dpi, [(label(found.reference), 1.0, 1.0), *named])
    return figure


def _name(axes: Axes, dpi: float, points: Sequence[tuple[str, float, float]]) -> None:
    """Write names to the right of points, above each other where they would overlap."""
    placed: list[tuple[float, float]] = []
    for words, ratio, longest in sorted(points, key=lambda point: point[2]):
        at = (ratio, longest)
        x, y = axes.transData.transform(at) * 72 / dpi
        height = max([y, *(below + 9 for across, below in placed if abs(across - x) < 60)])
        placed.append((x, height))
        axes.annotate(words, at, (5, height - y), va="center", textcoords="offset points", fontsize=7)
