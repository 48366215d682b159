"""Blocks of the grid, and what their tasks gave: as much of a study as is held in memory at a time."""

from __future__ import annotations

import math
from binascii import a2b_base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sweep.store.backlogs import Backlogs
from sweep.store.shards import Finished


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
        self.values = {name: np.full((cells, *shape), np.nan) for name, shape in shapes.items()}
        self.backlogs = Backlogs(cells)

    def put(self, row: int, record: Finished) -> None:
        """Keep the results of a cell."""
        self.backlogs.put(row, record.backlog)
        for name, encoded in record.metrics.items():
            values = np.frombuffer(a2b_base64(encoded), dtype="<f8")
            target = self.values[name][row]
            target[: record.batches] = values.reshape(record.batches, *target.shape[1:])
