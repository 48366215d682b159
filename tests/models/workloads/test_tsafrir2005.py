"""Requested times after Tsafrir et al. (2005): the published numbers, and how they are dealt out."""

import itertools
from collections import Counter

import numpy as np
import pytest
from family_cases import composed
from hypothesis import given
from hypothesis import strategies as st

from models.jobs.jobs import Jobs
from models.jobs.machine import pool
from models.jobs.stream import Stream
from models.point import Point
from models.workloads import estimates, tsafrir2005

HOUR = 3600


def test_distinct_values_grow_with_the_jobs() -> None:
    for n_jobs, distinct in ((0, 0), (20, 10), (200, 20), (40_000, 215), (250_000, 565), (10**6, 565)):
        assert tsafrir2005.n_distinct(n_jobs) == distinct


def test_the_popular_values_are_round() -> None:
    minutes = [5, 10, 15, 20, 30, *(60 * h for h in (1, 2, 3, 4, 5, 6, 8, 10, 12, 18))]
    # Fifteen common ones and the longest; then 40, 30 and 20 hours (multiples of ten), then 45 (of five).
    two_days = [2880, *sorted([*minutes, 2400, 1800, 1200, 2700])]
    assert (tsafrir2005.head_times(48 * HOUR) / 60).tolist() == two_days
    for longest in (2 * HOUR, 4 * HOUR, 18 * HOUR, 36 * HOUR, 100_000, 400 * HOUR):
        times = tsafrir2005.head_times(longest)
        assert times[0] == times.max() == longest
        assert len(set(times.tolist())) == 20
        assert (np.diff(times[1:]) > 0).all()


def test_the_longest_is_the_most_popular_and_other_ranks_come_as_in_the_logs() -> None:
    seen = np.array(tsafrir2005.POPULARITY_IN_LOGS)
    for log in seen:
        assert sorted(log) == list(range(1, 21))
    orders = set()
    for number in range(200):
        ranks = tsafrir2005.head_ranks(np.random.default_rng(number))
        assert ranks[0] == 1
        assert sorted(ranks) == list(range(1, 21))
        for place, rank in enumerate(ranks[1:].tolist(), start=1):
            so_far, later = set(seen[:, : place + 1].ravel()), set(seen[:, place + 1 :].ravel())
            assert rank in so_far
            if overdue := so_far - later - set(ranks[:place]):
                assert rank == min(overdue)
        orders.add(tuple(ranks))
    assert len(orders) > 100


@pytest.mark.parametrize("n_jobs", [1, 50, 300, 10_000])
def test_shares_of_values(n_jobs: int) -> None:
    times, shares = tsafrir2005.distribution(n_jobs, 18 * HOUR, np.random.default_rng(3))
    assert shares.sum() == pytest.approx(1)
    assert (np.diff(times) > 0).all()
    is_head = np.isin(times, tsafrir2005.head_times(18 * HOUR))
    assert shares[is_head].sum() == pytest.approx(0.89)
    assert shares[times == 18 * HOUR] == shares.max() == pytest.approx(0.21733, abs=1e-5)
    tail = np.sort(shares[~is_head])[::-1]
    rank = np.arange(21, 21 + tail.size)
    np.testing.assert_allclose(tail / tail[0], (rank / 21) ** -2.267)


def test_every_way_to_deal_is_as_likely() -> None:
    runtime = np.array([5.0, 30.0, 12.0, 1.0])
    values = np.array([40, 35, 20, 10])
    ways = [
        dealt
        for dealt in itertools.permutations(values.tolist())
        if all(time >= taken for time, taken in zip(dealt, runtime, strict=True))
    ]
    # The longest job has two values to choose from, the next one what is left of three, and so on.
    grid = [(np.arange(n) + 0.5) / n for n in (2, 2, 2, 1)]
    found = Counter(
        tuple(tsafrir2005.deal(runtime, values, np.array(uniforms))[0].tolist())
        for uniforms in itertools.product(*grid)
    )
    assert found == dict.fromkeys(ways, 1)


@given(
    st.lists(
        st.tuples(st.integers(1, 90_000), st.integers(1, 200), st.floats(0, 0.999999)),
        min_size=1,
        max_size=60,
    )
)
def test_no_job_requests_less_than_its_runtime(cases: list[tuple[int, int, float]]) -> None:
    runtime = np.array([case[0] for case in cases], dtype=float)
    values = np.sort([300 * case[1] for case in cases])[::-1]
    requested, n_raised = tsafrir2005.deal(runtime, values, np.array([case[2] for case in cases]))
    assert (requested >= np.minimum(runtime, values[0])).all()
    fits = (values >= np.minimum(np.sort(runtime)[::-1], values[0])).all()
    assert (n_raised == 0) == fits
    if fits:
        assert sorted(requested) == sorted(values)
    else:
        kept = Counter(requested.tolist())
        kept.subtract(Counter(values.tolist()))
        assert kept[int(values[0])] == n_raised
        assert sum(n for n in kept.values() if n < 0) == -n_raised


def jobs_of(runtime: list[float], requested: list[float]) -> Jobs:
    n = len(runtime)
    whole = np.ones(n, np.int64)
    return Jobs(np.arange(n, dtype=float), np.array(runtime), np.array(requested), whole, whole)


def test_a_log_without_requests_is_filled() -> None:
    nan = float("nan")
    rng = np.random.default_rng(5)
    runtime = np.ceil(rng.exponential(2000, 600)).tolist()
    jobs = jobs_of([*runtime, 50.0], [nan] * 600 + [7200.0])
    drawn = composed("workload", "_rigid", estimates="tsafrir2005")
    filled, notes = estimates.fill("a.swf", jobs, drawn, (1,))
    assert filled.requested[-1] == 7200
    assert (filled.requested >= jobs.runtime).all()
    longest = -(-int(max(*runtime, 7200)) // HOUR) * HOUR
    assert notes[0] == f"a.swf: 600 requested times are drawn (tsafrir2005), at most {longest:,} s"
    assert filled.requested.max() == longest
    assert estimates.fill("a.swf", jobs, {}, (1,)) == (jobs, [])
    again = estimates.fill("a.swf", jobs, drawn, (1,))[0]
    np.testing.assert_array_equal(again.requested, filled.requested)
    other = estimates.fill("a.swf", jobs, drawn, (2,))[0]
    assert (other.requested != filled.requested).any()


def test_requests_may_be_too_long_by_a_factor() -> None:
    """Evenly from the runtime to 1 + f times as much, the same for a job however many are drawn."""
    runtime = np.random.default_rng(1).exponential(3000, 20_000)
    jobs = jobs_of(runtime.tolist(), [float("nan")] * runtime.size)
    drawn = composed("workload", "_rigid", estimates="factor", estimates_factor=3)
    point = Point({}, drawn, {}, seed=(4, 2))
    stream = estimates.of_stream(Stream("a", pool(1), lambda n: jobs.part(slice(n))), point)
    requested = stream.first(runtime.size).requested
    over = np.sort(requested / runtime)
    even = 1 + 3 * (np.arange(over.size) + 0.5) / over.size
    assert np.abs(over - even).max() < 3 * 1.63 / np.sqrt(over.size), "Kolmogorov and Smirnov, one percent"
    np.testing.assert_array_equal(stream.first(100).requested, requested[:100])
    filled, notes = estimates.fill("b", jobs, drawn, (4, 2))
    np.testing.assert_array_equal(filled.requested, requested)
    assert notes == ["b: 20,000 jobs request up to 4 times the runtime (estimates=factor)"]
    assert estimates.are_drawn(drawn)
