"""A user's own jobs, as arrays."""

from typing import Any

import numpy as np
from family_cases import composed, opened_on

from models import workloads
from models.jobs.trace import Trace

COLUMNS: dict[str, Any] = {"submit": [5, 7, 7, 20], "runtime": [10.0, 3, 4, 1], "processors": [2, 8, 1, 4]}
POOL = {"processors": 8}
HOSTS = {"hosts": [{"processors": 8, "memory_gb": 1}, {"processors": 4, "memory_gb": 2}], "spans": False}


def opened(jobs: Any, machine: Any = POOL, load: float | None = None, **keys: Any) -> Trace:
    workload = {"name": "mine", "model": "arrays", "jobs": jobs} | keys
    return opened_on(workload, machine, load)


def test_columns_become_jobs() -> None:
    users = ["ann", "bob", "ann", "eve"]
    more = {"requested": [20, float("nan"), 4, 2], "memory": [20_480, 0, 2559.5, 4096], "user": users}
    trace = opened(COLUMNS | more, HOSTS)
    jobs = trace.jobs
    assert jobs.submit.tolist() == [0, 2, 2, 15]
    assert jobs.runtime.tolist() == [10, 3, 4, 1]
    assert jobs.size.tolist() == [2, 8, 1, 4]
    assert np.isnan(jobs.requested).tolist() == [False, True, False, False]
    assert jobs.memory.tolist() == [20 * 1024, 0, 2560, 4096]
    assert jobs.user.tolist() == [1, 2, 1, 3]
    workload = {"model": "arrays", "jobs": COLUMNS | more}
    assert workloads.fills(workload) == ("requested", "memory", "user")
    assert workloads.fills({"model": "arrays", "jobs": COLUMNS}) == ()
    assert not workloads.is_stochastic(workload)


def test_users_that_ask_for_less() -> None:
    asked = {"requested": [20, float("nan"), 4, 0.5]}
    wish = composed("workload", "_rigid", name="mine", estimates="fraction", estimates_fraction=0.25)
    trace = opened(COLUMNS | asked, **wish)
    np.testing.assert_array_equal(trace.jobs.requested, [12.5, np.nan, 4, 0.5])  # none less than it runs for
    assert "mine: 1 job requests 25% of the original excess over the runtime" in trace.notes[-1]
    workload = {"model": "arrays", "jobs": COLUMNS, **wish}
    assert workloads.fills(workload) == ()
    assert not workloads.is_stochastic(workload)
