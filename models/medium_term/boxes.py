"""Boxes as plain arrays, which policies fill in, and their measures."""

from typing import NamedTuple

import numpy as np
from numba import int64, types, void

from models.arrays import Floats, Ints
from models.kernels.compiling import kernel
from models.kernels.types import FLOATS, INTS


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
    INTS,  # numbers of jobs that may share them, see `policies.Rules.sizes`
    INTS,  # minimum requirements, ascending
    BOXES,  # where the boxes are written to
)
"""Signature of a policy: a compiled function that fills in a schedule."""


def empty(n_jobs: int) -> Boxes:
    """Return boxes to be filled, with T/J as the unit of time."""
    x, y, width, height = np.zeros((4, n_jobs), np.int64)
    return Boxes(n_jobs, x, y, width, height)


class Totals(NamedTuple):
    """Sums of the family's metrics over the schedules of each batch, shape (n_batches,)."""

    reallocations: Floats
    epochs: Floats
    uninterrupted: Floats
    uninterrupted_in_group: Floats
    processors_per_job: Floats
    processors_at_once: Floats


TOTALS = types.NamedUniTuple(FLOATS, len(Totals._fields), Totals)


@kernel(void(BOXES, INTS, TOTALS, int64), allocates=True)
def add(boxes: Boxes, group: Ints, totals: Totals, batch: int) -> None:
    """Measure one schedule and add it to the sums of its batch; `group` are `policies.Rules.jobs_in_groups`.

    O(J log J).

    A group of g jobs has all processors for g/J of T, because shares are equal. A job that runs that long is
    never reallocated while its group runs.

    A schedule has no gaps: where a box ends before T, another begins, so the number of moments of
    reallocation, including the end of T, equals the number of different starts.
    """
    n_jobs = len(boxes.y)
    reallocated, uninterrupted, in_group, allocated = 0, 0, 0, 0
    for job in range(n_jobs):
        allocated += boxes.width[job]
        if boxes.height[job] < boxes.unit:
            reallocated += boxes.width[job]
        else:
            uninterrupted += 1
        in_group += boxes.height[job] * n_jobs >= group[job] * boxes.unit
    starts = np.sort(boxes.y)
    epochs = 1
    for i in range(1, n_jobs):
        epochs += starts[i] != starts[i - 1]
    totals.reallocations[batch] += reallocated
    totals.epochs[batch] += epochs
    totals.uninterrupted[batch] += uninterrupted / n_jobs
    totals.uninterrupted_in_group[batch] += in_group / n_jobs
    totals.processors_per_job[batch] += allocated / n_jobs
    totals.processors_at_once[batch] += reallocated / epochs
