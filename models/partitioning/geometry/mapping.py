"""The mapping of a job's threads to its processors (McCann 1994, equations 4.1 and 4.3 to 4.5).

A job has one thread for each processor of the machine, a grid of `rows` × `columns` threads. Both mappings
keep adjacency: neighbouring threads are on the same processor or on neighbouring ones.
"""

import numpy as np
from numpy.typing import NDArray

Processors = NDArray[np.int64]


def contraction(rows: int, columns: int, height: int, width: int) -> Processors:
    """Map the grid of threads by shrinking it (equation 4.1).

    Parameters
    ----------
    rows, columns : int
        Threads, which is also the machine's processors.
    height, width : int
        Processors of the partition, at most as many as in the machine.

    Returns
    -------
    ndarray of int, shape (rows, columns)
        A thread's processor, numbered row × width + column within the partition.

    Raises
    ------
    ValueError
        If the partition does not fit into the machine.
    """
    _require_fit(rows, columns, height, width)
    row = np.arange(rows) * height // rows
    column = np.arange(columns) * width // columns
    return row[:, None] * width + column


def snake(rows: int, columns: int, height: int, width: int) -> Processors:
    """Map the threads so that the fullest processor has the fewest possible (EQUI+, equation 4.3).

    Parameters, result and errors are as in `contraction`; in addition, a side of the partition has to divide
    the machine's. If only the width does, rows and columns exchange roles.

    Notes
    -----
    A row of processors gets rows / height rows of threads. They are numbered column by column, upwards in
    even rows of processors and downwards in odd ones, and dealt out evenly in that order, as in the printed
    index (equations 4.4 and 4.5), whose condition has to be the parity of the processor row. It is not a
    snake, as each column begins again. In wide partitions a true snake would put some neighbours two
    processors apart; with this order, neighbours in a row of threads are at most one processor apart, and
    neighbours on both sides of a border between rows of processors have the same number, hence the same
    column.
    """
    _require_fit(rows, columns, height, width)
    if rows % height:
        if columns % width:
            raise ValueError(
                f"a partition of {height} × {width} processors on {rows} × {columns}; the snake mapping "
                "needs a side that divides the machine's"
            )
        row, column = np.divmod(snake(columns, rows, width, height).T, height)[::-1]
        return row * width + column
    row = np.arange(rows) * height // rows
    return row[:, None] * width + order_in_row(rows, columns, height) * width // (rows // height * columns)


def order_in_row(rows: int, columns: int, height: int) -> Processors:
    """Return each thread's place in its row of processors, index(i, j) of equations 4.4 and 4.5.

    Shape (rows, columns); `height`, the rows of processors, divides `rows`.
    """
    depth = rows // height
    row, within = np.divmod(np.arange(rows), depth)
    offset = np.where(row % 2 == 0, depth - 1 - within, within)
    order: Processors = np.arange(columns) * depth + offset[:, None]
    return order


def thread_counts(processor: Processors, height: int, width: int) -> Processors:
    """Return how many threads each processor of a partition has, shape (height, width)."""
    return np.bincount(processor.ravel(), minlength=height * width).reshape(height, width)


def _require_fit(rows: int, columns: int, height: int, width: int) -> None:
    if not (1 <= height <= rows and 1 <= width <= columns):
        raise ValueError(
            f"a partition of {height} × {width} processors; allowed: up to {rows} × {columns}, the machine"
        )
