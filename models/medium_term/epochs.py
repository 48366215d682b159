"""Epoch schedules: all processors are reallocated at once, in equal shares (McCann 1994, section 6.5).

An epoch of j jobs gives each of them P/j processors for j/J of T, so that j must divide P.
"""

import numpy as np
from numba import int64, void

from models.arrays import Ints
from models.kernels.compiling import kernel, part
from models.medium_term.boxes import BOXES, FILL, Boxes


@part(void(int64, int64, int64, int64, BOXES))
def place(processors: int, first: int, size: int, start: int, boxes: Boxes) -> None:
    """Give jobs `first` to `first` + `size` - 1 equal shares from time `start` on. O(size)."""
    share = processors // size
    for i in range(size):
        job = first + i
        boxes.x[job], boxes.y[job] = i * share, start
        boxes.width[job], boxes.height[job] = share, size


@kernel(FILL)
def equi_epoch(processors: int, sizes: Ints, minimum: Ints, boxes: Boxes) -> None:
    """Make the EQUI-EPOCH schedule: from the smallest minimum on, as many jobs as fit (Fig. 6.6).

    As printed, the figure tests the job after the last one and requires its minimum below the share. Figs.
    6.7 to 6.10 and the text result if the last job's own minimum is tested and may be as large as the
    share: min[start + j - 1] <= P/j. The last epoch of Fig. 6.7 then gives 6 processors, not the text's 8.
    O(J + epochs x sizes).
    """
    n_jobs = len(minimum)
    first = 0
    while first < n_jobs:
        for size in sizes:
            if size <= n_jobs - first and minimum[first + size - 1] * size <= processors:
                place(processors, first, size, first, boxes)
                first += size
                break


@kernel(FILL)
def greedy_largest(processors: int, sizes: Ints, minimum: Ints, boxes: Boxes) -> None:
    """Make the schedule of the greedy policy that starts with the largest minimum (section 6.5.2).

    O(J + epochs x sizes).
    """
    left = len(minimum)
    while left > 0:
        for size in sizes:
            if size <= left and minimum[left - 1] * size <= processors:
                place(processors, left - size, size, len(minimum) - left, boxes)
                left -= size
                break


@kernel(FILL, allocates=True)
def optimal_epoch(processors: int, sizes: Ints, minimum: Ints, boxes: Boxes) -> None:
    """Make an epoch schedule with the fewest epochs, by dynamic programming. O(J x sizes).

    It is exact for any number of processors: jobs can be exchanged until larger epochs have the smaller
    minima (Properties 6.3 and 6.4), so it suffices to consider all divisions of the sorted list.
    """
    n_jobs = len(minimum)
    # The number of epochs from each job on, and the size of the first of these.
    fewest, best = np.empty(n_jobs + 1, np.int64), np.empty(n_jobs + 1, np.int64)
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
