"""Schedules on a mesh: the rectangle of processors and the time of each job (McCann 1994, section 6.7)."""

from fractions import Fraction
from math import gcd
from typing import NamedTuple

from models.medium_term.schedule import Box, Schedule
from models.topology.mesh import Rectangle
from models.topology.shapes import ROWS, splits


class Placement(NamedTuple):
    """A job's rectangle of processors, from `start` to `end` as fractions of T."""

    job: int
    rectangle: Rectangle
    start: Fraction
    end: Fraction


def realise(schedule: Schedule, rows: int, columns: int) -> tuple[Placement, ...]:
    """Give each box of a schedule its rectangle of a mesh.

    Where all numbers are powers of two, the mesh is halved as Folding does it, so that a job's processors are
    divided among, or united from, the processors of few others (Fig. 6.11). Epochs on other meshes are
    equipartitions by factors of the two dimensions.

    Parameters
    ----------
    schedule : Schedule
    rows, columns : int
        Sides of the mesh; their product is the number of processors.

    Returns
    -------
    tuple of Placement
        One for each job, in order.

    Raises
    ------
    ValueError
        If the mesh has another number of processors, or the schedule can be realised in neither way.
    """
    if rows < 1 or columns < 1 or rows * columns != schedule.processors:
        raise ValueError(
            f"a mesh of {rows} x {columns} for a schedule of {schedule.processors} processors; "
            "give rows and columns whose product is that number"
        )
    if _can_be_folded(schedule, rows, columns):
        rectangles = [_halved(box, rows, columns) for box in schedule.boxes]
    elif schedule.is_epoch_schedule:
        rectangles = [_factored(box, rows, columns) for box in schedule.boxes]
    else:
        raise ValueError(
            f"a schedule that neither consists of epochs nor, on {rows} x {columns} processors, of powers of "
            "two at multiples of their width; use buddy_schedule on a mesh of powers of two, or equi_epoch"
        )
    return tuple(
        Placement(box.job, rectangle, box.y, box.end)
        for box, rectangle in zip(schedule.boxes, rectangles, strict=True)
    )


def _can_be_folded(schedule: Schedule, rows: int, columns: int) -> bool:
    sizes = [rows, columns, *(box.width for box in schedule.boxes)]
    powers = all(size & (size - 1) == 0 for size in sizes)
    return powers and all(box.x % box.width == 0 for box in schedule.boxes)


def _halved(box: Box, rows: int, columns: int) -> Rectangle:
    """Halve the mesh down to the box, as Folding does; the bits of the first processor select the halves."""
    top, left, height, width = 0, 0, rows, columns
    part = rows * columns
    for axis in splits(rows, columns):
        if part == box.width:
            break
        part //= 2
        second = bool(box.x & part)
        if axis == ROWS:
            height //= 2
            top += height * second
        else:
            width //= 2
            left += width * second
    return Rectangle(top, left, height, width)


def _factored(box: Box, rows: int, columns: int) -> Rectangle:
    """Cut the mesh into equal rectangles, as square as possible, and take the box's rectangle.

    The number of jobs in an epoch divides rows x columns. It has at least one factor that divides rows and
    leaves a divisor of columns: its greatest common divisor with rows.
    """
    n_jobs = rows * columns // box.width
    across = [
        down
        for down in range(1, gcd(n_jobs, rows) + 1)
        if rows % down == 0 and n_jobs % down == 0 and columns % (n_jobs // down) == 0
    ]
    down = min(across, key=lambda down: rows // down + columns * down // n_jobs)
    height, width = rows // down, columns * down // n_jobs
    row, column = divmod(box.x // box.width, columns // width)
    return Rectangle(row * height, column * width, height, width)
