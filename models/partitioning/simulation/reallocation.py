"""The time that a job stands still while its threads change processors (McCann 1994, sections 5.1 and 5.2.1).

A thread takes D / X seconds where its code is already, (D + C) / X where it is not, with its data D, its code
C and the bandwidth X of a link. As many threads move at once as the larger of the two partitions has
processors on its narrower side. A job stands still from the beginning to the end of its own moves. Where a
study leaves out the cost of arrivals and departures, as section 5.3 does, rotations have theirs all the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.arrays import Ints
from models.topology.mesh import Mesh, Rectangle
from models.workloads.speedup.cycle import Cycle


@dataclass(frozen=True)
class Transfer:
    """Seconds that one thread takes to a processor that has its code (`folded`) or has not (`unfolded`)."""

    folded: float
    unfolded: float

    @classmethod
    def of(cls, mesh: Mesh, cycle: Cycle) -> Transfer:
        """Return the times of jobs whose threads have data and code."""
        return cls(cycle.data_bytes / mesh.bandwidth, (cycle.data_bytes + cycle.code_bytes) / mesh.bandwidth)

    @property
    def is_free(self) -> bool:
        """Whether moves take no time."""
        return self.unfolded == 0


FREE = Transfer(0.0, 0.0)
"""Of jobs that are known by their speed-up alone: nothing is known of their threads."""


def fold_seconds(mesh: Mesh, transfer: Transfer, large: Rectangle) -> tuple[float, float]:
    """Return the seconds to fold a job from a large partition onto its half, and to unfold it again.

    Half of the threads are relocated, as for equation 5.4.
    """
    rounds = mesh.n_processors / 2 / min(large.height, large.width)
    return rounds * transfer.folded, rounds * transfer.unfolded


def move_seconds(
    transfer: Transfer, before: Rectangle, after: Rectangle, processors_before: Ints, processors_after: Ints,
    columns: int,
) -> float:  # fmt: skip
    """Return the seconds to move a job from one partition to any other.

    Parameters
    ----------
    transfer : Transfer
    before, after : Rectangle
    processors_before, processors_after : ndarray of int, shape (threads,)
        The processor of the machine (row * columns + column) on which each thread runs.
    columns : int
        Columns of the machine.

    Notes
    -----
    Every thread whose processor changes is counted, at the price of a folded one if its new processor was in
    the job's old partition. (Where an Equipartition happens to halve a partition, that is nearly twice what
    `fold_seconds` charges: a contraction leaves fewer threads in place than the half of equation 5.4.)
    """
    target = processors_after[processors_before != processors_after]
    row, column = target // columns - before.top, target % columns - before.left
    inside = (row >= 0) & (row < before.height) & (column >= 0) & (column < before.width)
    n_folded = int(np.count_nonzero(inside))
    work = n_folded * transfer.folded + (len(target) - n_folded) * transfer.unfolded
    larger = max(before, after, key=lambda rectangle: rectangle.height * rectangle.width)
    return work / min(larger.height, larger.width)
