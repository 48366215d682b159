"""The measuring of schedules."""

from typing import NamedTuple

import numpy as np
from numba import int64, types, void

from models.arrays import Floats, Ints
from models.kernels.compiling import kernel
from models.kernels.types import FLOATS, INTS
from models.medium_term.boxes import BOXES, Boxes


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
    """Measure one schedule and add it to the sums of its batch. O(J log J).

    Parameters
    ----------
    boxes : Boxes
    group : ndarray of int64, shape (n_jobs,)
        How many jobs there are in each job's group, see `policies.Policy`.
    totals : Totals
    batch : int

    Notes
    -----
    A group of g jobs has all processors for g/J of T, because shares are equal. A job that runs for as long
    is never reallocated while its group is there.

    A schedule has no gaps: where a box ends before T another begins, so that there are as many moments of
    reallocation, the end of T among them, as there are different starts.
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
