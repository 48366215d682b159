"""Figs. 2.3, 4.3 and 4.4: threads on processors, and the order in which EQUI+ distributes them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from analysis.drawings.scene import mesh_of, valid, whole
from analysis.errors import AnalysisError
from analysis.figures import style
from analysis.mccann1994.drawings.mesh import EDGE, SINGLE, WALK, bare

PROCESSOR_COLORS = ("#cfe3f3", "#f9dcc4", "#d5ead2", "#f6ecbe", "#e6d7ee")
"""Neighbouring processors differ in colour: along a row by turns, and from row to row by two places."""


MOST_THREADS = 256
"""Numbered in a row of processors."""


def draw_threads(axes: Axes, processor: np.ndarray, height: int, width: int) -> None:
    """Draw the grid of threads, coloured by processor, with each processor's number of threads."""
    from models.partitioning.geometry.mapping import thread_counts

    rows, columns = processor.shape
    counts = thread_counts(processor, height, width)
    line, column = np.divmod(processor, width)
    shades = np.array([to_rgb(color) for color in PROCESSOR_COLORS])
    axes.imshow(shades[(column + 2 * line) % len(shades)], extent=(0, columns, rows, 0), aspect="equal")
    axes.vlines(np.arange(1, columns), 0, rows, color="white", linewidth=0.5)
    axes.hlines(np.arange(1, rows), 0, columns, color="white", linewidth=0.5)
    style.outlines(axes, processor.T, color=EDGE, linewidth=1.0)
    for number in range(height * width):
        place = np.argwhere(processor == number).mean(axis=0) + 0.5
        axes.text(place[1], place[0], str(counts.flat[number]), ha="center", va="center", fontsize=8.5)
    bare(axes)
    least, most = counts.min(), counts.max()
    each = (
        f"{least}" if least == most else f"{least} or {most}" if most == least + 1 else f"{least} to {most}"
    )
    axes.set_title(
        f"{rows} × {columns} threads on {height} × {width} processors: {each} each",
        fontsize=8.5, fontweight="normal", loc="center", pad=4,
    )  # fmt: skip


def kernel_mapping(settings: Mapping[str, str]) -> Figure:
    """Draw the threads of the virtual machine on a partition by equation 4.1."""
    from models.partitioning.geometry.mapping import contraction

    rows, columns = mesh_of(settings)
    height, width = mesh_of(settings, "partition")
    figure, axes = style.page(SINGLE, 0.92 * SINGLE * rows / columns)
    draw_threads(axes, valid(contraction, rows, columns, height, width), height, width)
    return figure


def orders(rows: int, columns: int, height: int) -> list[np.ndarray]:
    """Return x and y of the threads of each row of processors in their order, shape (2, threads of a row).

    Empty where EQUI+ orders the threads of columns instead, because `height` does not divide `rows`.
    """
    from models.partitioning.geometry.mapping import order_in_row

    if rows % height:
        return []
    index, depth = order_in_row(rows, columns, height), rows // height
    return [
        np.array([column + 0.5, row + top + 0.5])
        for top in range(0, rows, depth)
        for row, column in [
            np.unravel_index(np.argsort(index[top : top + depth], axis=None), (depth, columns))
        ]
    ]


def thread_order(settings: Mapping[str, str]) -> Figure:
    """Draw index(i, j) in an even and in an odd row of processors, and the order as a line."""
    from models.partitioning.geometry.mapping import order_in_row

    (rows, columns), height = mesh_of(settings), whole(settings, "rows")
    if rows % height or height < 2 or rows * columns > MOST_THREADS * height:
        raise AnalysisError(
            f"rows={height}; allowed: 2 or more rows of processors that divide {rows}, with up to "
            f"{MOST_THREADS} threads each"
        )
    index, depth, lines = order_in_row(rows, columns, height), rows // height, orders(rows, columns, height)
    figure = Figure(figsize=(7.4, 7.4 * 2 * depth / columns + 0.7), layout="constrained")
    for row, axes in enumerate(figure.subplots(2, 1)):
        axes.plot(*lines[row], color=WALK, linewidth=0.6, linestyle=(0, (2, 1.5)))
        for (i, j), place in np.ndenumerate(index[row * depth : (row + 1) * depth]):
            box = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none"}
            axes.text(
                j + 0.5, row * depth + i + 0.5, str(place), ha="center", va="center", fontsize=7, bbox=box
            )
        axes.vlines(np.arange(columns + 1), row * depth, (row + 1) * depth, color=EDGE, linewidth=0.4)
        axes.hlines(row * depth + np.arange(depth + 1), 0, columns, color=EDGE, linewidth=0.4)
        axes.set(xlim=(0, columns), ylim=((row + 1) * depth, row * depth), aspect="equal")
        bare(axes)
        title = f"{'Odd' if row else 'Even'} row of processors: {depth * columns} threads"
        axes.set_title(title, fontsize=8.5, fontweight="normal", loc="center", pad=4)
    return figure
