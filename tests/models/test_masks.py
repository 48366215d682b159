"""Eight numbers at a time do what numpy does with each of them."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from models.kernels import masks
from models.kernels.lanes import LANES


def bits_of(flags) -> int:
    return sum(1 << k for k, flag in enumerate(flags) if flag)


@njit(error_model="numpy")
def told(ints, others, times, ends, at, n, low, high, count, out, into):
    place = np.uint64(at)
    out[0] = masks.equal(times, place, n, times[at])
    out[1] = masks.unknown(times, place, n)
    out[2] = masks.unequal(ints, others, place, n)
    out[3] = masks.between(ints, place, n, low, high)
    out[4] = np.uint64(masks.total(ints, place, out[3]))
    out[5] = masks.few(out[3], count)
    masks.copy(ints, place, out[3], -7, into, np.uint64(0))
    masks.deal(ints, place, out[2], low, out[5], into, np.uint64(LANES))
    masks.move(others, place, np.uint64(at + 1))
    return masks.soonest(times, ends, place, out[2])


@pytest.mark.parametrize("n", [-1, 0, 3, 8, 20])
def test_eight_at_a_time_are_told_what_numpy_tells_of_each(n):
    rng = np.random.default_rng([n + 1])
    for _ in range(30):
        ints, others = rng.integers(0, 4, (2, 20))
        times, ends = rng.choice([1.0, 2.0, 5.0, np.inf, np.nan], (2, 20))
        at, count = int(rng.integers(0, 11)), int(rng.integers(-1, 10))
        low, high = sorted(int(x) for x in rng.integers(0, 4, 2))
        those = slice(at, at + LANES)
        one, other, when, end = ints[those], others[those].copy(), times[those], ends[those]
        first = np.arange(LANES) < n
        out, into = np.zeros(6, np.uint64), np.full(2 * LANES, 9)
        least = told(ints, others, times, ends, at, n, low, high, count, out, into)
        within, differ = first & (one >= low) & (one <= high), first & (one != other)
        lowest = within & (np.cumsum(within) <= count)
        assert list(out) == [
            bits_of(first & (when == times[at])),
            bits_of(first & np.isnan(when)),
            bits_of(differ),
            bits_of(within),
            one[within].sum(),
            bits_of(lowest),
        ]
        assert list(into[:LANES]) == list(np.where(within, one, -7))
        most = low + lowest
        assert list(into[LANES:]) == list(np.where(differ, np.minimum(one, most), 9))
        assert list(others[at + 1 : at + 1 + LANES]) == list(other)
        asked = np.concatenate([when[differ], end[differ]])
        assert least == np.nanmin(np.append(asked, np.inf))
