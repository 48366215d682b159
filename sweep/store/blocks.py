"""Blocks of the grid, and what their tasks gave: as much of a study as is held in memory at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sweep.store.backlogs import Backlogs
from sweep.store.doubles import doubles
from sweep.store.shards import Finished, Layout, Outline

TOGETHER, TOGETHER_BYTES = 64, 1 << 19
"""Results that are kept back, to be put in their places together: much cheaper than one by one. More of them
do not stay in a core's cache."""


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
        self._kept: list[bytes | memoryview] = []
        self._n_bytes = 0
        self._kind: tuple[Layout, int, type] = (), 0, Finished
        self.backlogs = Backlogs(cells)

    @property
    def values(self) -> dict[str, np.ndarray]:
        """Metric -> values, shape (n_cells, n_batches, ...), NaN where there are none."""
        self._put_kept()
        return self._values

    def put(self, row: int, record: Finished | Outline) -> None:
        """Keep the results of a cell.

        Raises
        ------
        ValueError
            If an outline's numbers are not what its metrics take; here, or as soon as they are asked for.
        """
        self.backlogs.put(row, record.backlog)
        kind = record.metrics, record.batches, type(record)
        if len(self._rows) == TOGETHER or self._n_bytes > TOGETHER_BYTES or kind != self._kind:
            self._put_kept()
            self._kind = kind
        self._rows.append(row)
        self._kept.append(record.values)
        self._n_bytes += len(record.values)

    def _put_kept(self) -> None:
        """Put what is kept back in its place."""
        if not self._rows:
            return
        metrics, batches, kind = self._kind
        rows, start = np.array(self._rows), 0
        n_values = sum(n for _, n in metrics)
        if kind is Outline:
            together = doubles(self._kept, n_values)
        else:
            together = np.frombuffer(b"".join(self._kept), dtype="<f8").reshape(len(rows), n_values)
        for name, n in metrics:
            values, target = together[:, start : start + n], self._values[name]
            target[rows, :batches] = values.reshape(len(rows), batches, *target.shape[2:])
            start += n
        self._rows, self._kept, self._n_bytes = [], [], 0
