"""The tables of compiled folding: the cells of each grid, and the rates and moves of partitions."""

from functools import lru_cache

import numpy as np

from models.arrays import Floats, Ints
from models.partitioning.geometry.walk import ROWS, Ring, is_closed, splits, walk
from models.partitioning.simulation.fold_cells import CLOSED, COARSER, FINER, GRID_ROW, WALK, rows_of
from models.partitioning.simulation.fold_moves import FOLDING, MOVING, N_MOVES, SHARES_OF_LEVEL, UNFOLDING
from models.partitioning.simulation.reallocation import fold_seconds
from models.partitioning.simulation.system import System
from models.topology.mesh import Rectangle


def n_levels(system: System, n_jobs: int) -> int:
    """Return the levels (1, 2, 4, … cells) of up to so many jobs."""
    return min(n_jobs.bit_length(), len(splits(system.mesh.rows, system.mesh.columns))) + 1


@lru_cache(maxsize=64)
def folding(system: System, n_jobs: int) -> tuple[Floats, Floats, Floats, Ints]:
    """Return rates, processors and moves by share (see `fold_moves`), and the cells of `fold_cells`."""
    axes = splits(system.mesh.rows, system.mesh.columns)
    levels = n_levels(system, n_jobs)
    rate, processors = np.zeros(SHARES_OF_LEVEL * levels), np.zeros(SHARES_OF_LEVEL * levels)
    moves = np.zeros((N_MOVES, SHARES_OF_LEVEL * levels))
    cells = np.zeros((int(rows_of(levels)), 1 << (levels - 1)), np.int64)
    for level in range(levels):
        height, width = _cell(system, axes[:level])
        side_by_side = Rectangle(0, 0, height, 2 * width)
        one_above_the_other = Rectangle(0, 0, 2 * height, width)
        shapes = (Rectangle(0, 0, height, width), side_by_side, one_above_the_other)
        for share, shape in enumerate(shapes, start=SHARES_OF_LEVEL * level):
            fits = shape.height <= system.mesh.rows and shape.width <= system.mesh.columns
            rate[share] = system.rate(shape.height, shape.width) if fits else np.nan
            processors[share] = shape.n_processors
            moves[FOLDING, share], moves[UNFOLDING, share] = fold_seconds(system.mesh, system.transfer, shape)
            all_threads = system.mesh.n_processors * system.transfer.unfolded
            moves[MOVING, share] = all_threads / min(shape.height, shape.width)
        _place_cells(cells, axes, level)
        if level > 0:
            _join_levels(cells, axes, level)
    return rate, processors, moves, cells


def _cell(system: System, axes: tuple[int, ...]) -> tuple[int, int]:
    """Return height and width of a cell after some halvings."""
    return system.mesh.rows >> axes.count(ROWS), system.mesh.columns >> len(axes) - axes.count(ROWS)


def _place_cells(cells: Ints, axes: tuple[int, ...], level: int) -> None:
    """Write the rows of a level but those that name the cells of other levels."""
    row, n_cells = int(rows_of(level)), 1 << level
    number = {cell: i for i, cell in enumerate(walk(axes[:level]))}
    cells[row + GRID_ROW, :n_cells] = [cell[0] for cell in number]
    rings = [Ring.whole(axes[:level])]
    for depth in range(level + 1):
        cells[row + CLOSED, depth] = depth < level and is_closed(axes[depth + 1 : level])
        order = [number[cell] for ring in rings for cell in ring.cells]
        cells[row + WALK + depth, :n_cells] = order
        cells[row + WALK + level + 1 + depth, order] = range(n_cells)
        if depth < level:
            rings = [half for ring in rings for half in ring.halves()]


def _join_levels(cells: Ints, axes: tuple[int, ...], level: int) -> None:
    """Write of which cells of the level before those of a level are the halves."""
    coarse = {cell: i for i, cell in enumerate(walk(axes[: level - 1]))}
    for i, (row, column) in enumerate(walk(axes[:level])):
        parent = coarse[(row // 2, column) if axes[level - 1] == ROWS else (row, column // 2)]
        cells[int(rows_of(level)) + COARSER, i] = parent
        if i % 2 == 0:
            cells[int(rows_of(level - 1)) + FINER, parent] = i
