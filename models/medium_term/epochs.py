"""Epoch schedules: all processors are reallocated at once, in equal shares (McCann 1994, section 6.5).

An epoch of j jobs gives each of them P/j processors for j/J of T, so that j must divide P.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import int64, void

from models.arrays import Ints
from models.kernels.compiling import kernel
from models.kernels.types import INTS
from models.medium_term.boxes import BOXES, Boxes, empty


@cache
def divisors(processors: int) -> Ints:
    """Return the numbers of jobs that an epoch can have, the largest first."""
    small = [n for n in range(1, int(processors**0.5) + 1) if processors % n == 0]
    return np.array(sorted({*small, *(processors // n for n in small)}, reverse=True), np.int64)


def equi_epoch(processors: int, minimum: Ints) -> Boxes:
    """Return the EQUI-EPOCH schedule: from the smallest minimum on, as many jobs as fit in (Fig. 6.6).

    As printed, the figure looks at the job after the last one and wants its minimum below the share. Figs.
    6.7 to 6.10 and the text come out if the last job's own minimum is looked at and may be as large as the
    share: min[start + j - 1] <= P/j. The last epoch of Fig. 6.7 then gives 6 processors, not the text's 8.
    """
    boxes = empty(len(minimum))
    fill_from_smallest(processors, divisors(processors), minimum, boxes)
    return boxes


def greedy_largest(processors: int, minimum: Ints) -> Boxes:
    """Return the schedule of the greedy policy that starts with the largest minimum (section 6.5.2)."""
    boxes = empty(len(minimum))
    fill_from_largest(processors, divisors(processors), minimum, boxes)
    return boxes


def optimal_epoch(processors: int, minimum: Ints) -> Boxes:
    """Return an epoch schedule with the fewest epochs, exact for any number of processors.

    Jobs can be exchanged until larger epochs have the smaller minima (Properties 6.3 and 6.4), so that it is
    enough to look at all ways of cutting the sorted list.
    """
    boxes = empty(len(minimum))
    fewest, size = np.zeros((2, len(minimum) + 1), np.int64)
    fill_optimally(processors, divisors(processors), minimum, fewest, size, boxes)
    return boxes


@kernel(void(int64, int64, int64, int64, BOXES), inline=True)
def place(processors: int, first: int, size: int, start: int, boxes: Boxes) -> None:
    """Give jobs `first` to `first` + `size` - 1 equal shares from time `start` on. O(size)."""
    share = processors // size
    for i in range(size):
        job = first + i
        boxes.x[job], boxes.y[job] = i * share, start
        boxes.width[job], boxes.height[job] = share, size


@kernel(void(int64, INTS, INTS, BOXES))
def fill_from_smallest(processors: int, sizes: Ints, minimum: Ints, boxes: Boxes) -> None:
    """Fill epochs with as many of the smallest jobs as can share P. O(J + epochs x sizes)."""
    n_jobs = len(minimum)
    first = 0
    while first < n_jobs:
        for size in sizes:
            if size <= n_jobs - first and minimum[first + size - 1] * size <= processors:
                place(processors, first, size, first, boxes)
                first += size
                break


@kernel(void(int64, INTS, INTS, BOXES))
def fill_from_largest(processors: int, sizes: Ints, minimum: Ints, boxes: Boxes) -> None:
    """Fill epochs with as many of the largest jobs as can share P. O(J + epochs x sizes)."""
    left = len(minimum)
    while left > 0:
        for size in sizes:
            if size <= left and minimum[left - 1] * size <= processors:
                place(processors, left - size, size, len(minimum) - left, boxes)
                left -= size
                break


@kernel(void(int64, INTS, INTS, INTS, INTS, BOXES))
def fill_optimally(
    processors: int, sizes: Ints, minimum: Ints, fewest: Ints, best: Ints, boxes: Boxes
) -> None:
    """Cut the sorted jobs into the fewest epochs, by dynamic programming. O(J x sizes).

    Parameters
    ----------
    fewest, best : ndarray of int64, shape (n_jobs + 1,)
        Room for the number of epochs from each job on, and the size of the first of these.
    """
    n_jobs = len(minimum)
    fewest[n_jobs] = 0
    for first in range(n_jobs - 1, -1, -1):
        fewest[first] = n_jobs + 1
        for size in sizes:
            if size <= n_jobs - first and minimum[first + size - 1] * size <= processors:
                epochs = 1 + fewest[first + size]
                if epochs < fewest[first]:
                    fewest[first], best[first] = epochs, size
    first = 0
    while first < n_jobs:
        place(processors, first, best[first], first, boxes)
        first += best[first]
