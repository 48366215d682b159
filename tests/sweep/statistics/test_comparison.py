"""Comparisons week by week against known series; probabilities against what happens and intervals."""

import math

import numpy as np
import pytest
from scipy.special import stdtr
from scipy.stats import binomtest, norm

from benchmarks import coverage
from benchmarks.coverage import autoregressive
from sweep import statistics
from sweep.statistics import comparison
from sweep.statistics.comparison import Paired, Spread, compare


@pytest.mark.parametrize("runs", [(10,), (4, 5, 1)])
def test_the_spread_is_the_posterior_that_numerical_integration_gives(runs: tuple[int, ...]) -> None:
    """Of a short series: mean and variance are integrated over as well, by brute force on a grid."""
    values = np.array([0.3, -1.1, 0.4, 1.6, 2.0, 0.1, -0.4, -0.2, 1.0, -1.3])
    values -= values.mean()
    spread = Spread.of(values, runs)
    run = np.repeat(np.arange(len(runs)), runs)
    alike = np.equal.outer(run, run)
    mean, log_s = np.meshgrid(np.sinh(np.linspace(-5, 5, 801)), np.linspace(-2, 4, 121), indexing="ij")
    shares = []
    for lag in comparison.LAGS:
        distance = np.abs(np.subtract.outer(np.arange(10), np.arange(10)))
        inverse = np.linalg.inv(alike * lag**distance if lag else np.eye(10))
        residuals = values - mean[..., None]
        squares = np.einsum("abi,ij,abj->ab", residuals, inverse, residuals)
        density = np.exp(-squares / (2 * np.exp(2 * log_s)) - 10 * log_s) * np.sqrt(
            1 + mean**2
        )  # of the grid
        shares.append(math.sqrt(np.linalg.det(inverse)) * density.sum())
    expected = np.array(shares) * comparison.PRIOR
    assert spread.shares == pytest.approx(expected / expected.sum(), rel=0.02, abs=1e-4)


@pytest.mark.exhaustive
@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize("lag1", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("n", [12, 22, 50])
def test_intervals_cover_and_are_narrow(n: int, lag1: float, skewed: bool) -> None:
    """Nominal 95 %; what was measured with more tries is in docs/statistics.md."""
    rng, tries = np.random.default_rng(3), 400
    found = [compare(one[None], np.zeros((1, n))) for one in autoregressive(rng, lag1, (tries, n), skewed)]
    share = np.mean([one.low <= 0 <= one.high for one in found])
    assert share > (0.90 if lag1 == 0.6 else 0.92) - 2.5 * math.sqrt(0.06 / tries)
    # Over the interval that knows the correlation and not the variance.
    distance = np.arange(1, n)
    known = 1 + 2 * ((1 - distance / n) * lag1**distance).sum()
    width = np.median([(one.high - one.low) / 2 for one in found])
    assert width < (1.6 if n == 12 else 1.35) * 2.1 * math.sqrt(known / n)


@pytest.mark.exhaustive
@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("lag1", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("shape", coverage.PAIRED_SHAPES)
def test_ratios_and_differences_of_few_runs_are_covered(
    shape: tuple[int, int], lag1: float, ragged: bool
) -> None:
    """Nominal 95 %, of replications by batches, with batches that one of the two lacks."""
    if ragged and shape[1] < 4:
        pytest.skip("runs of one batch cannot lack a third of it")
    rng, tries = np.random.default_rng(21), 300
    waits = coverage.paired_waits(rng, lag1, (tries, *shape), ragged=ragged)
    pairs = [Paired.of(a, b) for a, b in zip(*waits, strict=True)]
    few = shape[0] * shape[1] <= 12
    promised = (0.88 if few else 0.90) if lag1 == 0.6 else 0.92
    truths = {Paired.ratio: coverage.RATIO, Paired.difference: (coverage.RATIO - 1) * math.exp(0.125)}
    for estimate, truth in truths.items():
        found = [one for pair in pairs if not (one := estimate(pair)).withheld]
        if ragged and few and shape[0] < statistics.MIN_REPLICATIONS:
            assert not found, "fewer than ten pairs are too few"
            continue
        assert len(found) == tries
        assert np.mean([one.low <= truth <= one.high for one in found]) > promised - 2.5 * math.sqrt(
            0.06 / tries
        )


def test_runs_count_alike_however_many_batches_they_have() -> None:
    """As in the mean of a point; and the last batch of a run does not touch the next run's first."""
    rng = np.random.default_rng(22)
    mine, usual = rng.gamma(9, 1, (2, 2, 20))
    mine[0, 4:] = np.nan
    expected = [np.mean([one[0, :4].mean(), one[1].mean()]) for one in (mine, usual)]
    assert Paired.of(mine, usual).ratio().mean == pytest.approx(expected[0] / expected[1])
    assert Paired.of(mine, usual).difference().mean == pytest.approx(expected[0] - expected[1])
    width, swapped = (Paired.of(mine[way], usual[way]).difference().half_width for way in ([0, 1], [1, 0]))
    assert width == pytest.approx(swapped)


def test_batches_whose_weight_one_family_does_not_measure_count_alike() -> None:
    rng = np.random.default_rng(24)
    mine, usual = rng.gamma(9, 1, (2, 6, 4))
    hours = rng.integers(1, 9, (6, 4)).astype(float)
    found = compare(mine, usual, weights=(np.full((6, 4), np.nan), hours))
    expected = mine.mean() - np.mean([np.average(a, weights=w) for a, w in zip(usual, hours, strict=True)])
    assert found.mean == pytest.approx(expected)
    assert found.low < found.mean < found.high


def test_one_pair_has_one_interval_in_a_ratio_and_in_a_verdict() -> None:
    rng = np.random.default_rng(23)
    for shape in ((1, 30), (3, 10), (6, 5)):
        usual = np.exp(rng.standard_normal(shape))
        mine = usual * np.exp(0.2 * rng.standard_normal(shape))
        pair = Paired.of(mine, usual)
        found, ratio = pair.comparison(), pair.ratio()
        ends = (1 + found.low / found.reference, 1 + found.high / found.reference)
        assert (ratio.low, ratio.high) == pytest.approx(ends)
        assert ratio.mean == pytest.approx(1 + found.mean / found.reference)
        # The bound that is nearer to 0 has to come there, in four of five samples.
        change, *ends = np.log([ratio.mean, *ends])
        reach, quantiles = abs(change - ends[int(change < 0)]), norm.ppf([0.975, comparison.POWER])
        assert found.needed == pytest.approx((reach * quantiles.sum() / quantiles[0] / change) ** 2)
    # Of independent replications: half of a pilot's periods have each policy.
    spread = sum(run.mean(axis=1).var(ddof=1) for run in (mine, usual))
    assert found.pilot == pytest.approx(4 * spread / 2 * (quantiles.sum() / found.mean) ** 2)


def test_ratios_of_heavy_tails_are_covered_and_no_bound_is_a_wait_below_0() -> None:
    rng, inside = np.random.default_rng(4), []
    for _ in range(150):
        usual = np.exp(autoregressive(rng, 0.3, (1, 30), skewed=False))
        quick = 0.8 * usual * np.exp(0.4 * rng.standard_normal((1, 30)) - 0.08)
        found = compare(quick, usual)
        inside.append(found.low <= -0.2 * found.reference <= found.high)
        assert found.low > -found.reference
        assert found.low < found.mean < found.high
    assert np.mean(inside) > 0.86


def test_weeks_are_paired_and_weighted() -> None:
    rng = np.random.default_rng(6)
    shared, jobs = rng.gamma(2, 5, (1, 40)), rng.integers(1, 90, (1, 40)).astype(float)
    mine, hours = shared + 0.2 * rng.standard_normal((1, 40)) - 1, jobs + rng.integers(0, 2, (1, 40))
    mine[0, 3], jobs[0, 5] = np.nan, 0
    found = compare(mine, shared, weights=(hours, jobs))
    kept = ~np.isnan(mine) & (jobs > 0)
    expected = np.average(mine[kept], weights=hours[kept]), np.average(shared[kept], weights=jobs[kept])
    assert (found.mean, found.reference) == pytest.approx((expected[0] - expected[1], expected[1]))
    assert (found.lower, found.higher) == tuple(int((s * (mine - shared)[kept] > 0).sum()) for s in (-1, 1))
    assert found.verdict == "better"


@pytest.mark.parametrize("lower", [0, 3, 9, 11])
def test_signs_of_independent_replications_are_those_of_the_binomial_test(lower: int) -> None:
    mine = np.where(np.arange(22) < lower, -1.0, 1.0)[:, None] * np.linspace(1, 2, 22)[:, None]
    found = compare(mine, np.zeros((22, 1)))
    assert found.chance == pytest.approx(min(1, binomtest(lower, 22).pvalue), rel=1e-9)
    alternating = comparison._sign_test(found.lower, found.higher, inflation=0.5)
    assert alternating == found.chance, "no week is worth more than one"


def test_verdicts_never_contradict_the_weeks() -> None:
    """A policy with more in all 49 weeks is worse, however wide the interval of the mean is."""
    rng = np.random.default_rng(9)
    usual = rng.gamma(1.0, 100.0, (1, 49))
    growing = usual + 5.0 * np.arange(1, 50) ** 2
    assert compare(growing, usual).verdict == "worse"
    one_week = usual * 0.97
    one_week[0, 20] += 3e4
    assert compare(one_week, usual).verdict in ("mixed", "mostly better")
    for _ in range(200):
        mine = usual * np.exp(rng.normal(rng.normal(0, 0.3), rng.uniform(0.01, 1), (1, 49)))
        found = compare(mine, usual)
        if found.verdict == "no difference shown":
            assert 12 < found.lower < 37
        if found.verdict in ("better", "mostly better"):
            assert found.mean < 0
            assert found.lower > 17


def test_too_small_samples_and_equal_policies_have_no_interval() -> None:
    rng = np.random.default_rng(2)
    nine = rng.gamma(1, 1, (1, 9))
    assert compare(nine, 2 * nine).verdict == "no interval"
    assert compare(nine, nine).verdict == "identical"
    assert math.isnan(compare(np.full((1, 9), np.nan), nine).mean)
    quiet = np.zeros((1, 28))
    busy = quiet.copy()
    busy[0, [3, 17]] = 50.0
    assert compare(1.1 * busy, busy).verdict == "no interval", "two weeks with a queue do not predict others"
    assert np.isnan(statistics.probability_lowest([nine, 2 * nine])).all()


def test_replications_are_the_sample_where_there_are_enough() -> None:
    rng = np.random.default_rng(8)
    for shift in (0.0, 0.5, 1.0):
        runs = rng.standard_normal((2, 12, 1))
        runs[1] += runs[0] + shift
        found, plain = compare(*runs), statistics.interval(runs[0] - runs[1])
        assert (found.low, found.high) == pytest.approx(
            (plain.mean - plain.half_width, plain.mean + plain.half_width), rel=1e-4
        )
        expected = stdtr(11, -plain.mean / plain.standard_error)
        assert statistics.probability_lowest(runs)[0] == pytest.approx(expected, abs=0.03)


def test_probabilities_agree_with_intervals() -> None:
    """Of two alternatives the other one is the best with the probability that the interval leaves to it."""
    rng = np.random.default_rng(12)
    for _ in range(20):
        usual = np.exp(autoregressive(rng, 0.3, (1, 30), skewed=False))
        mine = usual * np.exp(rng.normal(0, 0.1) + 0.4 * rng.standard_normal((1, 30)))
        if mine.mean() > usual.mean():
            mine, usual = usual, mine
        wrong = statistics.probability_lowest([usual, mine])[0]
        for level in (0.8, 0.95, 0.99):
            tail = (1 - level) / 2
            if abs(wrong - tail) > 0.01:
                assert (compare(mine, usual, level).high < 0) == (wrong < tail)


def test_a_longer_log_of_the_size_needed_shows_the_difference() -> None:
    rng = np.random.default_rng(5)
    shown = []
    for _ in range(40):
        found = compare(1 + 0.3 * rng.standard_normal((1, 30)) - 0.08, np.ones((1, 30)))
        if 1 < found.needed < 20:
            n = round(30 * found.needed)
            true = np.array([1 + found.mean]) + 0.3 * rng.standard_normal((1, n))
            shown.append(compare(true, np.ones((1, n))).verdict == "better")
    assert 0.6 < np.mean(shown) <= 1


def test_all_comparisons_together_have_the_level() -> None:
    """Of six policies that equal the reference in the long run, none is better in 95 of 100 logs."""
    rng, tries = np.random.default_rng(13), 120
    wrong, each = [], []
    for usual, run in zip(
        rng.standard_normal((tries, 1, 30)), rng.standard_normal((tries, 7, 1, 30)), strict=True
    ):
        others = usual + 0.3 * run[:6] + 0.4 * run[6:]  # which weeks are good is common to them
        level = statistics.joint_level(np.array([usual, *others]), 0)
        assert 0.96 < level < 1 - 0.05 / 6
        found = [(compare(mine, usual), compare(mine, usual, level)) for mine in others]
        each.append(any(one.low > 0 or one.high < 0 for one, _ in found))
        wrong.append(any(one.low > 0 or one.high < 0 for _, one in found))
    assert np.mean(wrong) < 0.05 + 2.5 * math.sqrt(0.05 / tries)
    assert np.mean(wrong) < np.mean(each)


def test_what_grows_for_ever_takes_nothing_from_the_others() -> None:
    rng = np.random.default_rng(10)
    good = rng.gamma(4, 1, (1, 48))
    near, growing = good + 0.3 + 0.5 * rng.standard_normal((1, 48)), good + 50.0 * np.arange(48)
    found = statistics.probability_lowest([good, near, growing])
    assert found[2] < 0.001
    assert found[:2] == pytest.approx(statistics.probability_lowest([good, near]), abs=0.02)
