"""Which jobs fit on a machine's hosts, against each host asked by itself."""

import numpy as np
import pytest

from models.jobs.machine import UNLIMITED_KB, Machine


@pytest.mark.parametrize("memory_each", [UNLIMITED_KB, 3])
@pytest.mark.parametrize("seed", range(5))
def test_a_job_fits_where_some_host_has_both(seed: int, memory_each: int) -> None:
    """Among hosts that are alike, that have more of both, or more of one and less of the other."""
    draw = np.random.default_rng(seed)
    processors, memory = draw.integers(1, 9, 5), draw.integers(1, 9, 5)
    machine = Machine(tuple("abcde"), processors, memory, memory_each)
    size, need = draw.integers(1, 10, 300), draw.integers(0, 10, 300)
    expected = [
        any(s <= p and m <= k for p, k in zip(processors, memory, strict=True)) and m / s <= memory_each
        for s, m in zip(size, need, strict=True)
    ]
    assert 0 < sum(expected) < len(expected)
    np.testing.assert_array_equal(machine.takes(size, need), expected)
