"""The shares of a machine and the moves between them, for the compiled policies.

Everything that depends on shapes is computed here once, in plain Python, for as many jobs as have been
there at once so far; the event loop only reads it.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from models.arrays import Floats, Ints
from models.partitioning.geometry.allocation import halved
from models.partitioning.geometry.mapping import contraction, snake
from models.partitioning.simulation.fold_shares import folding
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
    `fold_shares.folding` charges: a contraction leaves fewer threads in place than the half of equation 5.4.)
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


SHARES: dict[str, Callable[[System, int], Shares]] = {
    "fold": folding,
    "static": constant_shares,
    "fcfs": constant_shares,
    "processor_sharing": equal_shares,
}
"""By discipline; the others have rectangles for each number of jobs."""


def shares(system: System, n_jobs: int) -> Shares:
    """Return the shares of a policy for up to `n_jobs` running jobs."""
    return SHARES.get(system.policy.discipline, equipartition)(system, n_jobs)
