"""Closed walks over the equal cells into which folding divides a mesh (McCann 1994, 4.4.1 and 4.4.5).

A mesh is halved along its larger dimension (its rows, if it is square), each half along the other, and so
on in turns, until one dimension is used up. A walk visits all cells of such a grid once, goes from
neighbour to neighbour and ends beside its beginning. It is assembled from the walks of the two halves: one
link is cut in each, opposite the other's, and the ends are joined across. Hence

- its first half is a closed walk over one half of the mesh, and its second half over the other;
- the halves of a cell of the next coarser grid follow each other, the first one at an even place: a cell that
  is halved leaves two neighbours in its place;
- up to 16 cells the order of the coarser cells follows their own walk, so that halving is a local change.
  From 32 on it cannot be, and the order is redefined ("global re-ordering");
- a machine of a single row or column has no walk over more than two cells.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from models.topology.mesh import Rectangle, require_room
from models.topology.shapes import COLUMNS, ROWS, splits

Cell = tuple[int, int]
"""Row and column in the grid of cells."""


def cycle(rows: int, columns: int, n_cells: int) -> list[Rectangle]:
    """Return the walk over a mesh that is divided into equal cells; work is O(n_cells × log n_cells).

    Parameters
    ----------
    rows, columns : int
        Processors of the machine, powers of two.
    n_cells : int
        A power of two, at most the number of processors.

    Returns
    -------
    list of Rectangle, length `n_cells`
        Cells 2i and 2i + 1 are the halves of one cell of the grid of half as many.

    Raises
    ------
    ValueError
        If there is no such grid, or no closed walk over it.
    """
    require_room(rows, columns, n_cells)
    if n_cells & (n_cells - 1):
        raise ValueError(f"n_cells={n_cells}; allowed: a power of two, as halving gives it")
    axes = splits(rows, columns)[: n_cells.bit_length() - 1]
    if not is_closed(axes):
        raise ValueError(
            f"no closed walk over {n_cells} cells of {rows} × {columns} processors; allowed: 2 or more rows "
            "and columns, or 1 or 2 cells"
        )
    return [placed(rows, columns, axes, (cell,)) for cell in walk(axes)]


def placed(rows: int, columns: int, axes: tuple[int, ...], cells: tuple[Cell, ...]) -> Rectangle:
    """Return the processors of one cell, or of two neighbours, in the grid after some halvings."""
    height, width = rows >> axes.count(ROWS), columns >> axes.count(COLUMNS)
    (top, left), (bottom, right) = min(cells), max(cells)
    return Rectangle(top * height, left * width, (bottom - top + 1) * height, (right - left + 1) * width)


def coarser(cell: Cell, axis: int) -> Cell:
    """Return the cell of which one is a half after the halving of a dimension."""
    return (cell[0] // 2, cell[1]) if axis == ROWS else (cell[0], cell[1] // 2)


def is_closed(axes: tuple[int, ...]) -> bool:
    """Return whether the last cell of the walk is beside the first."""
    return len(axes) < 2 or len(set(axes)) == 2


def require_closed(rows: int, columns: int) -> None:
    """Raise ``ValueError`` with one line for a machine on which folding has no closed walk."""
    if not is_closed(splits(rows, columns)):
        raise ValueError(
            f"folding on {rows} × {columns} processors; allowed: 2 or more rows and columns, so that a "
            "closed walk over the partitions exists"
        )


@lru_cache(maxsize=256)
def walk(axes: tuple[int, ...]) -> tuple[Cell, ...]:
    """Return the cells of a grid in the order of the walk; if it cannot be closed, they form a line.

    Parameters
    ----------
    axes : tuple of int
        The dimension that each halving divides, the first one first.
    """
    if not axes:
        return ((0, 0),)
    if len(set(axes)) == 1:
        line = range(2 ** len(axes))
        return tuple((i, 0) if axes[0] == ROWS else (0, i) for i in line)
    half, cut = walk(axes[1:]), _cut(axes)
    arc = half[cut:] + half[:cut]
    if axes[0] == COLUMNS and set(axes[1:]) == {ROWS}:
        arc = arc[::-1]  # so that all walks go round clockwise
    last = 2 ** axes.count(axes[0]) - 1
    if axes[0] == ROWS:
        return arc + tuple((last - row, column) for row, column in reversed(arc))
    return arc + tuple((row, last - column) for row, column in reversed(arc))


@lru_cache(maxsize=256)
def _cut(axes: tuple[int, ...]) -> int:
    """Return the place in the half's walk before which it is cut to be joined to its mirror image.

    The place is even, so that no two halves of a coarser cell are separated, and the cells on both sides of
    the cut lie along the border between the halves.
    """
    half = walk(axes[1:])
    if len(set(axes[1:])) < 2:
        return 0
    axis = axes[0]
    border = 2 ** axes[1:].count(axis) - 1
    return next(i for i in range(0, len(half), 2) if half[i - 1][axis] == border == half[i][axis])


class Ring(NamedTuple):
    """A part of the mesh, obtained by halving, that rotates on its own.

    axes : the halvings that divide it into its cells
    cells : its walk
    """

    axes: tuple[int, ...]
    cells: tuple[Cell, ...]

    @classmethod
    def whole(cls, axes: tuple[int, ...]) -> Ring:
        """Return the ring of all cells of a machine."""
        return cls(axes, walk(axes))

    def halves(self) -> tuple[Ring, Ring]:
        """Return the two halves of this part of the mesh, each with its own walk."""
        n, axes = len(self.cells) // 2, self.axes[1:]
        cut = _cut(self.axes)
        first, second = self.cells[:n], self.cells[n:]
        # The second half is a mirror image walked backwards, so the cut is as far from its end.
        return Ring(axes, first[n - cut :] + first[: n - cut]), Ring(axes, second[cut:] + second[:cut])
