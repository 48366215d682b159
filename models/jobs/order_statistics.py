"""Means, 95th percentiles and maxima of many samples at once, compiled."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, void

from models.arrays import Floats, Ints
from models.kernels.compiling import kernel, part
from models.kernels.types import FLOATS, INTS

PERCENT = 0.95


SAMPLE = 32
LARGE = 8 * SAMPLE
"""Of so many values a sample tells where the wanted one is about."""


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


@kernel(void(FLOATS, INTS, INTS, FLOATS, FLOATS, FLOATS, FLOATS, INTS))
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
    """Describe the values of each cell; O(values) on average.

    Parameters
    ----------
    values : of all jobs
    cell : of each of them, the sample that it belongs to; negative for none
    begin : where the samples begin if they are put one after the other, and the end of the last one
    mean, p95, largest : filled in for each cell, NaN where it is empty; percentiles are interpolated linearly
    room : room for all values
    at : room for all cells
    """
    n_cells = mean.shape[0]
    for c in range(n_cells):
        at[c] = begin[c]
        mean[c] = 0.0
    i = 0
    while i < values.shape[0]:
        c = cell[i]
        if c < 0:
            i += 1
            continue
        # Mostly the next ones are of the same sample: to add up in memory would take twice as long.
        to, total = at[c], mean[c]
        while i < values.shape[0] and cell[i] == c:
            room[to] = values[i]
            total += values[i]
            to += 1
            i += 1
        at[c] = to
        mean[c] = total
    for c in range(n_cells):
        first, last = begin[c], begin[c + 1] - 1
        n = last - first + 1
        if n == 0:
            mean[c] = p95[c] = largest[c] = np.nan
            continue
        mean[c] /= n
        position = PERCENT * (n - 1)
        below = int(position)
        low = select(room, first, last, first + below)
        high = low
        if below + 1 < n:
            high = np.inf
            for i in range(first + below + 1, last + 1):
                high = min(high, room[i])
        p95[c] = low + (high - low) * (position - below)
        top = high
        for i in range(first + below + 1, last + 1):
            top = max(top, room[i])
        largest[c] = top
