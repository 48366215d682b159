"""Eight numbers at a time, against numpy."""

from __future__ import annotations

import numpy as np
from numba import njit

from models.kernels.lanes import LANES, least_of
from models.kernels.masks import equal


@njit
def least(values: np.ndarray, at: int, n: int) -> float:
    """Return what kernels get."""
    return least_of(values, np.uint64(at), n)


@njit
def which(values: np.ndarray, at: int, n: int, value: float) -> int:
    """Return what kernels get."""
    return equal(values, np.uint64(at), n, value)


def test_the_least_of_a_row_and_where_it_is() -> None:
    random = np.random.default_rng(4)
    for n in range(1, 4 * LANES + 1):
        values = np.full((3, 5 * LANES), np.inf)
        values[0], values[2] = -1.0, -1.0  # of other rows
        values[1, :n] = random.integers(0, 12, n)
        begin = values.shape[1]
        smallest = least(values, begin, n)
        assert smallest == values[1].min()
        found = []
        for i in range(0, n, LANES):
            bits = which(values, begin + i, n - i, smallest)
            found += [i + lane for lane in range(LANES) if bits >> lane & 1]
        assert found == np.flatnonzero(values[1] == smallest).tolist()
    assert least(values, begin, 0) == np.inf
