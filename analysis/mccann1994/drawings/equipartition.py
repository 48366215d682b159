"""Figs. 4.2 and 4.3: the partitions of EQUI, and how EQUI+ maps threads onto one of them."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from analysis.drawings.settings import mesh_of, valid, whole
from analysis.errors import AnalysisError
from analysis.mccann1994.drawings.mesh import Piece, bare, draw_mesh, pages
from analysis.mccann1994.labels import LARGE, REST

PAGE = range(1, 17)
"""Numbers of jobs of Fig. 4.2."""

PROCESSOR_COLORS = ("#cfe3f3", "#f9dcc4", "#d5ead2", "#f6ecbe", "#e6d7ee")
"""Neighbouring processors differ in colour: along a row by turns, and from row to row by two places."""


def equi(settings: Mapping[str, str]) -> Figure:
    """Draw the partitions for one number of jobs, or for each of `PAGE`."""
    rows, columns = mesh_of(settings)
    if settings["jobs"]:
        jobs = whole(settings, "jobs")
        pieces = valid(_pieces, rows, columns, jobs, settings["leftover"])
        figure = Figure(figsize=(5.0, 5.0 * rows / columns + 0.9), layout="constrained")
        draw_mesh(figure.subplots(), rows, columns, pieces, inches=4.6)
        kinds = Counter(piece.text for piece in pieces)
        shown = ", ".join(f"{n} of {size}" for size, n in kinds.items())
        figure.suptitle(f"EQUI: {jobs} jobs on {rows} × {columns} processors: {shown}", fontsize=9)
    else:
        numbers = [jobs for jobs in PAGE if jobs <= rows * columns]
        figure, places = pages(len(numbers), 4, rows / columns)
        for jobs, axes in zip(numbers, places, strict=True):
            pieces = valid(_pieces, rows, columns, jobs, settings["leftover"])
            draw_mesh(axes, rows, columns, pieces, f"J = {jobs}")
    figure.legend(handles=_key(), loc="outside lower center", ncols=2)
    return figure


def _key() -> list[Patch]:
    sections = {"regular section": REST, "remainder section": LARGE}
    return [Patch(facecolor=color, edgecolor="#444444", label=name) for name, color in sections.items()]


def _pieces(rows: int, columns: int, jobs: int, leftover: str) -> list[Piece]:
    from models.partitioning.geometry.equipartition import partition, sections

    regular = jobs - sections(rows, columns, jobs, leftover).remainder
    return [
        Piece(found, REST if number < regular else LARGE, f"{found.height}×{found.width}")
        for number, found in enumerate(partition(rows, columns, jobs, leftover))
    ]


def equi_plus_mapping(settings: Mapping[str, str]) -> Figure:
    """Draw where a partition lies and on which of its processors each thread of its job runs."""
    rows, columns = mesh_of(settings)
    jobs, wanted = whole(settings, "jobs"), settings["partition"].lower().replace("x", "×")
    pieces = valid(_pieces, rows, columns, jobs, settings["leftover"])
    shapes = [piece.text for piece in pieces]
    if wanted and wanted not in shapes:
        raise AnalysisError(
            f"partition={settings['partition']}: {jobs} jobs have no such one; valid: "
            f"{', '.join(dict.fromkeys(shapes)).replace('×', 'x')}"
        )
    chosen = shapes.index(wanted) if wanted else 0
    height, width = pieces[chosen].rectangle.height, pieces[chosen].rectangle.width
    figure = Figure(figsize=(7.4, 3.9), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.35])
    marked = [
        piece._replace(color=REST if n == chosen else "#f1f1f1", bold=n == chosen)
        for n, piece in enumerate(pieces)
    ]
    draw_mesh(left, rows, columns, marked, f"{jobs} partitions of {rows} × {columns} processors", 2.8)
    _draw_threads(right, rows, columns, height, width)
    return figure


def _draw_threads(axes: Axes, rows: int, columns: int, height: int, width: int) -> None:
    """Draw the grid of threads, coloured by processor, with each processor's number of threads."""
    from models.partitioning.geometry.mapping import snake, thread_counts

    processor = valid(snake, rows, columns, height, width)
    counts = thread_counts(processor, height, width)
    line, column = np.divmod(processor, width)
    shades = np.array([_rgb(color) for color in PROCESSOR_COLORS])
    axes.imshow(shades[(column + 2 * line) % len(shades)], extent=(0, columns, rows, 0), aspect="equal")
    axes.vlines(np.arange(1, columns), 0, rows, color="white", linewidth=0.5)
    axes.hlines(np.arange(1, rows), 0, columns, color="white", linewidth=0.5)
    _draw_borders(axes, processor)
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


def _draw_borders(axes: Axes, processor: np.ndarray) -> None:
    """Draw lines between threads of different processors, and around all."""
    framed = np.pad(processor, 1, constant_values=-1)
    for row, column in zip(*np.nonzero(np.diff(framed[:, 1:-1], axis=0)), strict=True):
        axes.plot([column, column + 1], [row, row], color="#444444", linewidth=1.0)
    for row, column in zip(*np.nonzero(np.diff(framed[1:-1], axis=1)), strict=True):
        axes.plot([column, column], [row, row + 1], color="#444444", linewidth=1.0)


def _rgb(color: str) -> Sequence[float]:
    return [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
