"""The common measures under gang scheduling: read off the jobs that end, by groups too, in bounded memory."""

from dataclasses import replace
from typing import Any

import numpy as np
from family_cases import composed, jobs_of
from gang_cases import POLICIES, WORKLOAD

from models.gang import FAMILY
from models.gang.policies import Rules
from models.gang.simulation import Simulation
from models.jobs.ended import Ended
from models.jobs.jobs import Jobs
from models.jobs.machine import pool
from models.jobs.measures import Measures
from models.jobs.measuring import Measuring
from models.jobs.trace import Trace
from models.packing.driver import Measured
from models.point import Batches, Point

MACHINE = {"name": "pe32", "processors": 32}

SIZES = {"name": "size", "by": "processors", "edges": [2, 5]}
REQUESTS = {"name": "request", "by": "requested", "edges": [1.0, 4.0]}


def measured(groups: dict[str, Any], **options: Any) -> dict[str, np.ndarray]:
    measures = {"bound": 1.0, "groups": {file["name"]: {**file} for file in groups.values()}}
    for file in measures["groups"].values():
        file.pop("name")
    workload = WORKLOAD | {"estimates": "exact", "rerun_runtime": "redrawn"}
    point = Point(POLICIES["buddy"], workload, MACHINE, 0.7, Batches(200, 1, (5,)), (3,), measures)
    return FAMILY.simulate(replace(point, **options)).metrics


def test_groups_are_told_of_what_ended_and_change_nothing_else() -> None:
    plain, grouped = measured({}), measured({"a": SIZES, "b": REQUESTS})
    for name, values in plain.items():
        np.testing.assert_array_equal(grouped[name], values)
    for group in ("size", "request"):
        jobs = grouped[f"jobs_by_{group}"]
        assert jobs.shape == (5, 3)
        np.testing.assert_array_equal(jobs.sum(axis=1), plain["jobs"])
        total = np.nansum(jobs * grouped[f"slowdown_by_{group}"], axis=1)
        np.testing.assert_allclose(total / plain["jobs"], plain["slowdown"])
    assert set(grouped) == {metric.name for metric in FAMILY.measured(measures_of(SIZES, REQUESTS))}


def measures_of(*groups: dict[str, Any]) -> dict[str, Any]:
    return {"bound": 1.0, "groups": {g["name"]: {k: v for k, v in g.items() if k != "name"} for g in groups}}


def test_a_workloads_columns_are_looked_up_for_the_session_itself() -> None:
    """Requests belong to the session, whose runs may end long after later sessions have come and gone."""
    measuring = Measuring(Measures.of(measures_of(REQUESTS)), 2)
    seen: list[Jobs] = []

    def chunk(first: int, n: int) -> Jobs:
        numbers = np.arange(first, first + n)
        return jobs_of(numbers, 1, 1, requested=numbers)

    for first in (0, 3, 6):
        seen.append(chunk(first, 3))
        measuring.arrived(seen[-1])
    measuring.forget_before(4)
    session = np.array([8, 4, 7, 3])
    ones = np.ones(4)
    wait = np.array([1.0, 3.0, 4.0, 8.0])
    measuring.measure(Ended(session, session, 0 * ones, wait, ones, ones, np.ones(4, np.int64)), wait)
    # Requests of 8 and 4 s, then of 7 and 3 s; ranges below 1, 1 to 4, and from 4 on.
    assert measuring.metrics()["jobs_by_request"].tolist() == [[0, 0, 2], [0, 1, 1]]
    assert measuring.metrics()["wait"].tolist() == [2, 6]


def test_a_job_that_is_submitted_again_counts_as_often() -> None:
    """A trace whose users wait for one run before they submit the next."""
    jobs = jobs_of([0, 1], [2, 3], 4, runs=[3, 1], key=[0, 0])
    trace = Trace("two users", jobs, pool(8))
    assert trace.n_measured == 4
    batches, available = trace.divided(Batches(None, 0, (1,)))
    measuring = Measuring(Measures(), 4)
    measured = Measured(4, 1, range(2), trace.n_measured)
    simulation = Simulation(
        Rules.of(composed("policy", "first_fit")), 8, iter([jobs]), measured, measuring=measuring
    )
    simulation.run(1)
    assert (batches.size, available) == (4, 1)
    assert simulation.now == 6.0
    assert measuring.metrics()["jobs"].tolist() == [4]
    assert measuring.metrics()["response_time"].tolist() == [(2 + 2 + 2 + 3) / 4]
