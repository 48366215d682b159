"""What the compiled policies are told of the machine: rates of work, and seconds that moves take.

Everything that depends on shapes is computed here once, in plain Python, for as many jobs as have come
together so far; the event loop only looks it up.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from models.arrays import Floats, Ints
from models.partitioning.allocation import halved
from models.partitioning.equipartition import partition
from models.partitioning.fold_tables import folding_tables
from models.partitioning.mapping import contraction, snake
from models.partitioning.reallocation import move_seconds
from models.partitioning.sharing import FILL, GROW, N_TABLES, SHARE, SHRINK
from models.partitioning.system import System
from models.topology.mesh import Rectangle


def constant_shares(system: System, n_jobs: int) -> Floats:
    """Return the tables of static partitions: each job has one of its own, however many there are."""
    tables = np.zeros((N_TABLES, n_jobs + 1, n_jobs))
    tables[SHARE] = system.rate(*halved(system.mesh, system.policy.partitions.bit_length() - 1))
    return tables


def equal_shares(system: System, n_jobs: int) -> Floats:
    """Return the tables of processor sharing: each of J jobs gets 1 / J of the machine, at no cost."""
    tables = np.zeros((N_TABLES, n_jobs + 1, n_jobs))
    tables[SHARE, 1:] = 1 / np.arange(1, n_jobs + 1)[:, None]
    return tables


@lru_cache(maxsize=64)
def equipartition(system: System, n_jobs: int) -> Floats:
    """Return the tables of an Equipartition, see `models.partitioning.sharing`.

    Returns
    -------
    ndarray, shape (N_TABLES, n_jobs + 1, n_jobs)
        By table, number of jobs and position.
    """
    mesh = system.mesh
    tables = np.zeros((N_TABLES, n_jobs + 1, n_jobs))
    fewer: list[tuple[Rectangle, Ints]] = []
    for jobs in range(1, n_jobs + 1):
        rectangles = partition(mesh.rows, mesh.columns, jobs, system.policy.leftover)
        now = [(rectangle, processors(system, rectangle)) for rectangle in rectangles]
        tables[SHARE, jobs, :jobs] = [system.rate(r.height, r.width) for r in rectangles]
        for i, before in enumerate(fewer):
            tables[GROW, jobs - 1, i] = _seconds(system, before, now[i])
            tables[SHRINK, jobs, i] = _seconds(system, now[i], before)
            tables[FILL, jobs, i] = _seconds(system, now[-1], before)
        fewer = now
    return tables


def processors(system: System, rectangle: Rectangle) -> Ints:
    """Return the machine's processor on which each thread of a job runs, shape (threads,)."""
    mesh = system.mesh
    mapping = snake if system.policy.discipline == "equi_plus" else contraction
    height, width = rectangle.height, rectangle.width
    row, column = np.divmod(mapping(mesh.rows, mesh.columns, height, width).ravel(), width)
    return (rectangle.top + row) * mesh.columns + rectangle.left + column


def _seconds(system: System, before: tuple[Rectangle, Ints], after: tuple[Rectangle, Ints]) -> float:
    return move_seconds(system.transfer, before[0], after[0], before[1], after[1], system.mesh.columns)


SHARES: dict[str, Callable[[System, int], Floats]] = {
    "equi": equipartition,
    "equi_plus": equipartition,
    "static": constant_shares,
    "fcfs": constant_shares,
    "processor_sharing": equal_shares,
}


def tables(system: System, n_jobs: int) -> tuple[Floats, Ints]:
    """Return what a policy's compiled functions are told, for up to `n_jobs` running jobs."""
    if system.policy.discipline == "fold":
        return folding_tables(system, n_jobs)
    return SHARES[system.policy.discipline](system, n_jobs), np.zeros((1, 1), np.int64)
