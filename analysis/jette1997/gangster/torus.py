"""The display as a picture: the planes of the torus of nodes, and the table of jobs below."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from analysis.errors import AnalysisError
from analysis.figures import style
from analysis.jette1997.gangster.display import HEADER, Lettering, Screen, color_of, known, screen
from analysis.jette1997.gangster.remaking import Remade
from models.counting import counted

if TYPE_CHECKING:
    from models.production_gang.t3d.moment import Moment

MOST_NODES = 4096
FREE, EDGE, BORDER = "#f2f2f2", "#ffffff", "#222222"
LABELLED = 16
"""Sides of up to this number of nodes have space for letters."""


def draw(made: Remade, time: float) -> Figure:
    """Draw the machine at a time of a run, seconds."""
    from models.production_gang.t3d import moment

    now = moment.at(made.run, time)
    if now.owner.size > MOST_NODES:
        raise AnalysisError(
            f"{now.owner.size:,} nodes are too many to draw; give a machine of up to {MOST_NODES:,}"
        )
    letters = Lettering().of(known(now))
    return picture(now, letters, screen(made, now, letters))


def picture(now: Moment, letters: Mapping[int, str], seen: Screen) -> Figure:
    """Draw a moment.

    Parameters
    ----------
    letters : dict of int to str
        Of jobs, by position in the schedule.
    seen : Screen
        The same as text.
    """
    sides = (*now.sides, 1, 1)[:3]
    n_columns = min(sides[2], 2 if sides[2] <= 4 else 4)
    n_rows = -(-sides[2] // n_columns)
    wide, high = sides[0], sides[1]
    above = max(1.2, 7.0 / n_columns * high / wide + 0.3) * n_rows
    below = 0.155 * (len(seen.rows) + 3.4)
    figure = Figure(figsize=(7.4, above + below + 1.0), layout="constrained")
    parts = figure.subfigures(2, 1, height_ratios=(above + 0.4, below))
    assert isinstance(parts, np.ndarray)
    top, bottom = parts
    places = top.subplots(n_rows, n_columns, squeeze=False, sharex=True, sharey=True).ravel()
    owner, leaving = (values.reshape(sides) for values in (now.owner, now.leaving))
    for plane, axes in enumerate(places):
        if plane >= sides[2]:
            axes.set_visible(False)
            continue
        _plane(axes, now, letters, owner[:, :, plane], leaving[:, :, plane])
        axes.set_title(f"z = {plane}", fontsize=8, fontweight="normal")
        axes.label_outer()
    style.put_headline(figure, seen.title)
    top.legend(handles=_key(), loc="outside lower center", ncols=4, fontsize=7.5)
    _table(bottom.subplots(), seen)
    return figure


def _plane(
    axes: Axes, now: Moment, letters: Mapping[int, str], owner: np.ndarray, leaving: np.ndarray
) -> None:
    """Draw the nodes of a plane: the first dimension to the right, the second down."""
    wide, high = owner.shape
    for x, y in np.ndindex(wide, high):
        place, gone = int(owner[x, y]), int(leaving[x, y])
        color = FREE if place < 0 else color_of(letters.get(int(now.job[place]), "*"))
        runs = place >= 0 and now.state[place] == "R"
        shown = color if runs or place < 0 else style.shade(color, 0.6)
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor=shown, edgecolor=EDGE, linewidth=0.6))
        if gone >= 0:
            left = color_of(letters.get(int(now.job[gone]), "*"))
            axes.add_patch(
                Rectangle((x, y), 1, 1, facecolor="none", edgecolor=left, hatch="////", linewidth=0.0)
            )
    style.outlines(axes, owner, color=BORDER, linewidth=1.1, solid_capstyle="round")
    if max(wide, high) <= LABELLED:
        for x, y in np.ndindex(wide, high):
            if (place := int(owner[x, y])) >= 0:
                axes.text(
                    x + 0.5, y + 0.5, letters.get(int(now.job[place]), "*"), ha="center",
                    va="center_baseline", fontsize=7.5, color="#111111",
                )  # fmt: skip
    axes.set_xlim(-0.06, wide + 0.06)
    axes.set_ylim(high + 0.06, -0.06)
    axes.set_aspect("equal")
    axes.set_xticks(
        np.arange(wide)[:: max(wide // 8, 1)] + 0.5, list(map(str, range(0, wide, max(wide // 8, 1))))
    )
    axes.set_yticks(
        np.arange(high)[:: max(high // 4, 1)] + 0.5, list(map(str, range(0, high, max(high // 4, 1))))
    )
    axes.set(xlabel="x", ylabel="y")
    style.bare(axes)


def _table(axes: Axes, seen: Screen) -> None:
    """Write the table in a monospaced font, each job with its colour."""
    lines = [HEADER, *(row.line for row in seen.rows)]
    axes.set_axis_off()
    axes.set_xlim(0, 1)
    axes.set_ylim(len(lines) + 0.9, -0.5)
    for number, line in enumerate(lines):
        if number:
            axes.add_patch(
                Rectangle((0.0, number - 0.42), 0.02, 0.84, facecolor=color_of(seen.rows[number - 1].letter))
            )
        axes.text(
            0.035, number, line, family="DejaVu Sans Mono", fontsize=7.5, va="center",
            color="#222222" if number else "#666666",
        )  # fmt: skip
    wording = seen.summary
    if seen.waiting:
        wording += f"; {counted(seen.waiting, 'more job', 'waits')} in queues"
    axes.text(0.035, len(lines) + 0.2, wording, fontsize=7.5, va="center", color="#666666")


def _key() -> list[Patch]:
    example = color_of("b")
    return [
        Patch(facecolor=example, edgecolor=BORDER, label="runs"),
        Patch(facecolor=style.shade(example, 0.6), edgecolor=BORDER, label="has the nodes, does not run yet"),
        Patch(
            facecolor="none",
            edgecolor=example,
            hatch="////",
            linewidth=0,
            label="image being written to disk",
        ),
        Patch(facecolor=FREE, edgecolor="#cccccc", label="no job"),
    ]
