"""Whether an order of partitions survives halving some of them (McCann 1994, section 4.4.5)."""

from collections.abc import Sequence
from itertools import pairwise, product

from models.topology.mesh import Rectangle
from models.topology.shapes import ROWS


def _halves(cell: Rectangle, axis: int) -> tuple[Rectangle, Rectangle]:
    top, left, height, width = cell
    if axis == ROWS:
        return Rectangle(top, left, height // 2, width), Rectangle(
            top + height // 2, left, height // 2, width
        )
    return Rectangle(top, left, height, width // 2), Rectangle(top, left + width // 2, height, width // 2)


def _adjacent(one: Rectangle, other: Rectangle) -> bool:
    rows = min(one.top + one.height, other.top + other.height) - max(one.top, other.top)
    columns = min(one.left + one.width, other.left + other.width) - max(one.left, other.left)
    return (rows == 0 and columns > 0) or (columns == 0 and rows > 0)


def broken_links(walk: Sequence[Rectangle]) -> int:
    """Return how many steps of a closed walk do not go to a neighbour."""
    return sum(not _adjacent(here, there) for here, there in pairwise([*walk, walk[0]]))


def refined(walk: Sequence[Rectangle], split: Sequence[int], axis: int) -> list[Rectangle]:
    """Return a closed walk with some cells halved, in the order that breaks the fewest links.

    O(2^len(split) x len(walk)).
    """
    found = []
    for turns in product((1, -1), repeat=len(split)):
        turn = dict(zip(split, turns, strict=True))
        parts = (_halves(cell, axis)[:: turn[i]] if i in turn else (cell,) for i, cell in enumerate(walk))
        found.append([part for some in parts for part in some])
    return min(found, key=broken_links)
