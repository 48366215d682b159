"""Block bootstrap against blocks drawn one by one and known series; probabilities against what happens."""

from __future__ import annotations

import doctest
import math

import numpy as np
import pytest

from sweep import statistics
from sweep.statistics import blocks, settling
from sweep.statistics.blocks import LEAST_BLOCKS, block_error, block_interval


def series(rng: np.random.Generator, lag1: float, shape: tuple[int, ...], skewed: bool = False) -> np.ndarray:
    """Return first-order autoregressive series along the last axis: mean 0, variance 1."""
    noise = rng.standard_normal((*shape[:-1], shape[-1] + 200))
    if skewed:
        noise = (rng.gamma(0.5, 1, noise.shape) - 0.5) / math.sqrt(0.5)
    for i in range(1, noise.shape[-1]):
        noise[..., i] += lag1 * noise[..., i - 1]
    return noise[..., 200:] * math.sqrt(1 - lag1**2)


@pytest.mark.parametrize("module", [blocks, settling])
def test_examples(module) -> None:
    module.np = np
    assert doctest.testmod(module).failed == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("length", [1, 3, 7])
def test_the_error_is_that_of_blocks_drawn_one_by_one(length: int) -> None:
    rng = np.random.default_rng(1)
    values = series(rng, 0.5, (42,), skewed=True)
    n_blocks = 42 // length
    means = []
    for _ in range(20_000):
        begins = rng.integers(0, 42, n_blocks)
        means.append(np.mean([values[(begin + k) % 42] for begin in begins for k in range(length)]))
    assert block_error(values, length) == pytest.approx(
        np.std(means) * math.sqrt(n_blocks / (n_blocks - 1)), rel=0.02
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize("lag1", [0.0, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("n", [20, 48, 100])
def test_intervals_cover(n: int, lag1: float, skewed: bool) -> None:
    """Nominal 95 %; what was measured with more tries is in docs/statistics.md."""
    rng = np.random.default_rng(3)
    tries = 500
    found = [block_interval(one[None]) for one in series(rng, lag1, (tries, n), skewed)]
    share = np.mean([abs(one.mean) <= one.half_width for one in found])
    assert share > 0.955 - 3 * math.sqrt(0.05 * 0.95 / tries) - 0.015


def assert_same(found: statistics.Interval, expected: statistics.Interval) -> None:
    assert found.method == expected.method
    assert (found.mean, found.half_width) == (expected.mean, expected.half_width)


def test_few_blocks_leave_the_interval_of_batch_means() -> None:
    rng = np.random.default_rng(5)
    methods = set()
    for one in series(rng, 0.9, (100, 1, 30)):
        found = block_interval(one)
        methods.add(found.method)
        if found.method == "block bootstrap":
            assert found.effective >= LEAST_BLOCKS
        else:
            assert_same(found, statistics.interval(one))
    assert "batch means" in methods
    nine = rng.standard_normal((1, 9))
    assert block_interval(nine).withheld
    six = rng.standard_normal((6, 9))
    assert_same(block_interval(six), statistics.interval(six))  # replications are the sample
    constant = np.full((1, 30), 3.0)
    assert_same(block_interval(constant), statistics.interval(constant))


def test_differences_are_of_pairs_and_weighted() -> None:
    rng = np.random.default_rng(6)
    shared, jobs = rng.gamma(2, 5, (1, 40)), rng.integers(1, 90, (1, 40)).astype(float)
    mine = shared + rng.standard_normal((1, 40)) - 1
    mine[0, 3], jobs[0, 5] = np.nan, 0
    found = statistics.bootstrapped_difference(mine, shared, weights=(jobs, jobs))
    kept = ~np.isnan(mine) & (jobs > 0)
    expected = np.average((mine - shared)[kept], weights=jobs[kept])
    assert found.mean == pytest.approx(expected)
    assert found.half_width < 1 < 2 < statistics.interval(shared).half_width


@pytest.mark.exhaustive
def test_probabilities_are_those_with_which_it_happens() -> None:
    """Alternatives whose true means are chance: a share p of those reported as best with probability p is."""
    rng = np.random.default_rng(7)
    text, right = [], []
    for _ in range(400):
        true = rng.normal(0, 0.3, 4)
        run = series(rng, 0.3, (4, 1, 48), skewed=True) * 0.7 + series(rng, 0.3, (1, 1, 48))
        found = statistics.probability_lowest(run + true[:, None, None])
        assert found.sum() == pytest.approx(1)
        text.append(found[np.argmax(found)])
        right.append(np.argmax(found) == np.argmin(true))
    text, right = np.array(text), np.array(right)
    for low, high in ((0.3, 0.6), (0.6, 0.8), (0.8, 0.95), (0.95, 1.01)):
        those = (text >= low) & (text < high)
        error = math.sqrt(0.25 / those.sum())
        assert right[those].mean() > text[those].mean() - 2.5 * error - 0.02, (low, those.sum())
        assert right[those].mean() < text[those].mean() + 2.5 * error + 0.1


def test_replications_give_probabilities_by_students_t() -> None:
    """Of two alternatives it is the tail of t, in closed form."""
    from scipy.special import stdtr

    rng = np.random.default_rng(8)
    for shift in (0.0, 0.5, 1.0):
        runs = rng.standard_normal((2, 12, 1))
        runs[1] += runs[0] + shift
        difference = runs[1] - runs[0]
        found = statistics.interval(difference)
        expected = stdtr(11, found.mean / found.standard_error)
        assert statistics.probability_lowest(runs)[0] == pytest.approx(expected, abs=0.03)


def test_what_grows_for_ever_takes_nothing_from_the_others() -> None:
    """A policy whose queue never ends has an interval without end, and is still not the best."""
    rng = np.random.default_rng(10)
    good = rng.gamma(4, 1, (1, 48))
    near, growing = good + 0.3 + 0.5 * rng.standard_normal((1, 48)), good + 50.0 * np.arange(48)
    assert statistics.bootstrapped_difference(growing, good).half_width > (growing - good).mean()
    found = statistics.probability_lowest([good, near, growing])
    assert found[2] < 0.001
    assert found[:2] == pytest.approx(statistics.probability_lowest([good, near]), abs=0.02)
