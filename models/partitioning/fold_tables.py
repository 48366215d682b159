"""What compiled folding is told: where the cells of each grid are, and what partitions and moves are like."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from models.arrays import Floats, Ints
from models.partitioning.fold_cells import CLOSED, COARSER, FINER, GRID_ROW, WALK, rows_of
from models.partitioning.fold_moves import (
    FOLDING,
    LARGE_MOVE,
    LARGE_RATE,
    N_TABLES,
    SMALL_MOVE,
    SMALL_RATE,
    UNFOLDING,
)
from models.partitioning.reallocation import fold_seconds
from models.partitioning.system import System
from models.partitioning.walk import ROWS, Ring, is_closed, splits, walk
from models.topology.mesh import Rectangle


def n_levels(system: System, n_jobs: int) -> int:
    """Return the levels (1, 2, 4, … cells) of up to so many jobs."""
    return min(n_jobs.bit_length(), len(splits(system.mesh.rows, system.mesh.columns))) + 1


@lru_cache(maxsize=64)
def folding_tables(system: System, n_jobs: int) -> tuple[Floats, Ints]:
    """Return the tables of `fold_moves`, shape (N_TABLES, level, 2), and the cells of `fold_cells`."""
    axes = splits(system.mesh.rows, system.mesh.columns)
    levels = n_levels(system, n_jobs)
    tables = np.zeros((N_TABLES, levels, 2))
    cells = np.zeros((int(rows_of(levels)), 1 << (levels - 1)), np.int64)
    for level in range(levels):
        for column, values in enumerate(_shapes(system, axes[:level])):
            tables[:, level, column] = values
        _place_cells(cells, axes, level)
        if level > 0:
            _join_levels(cells, axes, level)
    return tables, cells


def _shapes(system: System, axes: tuple[int, ...]) -> list[list[float]]:
    """Return the tables for cells side by side, and for cells one above the other."""
    mesh = system.mesh
    height, width = mesh.rows >> axes.count(ROWS), mesh.columns >> len(axes) - axes.count(ROWS)
    all_threads = mesh.n_processors * system.transfer.unfolded
    columns = []
    for large in (Rectangle(0, 0, height, 2 * width), Rectangle(0, 0, 2 * height, width)):
        fits = large.height <= mesh.rows and large.width <= mesh.columns
        fold, unfold = fold_seconds(mesh, system.transfer, large)
        found = {
            SMALL_RATE: system.rate(height, width),
            LARGE_RATE: system.rate(large.height, large.width) if fits else np.nan,
            FOLDING: fold,
            UNFOLDING: unfold,
            SMALL_MOVE: all_threads / min(height, width),
            LARGE_MOVE: all_threads / min(large.height, large.width),
        }
        columns.append([found[table] for table in range(N_TABLES)])
    return columns


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
