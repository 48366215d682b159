"""Whole numbers by inversion: the same as by a plain search of the distribution function."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from models.workloads.inversion import GUIDES, Inversion

LARGEST = 1 - 2.0**-53
"""The largest number in [0, 1)."""


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=60).filter(any), st.randoms(use_true_random=False))
def test_a_table_of_guides_finds_what_a_search_finds(weights, random):
    probabilities = np.array(weights) / sum(weights)
    steps = np.cumsum(probabilities)
    edges = [0.0, LARGEST, 1 / GUIDES, *steps, *np.nextafter(steps, 0), *np.nextafter(steps, 1)]
    uniform = np.array([u for u in [*edges, *(random.random() for _ in range(200))] if u < 1])
    expected = [min(1 + sum(step <= u for step in steps), len(steps)) for u in uniform]
    assert Inversion(probabilities)(uniform).tolist() == expected
