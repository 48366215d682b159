"""Whether an order of partitions survives halving some of them (McCann 1994, section 4.4.5)."""

from collections.abc import Sequence
from itertools import pairwise, product

from models.topology.mesh import Rectangle
from models.topology.shapes import ROWS


def halves(cell: Rectangle, axis: int) -> tuple[Rectangle, Rectangle]:
    """Return the two halves of a rectangle along a dimension, see `models.topology.shapes`."""
    top, left, height, width = cell
    if axis == ROWS:
        return Rectangle(top, left, height // 2, width), Rectangle(
            top + height // 2, left, height // 2, width
        )
    return Rectangle(top, left, height, width // 2), Rectangle(top, left + width // 2, height, width // 2)


def adjacent(one: Rectangle, other: Rectangle) -> bool:
    """Return whether two disjoint rectangles share a piece of a side."""
    rows = min(one.top + one.height, other.top + other.height) - max(one.top, other.top)
    columns = min(one.left + one.width, other.left + other.width) - max(one.left, other.left)
    return (rows == 0 and columns > 0) or (columns == 0 and rows > 0)


def broken_links(walk: Sequence[Rectangle]) -> int:
    """Return how many steps of a closed walk do not go to a neighbour."""
    return sum(not adjacent(here, there) for here, there in pairwise([*walk, walk[0]]))


def refined(walk: Sequence[Rectangle], split: Sequence[int], axis: int) -> list[Rectangle]:
    """Return the walk with some cells replaced by their halves, in the order that breaks the fewest links.

    Parameters
    ----------
    walk : sequence of Rectangle
        Closed.
    split : sequence of int
        Places of the halved cells in the walk. Work is O(2^len(split) x len(walk)).
    axis : int
        Dimension that is halved.
    """
    orders = (
        [
            part
            for place, cell in enumerate(walk)
            for part in (halves(cell, axis)[:: turn[place]] if place in turn else (cell,))
        ]
        for turns in product((1, -1), repeat=len(split))
        for turn in [dict(zip(split, turns, strict=True))]
    )
    return min(orders, key=broken_links)
