"""Break-evens: known ones are found, intervals cover, saturated points are not interpolated."""

import math

import numpy as np
import pytest

from analysis.families.break_even import Outcome, compare, describe
from analysis.study.curve import DONE, SATURATED, Curve
from sweep.statistics.confidence import student

X = np.array([0.0, 5.0, 10.0, 20.0])


def curve(values: np.ndarray, *states: str) -> Curve:
    """Return a curve of one batch in each replication, values of shape (points, replications)."""
    return Curve(X[: len(values)], values[:, :, None], states or (DONE,) * len(values), 0.95, "switch_cost")


def lines(at: float, slope: float, spread: float, n: int = 10, seed: int = 1) -> tuple[Curve, Curve]:
    """Return a contestant that is as good as the other at a cost, each replication with luck of its own."""
    random = np.random.default_rng(seed)
    base = 50 + 20 * random.standard_normal(n)  # in common
    own = spread * random.standard_normal(n)
    other = np.tile(base, (len(X), 1))
    return curve(other + slope * (X[:, None] - at) + own), curve(other)


@pytest.mark.parametrize("at", [2.0, 7.5, 12.0])
def test_a_known_break_even_without_noise_is_found(at: float) -> None:
    (found,) = compare(*lines(at, 1.0, 0.0)).crossings
    assert found.value == pytest.approx(at, abs=1e-9)
    assert found.wins == "below"
    assert found.low <= at <= found.high
    assert found.high - found.low <= 2 * 10 / 200 + 1e-9


def test_the_interval_is_that_of_the_mean_difference_over_the_slope() -> None:
    """With one slope in all replications the places not distinguishable from 0 have a closed form."""
    one, other = lines(8.0, 2.0, 3.0)
    differences = (one.values - other.values)[:, :, 0]
    level = differences[0].mean()  # at cost 0
    half = float(student(9, 0.975)) * differences[0].std(ddof=1) / math.sqrt(10)
    (found,) = compare(one, other).crossings
    assert found.value == pytest.approx(-level / 2.0)
    assert found.low == pytest.approx((-level - half) / 2.0, abs=0.06)
    assert found.high == pytest.approx((-level + half) / 2.0, abs=0.06)


def test_intervals_cover_the_true_break_even() -> None:
    covered = 0
    for seed in range(300):
        crossings = compare(*lines(8.0, 1.0, 3.0, seed=seed)).crossings
        covered += any(one.low <= 8.0 <= one.high for one in crossings)
    assert 0.92 <= covered / 300 <= 0.98


def test_a_contestant_that_is_always_better_has_no_break_even() -> None:
    one, other = lines(100.0, 1.0, 0.1)
    assert describe(compare(one, other), " %", 0) == "everywhere (0 % to 20 %)"
    assert describe(compare(other, one), " %", 0) == "nowhere (0 % to 20 %)"


def test_an_interval_that_reaches_the_end_of_the_grid_is_open() -> None:
    known = compare(*lines(17.0, 0.5, 5.0, seed=2))
    (found,) = known.crossings
    assert math.isinf(found.high)
    assert not math.isinf(found.low)
    assert "(above " in describe(known)


def test_saturated_points_are_not_interpolated() -> None:
    one, other = lines(8.0, 1.0, 0.1)
    gone = Curve(X, one.values, (DONE, DONE, SATURATED, SATURATED), 0.95, "switch_cost")
    found = compare(gone, other)
    assert (found.lost, found.crossings) == (10.0, ())
    assert describe(found, "", 0) == "everywhere (0 to 5); itself saturated from 10"
    found = compare(one, Curve(X, other.values, (DONE, SATURATED, SATURATED, DONE), 0.95, "switch_cost"))
    assert found.left == 5.0
    assert found.crossings == ()  # 0 and 20 are not neighbours


def test_several_break_evens_are_in_order() -> None:
    base = np.full((4, 6), 10.0)
    noise = 0.01 * np.random.default_rng(1).standard_normal((4, 6))
    found: Outcome = compare(curve(base + np.array([[1], [-1], [-1], [1]]) + noise), curve(base))
    assert [one.wins for one in found.crossings] == ["above", "below"]
    assert [one.value for one in found.crossings] == pytest.approx([2.5, 15.0], abs=0.1)
