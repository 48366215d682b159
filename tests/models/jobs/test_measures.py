"""Means, percentiles and maxima of the jobs of each batch, against numpy sample by sample."""

import numpy as np
import pytest

from models.jobs.jobs import Jobs
from models.jobs.measures import Measures, of_jobs


@pytest.mark.parametrize("n", [0, 1, 6, 9001])
@pytest.mark.parametrize("in_order", [True, False])
def test_as_numpy_describes_each_batch(n: int, in_order: bool) -> None:
    random = np.random.default_rng(n + 1)
    batch = random.integers(0, 7, n)
    batch[batch == 3] = 2
    batch = np.sort(batch) if in_order else batch
    wait = random.exponential(size=n).round(1)
    whole = np.zeros(n, np.int64)
    jobs = Jobs(np.zeros(n), np.ones(n), np.ones(n), whole, whole)
    found = of_jobs(jobs, {"wait": wait, "response_time": 1 + wait}, batch, 7, Measures())
    assert found["jobs"].tolist() == [int((batch == c).sum()) for c in range(7)]
    for name, values in (("wait", wait), ("slowdown", 1 + wait)):
        for c in range(7):
            mean, p95, largest = (found[name + suffix][c] for suffix in ("", "_p95", "_max"))
            mine = values[batch == c]
            if not len(mine):
                assert np.isnan([mean, p95, largest]).all()
                continue
            # In their order, so that how jobs are cut changes no bit.
            assert mean == np.cumsum(mine)[-1] / len(mine)
            assert p95 == pytest.approx(np.percentile(mine, 95), rel=1e-12)
            assert largest == mine.max()


def test_the_bounded_slowdown_of_short_jobs_is_at_least_1() -> None:
    """Feitelson et al. 1997: max(response / max(runtime, bound), 1)."""
    runtime, wait = np.array([2.0, 2.0, 40.0]), np.array([3.0, 28.0, 40.0])
    whole = np.zeros(3, np.int64)
    jobs = Jobs(np.zeros(3), runtime, runtime, whole, whole)
    values = {"wait": wait, "response_time": wait + runtime}
    found = of_jobs(jobs, values, np.arange(3), 3, Measures(bound=10.0))
    assert found["bounded_slowdown"].tolist() == [1.0, 3.0, 2.0]
    assert found["slowdown"].tolist() == [2.5, 15.0, 2.0]
