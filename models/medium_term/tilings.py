"""Optimal schedules of small systems, by exhaustive search.

Every schedule is a way to tile processors x T with boxes of equal area, and every tiling can be built by
repeatedly putting a box into the left corner of the lowest gap. So a search over skylines finds all tilings;
the sets of widths that complete a skyline are determined once for each skyline.
"""

from functools import cache
from math import gcd, lcm
from typing import NamedTuple

import numpy as np

from models.medium_term.boxes import Boxes

Skyline = tuple[int, ...]
Counts = tuple[int, ...]


class Tilings(NamedTuple):
    """All sets of widths that tile the schedule, the one with the fewest reallocations first.

    Parameters
    ----------
    width : ndarray of int64, shape (n_sets, n_jobs)
        Ascending in each set.
    boxes : list of Boxes
        One tiling for each set.
    """

    width: np.ndarray
    boxes: list[Boxes]


def optimum(processors: int, minimum: np.ndarray, allocations: str) -> Boxes:
    """Return a schedule with the fewest reallocations (equation 6.1).

    Parameters
    ----------
    processors : int
    minimum : ndarray of int64, shape (n_jobs,)
        Minimum requirements, ascending.
    allocations : {"powers_of_two", "all"}
        Allowed allocations.

    Notes
    -----
    A set of widths serves the jobs if, both sorted, no width is under its minimum (Property 6.2). Among
    equally good sets, the one that gives jobs the fewest processors is taken; its number of epochs is not
    optimal.
    """
    step = 1
    while allocations == "powers_of_two" and step * len(minimum) < processors:
        step *= 2  # no job can be narrower, because its share would outlast T: `step` processors act as one
    found = tilings(processors // step, len(minimum), allocations)
    boxes = found.boxes[int(np.argmax((found.width * step >= minimum).all(axis=1)))]
    return boxes._replace(x=boxes.x * step, width=boxes.width * step)


@cache
def tilings(processors: int, n_jobs: int, allocations: str) -> Tilings:
    """Find all sets of widths that tile processors x T; with powers of two, `processors` must be one."""
    widths = list(range(1, processors + 1))
    if allocations == "powers_of_two":
        widths = [1 << bit for bit in range(processors.bit_length())]
    # The units of time in T: enough for every box to be a whole number of them high.
    unit = n_jobs * lcm(*widths) // gcd(processors, lcm(*widths))
    heights = {width: unit * processors // (n_jobs * width) for width in widths}
    found = []
    for tiling in _Search(processors, unit, heights).tilings():
        x, y, width, height = np.array(sorted(tiling, key=lambda box: box[2]), np.int64).T.copy()
        found.append(Boxes(unit, x, y, width, height))
    found.sort(key=lambda boxes: (boxes.width[boxes.height < unit].sum(), boxes.width.sum(), *boxes.width))
    return Tilings(np.array([boxes.width for boxes in found]), found)


class _Search:
    """All sets of boxes that tile a rectangle, one tiling for each."""

    def __init__(self, columns: int, top: int, heights: dict[int, int]) -> None:
        self.columns, self.top = columns, top
        self.shapes = sorted(heights.items(), reverse=True)  # the widest first
        self.known: dict[Skyline, dict[Counts, int]] = {(top,) * columns: {(0,) * len(heights): 0}}
        self.fillable = {0: True}

    def tilings(self) -> list[list[tuple[int, int, int, int]]]:
        """Return every set's boxes (x, y, width, height)."""
        empty = (0,) * self.columns
        return [self._build(empty, counts) for counts in self._completions(empty)]

    def _completions(self, skyline: Skyline) -> dict[Counts, int]:
        """Return how many boxes of each shape may complete a skyline, and the shape to begin with."""
        if (found := self.known.get(skyline)) is None:
            found = {}
            for shape in range(len(self.shapes)):
                if (after := self._place(skyline, shape)) is not None:
                    for counts in self._completions(after):
                        more = (*counts[:shape], counts[shape] + 1, *counts[shape + 1 :])
                        found.setdefault(more, shape)
            self.known[skyline] = found
        return found

    def _place(self, skyline: Skyline, shape: int) -> Skyline | None:
        """Return the skyline after a box in the left corner of the lowest gap; None if it does not fit."""
        width, height = self.shapes[shape]
        lowest = min(skyline)
        x = skyline.index(lowest)
        if skyline[x : x + width] != (lowest,) * width or not self._fills(self.top - lowest - height):
            return None
        return (*skyline[:x], *(lowest + height,) * width, *skyline[x + width :])

    def _fills(self, rest: int) -> bool:
        """Return whether boxes can be piled up to a height."""
        if rest not in self.fillable:
            self.fillable[rest] = rest > 0 and any(self._fills(rest - height) for _, height in self.shapes)
        return self.fillable[rest]

    def _build(self, skyline: Skyline, counts: Counts) -> list[tuple[int, int, int, int]]:
        boxes = []
        while any(counts):
            shape = self.known[skyline][counts]
            lowest = min(skyline)
            boxes.append((skyline.index(lowest), lowest, *self.shapes[shape]))
            after = self._place(skyline, shape)
            assert after is not None, "a box that was placed before fits again"
            skyline = after
            counts = (*counts[:shape], counts[shape] - 1, *counts[shape + 1 :])
        return boxes
