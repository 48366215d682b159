"""A log that is shorter than one batch is divided: every job counts, in so many batches as were asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.backfill.model import simulate
from models.family import Outcome
from models.point import Batches

LOG = Path(__file__).parents[1] / "data" / "backfill" / "syn1k.swf.gz"
"""1,000 jobs."""

EASY = {"name": "easy", "family": "models.backfill", "discipline": "backfill"}


def run(n_batches: int, size: int = 10**9, warmup: int = 0) -> Outcome:
    workload = {"name": "log", "model": "swf", "path": str(LOG)}
    batches = Batches(size, warmup, (n_batches,))
    return simulate(EASY, workload, {"name": "log", "n_pes": None}, None, batches, ())


@pytest.mark.parametrize(("n_batches", "warmup"), [(1, 0), (7, 0), (20, 0), (19, 1)])
def test_every_job_is_in_a_batch(n_batches: int, warmup: int) -> None:
    jobs = run(n_batches, warmup=warmup).metrics["jobs"][:, 0]
    size = -(-1000 // (n_batches + warmup))
    assert len(jobs) == n_batches
    assert jobs.sum() == 1000 - warmup * size
    assert set(jobs[:-1]) <= {size}
    assert 0 < jobs[-1] <= size


def test_batches_add_up_to_the_whole() -> None:
    whole, parts = run(1).metrics, run(7).metrics
    weights = parts["jobs"][:, 0]
    np.testing.assert_allclose(np.average(parts["wait"][:, 0], weights=weights), whole["wait"][0, 0])
    assert parts["wait_max"][:, 0].max() == whole["wait_max"][0, 0]
    period = parts["period"]
    np.testing.assert_allclose(np.average(parts["utilization"], weights=period), whole["utilization"][0])


def test_a_log_of_several_batches_has_batches_of_that_size() -> None:
    assert run(7, size=300).metrics["jobs"][:, 0].tolist() == [300, 300, 300]
