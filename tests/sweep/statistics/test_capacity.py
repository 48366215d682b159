"""What policies can deliver, and whether runs are long enough, on systems of which it is known."""

from dataclasses import replace
from statistics import fmean, stdev

import numpy as np
import pytest
from scipy.special import stdtrit

from analysis.claims.comparisons import Sustains
from benchmarks.coverage import autoregressive
from models.family import OVERLOAD, OVERLOAD_BATCHES
from models.point import Batches, Point
from sweep import statistics
from sweep.notebook import choices
from sweep.plan import families
from sweep.statistics.length import relaxation_time

EXPONENTIAL = {
    "name": "feitelson1996",
    # Jobs of one processor, each run once, with exponential runtimes.
    "size_order": 60.0, "run_length_order": 60.0, "long_probability_small": 0.0, "long_probability_full": 0.0,
}  # fmt: skip


def capacity(policy: dict, workload: dict, processors: int, n_batches: int = OVERLOAD_BATCHES):
    """Return the capacity of a policy from two runs."""
    where = choices.folders()
    point = Point(
        choices.policy(policy, where), choices.workload(workload, where), choices.machine(processors, where),
        OVERLOAD, Batches(1000, 0, (n_batches,), overloaded=True),
    )  # fmt: skip
    family = families.find(str(point.policy["family"]))
    runs = [family.simulate(replace(point, seed=(1, seed))).metrics[family.delivered] for seed in (1, 2)]
    return statistics.capacity(np.stack(runs), OVERLOAD)


@pytest.mark.parametrize("servers", [1, 8])
def test_queues_that_are_never_empty_deliver_all_of_their_servers(servers: int) -> None:
    found = capacity({"name": "fcfs"}, EXPONENTIAL, servers)
    assert found.mean == pytest.approx(1, abs=1e-3)
    assert found.error < 1e-3


def test_packing_delivers_what_a_linear_programme_over_packings_gives() -> None:
    """A capacity of 1.000: some packing of the jobs fills every slot, and alternation finds it."""
    found = capacity({"name": "first_fit", "alternation": "exclusive"}, {"name": "feitelson1996"}, 128)
    assert found.mean == pytest.approx(1, abs=1e-3)


def test_a_rising_share_leaves_open_what_is_delivered_in_the_end() -> None:
    chance = 0.002 * np.random.default_rng(1).standard_normal((2, 60))
    rising = statistics.capacity(0.95 + np.linspace(0, 0.03, 60) + chance, OVERLOAD)
    level = statistics.capacity(0.95 + chance, OVERLOAD)
    # The second half has a mean of 0.9725, and its last two fifths are 0.009 above its first two.
    assert rising.upper == pytest.approx(0.9725 + 8 * 0.009, abs=0.01)
    assert level.upper < 0.953
    undecided, refuted = (Sustains("", found, 1.0).fails(0.95) for found in (rising, level))
    assert (undecided, refuted) == (False, True)
    slight = statistics.capacity(
        [[0.9] * 5 + [0.9, 0.92, 0.94, 0.9, 0.944]], OVERLOAD
    )  # less than its own error
    assert slight.upper == pytest.approx(slight.mean + 2 * slight.error)
    assert np.isinf(statistics.capacity(1.25 + chance, OVERLOAD).upper)
    assert np.isnan(statistics.capacity(chance[:, :8], OVERLOAD).mean)


def test_the_error_of_a_capacity_is_that_of_the_blocks_of_both_runs() -> None:
    """Ten batches each: five are left of a run, each a block of its own."""
    kept = np.random.default_rng(2).normal(0.9, 0.01, (2, 5))
    found = statistics.capacity(np.hstack([np.zeros((2, 5)), kept]), OVERLOAD)
    assert found.mean == pytest.approx(fmean(kept.flat))
    assert found.error == pytest.approx(stdev(kept.flat) / 10**0.5)


def test_the_interval_of_a_capacity_covers_it_as_often_as_it_says() -> None:
    """95 %, by the limit that judges claims, of a machine that is up and down for random times."""
    random, runs = np.random.default_rng(1), 6000
    up, down = (random.gamma(4000, mean, (runs, 2, 60)) for mean in (9.0, 1.0))  # of 4000 times each
    true, level = 0.9, 0.975
    missed = 0
    for delivered in up / (up + down):
        found = statistics.capacity(delivered, OVERLOAD)
        above = Sustains("", found, true).holds(level)
        below = Sustains("", found._replace(mean=-found.mean), -true).holds(level)
        missed += above or below
    assert 0.93 < 1 - missed / runs < 0.97


def queues(load: float, replications: int, n_batches: int, seed: int) -> np.ndarray:
    """Return response times in M/M/1 queues from empty, shape (replications, batches of 1000)."""
    random = np.random.default_rng(seed)
    n = 1000 * n_batches
    gap = random.exponential(1 / load, (replications, n))
    service = random.exponential(1.0, (replications, n))
    walk = np.cumsum(
        np.concatenate([np.zeros((replications, 1)), service[:, :-1] - gap[:, 1:]], axis=1), axis=1
    )
    response = walk - np.minimum.accumulate(walk, axis=1) + service
    return response.reshape(replications, n_batches, 1000).mean(axis=-1)


@pytest.mark.parametrize(
    ("load", "n_batches", "short"), [(0.5, 30, False), (0.9, 30, False), (0.99, 30, True)]
)
def test_a_queue_is_too_short_where_its_relaxation_time_is_long(load, n_batches, short) -> None:
    """1 / (1 - sqrt(rho))^2 customers: 12 at a load of .5, 380 at .9, and 40 batches at .99."""
    seen = statistics.lengths(queues(load, 20, n_batches, 3))
    assert bool(seen.kept < statistics.ENOUGH * seen.relaxation) == short


def test_the_expected_bias_is_no_less_than_that_of_queues_from_empty() -> None:
    """Means of a thousand runs, against the known mean 1 / (1 - rho)."""
    values = queues(0.95, 1000, 20, 5)
    seen = statistics.lengths(values)
    expected = float(statistics.expected_bias(seen.relaxation, np.array(0.0), seen.kept))
    assert expected < values.mean() * 0.05 - 1 < 0, "of other systems it is as much as that"


def test_a_rise_within_runs_shows_how_much_is_missing() -> None:
    """Three times the long-run mean at first, and exponentially less: more than in a queue from empty."""
    missing = 3 * np.exp(-np.arange(0, 40, 0.001) / 10)
    first, second = (1 - missing).reshape(2, -1).mean(axis=1)
    expected = statistics.expected_bias(np.array(10.0), np.array(0.0), np.array(40.0), second - first)
    assert expected == pytest.approx(-missing.mean(), rel=1e-3)
    # The second half of each run over the first, the middle batch of an odd number in the second.
    for run, rise in (([1.0, 1.0, 3.0, 3.0], 1.0), ([1.0, 2.0, 4.0], 6 / 7)):
        assert statistics.lengths(np.array([run] * 5)).rise == pytest.approx(rise)


def test_the_relaxation_time_of_short_runs_is_that_of_their_process() -> None:
    """(1 + f) / (1 - f) / 2 of an autoregressive series, although the mean of 100 values follows them."""
    values = autoregressive(np.random.default_rng(9), 0.8, (400, 1, 100), skewed=False)
    assert np.mean(relaxation_time(values)) == pytest.approx(4.5, rel=0.1)


@pytest.mark.parametrize("replications", [5, 8, 20])
def test_a_control_variate_narrows_intervals_that_cover(replications: int) -> None:
    random = np.random.default_rng(7)
    control = random.standard_normal((2000, replications))
    values = (3 + 2 * control + random.standard_normal((2000, replications)))[..., None]
    plain, found = (
        statistics.intervals(each) for each in (values, statistics.controlled(values, control, 0.95))
    )
    assert 0.94 <= np.mean(np.abs(found.mean - 3) <= found.half_width) <= 0.985
    assert np.median(found.half_width / plain.half_width) < (1.2 if replications == 5 else 0.7)
    few = statistics.controlled(values[:, :4], control[:, :4], 0.95)
    np.testing.assert_array_equal(few, values[:, :4])


def test_the_interval_with_a_control_variate_is_that_of_runs_left_out_in_turn() -> None:
    """What a replication adds to the error is by how much the line moves without it."""
    random = np.random.default_rng(8)
    control = random.standard_normal(7)
    values = 3 + 2 * control + 0.3 * random.standard_normal(7)
    centre, *without = (
        np.polyfit(control[kept], values[kept], 1)[1]
        for kept in (np.arange(7) != out for out in range(-1, 7))
    )
    moved, t = centre - np.array(without), stdtrit(5, 0.975)
    error = np.sqrt((moved**2).sum())
    skewed = abs((moved**3).sum()) / error**3 * (1 + 2 * t**2) / 6
    found = statistics.interval(statistics.controlled(values[:, None], control, 0.95))
    assert (found.mean, found.half_width) == pytest.approx((centre, (t + skewed) * error))
