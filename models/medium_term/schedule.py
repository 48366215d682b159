"""A schedule of one interval T as boxes: processors and time of each job (McCann 1994, section 6.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np


class Box(NamedTuple):
    """The share of one job: processors x to x + width - 1 from time y to y + height, as fractions of T."""

    job: int
    minimum: int
    x: int
    y: Fraction
    width: int
    height: Fraction

    @property
    def end(self) -> Fraction:
        """Time at which the job gives its processors back, as a fraction of T."""
        return self.y + self.height


@dataclass(frozen=True)
class Schedule:
    """A valid schedule: equal boxes, none under its job's minimum, that tile processors x T.

    Parameters
    ----------
    processors : int
        Width of the schedule, P.
    boxes : tuple of Box
        One for each job; box j is that of job j.

    Raises
    ------
    ValueError
        If it is no valid schedule in the sense of EQUAL_MIN_SCHED (section 6.1).
    """

    processors: int
    boxes: tuple[Box, ...]

    def __post_init__(self) -> None:
        if [box.job for box in self.boxes] != list(range(self.jobs)) or not self.boxes:
            raise ValueError(
                f"boxes of jobs {[box.job for box in self.boxes]}; allowed: one box for each of the jobs "
                f"0 to {self.jobs - 1}, in that order"
            )
        share = Fraction(self.processors, self.jobs)
        for box in self.boxes:
            if box.width < box.minimum:
                raise ValueError(f"job {box.job} has {box.width} processors; it needs at least {box.minimum}")
            if box.width * box.height != share:
                raise ValueError(
                    f"job {box.job} has {box.width} processors for {box.height} of T; equal shares are "
                    f"{share} processors times T"
                )
        _check_tiling(self.processors, self.boxes)

    @property
    def jobs(self) -> int:
        """Number of jobs, J."""
        return len(self.boxes)

    @property
    def reallocated(self) -> tuple[Box, ...]:
        """Boxes that do not last for the whole of T: their processors change hands."""
        return tuple(box for box in self.boxes if box.height < 1)

    @property
    def reallocations(self) -> int:
        """Processors reallocated within T (equation 6.1)."""
        return sum(box.width for box in self.reallocated)

    @property
    def starts(self) -> tuple[Fraction, ...]:
        """Times at which boxes begin, ascending from 0, as fractions of T."""
        return tuple(sorted({box.y for box in self.boxes}))

    @property
    def epochs(self) -> int:
        """Spans of time between moments of reallocation; of an epoch schedule, the number of its epochs."""
        return len(self.starts)

    @property
    def is_epoch_schedule(self) -> bool:
        """Whether all processors are reallocated at once, whenever any is (section 6.5)."""
        following = dict(zip(self.starts, (*self.starts[1:], Fraction(1)), strict=True))
        return all(box.end == following[box.y] for box in self.boxes)


def _check_tiling(processors: int, boxes: Sequence[Box]) -> None:
    """Pile the boxes up from the lowest: each must lie flat on what is there, and all must end at T."""
    unit = lcm(*(value.denominator for box in boxes for value in (box.y, box.height)))
    tops = np.zeros(processors, np.int64 if unit < 2**62 else object)  # where the unit is tiny: Python's int
    for box in sorted(boxes, key=lambda box: box.y):
        if not 0 <= box.x <= processors - box.width:
            raise ValueError(
                f"job {box.job} has processors {box.x} to {box.x + box.width - 1}; "
                f"there are 0 to {processors - 1}"
            )
        below = tops[box.x : box.x + box.width]
        if (below != int(box.y * unit)).any():
            raise ValueError(f"the box of job {box.job} overlaps with one below it, or leaves a gap")
        below += int(box.height * unit)
    if (tops != unit).any():
        raise ValueError("the schedule is not full: some processors are unallocated before T, or after it")
