"""A log that fills no batch, or whose batches have no size, is divided: every job counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.backfill import FAMILY
from models.family import Outcome
from models.point import Batches, Point

LOG = Path(__file__).parents[2] / "data" / "backfill" / "syn1k.swf.gz"
"""1,000 jobs."""

EASY = {"name": "easy", "family": "models.backfill", "discipline": "backfill"}


def run(n_batches: int, size: int | None = None, warmup: int = 0) -> Outcome:
    workload = {"name": "log", "model": "swf", "path": str(LOG)}
    batches = Batches(size, warmup, (n_batches,))
    return FAMILY.simulate(Point(EASY, workload, {"name": "log", "processors": None}, None, batches))


@pytest.mark.parametrize(("n_batches", "warmup"), [(1, 0), (7, 0), (20, 0), (19, 1)])
def test_every_job_is_in_a_batch(n_batches: int, warmup: int) -> None:
    jobs = run(n_batches, warmup=warmup).metrics["jobs"]
    size = -(-1000 // (n_batches + warmup))
    assert len(jobs) == n_batches
    assert jobs.sum() == 1000 - warmup * size
    assert set(jobs[:-1]) <= {size}
    assert 0 < jobs[-1] <= size


def test_batches_add_up_to_the_whole() -> None:
    whole, parts = run(1).metrics, run(7).metrics
    weights = parts["jobs"]
    np.testing.assert_allclose(np.average(parts["wait"], weights=weights), whole["wait"][0])
    assert parts["wait_max"].max() == whole["wait_max"][0]
    period = parts["period"]
    np.testing.assert_allclose(np.average(parts["utilization"], weights=period), whole["utilization"][0])


def test_a_log_of_several_batches_has_batches_of_that_size() -> None:
    assert run(7, size=300).metrics["jobs"].tolist() == [300, 300, 300]
