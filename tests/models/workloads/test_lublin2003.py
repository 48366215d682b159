"""The Lublin-Feitelson model: against quadrature, a plain twin, and the output of the authors' program."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from family_cases import archive_log, composed, opened_on
from scipy import integrate, stats

from models.jobs import swf
from models.jobs.jobs import Jobs
from models.jobs.machine import pool
from models.workloads import lublin2003
from models.workloads.lublin2003_parameters import KINDS, Gamma, Kind

WORKLOAD = composed(
    "workload", "lublin2003", estimates="tsafrir2005", longest_request=172_800, estimated_together=1000
)
N = 100_000


def drawn(n_jobs: int, processors: int, load: float | None, *seed: int, **changes: object) -> Jobs:
    return opened_on(WORKLOAD | changes, {"processors": processors}, load, *seed).first(n_jobs)


def kind_on(processors: int, **changes: object) -> Kind:
    return lublin2003.kind_of(WORKLOAD | changes, pool(processors))


def goodness(observed: np.ndarray, expected: np.ndarray) -> float:
    """Return the p-value of a chi-squared test with all rare sizes as one."""
    size = np.where(expected > 10, np.arange(expected.size), expected.size)
    groups = [np.bincount(size, counts) for counts in (observed, expected)]
    there = groups[1] > 0
    return float(stats.chisquare(groups[0][there], groups[1][there]).pvalue)


@pytest.mark.parametrize("name", KINDS)
def test_sizes_have_their_probabilities(name: str) -> None:
    kind = KINDS[name]
    expected = lublin2003.size_probabilities(kind)
    assert expected.sum() == pytest.approx(1)
    size = lublin2003.sizes(kind, N, (1,))
    assert size.min() == 1
    assert size.max() <= kind.largest
    observed = np.bincount(size, minlength=kind.largest + 1)[1:]
    assert goodness(observed, N * expected) > 1e-3


@pytest.mark.parametrize("name", KINDS)
def test_the_truncated_gamma_is_what_drawing_again_gives(name: str) -> None:
    kind = KINDS[name]
    rng = np.random.default_rng(7)
    for gamma, limit in ((kind.short, 4.0), (kind.long, 10.0), (kind.gap, 5.0)):
        drawn = rng.gamma(gamma.shape, gamma.scale, 20_000)
        accepted = drawn[drawn <= limit]
        assert accepted.size < drawn.size
        quantiles = gamma.truncated(limit, rng.random(20_000))
        assert quantiles.max() <= limit
        assert stats.ks_2samp(accepted, quantiles).pvalue > 1e-3


def density(gamma: Gamma) -> Any:
    return stats.gamma(gamma.shape, scale=gamma.scale).pdf


@pytest.mark.parametrize("name", KINDS)
def test_means_against_quadrature(name: str) -> None:
    kind = KINDS[name]
    pdf = density(kind.gap)
    mass = integrate.quad(pdf, 0, 13)[0]
    mean_gap = integrate.quad(lambda g: np.exp(g) * pdf(g), 0, 13)[0] / mass
    assert kind.gap.mean_exponential(13.0) == pytest.approx(mean_gap)
    for gamma, mean in zip((kind.short, kind.long), lublin2003.mean_runtimes(kind), strict=True):
        pdf = density(gamma)
        mass = integrate.quad(pdf, 0, 12, limit=200)[0]
        not_cut = integrate.quad(lambda g, pdf=pdf: np.exp(g) * pdf(g), 0, 12, limit=200)[0] / mass
        # Cut to whole seconds, half a second less on average where runtimes are long.
        assert not_cut - 1 < mean < not_cut
        grid = gamma.truncated(12.0, (np.arange(N) + 0.5) / N)
        assert np.floor(np.exp(grid)).mean() == pytest.approx(mean, rel=1e-3)


def walked(kind: Kind, gaps: np.ndarray) -> Iterator[float]:
    """Yield arrivals as the paper walks: paying for one half hour after the other."""
    weights = lublin2003.bucket_weights(kind)
    bucket, into, passed = 0, 0.0, 0.0
    for gap in gaps / 1800:
        points = gap
        while points > weights[bucket % 48] * (1 - into):
            points -= weights[bucket % 48] * (1 - into)
            bucket, into = bucket + 1, 0.0
        into += points / weights[bucket % 48]
        passed = 1800 * (bucket + into)
        yield passed


@pytest.mark.parametrize("name", KINDS)
def test_arrivals_walk_through_the_half_hours(name: str) -> None:
    kind = KINDS[name]
    weights = lublin2003.bucket_weights(kind)
    assert weights.mean() == pytest.approx(1)
    # The mode of the gamma distribution, in half hours from midnight on.
    assert abs(np.argmax(weights) + 1 - (kind.cycle.shape - 1) * kind.cycle.scale) <= 1
    arrivals = lublin2003.arrivals(kind, 3000, (5,))
    spent = np.interp(arrivals % 86400, 1800 * np.arange(49), np.concatenate([[0], np.cumsum(weights)]))
    gaps = np.diff(1800 * (48 * (arrivals // 86400) + spent), prepend=0.0)
    np.testing.assert_allclose(list(walked(kind, gaps)), arrivals)
    cut = stats.gamma(kind.gap.shape, scale=kind.gap.scale)
    assert stats.kstest(np.log(gaps), lambda g: cut.cdf(g) / cut.cdf(13.0)).pvalue > 1e-3


def test_the_output_of_the_authors_program() -> None:
    log = swf.read(archive_log("LUBLIN-256-synthetic"))
    kind = kind_on(256)
    # Sizes: UHi = 8 as its name says, and UMed = 5.5.
    expected = lublin2003.size_probabilities(kind) * log.n_jobs
    observed = np.bincount(log.sizes, minlength=257)[1:]
    assert goodness(observed, expected) > 0.01
    jobs = drawn(N, 256, None, 1)
    for small in (True, False):
        pair = [runtime[(size <= 16) == small] for runtime, size in
                ((log.columns["runtime"], log.sizes), (jobs.runtime, jobs.size))]  # fmt: skip
        assert stats.ks_2samp(*pair).pvalue > 0.01
    # Arrivals: the program cuts each time to whole seconds, so that its clock loses half a second a job
    # against its own daily cycle. With these put back, the points that each job spent have the distribution
    # that they should have, and the time of day follows from a start at midnight.
    submit = log.columns["submit"] + 0.5 * np.arange(1, log.n_jobs + 1)
    weights = lublin2003.bucket_weights(kind)
    spent = np.interp(submit % 86400, 1800 * np.arange(49), np.concatenate([[0], np.cumsum(weights)]))
    gaps = np.diff(1800 * (48 * (submit // 86400) + spent))
    cut = stats.gamma(kind.gap.shape, scale=kind.gap.scale)
    long = np.log(gaps[gaps > 60])  # so that a second more or less is nothing
    below = cut.cdf(np.log(60))
    assert stats.kstest(long, lambda g: (cut.cdf(g) - below) / (cut.cdf(13.0) - below)).pvalue > 0.01
