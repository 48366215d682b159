"""Figs. 4.5 to 4.9: the partitions of Folding, a full rotation, and the walks over the partitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from analysis.drawings.matrix import JOB_COLORS
from analysis.drawings.settings import mesh_of, valid, whole
from analysis.figures.style import shade
from analysis.mccann1994.drawings.mesh import Piece, draw_mesh, draw_walk, pages
from analysis.mccann1994.labels import LARGE, SMALL

if TYPE_CHECKING:
    from models.partitioning.geometry.folding import Folding

PAGE = range(3, 9)
"""Numbers of jobs of Fig. 4.5."""

CYCLES = (4, 6, 8, 16, 17, 18, 24, 32)
"""Numbers of partitions of Figs. 4.7 to 4.9; 16 twice, before and after the order is defined anew."""

MOST_ROTATIONS = 24
LONGEST_STRING = 20
"""Of small and large partitions, that has room above a picture."""


def folding(settings: Mapping[str, str]) -> Figure:
    """Draw the partitions for one number of jobs, or for each of `PAGE`."""
    rows, columns = mesh_of(settings)
    numbers = [whole(settings, "jobs")] if settings["jobs"] else [n for n in PAGE if n <= rows * columns]
    figure, places = pages(len(numbers), min(3, len(numbers)), rows / columns)
    for jobs, axes in zip(numbers, places, strict=True):
        found = _after_arrivals(rows, columns, jobs)
        draw_mesh(axes, rows, columns, _by_size(found), f"J = {jobs}", _inches(numbers))
    figure.legend(handles=_key(), loc="outside lower center", ncols=2)
    return figure


def folding_rotation(settings: Mapping[str, str]) -> Figure:
    """Draw the partitions after each rotation of a full cycle, from the last arrival on."""
    from models.partitioning.geometry.rotation import cycle_length

    rows, columns = mesh_of(settings)
    jobs = whole(settings, "jobs")
    found = _after_arrivals(rows, columns, jobs)
    rotations = min(cycle_length(jobs), MOST_ROTATIONS)
    figure, places = pages(rotations + 1, 3, rows / columns)
    moved: set[object] = set()
    for number, axes in enumerate(places):
        if number:
            moved = {move.job for step in found.rotate() for move in step}
        pieces = [
            Piece(place, _color(job), str(job), bold=job in moved, badge=True)
            for job, place in found.partitions()
        ]
        title = f"after {number} rotation{'s' * (number > 1)}" if number else "before"
        if len(strings := ", ".join(found.strings())) <= LONGEST_STRING:
            title += f": {strings}"
        draw_mesh(axes, rows, columns, pieces, title, 2.2)
        _draw_walks(axes, found)
    figure.supxlabel(_told(jobs, cycle_length(jobs)), fontsize=7.5, color="#666666")
    return figure


def folding_cycle(settings: Mapping[str, str]) -> Figure:
    """Draw the closed walk over the partitions, for one number of them or for each of `CYCLES`."""
    from models.partitioning.geometry.folding import cycle

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
    figure.legend(handles=_key(), loc="outside lower center", ncols=2)
    return figure


def _after_arrivals(rows: int, columns: int, jobs: int) -> Folding:
    """Return a machine after so many arrivals, jobs numbered from 1 on."""
    from models.partitioning.geometry.folding import Folding
    from models.topology.mesh import require_room

    valid(require_room, rows, columns, jobs)
    found = valid(Folding, rows, columns)
    for job in range(1, jobs + 1):
        found.arrive(job)
    return found


def _by_size(found: Folding) -> list[Piece]:
    """Return the partitions, coloured by size."""
    largest = max(place.n_processors for _, place in found.partitions())
    return [
        Piece(place, LARGE if place.n_processors == largest else SMALL, f"{place.height}×{place.width}")
        for _, place in found.partitions()
    ]


def _told(jobs: int, rotations: int) -> str:
    """Return what stands below the pictures of a rotation."""
    if not rotations:
        return f"With {jobs} jobs all partitions are equal, and nothing rotates."
    cut = f" The first {MOST_ROTATIONS} are shown." if rotations > MOST_ROTATIONS else ""
    return (
        f"After {rotations} rotations all {jobs} jobs have had the same.{cut} Bold: has just moved. s, b: "
        "small and large partitions along the walk."
    )


def _color(job: object) -> str:
    """Return the colour of a job, which it keeps through a rotation."""
    return shade(JOB_COLORS[int(str(job)) % len(JOB_COLORS)], 0.3)


def _draw_walks(axes: Axes, found: Folding) -> None:
    """Draw the walk of each system over its partitions."""
    places = [place for _, place in found.partitions()]
    start = 0
    for string in found.strings():
        draw_walk(axes, places[start : start + len(string)])
        start += len(string)


def _key() -> list[Patch]:
    sizes = {"small partition": SMALL, "large partition": LARGE}
    return [Patch(facecolor=color, edgecolor="#444444", label=name) for name, color in sizes.items()]


def _inches(numbers: list[int]) -> float:
    return 2.2 if len(numbers) > 1 else 6.5
