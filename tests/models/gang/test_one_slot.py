"""A multiprogramming level of 1 is space sharing: EASY with a backfilled queue, FCFS without.

Of all schemes but buddy, which needs whole groups of PEs to be free.
"""

from dataclasses import replace

import numpy as np
import pytest
from family_cases import composed
from gang_cases import EIGHT, POLICIES

from models import backfill, gang
from models.point import Batches, Point

SCHEMES = [name for name in EIGHT if name != "buddy"]
ONE = {"slots_limit": 1, "alternation": "exclusive"}


@pytest.mark.parametrize("ties", ["instant", "event"])
@pytest.mark.parametrize(("queue", "other"), [("backfill", "easy"), ("fcfs", "fcfs")])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_projects_own_backfilling(scheme: str, queue: str, other: str, ties: str) -> None:
    """Requests above and below runtimes, which end a job, and times that are not whole numbers.

    Many jobs are submitted at one instant, so that ties matter.
    """
    rng = np.random.default_rng(7)
    n_jobs = 1500
    runtime = np.ceil(rng.lognormal(5, 1.5, n_jobs)) / 4
    jobs = {
        "submit": np.floor(np.cumsum(rng.exponential(60, n_jobs)) / 100) * 100,
        "runtime": runtime,
        "processors": np.minimum(2 ** rng.integers(0, 7, n_jobs) + rng.integers(0, 5, n_jobs), 64),
        "requested": np.ceil(runtime * rng.uniform(0.7, 4, n_jobs)) / 4,
    }
    workload = {"name": "mine", "model": "arrays", "jobs": jobs}
    space = composed("policy", other, ties=ties)
    gangs = POLICIES[scheme] | ONE | {"queue": queue, "ties": ties, "kill": True}
    point = Point(space, workload, {"name": "pe64", "processors": 64}, None, Batches(None, 0, (1,)))
    expected = backfill.FAMILY.schedule(point)
    made = gang.FAMILY.schedule(replace(point, policy=gangs))
    assert (expected.wait > 0).mean() > 0.3
    np.testing.assert_array_equal(made.start, expected.start)
    np.testing.assert_array_equal(made.end, expected.end)
    np.testing.assert_array_equal(made.jobs.runtime, expected.jobs.runtime)
