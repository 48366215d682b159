"""The tables of compiled folding: the cells of each grid, and the rates and moves of partitions."""

from functools import lru_cache

import numpy as np

from models.arrays import Ints
from models.partitioning.geometry.walk import Ring, coarser, is_closed, placed, splits, walk
from models.partitioning.simulation.fold_cells import CLOSED, COARSER, FINER, GRID_ROW, WALK, rows_of
from models.partitioning.simulation.fold_moves import FOLDING, MOVING, N_MOVES, SHARES_OF_LEVEL, UNFOLDING
from models.partitioning.simulation.state import Shares
from models.partitioning.simulation.system import System


@lru_cache(maxsize=64)
def folding(system: System, n_jobs: int) -> Shares:
    """Return the shares of folding (see `fold_moves` and `fold_cells`): any jobs hold the whole machine.

    To fold a job onto half of a large partition, or to unfold it again, half of the threads are relocated, as
    for equation 5.4.
    """
    mesh, transfer = system.mesh, system.transfer
    axes = splits(mesh.rows, mesh.columns)
    levels = min(n_jobs.bit_length(), len(axes)) + 1  # of 1, 2, 4, … cells
    rate, processors = np.zeros(SHARES_OF_LEVEL * levels), np.zeros(SHARES_OF_LEVEL * levels)
    moves = np.zeros((N_MOVES, SHARES_OF_LEVEL * levels))
    cells = np.zeros((int(rows_of(levels)), 1 << (levels - 1)), np.int64)
    for level in range(levels):
        _, _, height, width = placed(mesh.rows, mesh.columns, axes[:level], ((0, 0),))
        # A small partition, and large ones whose cells lie side by side or one above the other.
        shapes = ((height, width), (height, 2 * width), (2 * height, width))
        for share, (height, width) in enumerate(shapes, start=SHARES_OF_LEVEL * level):
            fits = height <= mesh.rows and width <= mesh.columns
            rate[share] = system.rate(height, width) if fits else np.nan
            processors[share] = height * width
            rounds = mesh.n_processors / 2 / min(height, width)
            moves[FOLDING, share] = rounds * transfer.folded
            moves[UNFOLDING, share] = rounds * transfer.unfolded
            moves[MOVING, share] = mesh.n_processors * transfer.unfolded / min(height, width)
        _place_cells(cells, axes, level)
        if level > 0:
            _join_levels(cells, axes, level)
    held = np.full(n_jobs + 1, float(mesh.n_processors))
    held[0] = 0.0
    return Shares(rate, processors, moves, cells, held)


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
    for i, cell in enumerate(walk(axes[:level])):
        parent = coarse[coarser(cell, axes[level - 1])]
        cells[int(rows_of(level)) + COARSER, i] = parent
        if i % 2 == 0:
            cells[int(rows_of(level - 1)) + FINER, parent] = i
