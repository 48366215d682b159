"""The shares of a machine and the moves between them, for the compiled policies.

Everything that depends on shapes is computed here once, in plain Python, for the largest number of jobs so
far; the event loop only reads it.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from models.arrays import Floats, Ints
from models.partitioning.geometry.allocation import halved
from models.partitioning.geometry.mapping import contraction, snake
from models.partitioning.geometry.walk import Ring, coarser, is_closed, placed, splits, walk
from models.partitioning.simulation.fold_cells import CLOSED, COARSER, FINER, GRID_ROW, WALK, rows_of
from models.partitioning.simulation.fold_moves import FOLDING, MOVING, SHARES_OF_LEVEL, UNFOLDING
from models.partitioning.simulation.fold_moves import N_MOVES as N_FOLD_MOVES
from models.partitioning.simulation.sharing import FILL, GROW, N_MOVES, SHRINK
from models.partitioning.simulation.state import Shares
from models.partitioning.simulation.system import System
from models.topology.mesh import Rectangle

Place = tuple[Rectangle, Ints]
"""A job's partition, and the machine's processor (row * columns + column) on which each thread runs."""


def of_positions(rate: Floats, processors: Floats, moves: Floats | None = None) -> Shares:
    """Return shares by number of jobs and position, see `models.partitioning.simulation.sharing`.

    Parameters
    ----------
    rate, processors : ndarray, shape (n_jobs + 1, n_jobs)
        By number of jobs and position.
    moves : ndarray, shape (N_MOVES, n_jobs + 1, n_jobs), seconds, optional
        Without them all moves are free.
    """
    n_jobs = rate.shape[1]
    if moves is None:
        moves = np.zeros((N_MOVES, *rate.shape))
    there = np.tri(n_jobs + 1, n_jobs, -1, bool)  # J jobs have the positions 0 to J - 1
    held = np.where(there, processors, 0.0).sum(axis=1)
    no_cells = np.zeros((1, 1), np.int64)
    return Shares(rate[there], processors[there], np.ascontiguousarray(moves[:, there]), no_cells, held)


def constant_shares(system: System, n_jobs: int) -> Shares:
    """Return the shares of static partitions: each job has its own partition, whatever the number of jobs."""
    height, width = halved(system.mesh, system.policy.n_partitions.bit_length() - 1)
    shape = (n_jobs + 1, n_jobs)
    return of_positions(np.full(shape, system.rate(height, width)), np.full(shape, float(height * width)))


def equal_shares(system: System, n_jobs: int) -> Shares:
    """Return the shares of processor sharing: each of J jobs gets 1 / J of the machine, at no cost."""
    part = np.zeros((n_jobs + 1, n_jobs))
    part[1:] = 1 / np.arange(1, n_jobs + 1)[:, None]
    return of_positions(part, part * system.mesh.n_processors)


@lru_cache(maxsize=64)
def equipartition(system: System, n_jobs: int) -> Shares:
    """Return the shares of an Equipartition, or of rectangles from a user's own function."""
    mesh = system.mesh
    rate, size = np.zeros((n_jobs + 1, n_jobs)), np.zeros((n_jobs + 1, n_jobs))
    moves = np.zeros((N_MOVES, n_jobs + 1, n_jobs))
    fewer: list[Place] = []
    for jobs in range(1, n_jobs + 1):
        rectangles = system.policy.rectangles(mesh, jobs)
        rate[jobs, :jobs] = [system.rate(r.height, r.width) for r in rectangles]
        size[jobs, :jobs] = [r.n_processors for r in rectangles]
        if system.transfer.is_free:
            continue
        now = [(rectangle, processors(system, rectangle)) for rectangle in rectangles]
        for i, before in enumerate(fewer):
            moves[GROW, jobs - 1, i] = move_seconds(system, before, now[i])
            moves[SHRINK, jobs, i] = move_seconds(system, now[i], before)
            moves[FILL, jobs, i] = move_seconds(system, now[-1], before)
        fewer = now
    return of_positions(rate, size, moves)


def processors(system: System, rectangle: Rectangle) -> Ints:
    """Return the machine's processor on which each thread of a job runs, shape (threads,)."""
    mesh = system.mesh
    mapping = snake if system.policy.discipline == "equi_plus" else contraction
    height, width = rectangle.height, rectangle.width
    row, column = np.divmod(mapping(mesh.rows, mesh.columns, height, width).ravel(), width)
    return (rectangle.top + row) * mesh.columns + rectangle.left + column


def move_seconds(system: System, before: Place, after: Place) -> float:
    """Return the seconds to move a job from one partition to any other.

    Notes
    -----
    Every thread whose processor changes is counted, at the price of a folded one if its new processor was in
    the job's old partition. (Where an Equipartition happens to halve a partition, that is nearly twice what
    `folding` charges: a contraction leaves fewer threads in place than the half of equation 5.4.)
    """
    target = after[1][before[1] != after[1]]
    old = before[0]
    row, column = np.divmod(target, system.mesh.columns)
    inside = (row >= old.top) & (row < old.top + old.height)
    inside &= (column >= old.left) & (column < old.left + old.width)
    n_folded = int(np.count_nonzero(inside))
    work = n_folded * system.transfer.folded + (len(target) - n_folded) * system.transfer.unfolded
    larger = max(old, after[0], key=lambda rectangle: rectangle.n_processors)
    return work / min(larger.height, larger.width)


@lru_cache(maxsize=64)
def folding(system: System, n_jobs: int) -> Shares:
    """Return the shares of folding (see `fold_moves`, `fold_cells`): any jobs hold the whole machine.

    To fold a job onto half of a large partition, or to unfold it again, half of the threads are relocated, as
    for equation 5.4.
    """
    mesh, transfer = system.mesh, system.transfer
    axes = splits(mesh.rows, mesh.columns)
    levels = min(n_jobs.bit_length(), len(axes)) + 1  # of 1, 2, 4, … cells
    rate, processors = np.zeros(SHARES_OF_LEVEL * levels), np.zeros(SHARES_OF_LEVEL * levels)
    moves = np.zeros((N_FOLD_MOVES, SHARES_OF_LEVEL * levels))
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
    """Write the rows of a level, except those that refer to the cells of other levels."""
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
    """Write which cells of the previous level are halved into the cells of a level."""
    coarse = {cell: i for i, cell in enumerate(walk(axes[: level - 1]))}
    for i, cell in enumerate(walk(axes[:level])):
        parent = coarse[coarser(cell, axes[level - 1])]
        cells[int(rows_of(level)) + COARSER, i] = parent
        if i % 2 == 0:
            cells[int(rows_of(level - 1)) + FINER, parent] = i


SHARES: dict[str, Callable[[System, int], Shares]] = {
    "fold": folding,
    "static": constant_shares,
    "fcfs": constant_shares,
    "processor_sharing": equal_shares,
}
"""Shares by discipline; the other disciplines have rectangles for each number of jobs."""


def shares(system: System, n_jobs: int) -> Shares:
    """Return the shares of a policy for up to `n_jobs` running jobs."""
    return SHARES.get(system.policy.discipline, equipartition)(system, n_jobs)
