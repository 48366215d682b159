"""The generated work of Livermore's Cray T3D against the numbers of Jette (1997) and of the log's page."""

from datetime import date, datetime, timedelta
from functools import cache
from typing import Any

import numpy as np
import pytest
from family_cases import composed, merged
from scipy.integrate import quad
from scipy.stats import chisquare, truncnorm

from models import workloads
from models.jobs.job_classes import BENCHMARK, EXPRESS, PRODUCTION, STANDBY
from models.jobs.jobs import Jobs
from models.jobs.trace import Trace
from models.point import Point
from models.workloads.t3d import runtimes
from models.workloads.t3d.keys import Keys
from models.workloads.t3d.site import Site

HOUR, DAY = 3600, 86_400
MACHINE = {"name": "t3d", "processors": 256}
PUBLISHED = 2659, 44.5e6, 1328, 289.5e6
"""Interactive jobs, their processor seconds, batch jobs, and theirs: of 23 July to 12 August 1996."""

LIMITS = {"pe32": (32, 4), "pe64": (64, 4), "pe128": (128, 4), "pe256": (256, 4), "pe64_long": (64, 40),
          "pe128_short": (128, 0.25), "pe256_short": (256, 0.25)}  # fmt: skip
"""Queue -> processors and hours, of the log's page."""


def workload(name: str = "t3d_three_weeks", **keys: Any) -> dict[str, Any]:
    """Return a file with some keys set; a mapping is merged into the file's."""
    return merged(composed("workload", name), keys)


def opened(name: str = "t3d_three_weeks", seed: int = 0, load: float | None = None, **keys: Any) -> Trace:
    return workloads.open_workload(Point({}, workload(name, **keys), MACHINE, load, seed=(1, 2, seed)))


def is_batch(jobs: Jobs) -> np.ndarray:
    return np.isin(jobs.job_class, [EXPRESS, PRODUCTION, BENCHMARK, STANDBY])


@cache
def fifteen_months() -> Trace:
    return opened("t3d")


@pytest.mark.parametrize(
    ("limit", "scale", "spread"), [(60.0, -9.0, 2.0), (144_000.0, 0.0, 0.5), (144_000.0, 2.0, 2.0)]
)
def test_means_of_truncated_runtimes_are_those_of_their_density(
    limit: float, scale: float, spread: float
) -> None:
    middle = np.log(limit) + scale
    ends = -middle / spread, (np.log(limit) - middle) / spread
    law = truncnorm(*ends, loc=middle, scale=spread)
    by_integral = quad(lambda x: np.exp(x) * law.pdf(x), 0, np.log(limit), limit=200)[0]
    assert runtimes.mean(limit, middle, spread) == pytest.approx(by_integral, rel=1e-6)
    # The draws are the quantiles of the same law.
    ranks = (np.arange(20_000) + 0.5) / 20_000
    drawn = runtimes.drawn(np.full(ranks.size, limit), scale, spread, ranks)
    assert drawn.mean() == pytest.approx(by_integral, rel=5e-3)
    assert ((drawn >= 1) & (drawn <= limit)).all()
    np.testing.assert_allclose(law.cdf(np.log(drawn[::500])), ranks[::500], rtol=1e-6)


@pytest.mark.parametrize(
    "keys", [{}, {"interactive": {"spread": 0.7, "session_jobs": 1}, "batch": {"spread": 2.5}}]
)
def test_the_published_three_weeks_are_expected_exactly(keys: dict[str, Any]) -> None:
    asked = Keys.of(workload("t3d", **keys))
    site = Site.of(asked)
    first = (date(1996, 7, 23) - site.zero).days * 24
    these = slice(first, first + 3 * 168)

    def work(queues: Any, scale: float, spread: float) -> float:
        return sum(
            queue.share
            * np.average(queue.sizes.values, weights=np.diff(queue.sizes.below, prepend=0))
            * runtimes.mean(queue.limit, np.log(queue.limit) + scale, spread)
            for queue in queues
        )

    sessions, batch = site.sessions[these].sum() * asked.interactive.session_jobs, site.batch[these].sum()
    found = [
        sessions,
        sessions * work(asked.interactive.queues, site.interactive_scale, asked.interactive.spread),
        batch,
        batch * work(asked.batch.queues, site.batch_scale, asked.batch.spread),
    ]
    np.testing.assert_allclose(found, PUBLISHED, rtol=1e-9)


def test_no_job_exceeds_the_limits_of_its_queue() -> None:
    asked, jobs = workload("t3d"), fifteen_months().jobs
    queues = asked["batch"]["queues"]
    assert {name: (queue["sizes"][-1][0], queue["hours"]) for name, queue in queues.items()} == LIMITS
    batch = is_batch(jobs)
    assert jobs.size[~batch].max() == 64
    assert (jobs.requested[~batch] == 2 * HOUR).all()
    assert (jobs.runtime <= jobs.requested).all()
    assert (jobs.runtime >= 1).all()
    shares = {(size, hours): 0.0 for _, hours in LIMITS.values() for size in jobs.size[batch]}
    total = sum(queue["share"] for queue in queues.values())
    for queue in queues.values():
        weight = sum(weight for _, weight in queue["sizes"])
        for size, part in queue["sizes"]:
            shares[size, queue["hours"]] += queue["share"] / total * part / weight
    cells = {cell: share for cell, share in shares.items() if share > 0}
    found = [
        int(((jobs.size == size) & (jobs.requested == hours * HOUR) & batch).sum()) for size, hours in cells
    ]
    assert sum(found) == batch.sum()
    assert chisquare(found, np.array(list(cells.values())) * batch.sum()).pvalue > 1e-4


@pytest.mark.parametrize("name", ["t3d", "t3d_benchmark"])
def test_users_wait_for_answers(name: str) -> None:
    jobs = opened(name).jobs
    waits = np.flatnonzero(jobs.after >= 0)
    before = jobs.after[waits]
    assert (before < waits).all()
    assert np.unique(before).size == before.size
    assert not is_batch(jobs)[waits].any()
    ended = jobs.submit[before] + jobs.runtime[before]
    np.testing.assert_allclose(jobs.submit[waits], ended + jobs.think[waits], rtol=0, atol=1e-7)
    assert (jobs.user[waits] == jobs.user[before]).all()
    assert jobs.think[waits].mean() == pytest.approx(300, rel=0.05)
    same = (jobs.size[waits] == jobs.size[before]) & (jobs.job_class[waits] == jobs.job_class[before])
    assert same.all() == (name == "t3d")


@pytest.mark.parametrize("name", ["t3d", "t3d_three_weeks", "t3d_benchmark"])
def test_time_begins_on_a_monday_and_the_period_is_that_of_the_calendar(name: str) -> None:
    asked, trace = workload(name), opened(name)
    site = Site.of(Keys.of(asked))
    zero = datetime.combine(site.zero, datetime.min.time())
    first = datetime.fromisoformat(asked["first_day"])
    last = datetime(1997, 1, 1) if asked["weeks"] is None else first + timedelta(weeks=asked["weeks"])
    assert zero.weekday() == 0
    assert timedelta(days=asked["warmup_days"]) <= first - zero < timedelta(days=asked["warmup_days"] + 7)
    assert trace.until == (last - zero).total_seconds()
    since = (first - zero).total_seconds()
    jobs = trace.jobs
    assert (np.diff(jobs.submit) >= 0).all()
    assert jobs.submit[-1] < trace.until
    assert jobs.submit[trace.measured][0] >= since
    assert trace.measured.start == (jobs.submit < since).sum() > 0


@pytest.mark.parametrize("load", [0.3, 1.2])
def test_a_load_is_that_in_the_mean(load: float) -> None:
    n = 60
    found = []
    for seed in range(n):
        trace = opened(seed=seed, load=load)
        jobs = trace.jobs.part(trace.measured)
        found.append(float(jobs.size @ jobs.runtime) / (256 * 21 * DAY))
    assert np.mean(found) == pytest.approx(load, abs=4 * np.std(found) / n**0.5)
    assert f"load {load:g} is reached on average" in trace.notes[1]


def test_closed_users_go_on_without_end() -> None:
    trace = opened("t3d_benchmark", batch={"demand": 0})
    jobs = trace.jobs
    assert (jobs.after < 0).sum() == 8
    for user in range(1, 9):
        (own,) = np.nonzero(jobs.user == user)
        np.testing.assert_array_equal(jobs.after[own], [-1, *own[:-1]])
        assert jobs.submit[own[0]] == 0
        assert jobs.submit[own[-1]] + jobs.runtime[own[-1]] > trace.until - 2 * HOUR
    with pytest.raises(ValueError, match=r"8 users who wait .* grid\.load=\[null\]"):
        opened("t3d_benchmark", load=0.8)
