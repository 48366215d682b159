"""The partitions of jobs that never end, under the compiled folding policy, for drawings."""

from math import inf

import numpy as np

from models.kernels.compiling import function_pointer
from models.partitioning.geometry.walk import Cell, placed, require_closed, splits, walk
from models.partitioning.rules import Admission, Fold
from models.partitioning.simulation import fold, shares
from models.partitioning.simulation.fold_cells import WALK, rows_of
from models.partitioning.simulation.state import NONE, Settings, empty_tables
from models.partitioning.simulation.system import System, Transfer
from models.topology.mesh import Mesh, Rectangle, require_room
from models.workloads.speedup.curves import CURVE_SIGNATURE, linear

RULES = Fold(
    discipline="fold",
    reallocation_cost=False,
    admission=Admission(interval=inf, overhead=0.0),
    rotation=None,
    rotation_unit="seconds",
    overhead="printed",
)


class FoldedMesh:
    """Jobs on a mesh, numbered from 1 in order of arrival; moves take no time.

    Parameters
    ----------
    rows, columns : int
        Processors of the machine, powers of two.
    n_jobs : int
        Number of jobs that have arrived.

    Raises
    ------
    ValueError
        If there are more jobs than processors, a side is not a power of two, or no closed walk exists.

    Examples
    --------
    Fig. 4.6, five jobs:

    >>> mesh = FoldedMesh(16, 16, 5)
    >>> for _ in range(3):
    ...     print(*mesh.strings())
    ...     mesh.rotate()
    ssbbb
    sbsbb
    bsbsb
    """

    def __init__(self, rows: int, columns: int, n_jobs: int) -> None:
        require_room(rows, columns, n_jobs)
        require_closed(rows, columns)
        self.rows, self.columns, self.n_jobs = rows, columns, n_jobs
        system = System(RULES, Mesh(rows, columns, context_switch=0.0, bandwidth=1.0), None, Transfer())
        settings = Settings(n_jobs, False, inf, False, inf, 0.0, 1, True, False, False, n_jobs)
        self._tables = empty_tables(n_jobs, settings, shares.folding(system, n_jobs), np.zeros(1))
        self._tables.jobs["alone"] = self._tables.jobs["work"] = self._tables.jobs["left"] = 1.0
        self._curve = function_pointer(linear, CURVE_SIGNATURE)
        for job in range(n_jobs):
            fold.arrive(job, self._tables, self._curve)

    def rotate(self) -> None:
        """Exchange small and large partitions of neighbours, once in each system."""
        fold.rotate(0, self._tables, self._curve)

    def partitions(self) -> list[tuple[int, Rectangle]]:
        """Return the jobs with their partitions, along the walk of each system from its oldest job on."""
        return [(job + 1, self._rectangle(self._cells(job))) for ring in self._rings() for job in ring]

    def strings(self) -> list[str]:
        """Return for each system the string of section 4.4.2, in the order of `partitions`."""
        return ["".join(" sb"[len(self._cells(job))] for job in ring) for ring in self._rings()]

    def _rings(self) -> list[list[int]]:
        """Return the positions of each system along its walk, the oldest job first."""
        lists, state, cells = self._tables.lists, self._tables.state[0], self._tables.shares.cells
        rings = []
        for system in lists.systems[: state["n_systems"]].tolist():
            depth = system.bit_length() - 1
            n_cells = 1 << (int(state["level"]) - depth)
            begin = (system - (1 << depth)) * n_cells
            order = cells[int(rows_of(state["level"])) + WALK + depth, begin : begin + n_cells]
            ring = list(dict.fromkeys(lists.owner[order].tolist()))
            first = ring.index(min(ring))
            rings.append(ring[first:] + ring[:first])
        return rings

    def _cells(self, position: int) -> tuple[int, ...]:
        lists = self._tables.lists
        first, second = int(lists.first[position]), int(lists.second[position])
        return (first,) if second == NONE else (first, second)

    def _rectangle(self, numbers: tuple[int, ...]) -> Rectangle:
        axes = splits(self.rows, self.columns)[: int(self._tables.state[0]["level"])]
        grid: tuple[Cell, ...] = walk(axes)
        return placed(self.rows, self.columns, axes, tuple(grid[number] for number in numbers))
