"""Figs. 4.2 to 4.9: the partitions of EQUI and EQUI+'s mapping of threads; Folding's partitions and walks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.drawings.matrix import JOB_COLORS
from analysis.drawings.scene import mesh_of, valid, whole
from analysis.errors import AnalysisError
from analysis.figures import style
from analysis.figures.style import shade
from analysis.mccann1994.drawings.mesh import EDGE, Piece, draw_mesh, draw_walk, key, pages
from analysis.mccann1994.drawings.threads import draw_threads, orders
from analysis.mccann1994.labels import LARGE, REST, SMALL
from analysis.mccann1994.local_order import broken_links, refined
from models.counting import counted

if TYPE_CHECKING:
    from models.partitioning.simulation.folded_mesh import FoldedMesh

OF_EQUI = range(1, 17)
"""Numbers of jobs of Fig. 4.2."""


def equi(settings: Mapping[str, str]) -> Figure:
    """Draw the partitions for one number of jobs, or for each of `OF_EQUI`."""
    rows, columns = mesh_of(settings)
    if settings["jobs"]:
        jobs = whole(settings, "jobs")
        pieces = valid(_pieces, rows, columns, jobs, settings["leftover"])
        figure = Figure(figsize=(5.0, 5.0 * rows / columns + 0.9), layout="constrained")
        draw_mesh(figure.subplots(), rows, columns, pieces, inches=4.6)
        kinds = Counter(piece.text for piece in pieces)
        shown = ", ".join(f"{n} of {size}" for size, n in kinds.items())
        figure.suptitle(f"EQUI: {counted(jobs, 'job')} on {rows} × {columns} processors: {shown}", fontsize=9)
    else:
        numbers = [jobs for jobs in OF_EQUI if jobs <= rows * columns]
        figure, places = pages(len(numbers), 4, rows / columns)
        for jobs, axes in zip(numbers, places, strict=True):
            pieces = valid(_pieces, rows, columns, jobs, settings["leftover"])
            draw_mesh(axes, rows, columns, pieces, f"J = {jobs}")
    style.key_below(figure, key({"regular section": REST, "remainder section": LARGE}), 2)
    return figure


def _pieces(rows: int, columns: int, jobs: int, leftover: str) -> list[Piece]:
    from models.partitioning.geometry.equipartition import partition, sections

    regular = jobs - sections(rows, columns, jobs, leftover).remainder
    return [
        Piece(found, REST if number < regular else LARGE, f"{found.height}×{found.width}")
        for number, found in enumerate(partition(rows, columns, jobs, leftover))
    ]


def equi_plus_mapping(settings: Mapping[str, str]) -> Figure:
    """Draw where a partition lies and on which of its processors each thread of its job runs."""
    from models.partitioning.geometry.mapping import snake

    rows, columns = mesh_of(settings)
    jobs, wanted = whole(settings, "jobs"), settings["partition"].lower().replace("x", "×")
    pieces = valid(_pieces, rows, columns, jobs, settings["leftover"])
    shapes = [piece.text for piece in pieces]
    if wanted and wanted not in shapes:
        raise AnalysisError(
            f"partition={settings['partition']}: {counted(jobs, 'job', 'has')} no such partition; valid: "
            f"{', '.join(dict.fromkeys(shapes)).replace('×', 'x')}"
        )
    chosen = shapes.index(wanted) if wanted else 0
    height, width = pieces[chosen].rectangle.height, pieces[chosen].rectangle.width
    figure, (left, right) = style.page(7.4, 3.9, 1, 2, width_ratios=[1, 1.35])
    marked = [
        piece._replace(color=REST if n == chosen else "#f1f1f1", bold=n == chosen)
        for n, piece in enumerate(pieces)
    ]
    draw_mesh(left, rows, columns, marked, f"{jobs} partitions of {rows} × {columns} processors", 2.8)
    draw_threads(right, valid(snake, rows, columns, height, width), height, width)
    for line in orders(rows, columns, height):
        right.plot(*line, color=EDGE, linewidth=0.6, linestyle=(0, (2, 1.5)))
    return figure


OF_FOLDING = range(3, 9)
"""Numbers of jobs of Fig. 4.5."""

CYCLES = (4, 6, 8, 16, 17, 18, 24, 32)
"""Numbers of partitions of Figs. 4.7 to 4.9; 16 twice, before and after the order is redefined."""

SIZES = {"small partition": SMALL, "large partition": LARGE}
MOST_ROTATIONS = 24
LONGEST_STRING = 20
"""Of small and large partitions, that has room above a picture."""


def folding(settings: Mapping[str, str]) -> Figure:
    """Draw the partitions for one number of jobs, or for each of `OF_FOLDING`."""
    rows, columns = mesh_of(settings)
    numbers = (
        [whole(settings, "jobs")] if settings["jobs"] else [n for n in OF_FOLDING if n <= rows * columns]
    )
    figure, places = pages(len(numbers), min(3, len(numbers)), rows / columns)
    for jobs, axes in zip(numbers, places, strict=True):
        found = _after_arrivals(rows, columns, jobs)
        draw_mesh(axes, rows, columns, _by_size(found), f"J = {jobs}", 2.2 if len(numbers) > 1 else 6.5)
    style.key_below(figure, key(SIZES), 2)
    return figure


def folding_rotation(settings: Mapping[str, str]) -> Figure:
    """Draw the partitions after each rotation of a full cycle, from the last arrival on."""
    from models.partitioning.geometry.rotation import cycle_length

    rows, columns = mesh_of(settings)
    jobs = whole(settings, "jobs")
    found = _after_arrivals(rows, columns, jobs)
    rotations = min(cycle_length(jobs), MOST_ROTATIONS)
    figure, places = pages(rotations + 1, 3, rows / columns)
    moved: set[int] = set()
    for number, axes in enumerate(places):
        if number:
            before = dict(found.partitions())
            found.rotate()
            moved = {job for job, place in found.partitions() if before[job] != place}
        pieces = [
            Piece(
                place, shade(JOB_COLORS[job % len(JOB_COLORS)], 0.3), str(job), bold=job in moved, badge=True
            )
            for job, place in found.partitions()
        ]
        title = f"after {counted(number, 'rotation')}" if number else "before"
        if len(strings := ", ".join(found.strings())) <= LONGEST_STRING:
            title += f": {strings}"
        draw_mesh(axes, rows, columns, pieces, title, 2.2)
        _draw_walks(axes, found)
    figure.supxlabel(_caption(jobs, cycle_length(jobs)), fontsize=7.5, color="#666666")
    return figure


def folding_cycle(settings: Mapping[str, str]) -> Figure:
    """Draw the closed walk over the partitions, for one number of them or for each of `CYCLES`."""
    from models.partitioning.geometry.walk import cycle

    rows, columns = mesh_of(settings)
    if settings["partitions"]:
        numbers = [whole(settings, "partitions")]
    else:
        numbers = [n for n in CYCLES if n <= rows * columns]
    reordered = 16 in numbers and len(numbers) > 1
    figure, places = pages(len(numbers) + reordered, min(3, len(numbers)), rows / columns)
    axes = iter(places)
    for jobs in numbers:
        found = _after_arrivals(rows, columns, jobs)
        title = f"{jobs} partitions"
        if jobs == 16 and reordered:
            walk = valid(cycle, rows, columns, jobs)
            here = next(axes)
            draw_mesh(
                here, rows, columns, [Piece(stop, LARGE) for stop in walk], f"{title}, as they come", 2.2
            )
            draw_walk(here, walk)
            title += ", in their new order"
        here = next(axes)
        draw_mesh(here, rows, columns, [piece._replace(text="") for piece in _by_size(found)], title, 2.2)
        _draw_walks(here, found)
    style.key_below(figure, key(SIZES), 2)
    return figure


def local_changes(settings: Mapping[str, str]) -> Figure:
    """Draw the walk over 16 partitions after one and two of them are halved, by local changes (Fig. 4.8)."""
    from models.partitioning.geometry.walk import cycle
    from models.topology.shapes import splits

    rows, columns = mesh_of(settings)
    if rows * columns < 32:
        raise AnalysisError(
            f"processors={settings['processors']}: give 32 or more, of which 16 partitions can be halved"
        )
    walk, axis = valid(cycle, rows, columns, 16), splits(rows, columns)[4]
    pairs = combinations(range(16), 2)
    pair = next((found for found in pairs if broken_links(refined(walk, found, axis))), (0, 1))
    figure, places = pages(2, 2, rows / columns)
    for split, axes in zip((pair[:1], pair), places, strict=True):
        stops = refined(walk, split, axis)
        largest = max(stop.n_processors for stop in stops)
        pieces = [Piece(stop, LARGE if stop.n_processors == largest else SMALL) for stop in stops]
        broken = broken_links(stops)
        title = (
            f"{16 + len(split)} partitions: {'closed' if not broken else f'{broken} step to no neighbour'}"
        )
        draw_mesh(axes, rows, columns, pieces, title, 3.3)
        draw_walk(axes, stops)
    style.key_below(figure, key(SIZES), 2)
    return figure


def _after_arrivals(rows: int, columns: int, jobs: int) -> FoldedMesh:
    """Return a machine after the arrivals of jobs 1 to `jobs`."""
    from models.partitioning.simulation.folded_mesh import FoldedMesh

    return valid(FoldedMesh, rows, columns, jobs)


def _by_size(found: FoldedMesh) -> list[Piece]:
    """Return the partitions, coloured by size."""
    largest = max(place.n_processors for _, place in found.partitions())
    return [
        Piece(place, LARGE if place.n_processors == largest else SMALL, f"{place.height}×{place.width}")
        for _, place in found.partitions()
    ]


def _caption(jobs: int, rotations: int) -> str:
    """Return the text below the pictures of a rotation."""
    if not rotations:
        return f"With {counted(jobs, 'job')} all partitions are equal, and nothing rotates."
    cut = f" The first {MOST_ROTATIONS} are shown." if rotations > MOST_ROTATIONS else ""
    return (
        f"After {counted(rotations, 'rotation')} all {jobs} jobs have had the same.{cut} Bold: has just "
        "moved. s, b: small and large partitions along the walk."
    )


def _draw_walks(axes: Axes, found: FoldedMesh) -> None:
    """Draw the walk of each system over its partitions."""
    places = [place for _, place in found.partitions()]
    start = 0
    for string in found.strings():
        draw_walk(axes, places[start : start + len(string)])
        start += len(string)
