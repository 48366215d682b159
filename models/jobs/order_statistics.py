"""Means, 95th percentiles and maxima of many samples at once, compiled."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, void

from models.arrays import Floats, Ints
from models.kernels.compiling import kernel, part
from models.kernels.types import FLOATS, INTS

ROWS = float64[:, ::1]

PERCENT = 0.95

SAMPLE = 32
LARGE = 8 * SAMPLE
"""Samples of so many values and more are selected from by a pivot that is estimated from a few of them."""


@part(float64(FLOATS, int64, int64, int64))
def pivot_of_sample(values: Floats, first: int, last: int, rank: int) -> float:
    """Return a value that probably leaves the wanted one in the smaller part of values[first : last + 1].

    So nearly all comparisons with it come out the same way, and a processor guesses them (the idea of Floyd
    and Rivest's selection). The sample is moved to the front.
    """
    n = last - first + 1
    step = n // SAMPLE
    for k in range(SAMPLE):
        at, value = first + k, values[first + k * step]
        values[first + k * step] = values[at]
        while at > first and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value
    expected = SAMPLE * (rank - first) / n
    margin = 1 + 2 * np.sqrt(expected * (1 - expected / SAMPLE))
    k = expected - margin if 2 * (rank - first) > n else expected + margin
    return values[first + max(0, min(SAMPLE - 1, int(k)))]


@part(float64(FLOATS, int64, int64, int64), inline=False)
def select(values: Floats, first: int, last: int, rank: int) -> float:
    """Return the value at position `rank` of values[first : last + 1] in ascending order; O(n) on average.

    Values are moved: afterwards none before that position is larger and none behind it is smaller (Hoare's
    selection with the median of three as the pivot).
    """
    while first < last:
        if last - first >= LARGE:
            pivot = pivot_of_sample(values, first, last, rank)
        else:
            a, b, c = values[first], values[(first + last) >> 1], values[last]
            pivot = max(min(a, b), min(max(a, b), c))
        i, j = first, last
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if rank <= j:
            last = j
        elif rank >= i:
            first = i
        else:
            break
    return values[rank]


@part(inline=False)
def all_equal(values: Floats, first: int, last: int) -> bool:
    """Return whether values[first : last + 1] are one number, as waits often are."""
    i = first
    while i < last and values[i] == values[last]:
        i += 1
    return i == last


@kernel(void(ROWS, INTS, INTS, ROWS, ROWS, ROWS, FLOATS, INTS))
def describe(
    values: Floats,
    cell: Ints,
    begin: Ints,
    mean: Floats,
    p95: Floats,
    largest: Floats,
    by_cell: Floats,
    at: Ints,
) -> None:
    """Describe the values of each cell, row by row; O(values) on average.

    Parameters
    ----------
    values : (row, job)
    cell : of each job, the sample that it belongs to; negative for none
    begin : filled in: where each sample begins in `by_cell`, and where the last one ends
    mean, p95, largest : (row, cell), filled in, NaN where a cell is empty; percentiles are interpolated
        linearly
    by_cell : (job,), scratch
    at : (cell,), scratch
    """
    n_cells, n_jobs = at.shape[0], cell.shape[0]
    begin[:] = 0
    for i in range(n_jobs):
        if cell[i] >= 0:
            begin[cell[i] + 1] += 1
    for c in range(n_cells):
        begin[c + 1] += begin[c]
    for row in range(values.shape[0]):
        for c in range(n_cells):
            at[c] = begin[c]
            mean[row, c] = 0.0
        for i in range(n_jobs):
            c = cell[i]
            if c >= 0:
                by_cell[at[c]] = values[row, i]
                at[c] += 1
        for c in range(n_cells):
            first, last = begin[c], begin[c + 1] - 1
            total = 0.0
            for i in range(first, last + 1):
                total += by_cell[i]
            mean[row, c] = total
            n = last - first + 1
            if n == 0:
                mean[row, c] = p95[row, c] = largest[row, c] = np.nan
                continue
            mean[row, c] /= n
            if all_equal(by_cell, first, last):
                p95[row, c] = largest[row, c] = by_cell[first]
                continue
            position = PERCENT * (n - 1)
            below = int(position)
            low = select(by_cell, first, last, first + below)
            high = low
            if below + 1 < n:
                high = np.inf
                for i in range(first + below + 1, last + 1):
                    high = min(high, by_cell[i])
            p95[row, c] = low + (high - low) * (position - below)
            top = high
            for i in range(first + below + 1, last + 1):
                top = max(top, by_cell[i])
            largest[row, c] = top
