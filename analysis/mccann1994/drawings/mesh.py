"""Pictures of a mesh of processors: rectangles of jobs, walks over them, and a page with several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from matplotlib.patches import Rectangle as Patch

from analysis.figures import style

if TYPE_CHECKING:
    from models.topology.mesh import Rectangle

EDGE = "#444444"
WALK = "#7a1f00"
WIDTH, SINGLE = 7.4, 4.6
"""Width of a page, and of one with a single drawing, inches."""

TITLE = 0.25
"""Height of a title above a drawing, inches."""

RULED = 1100
"""Meshes of up to this number of processors have grid lines; in larger ones the lines would hide the rest."""


class Piece(NamedTuple):
    """A rectangle of processors and how it is drawn.

    rectangle : where it is
    color : of its face
    text : what stands in it
    bold : whether its edge is thick
    badge : whether the text has a white ground, on which it can be read where a walk passes
    """

    rectangle: Rectangle
    color: str
    text: str = ""
    bold: bool = False
    badge: bool = False


def draw_mesh(
    axes: Axes, rows: int, columns: int, pieces: Sequence[Piece], title: str = "", inches: float = 1.6
) -> None:
    """Draw rectangles on a mesh, its first row on top.

    Parameters
    ----------
    rows, columns : int
        Processors.
    inches : float
        Width of the axes on paper, roughly: texts are as large as their rectangles let them be.
    """
    for piece in pieces:
        top, left, height, width = piece.rectangle
        axes.add_patch(Patch((left, top), width, height, facecolor=piece.color, edgecolor="none", zorder=1))
        edge = Patch((left, top), width, height, facecolor="none", edgecolor=EDGE)
        edge.set(linewidth=2.2 if piece.bold else 0.9, zorder=4 if piece.bold else 3)
        axes.add_patch(edge)
        _write(axes, piece, 72 * inches / columns)
    if rows * columns <= RULED:
        axes.vlines(np.arange(1, columns), 0, rows, color="white", linewidth=0.4, alpha=0.7, zorder=2)
        axes.hlines(np.arange(1, rows), 0, columns, color="white", linewidth=0.4, alpha=0.7, zorder=2)
    margin = 0.01 * max(rows, columns)
    axes.set(xlim=(-margin, columns + margin), ylim=(rows + margin, -margin), aspect="equal")
    bare(axes)
    axes.set_title(title, fontsize=8.5, fontweight="normal", loc="center", pad=4)


def key(names: Mapping[str, str]) -> list[Patch]:
    """Return the legend of some fills by name."""
    return [Patch((0, 0), 1, 1, facecolor=color, edgecolor=EDGE, label=name) for name, color in names.items()]


def bare(axes: Axes) -> None:
    """Remove ticks, grid and frame."""
    axes.set(xticks=[], yticks=[])
    style.bare(axes)


def draw_walk(axes: Axes, stops: Sequence[Rectangle]) -> None:
    """Draw the closed walk from each rectangle to the next, through the middle of the side they share."""
    if len(stops) < 2:
        return
    gates = [_gate(here, there) for here, there in pairwise([*stops, stops[0]])]
    centres = [_centre(stop) for stop in stops]
    path = [point for pair in zip(centres, gates, strict=True) for point in pair]
    halo = [patheffects.withStroke(linewidth=2.8, foreground="white")]
    axes.plot(*np.array([*path, path[0]]).T, color=WALK, linewidth=1.2, zorder=6, path_effects=halo)
    for gate, centre in zip(gates, [*centres[1:], centres[0]], strict=True):
        ahead = centre - gate
        axes.add_patch(
            FancyArrowPatch(
                gate + 0.2 * ahead, gate + 0.65 * ahead, arrowstyle="-|>", mutation_scale=7, color=WALK,
                linewidth=0.8, shrinkA=0, shrinkB=0, zorder=7,
            )
        )  # fmt: skip


def _write(axes: Axes, piece: Piece, points: float) -> None:
    """Write a text as large as its rectangle allows, given the points per processor; upright if necessary."""
    lines = piece.text.split("\n")
    top, left, height, width = piece.rectangle
    size = {
        turn: min(9.0, 1.45 * along * points / max(1, *map(len, lines)), 0.75 * across * points / len(lines))
        for turn, along, across in ((0, width, height), (90, height, width))
    }
    turn = max(size, key=lambda turn: size[turn])
    if piece.text and size[turn] >= 4:
        axes.text(
            left + width / 2,
            top + height / 2,
            piece.text,
            ha="center",
            va="center",
            fontsize=size[turn],
            rotation=turn,
            zorder=8 if piece.badge else 5,
            bbox={"boxstyle": "round,pad=0.2", "fc": "white", "ec": WALK, "lw": 0.6} if piece.badge else None,
        )


def _centre(rectangle: Rectangle) -> np.ndarray:
    top, left, height, width = rectangle
    return np.array([left + width / 2, top + height / 2])


def _gate(here: Rectangle, there: Rectangle) -> np.ndarray:
    """Return the middle of the side that two rectangles share; half-way between them if they share none."""
    top, left = max(here.top, there.top), max(here.left, there.left)
    bottom = min(here.top + here.height, there.top + there.height)
    right = min(here.left + here.width, there.left + there.width)
    if top > bottom or left > right:
        return (_centre(here) + _centre(there)) / 2
    return np.array([(left + right) / 2, (top + bottom) / 2])


def pages(n: int, n_columns: int, ratio: float) -> tuple[Figure, Sequence[Axes]]:
    """Return a page as wide as the report with places for `n` drawings; a page for one drawing is smaller.

    Parameters
    ----------
    n, n_columns : int
        Number of drawings, and of drawings side by side.
    ratio : float
        Height of a drawing over its width.
    """
    n_rows = -(-n // n_columns)
    width = WIDTH / n_columns if n_columns > 1 else SINGLE
    figure = Figure(
        figsize=(n_columns * width, n_rows * (0.92 * width * ratio + TITLE) + 0.5), layout="constrained"
    )
    places = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for axes in places[n:]:
        axes.set_visible(False)
    return figure, list(places[:n])
