"""Means, percentiles and maxima of many samples at once, against numpy sample by sample."""

from __future__ import annotations

import numpy as np
import pytest

from models.jobs.order_statistics import LARGE, describe

N_ROWS = 3


def described(values: np.ndarray, cell: np.ndarray, n_cells: int) -> tuple[np.ndarray, ...]:
    """Return number, mean, percentile and maximum of each cell, in each row."""
    begin, at, by_cell = np.empty(n_cells + 1, np.int64), np.empty(n_cells, np.int64), np.empty(len(cell))
    mean, p95, largest = np.empty((3, len(values), n_cells))
    describe(values, cell, begin, mean, p95, largest, by_cell, at)
    return np.diff(begin), mean, p95, largest


def cells(kind: str, n: int, random: np.random.Generator) -> np.ndarray:
    """Return the samples that `n` values belong to, of 7, of which one has none."""
    if kind == "mixed":
        return random.integers(-1, 6, n)
    lengths = random.multinomial(n, [1 / 7] * 7)
    if kind == "in blocks":
        lengths = np.full(7, n // 7)
    return np.repeat(random.permutation(np.arange(-1, 6)), lengths)


@pytest.mark.parametrize("n", [0, 1, 6, 7 * (2 * LARGE + 1), 9001])
@pytest.mark.parametrize("kind", ["mixed", "in runs", "in blocks"])
@pytest.mark.parametrize("ties", [False, True])
def test_as_numpy_describes_each_sample(n: int, kind: str, ties: bool) -> None:
    random = np.random.default_rng(n + 1)
    cell = cells(kind, n, random)
    values = random.exponential(size=(N_ROWS, len(cell)))
    if ties:
        values = values.round(1)
        values[1] = 0.0
    kept = values.copy()
    number, mean, p95, largest = described(values, cell, 7)
    assert (values == kept).all()
    assert number.tolist() == [int((cell == c).sum()) for c in range(7)]
    for row in range(N_ROWS):
        for c in range(7):
            mine = values[row, cell == c]
            if not len(mine):
                assert np.isnan([mean[row, c], p95[row, c], largest[row, c]]).all()
                continue
            # In their order, so that how many rows there are and how jobs are cut changes no bit.
            assert mean[row, c] == np.cumsum(mine)[-1] / len(mine)
            assert p95[row, c] == pytest.approx(np.percentile(mine, 95), rel=1e-12)
            assert largest[row, c] == mine.max()
