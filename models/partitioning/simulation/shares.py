"""The shares of a machine and the moves between them, for the compiled policies.

Everything that depends on shapes is computed here once, in plain Python, for as many jobs as have been
there at once so far; the event loop only reads it.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from models.arrays import Floats, Ints
from models.partitioning.geometry.allocation import halved
from models.partitioning.geometry.mapping import contraction, snake
from models.partitioning.simulation.fold_shares import folding
from models.partitioning.simulation.reallocation import move_seconds
from models.partitioning.simulation.sharing import FILL, GROW, N_MOVES, SHRINK
from models.partitioning.simulation.system import System
from models.topology.mesh import Rectangle


class Shares(NamedTuple):
    """Shares by their numbers, see `models.partitioning.simulation.state.Tables`.

    rate, processors : ndarray of float, shape (n_shares,)
    moves : ndarray of float, shape (kinds of moves, n_shares), seconds
    cells : ndarray of int
    held : ndarray of float, shape (n_jobs + 1,)
        Processors that so many running jobs hold.
    """

    rate: Floats
    processors: Floats
    moves: Floats
    cells: Ints
    held: Floats


NO_CELLS: Ints = np.zeros((1, 1), np.int64)


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
    return Shares(rate[there], processors[there], np.ascontiguousarray(moves[:, there]), NO_CELLS, held)


def constant_shares(system: System, n_jobs: int) -> Shares:
    """Return the shares of static partitions: each job has one of its own, however many there are."""
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
    """Return the shares of an Equipartition, or of rectangles by a function of one's own."""
    mesh = system.mesh
    rate, size = np.zeros((n_jobs + 1, n_jobs)), np.zeros((n_jobs + 1, n_jobs))
    moves = np.zeros((N_MOVES, n_jobs + 1, n_jobs))
    fewer: list[tuple[Rectangle, Ints]] = []
    for jobs in range(1, n_jobs + 1):
        rectangles = system.policy.rectangles(mesh, jobs)
        rate[jobs, :jobs] = [system.rate(r.height, r.width) for r in rectangles]
        size[jobs, :jobs] = [r.n_processors for r in rectangles]
        if system.transfer.is_free:
            continue
        now = [(rectangle, processors(system, rectangle)) for rectangle in rectangles]
        for i, before in enumerate(fewer):
            moves[GROW, jobs - 1, i] = _seconds(system, before, now[i])
            moves[SHRINK, jobs, i] = _seconds(system, now[i], before)
            moves[FILL, jobs, i] = _seconds(system, now[-1], before)
        fewer = now
    return of_positions(rate, size, moves)


def processors(system: System, rectangle: Rectangle) -> Ints:
    """Return the machine's processor on which each thread of a job runs, shape (threads,)."""
    mesh = system.mesh
    mapping = snake if system.policy.discipline == "equi_plus" else contraction
    height, width = rectangle.height, rectangle.width
    row, column = np.divmod(mapping(mesh.rows, mesh.columns, height, width).ravel(), width)
    return (rectangle.top + row) * mesh.columns + rectangle.left + column


def _seconds(system: System, before: tuple[Rectangle, Ints], after: tuple[Rectangle, Ints]) -> float:
    return move_seconds(system.transfer, before[0], after[0], before[1], after[1], system.mesh.columns)


def of_folding(system: System, n_jobs: int) -> Shares:
    """Return the shares of folding; one job or more hold the whole machine."""
    held = np.full(n_jobs + 1, float(system.mesh.n_processors))
    held[0] = 0.0
    return Shares(*folding(system, n_jobs), held)


SHARES: dict[str, Callable[[System, int], Shares]] = {
    "fold": of_folding,
    "static": constant_shares,
    "fcfs": constant_shares,
    "processor_sharing": equal_shares,
}
"""By discipline; the others have rectangles for each number of jobs."""


def shares(system: System, n_jobs: int) -> Shares:
    """Return the shares of a policy for up to `n_jobs` running jobs."""
    return SHARES.get(system.policy.discipline, equipartition)(system, n_jobs)
