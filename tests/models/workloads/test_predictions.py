"""Predictions from a user's last two jobs, against a plain recount, and where they are refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from family_cases import composed, opened_on

from models import workloads
from models.backfill import FAMILY as BACKFILL
from models.gang import FAMILY as GANG
from models.jobs import swf
from models.jobs.trace import Trace
from models.point import Point

N_JOBS = 400
POOL = {"processors": 64}


def log_of(folder: Path, seed: int = 0) -> Path:
    """Return a log of four weeks with unknown waits and users, and jobs that outlive their request.

    Times are half hours, so that jobs of a user often end as the next one is submitted.
    """
    random = np.random.default_rng(seed)
    submit = np.sort(random.integers(0, 4 * 7 * 24 * 2, N_JOBS)) * 1800
    wait = random.choice([-1, 0, 60, 3600, 86_400], N_JOBS)
    runtime = random.integers(1, 8, N_JOBS) * 1800
    requested = np.where(random.random(N_JOBS) < 0.1, -1, random.integers(1, 300, N_JOBS) * 60)
    user = random.integers(-1, 12, N_JOBS)
    columns = {"submit": submit, "wait": wait, "runtime": runtime, "requested_time": requested, "user": user}
    path = folder / "log.swf"
    swf.write(path, columns | {"processors": np.full(N_JOBS, 2)})
    return path


def opened(path: Path, load: float | None = None, **keys: Any) -> Trace:
    workload = composed("workload", "swf", path=str(path), estimates="last_two", **keys)
    return opened_on(workload, POOL, load, 1)


@pytest.mark.parametrize("unlimited", ["longest", None])
def test_each_is_the_mean_of_the_last_two_that_ended_before(tmp_path: Path, unlimited: str | None) -> None:
    trace = opened(log_of(tmp_path), unlimited=unlimited)
    jobs, waited = trace.jobs, trace.waited
    end, user = jobs.submit + waited + jobs.runtime, jobs.user
    for job, now in enumerate(jobs.submit):
        before = (other for other in range(N_JOBS) if user[other] == user[job] >= 0 and end[other] <= now)
        ended = sorted((end[other], other) for other in before)
        expected = jobs.requested[job]
        if len(ended) >= 2:
            mean = sum(jobs.runtime[other] for _, other in ended[-2:]) / 2
            expected = mean if np.isnan(expected) else min(mean, expected)
        np.testing.assert_equal(jobs.predicted[job], expected)
    less = int((jobs.predicted < jobs.requested).sum())
    assert f"{less} of {len(jobs)} jobs are planned by less than the request" in trace.notes[-1]


def test_predictions_are_those_of_the_log_at_any_load_and_in_any_resample(tmp_path: Path) -> None:
    """A job keeps what would have been predicted for it when it was submitted in fact."""
    path = log_of(tmp_path)
    as_it_is = opened(path)
    np.testing.assert_array_equal(opened(path, load=0.9).jobs.predicted, as_it_is.jobs.predicted)
    again = opened(path, resample="users", with_replacement=False)
    columns = ((jobs.runtime, jobs.requested, jobs.predicted) for jobs in (as_it_is.jobs, again.jobs))
    of_log, drawn = (sorted(zip(*each, strict=True)) for each in columns)
    assert drawn == of_log


def test_who_cannot_predict_or_plan_by_predictions_refuses(tmp_path: Path) -> None:
    workload = composed("workload", "swf", path=str(log_of(tmp_path)), estimates="last_two")
    for family, name in ((BACKFILL, "conservative"), (BACKFILL, "easy_immediate"), (GANG, "buddy")):
        with pytest.raises(ValueError, match=f"policy .*{name} plans by no prediction"):
            family.check(Point(composed("policy", name), workload, POOL))
    BACKFILL.check(Point(composed("policy", "easy"), workload, POOL))
    stream = composed("workload", "lublin2003", estimates="last_two")
    arrays = composed("workload", "_rigid", estimates="last_two", model="arrays", name="mine")
    arrays |= {"jobs": {"submit": [0], "runtime": [1.0], "processors": [1]}}
    for source in (stream, arrays):
        with pytest.raises(ValueError, match="this has no users or no waits; take a log that has both"):
            workloads.open_workload(Point({}, source, POOL, 0.5 if source is stream else None))
