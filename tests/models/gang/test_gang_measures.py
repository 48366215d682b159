"""The common measures under gang scheduling: read off the jobs that end, by groups too, in bounded memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gang_cases import POLICIES, WORKLOAD, Case, Observed, cases, schemes
from gang_twin import Session
from hypothesis import given, settings

from models.gang import FAMILY
from models.gang.model import prepare
from models.gang.simulation import ENDED_AT_ONCE
from models.jobs.ended import Ended
from models.jobs.jobs import Jobs
from models.jobs.measures import Measures
from models.jobs.measuring import Measuring
from models.point import Batches, Point

MACHINE = {"name": "pe32", "processors": 32}
BOUND = 0.5
"""That of `gang_cases.Observed`."""

SIZES = {"name": "size", "by": "processors", "edges": [2, 5]}
REQUESTS = {"name": "request", "by": "requested", "edges": [1.0, 4.0]}


def expected(responses: np.ndarray, runtimes: np.ndarray) -> dict[str, float]:
    """Return the measures of one batch, from their definitions."""
    values = {
        "wait": np.zeros(len(responses)),
        "response_time": responses,
        "slowdown": responses / runtimes,
        "bounded_slowdown": np.maximum(responses / np.maximum(runtimes, BOUND), 1.0),
    }
    found = {}
    for name, each in values.items():
        found |= {name: each.mean(), f"{name}_p95": np.percentile(each, 95), f"{name}_max": each.max()}
    return found


@pytest.mark.parametrize("name", schemes("left_right_slots"))
def test_measures_of_jobs_follow_from_response_times(name: str) -> None:
    @settings(derandomize=True, deadline=None, max_examples=30)
    @given(cases(name))
    def agree(case: Case) -> None:
        kernel, twin = case.finished(), case.twin()
        twin.run()
        found = kernel.metrics()
        runtimes = runtimes_by_number(kernel)
        for batch, numbers in enumerate(twin.batch_jobs):
            by_hand = expected(kernel.responses[numbers], runtimes[numbers])
            assert {key: found[key][batch] for key in by_hand} == pytest.approx(by_hand, rel=1e-12)
            assert found["jobs"][batch] == len(numbers)

    agree()


def runtimes_by_number(kernel: Observed) -> np.ndarray:
    found = np.full(kernel.n_submitted, np.nan)
    for ended in kernel.handed_out.all:
        found[ended.number] = ended.runtime
    return found


def test_the_mean_slowdown_is_added_up_in_order_of_termination() -> None:
    """To the last bit: so it was before the jobs were handed out."""
    point = Point(POLICIES["best_fit"], WORKLOAD, MACHINE, 0.8, Batches(500, 0, (4,)), (1, 2))
    slowdown = FAMILY.simulate(point).metrics["slowdown"]
    made = FAMILY.schedule(point)
    order = np.argsort(made.end, kind="stable")[:2000]
    each = ((made.end - made.jobs.submit) / made.jobs.runtime)[order]
    by_hand = []
    for batch in each.reshape(4, 500):
        total = 0.0
        for value in batch:
            total += value
        by_hand.append(total / 500)
    assert slowdown.tolist() == by_hand


def measured(groups: dict[str, Any], **options: Any) -> dict[str, np.ndarray]:
    measures = {"bound": 1.0, "groups": {file["name"]: {**file} for file in groups.values()}}
    for file in measures["groups"].values():
        file.pop("name")
    workload = {**WORKLOAD, "rerun_runtime": "redrawn", "estimates": "exact"}
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


def test_a_workloads_columns_are_looked_up_for_the_very_session() -> None:
    """Requests are those of the session, whose runs may end long after later sessions have come and gone."""
    measuring = Measuring(Measures.of(measures_of(REQUESTS)), 2)
    seen: list[Jobs] = []

    def chunk(first: int, n: int) -> Jobs:
        numbers = np.arange(first, first + n)
        return Jobs(numbers * 1.0, np.ones(n), numbers * 1.0, np.ones(n, np.int64), np.zeros(n, np.int64))

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


def test_chunks_are_kept_only_as_long_as_their_jobs_run() -> None:
    sessions = tuple(Session(1.0, 1, 0.5, 1, key) for key in range(2000))
    case = Case("first_fit", 8, sessions, batch_size=50)
    kernel = case.kernel(chunks=range(100, 2000, 100))
    kernel.handed_out.__dict__["_measures"] = Measures.of(measures_of(SIZES))
    kept = 0
    for batch in range(1, 40):
        kernel.run(batch)
        kept = max(kept, len(kernel.handed_out._chunks))
    assert kept <= 2


def test_memory_does_not_grow_with_the_number_of_batches() -> None:
    """The engine's buffer holds whole batches, no more than it takes to call it rarely."""
    rows = []
    for n_batches in (10, 10_000):
        point = Point(POLICIES["first_fit"], WORKLOAD, MACHINE, 0.5, Batches(100, 0, (n_batches,)), (1,))
        rows.append(len(prepare(point).system.ended.end))
    assert rows[0] == rows[1]
    assert rows[0] < ENDED_AT_ONCE + 100
