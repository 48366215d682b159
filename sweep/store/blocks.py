"""Blocks of the grid, and what their tasks gave: as much of a study as is held in memory at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sweep.store.backlogs import Backlogs
from sweep.store.shards import Finished, Layout

TOGETHER = 256
"""Results that are kept back, to be put in their places together: much cheaper than one by one."""


@dataclass(frozen=True)
class Block:
    """Some points of the grid: a part of an axis, at one value of each axis before, with all of those after.

    Parameters
    ----------
    index : tuple of slice
        One for each axis.
    shape : tuple of int
        Length of each axis within the block.
    points : slice
        Of the flat grid.
    """

    index: tuple[slice, ...]
    shape: tuple[int, ...]
    points: slice


def blocks(shape: tuple[int, ...], most: int) -> Iterator[Block]:
    """Cut a grid into blocks of at most so many points, or of one.

    Parameters
    ----------
    shape : tuple of int
    most : int
    """
    cut = next((axis for axis in range(len(shape)) if math.prod(shape[axis + 1 :]) <= most), len(shape) - 1)
    after = math.prod(shape[cut + 1 :])
    step = max(1, most // after)
    for before in np.ndindex(shape[:cut]):
        first = int(np.ravel_multi_index(before, shape[:cut])) if before else 0
        for start in range(0, shape[cut], step):
            stop = min(start + step, shape[cut])
            index = (*(slice(i, i + 1) for i in before), slice(start, stop))
            whole = tuple(slice(0, n) for n in shape[cut + 1 :])
            points = slice((first * shape[cut] + start) * after, (first * shape[cut] + stop) * after)
            yield Block((*index, *whole), (*(1,) * cut, stop - start, *shape[cut + 1 :]), points)


class Results:
    """What the tasks of a block gave: values of all metrics, one row a cell (a point in one replication).

    Parameters
    ----------
    cells : int
    shapes : mapping of str to tuple of int
        Metric -> shape of its values in a cell, (n_batches, ...).
    """

    def __init__(self, cells: int, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self._values = {name: np.full((cells, *shape), np.nan) for name, shape in shapes.items()}
        self._rows: list[int] = []
        self._kept: list[bytes] = []
        self._kind: tuple[Layout, int] = (), 0
        self.backlogs = Backlogs(cells)

    @property
    def values(self) -> dict[str, np.ndarray]:
        """Metric -> values, shape (n_cells, n_batches, ...), NaN where there are none."""
        self._put_kept()
        return self._values

    def put(self, row: int, record: Finished) -> None:
        """Keep the results of a cell."""
        self.backlogs.put(row, record.backlog)
        kind = record.metrics, record.batches
        if len(self._rows) == TOGETHER or kind != self._kind:
            self._put_kept()
            self._kind = kind
        self._rows.append(row)
        self._kept.append(record.values)

    def _put_kept(self) -> None:
        """Put what is kept back in its place."""
        if not self._rows:
            return
        metrics, batches = self._kind
        rows, start = np.array(self._rows), 0
        together = np.frombuffer(b"".join(self._kept), dtype="<f8")
        together = together.reshape(len(rows), sum(n for _, n in metrics))
        for name, n in metrics:
            values, target = together[:, start : start + n], self._values[name]
            target[rows, :batches] = values.reshape(len(rows), batches, *target.shape[2:])
            start += n
        self._rows, self._kept = [], []
