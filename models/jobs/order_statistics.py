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
"""Of so many values a sample tells where the wanted one is about."""

AT_ONCE = 32
"""Jobs that are looked at together."""


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
    selection; the pivot is the median of three, or comes from a sample).
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


@part(int64(INTS, int64))
def end_of_run(cell: Ints, i: int) -> int:
    """Return the first position after i that belongs to another sample."""
    c, n = cell[i], cell.shape[0]
    i += 1
    while i < n and cell[i] == c:
        i += 1
        if i % AT_ONCE == 0:  # a long one: many are compared together
            same = True
            while same and i + AT_ONCE <= n:
                for k in range(i, i + AT_ONCE):
                    same &= cell[k] == c
                i += AT_ONCE if same else 0
    return i


@part(void(ROWS, INTS, ROWS))
def add_up(values: Floats, cell: Ints, total: Floats) -> None:
    """Add up the values of each cell in their order; O(values).

    Four rows at a time: to add a number to a sum takes as long as to add one to each of four.
    """
    last = values.shape[0] - 1
    total[:] = 0.0
    for row in range(0, last + 1, 4):
        # Behind the last row it is once more the last, which does no harm.
        second, third, fourth = min(row + 1, last), min(row + 2, last), min(row + 3, last)
        i = 0
        while i < cell.shape[0]:
            c, end = cell[i], end_of_run(cell, i)
            if c >= 0:
                w, x, y, z = total[row, c], total[second, c], total[third, c], total[fourth, c]
                for at in range(i, end):
                    w += values[row, at]
                    x += values[second, at]
                    y += values[third, at]
                    z += values[fourth, at]
                total[row, c], total[second, c], total[third, c], total[fourth, c] = w, x, y, z
            i = end


@part(void(ROWS, int64, INTS, INTS, INTS, FLOATS))
def gather(values: Floats, row: int, cell: Ints, begin: Ints, at: Ints, room: Floats) -> None:
    """Put the values of each cell, of one row, side by side, from where the cell begins."""
    for c in range(at.shape[0]):
        at[c] = begin[c]
    i = 0
    while i < cell.shape[0]:
        c, end = cell[i], end_of_run(cell, i)
        if c >= 0:
            source, to = np.uint64(i), np.uint64(at[c])  # no sign: no index is tested for being negative
            for k in range(np.uint64(end - i)):
                room[to + k] = values[row, source + k]
            at[c] += end - i
        i = end


@part(inline=False)
def all_equal(values: Floats, first: int, last: int) -> bool:
    """Tell whether values[first : last + 1] are one number, as waits often are."""
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
    room: Floats,
    at: Ints,
) -> None:
    """Describe the values of each cell, row by row; O(values) on average.

    Parameters
    ----------
    values : (row, job)
    cell : of each job, the sample that it belongs to; negative for none
    begin : filled in: where the samples begin if they are put one after the other, and the end of the last
        one
    mean, p95, largest : (row, cell), filled in, NaN where a cell is empty; percentiles are interpolated
        linearly
    room : room for the values of one row
    at : room for all cells
    """
    n_cells = at.shape[0]
    begin[:] = 0
    i = 0
    while i < cell.shape[0]:
        end = end_of_run(cell, i)
        if cell[i] >= 0:
            begin[cell[i] + 1] += end - i
        i = end
    for c in range(n_cells):
        begin[c + 1] += begin[c]
    add_up(values, cell, mean)
    for row in range(values.shape[0]):
        gather(values, row, cell, begin, at, room)
        for c in range(n_cells):
            first, last = begin[c], begin[c + 1] - 1
            n = last - first + 1
            if n == 0:
                mean[row, c] = p95[row, c] = largest[row, c] = np.nan
                continue
            mean[row, c] /= n
            if all_equal(room, first, last):
                p95[row, c] = largest[row, c] = room[first]
                continue
            position = PERCENT * (n - 1)
            below = int(position)
            low = select(room, first, last, first + below)
            high = low
            if below + 1 < n:
                high = np.inf
                for i in range(first + below + 1, last + 1):
                    high = min(high, room[i])
            p95[row, c] = low + (high - low) * (position - below)
            top = high
            for i in range(first + below + 1, last + 1):
                top = max(top, room[i])
            largest[row, c] = top
