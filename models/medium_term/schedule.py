"""A schedule of one interval T as boxes: processors and time of each job (McCann 1994, section 6.1)."""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple


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
        """Time at which the job releases its processors, as a fraction of T."""
        return self.y + self.height


@dataclass(frozen=True)
class Schedule:
    """A schedule of EQUAL_MIN_SCHED: equal boxes, none under its job's minimum, that tile processors x T.

    Parameters
    ----------
    processors : int
        Width of the schedule, P.
    boxes : tuple of Box
        One for each job; box j belongs to job j.
    """

    processors: int
    boxes: tuple[Box, ...]

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
        """Spans of time between moments of reallocation; in an epoch schedule, the number of its epochs."""
        return len(self.starts)

    @property
    def is_epoch_schedule(self) -> bool:
        """Whether all processors are reallocated at once, whenever any is (section 6.5)."""
        following = dict(zip(self.starts, (*self.starts[1:], Fraction(1)), strict=True))
        return all(box.end == following[box.y] for box in self.boxes)
