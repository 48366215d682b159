"""Batches that are weeks of submission: against a plain recount, and what becomes of short logs."""

from dataclasses import replace

import numpy as np
import pytest
from family_cases import LOG, composed, jobs_of, refused

from models.backfill import FAMILY
from models.gang import FAMILY as GANG
from models.jobs.calendar import DAY, WEEK
from models.partitioning import FAMILY as PARTITIONING
from models.point import Batches, Point

EASY = composed("policy", "easy")
POOL = {"processors": 16}
WEEKS = Batches(None, 0, (100,), weeks=True)


def log(days: float, n: int = 600, seed: int = 0) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    submit = np.sort(rng.uniform(0, days * DAY, n))
    submit = submit[(submit < 20 * DAY) | (submit > 36 * DAY)]  # two weeks without a job
    submit = (submit - submit[0]) * days * DAY / (submit[-1] - submit[0])
    n = len(submit)
    runtime = rng.exponential(days * DAY * 8 / n, n) + 1
    jobs = jobs_of(submit, runtime, rng.integers(1, 17, n), requested=runtime * 2)
    return {"name": "mine", "model": "arrays", "jobs": jobs}


@pytest.mark.parametrize("checkpoints", [(100,), (5,)])
def test_a_batch_has_the_jobs_of_its_week(checkpoints: tuple[int, ...]) -> None:
    point = Point(EASY, log(100.5), POOL, None, replace(WEEKS, checkpoints=checkpoints))
    made, found = FAMILY.schedule(point), FAMILY.simulate(point).metrics
    several = 1 if checkpoints == (100,) else 3  # fifteen weeks in five parts
    length = several * WEEK
    n_batches = 15 // several
    assert len(found["wait"]) == n_batches
    for batch in range(n_batches):
        those = [k for k, at in enumerate(made.jobs.submit) if batch * length <= at < (batch + 1) * length]
        assert found["jobs"][batch] == len(those)
        expected = np.mean(made.wait[those]) if those else np.nan
        assert found["wait"][batch] == pytest.approx(expected, nan_ok=True)
    assert found["period"][:-1] == pytest.approx(length)
    assert found["period"].sum() == pytest.approx(made.end.max())
    work = float(made.jobs.size @ made.jobs.runtime)
    assert found["utilization"] @ found["period"] * 16 == pytest.approx(work)
    if several == 1:
        assert (found["jobs"] == 0).sum() >= 1, "a week without a job is one"


def test_short_logs_are_cut_into_days() -> None:
    found = FAMILY.simulate(Point(EASY, log(30.5), POOL, None, WEEKS)).metrics
    assert len(found["period"]) == 31
    assert found["period"][:-1] == pytest.approx(DAY)


def test_families_that_batch_jobs_as_they_end_refuse_weeks() -> None:
    policies = (GANG, "buddy"), (PARTITIONING, "equi")
    for family, policy in ((family, composed("policy", name)) for family, name in policies):
        with refused(r"batch_size=week: .* add batch_size=null"):
            family.check(Point(policy, log(100.5), POOL, None, WEEKS))


SYN1K = {"name": "log", "model": "swf", "path": str(LOG)}


def of_log(n_batches: int, size: int | None = None, warmup: int = 0) -> dict[str, np.ndarray]:
    """Return the metrics of a log of 1,000 jobs."""
    batches = Batches(size, warmup, (n_batches,))
    return FAMILY.simulate(Point(EASY, SYN1K, {"processors": None}, None, batches)).metrics


@pytest.mark.parametrize(("n_batches", "warmup"), [(1, 0), (7, 0), (19, 1)])
def test_every_job_of_a_log_is_in_a_batch(n_batches: int, warmup: int) -> None:
    jobs = of_log(n_batches, warmup=warmup)["jobs"]
    size = -(-1000 // (n_batches + warmup))
    assert len(jobs) == n_batches
    assert jobs.sum() == 1000 - warmup * size
    assert set(jobs[:-1]) <= {size}
    assert of_log(7, size=300)["jobs"].tolist() == [300, 300, 300]
