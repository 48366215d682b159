"""A torus of processors: neighbours, distances, and the links of messages in the order of dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from models import checks
from models.arrays import Ints
from models.kernels.compiling import kernel
from models.point import Parameters
from models.topology.shapes import sides_of

FORWARD, BACKWARD = 0, 1
"""Directions of a link: towards the next higher coordinate (from the last to the first), or the other way."""

DIMENSIONS = (2, 3)


@dataclass(frozen=True)
class Torus:
    """Processors in two or three dimensions, each with two neighbours in every dimension; the ends meet.

    Processors are numbered along the last dimension first. Links are directed: in each dimension, each
    processor has one to either neighbour, ``(processor * n_dimensions + dimension) * 2 + direction``. On a
    side of 2, both links lead to the same neighbour; on a side of 1, no message uses them.

    Parameters
    ----------
    sides : tuple of int
        Processors in each dimension.
    """

    sides: tuple[int, ...]

    @classmethod
    def of(cls, machine: Parameters, dimensions: int = 2) -> Torus:
        """Return the torus of a machine's YAML file: as given, or with these dimensions, see `sides_of`."""
        checks.choice({"dimensions": dimensions}, "torus", "dimensions", DIMENSIONS)
        return cls(sides_of(machine, "torus", "runs on one torus", "4x4", dimensions))

    @property
    def n_processors(self) -> int:
        """Number of processors."""
        return prod(self.sides)

    @property
    def n_links(self) -> int:
        """Number of directed links, also along sides of 1."""
        return 2 * len(self.sides) * self.n_processors

    @property
    def diameter(self) -> int:
        """Links of the longest route: the space that `route_into` needs."""
        return sum(side // 2 for side in self.sides)

    @cached_property
    def array(self) -> Ints:
        """The sides as compiled functions take them, shape (n_dimensions,)."""
        return np.array(self.sides, np.int64)

    def distance(self, source: int, target: int) -> int:
        """Return the number of links of the shortest route between two processors."""
        return int(distance_between(self.array, source, target))


@kernel()
def distance_between(sides: Ints, source: int, target: int) -> int:
    """Return the number of links of the shortest route; O(n_dimensions).

    Parameters
    ----------
    sides : ndarray of int, shape (n_dimensions,)
    source, target : int
        Processors.
    """
    found = 0
    stride = 1
    for dimension in range(sides.size - 1, -1, -1):
        side = sides[dimension]
        ahead = (target // stride % side - source // stride % side + side) % side
        found += min(ahead, side - ahead)
        stride *= side
    return found


@kernel()
def route_into(sides: Ints, source: int, target: int, links: Ints) -> int:
    """Write the links of a message in their order, and return how many; O(n_dimensions + links).

    Dimension-order routing: the first dimension is traversed first, the shorter way round. If both ways are
    equally long, a message goes forward if the coordinates of both ends, except the target's in this
    dimension, have an even sum: half of the messages that meet in a ring go either way, where any other side
    is even, so that no direction carries more than the other.

    Parameters
    ----------
    sides : ndarray of int, shape (n_dimensions,)
    source, target : int
        Processors.
    links : ndarray of int, shape (at least `Torus.diameter`,)
        Filled in with the links.
    """
    n_dimensions = sides.size
    total = 0
    stride = 1
    for dimension in range(n_dimensions - 1, -1, -1):
        total += source // stride % sides[dimension] + target // stride % sides[dimension]
        stride *= sides[dimension]
    node = source
    n_links = 0
    for dimension in range(n_dimensions):
        side = sides[dimension]
        stride //= side
        at = node // stride % side
        to = target // stride % side
        ahead = (to - at + side) % side
        behind = side - ahead
        forward = ahead < behind or (ahead == behind and (total - to) % 2 == 0)
        for _ in range(min(ahead, behind)):
            links[n_links] = (node * n_dimensions + dimension) * 2 + (FORWARD if forward else BACKWARD)
            n_links += 1
            following = at + 1 if forward else at - 1
            following = (following + side) % side
            node += (following - at) * stride
            at = following
    return n_links
