"""Boxes as plain arrays, which policies fill and statistics read, and as a `Schedule`."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numba import int64, types, void

from models.arrays import Ints
from models.kernels.types import INTS
from models.medium_term.schedule import Box, Schedule


class Boxes(NamedTuple):
    """Boxes of jobs in order of their minimum requirement, the smallest first.

    Parameters
    ----------
    unit : int
        Units of time in T. One unit is T/J unless noted: with P and all widths powers of two,
        and in epochs of equal shares, every box is a whole number of them high.
    x, y, width, height : ndarray of int64, shape (n_jobs,)
        First processor, start, processors, duration.
    """

    unit: int
    x: Ints
    y: Ints
    width: Ints
    height: Ints


BOXES = types.NamedTuple([int64, INTS, INTS, INTS, INTS], Boxes)

FILL = void(
    int64,  # processors
    INTS,  # numbers of jobs that may share them, see `models.medium_term.sizes`
    INTS,  # minimum requirements, ascending
    BOXES,  # where the boxes are written to
)
"""Signature of a policy: a compiled function that fills in a schedule."""


def empty(n_jobs: int) -> Boxes:
    """Return boxes to be filled, with T/J as the unit of time."""
    x, y, width, height = np.zeros((4, n_jobs), np.int64)
    return Boxes(n_jobs, x, y, width, height)


def schedule_of(boxes: Boxes, processors: int, minimum: Ints, order: Ints) -> Schedule:
    """Return the schedule.

    Parameters
    ----------
    boxes : Boxes
    processors : int
    minimum : ndarray of int, shape (n_jobs,)
        Minimum requirements, ascending.
    order : ndarray of int, shape (n_jobs,)
        Numbers of the jobs in that order.
    """
    columns = (order, minimum, boxes.x, boxes.y, boxes.width, boxes.height)
    found = [
        Box(job, least, x, Fraction(y, boxes.unit), width, Fraction(height, boxes.unit))
        for job, least, x, y, width, height in zip(*(array.tolist() for array in columns), strict=True)
    ]
    return Schedule(processors, tuple(sorted(found)))
