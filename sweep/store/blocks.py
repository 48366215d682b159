"""Blocks of the grid, and the results of their tasks: as much of a study as is held in memory at a time."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sweep.store.records import Finished


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
    """The results of a block's tasks: values of all metrics, one row a cell (a point in one replication).

    Parameters
    ----------
    shapes : mapping of str to tuple of int
        Metric -> shape of its values in a cell, (n_batches, ...).

    Attributes
    ----------
    values : dict of str to ndarray
        Metric -> values, shape (n_cells, n_batches, ...), NaN where there are none.
    overflowed : ndarray of bool, shape (n_cells,)
        Runs that broke off, as there was no place for more jobs.
    """

    def __init__(self, cells: int, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.values = {name: np.full((cells, *shape), np.nan) for name, shape in shapes.items()}
        self.overflowed = np.zeros(cells, dtype=bool)

    def put(self, row: int, record: Finished) -> None:
        """Keep the results of a cell.

        Raises
        ------
        ValueError, KeyError
            If the record's metrics are not those of the plan.
        """
        self.overflowed[row] = record.overflowed
        flat, start = np.frombuffer(record.values, dtype="<f8"), 0
        for name, n in record.metrics:
            target = self.values[name][row, : record.batches]
            target[...] = flat[start : start + n].reshape(target.shape)
            start += n
