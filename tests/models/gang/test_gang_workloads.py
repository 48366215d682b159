"""Every rigid workload under every packing scheme, and what a workload that ends is divided into."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gang_cases import POLICIES

from models import workloads
from models.gang import FAMILY
from models.gang.policies import Rules
from models.gang.simulation import Simulation
from models.jobs.jobs import Jobs
from models.jobs.machine import pool
from models.jobs.measures import Measures
from models.jobs.measuring import Measuring
from models.jobs.trace import Trace
from models.packing.driver import Measured
from models.packing.scheme import find
from models.point import Batches, Point
from sweep.config import compose, locate
from sweep.plan import plan

LOG = Path(__file__).parents[2] / "data" / "backfill" / "syn1k.swf.gz"


def points(*overrides: str) -> list[Point]:
    """Return the points of a grid of all eight schemes, checked as a run would."""
    common = [
        "+experiment=packing", "grid.alternation=[exclusive]", "grid.unification=[true]", "exclude=[]",
        "replications=1",
    ]  # fmt: skip
    made = plan.expand(compose.load([*common, *overrides], locate.conf_folder()))
    made.check()
    return [made.task(number).point for number in range(len(made.ids))]


def test_jobs_of_a_log_are_never_too_many_at_once() -> None:
    """The table grows with them, whatever `job_limit` is."""
    n_jobs = 1300
    columns = {
        "submit": np.arange(n_jobs) * 1e-3,
        "runtime": np.ones(n_jobs),
        "processors": np.full(n_jobs, 60),
    }
    workload = {
        "name": "arrays",
        "model": "arrays",
        "jobs": {key: list(each) for key, each in columns.items()},
    }
    policy = POLICIES["first_fit"] | {"alternation": "exclusive", "job_limit": 20}
    point = Point(policy, workload, {"processors": 128}, None, Batches(100, 0, (13,)))
    outcome = FAMILY.simulate(point)
    assert outcome.jobs == n_jobs
    assert outcome.backlog is None
    # Two fit at a time: the work takes 650 s, and all share it to the end.
    assert FAMILY.schedule(point).end.max() == pytest.approx(650, rel=0.01)


def test_a_month_of_the_origin_2000_under_all_schemes() -> None:
    """On a machine that is one pool; the days before the month fill it and are not measured."""
    found = points(
        "grid.workload=[o2k_1999_10]", "grid.load=[null]", "machine.processors=1024",
        "batches=1", "batch_size=1000000000", "warmup=0",
    )  # fmt: skip
    for point in found:
        opened = workloads.open_workload(point)
        assert isinstance(opened, Trace)
        metrics = assert_sensible(point, n_batches=1)
        assert metrics["jobs"][0] == opened.n_measured < len(opened.jobs)
        # Over the month, not until the last of its jobs has ended.
        made = FAMILY.schedule(point)
        runs, first = made.runs, opened.jobs.submit[opened.measured.start]
        assert opened.until is not None
        inside = np.clip(np.minimum(runs.end, opened.until) - np.maximum(runs.begin, first), 0, None)
        utilization = (inside @ runs.processors) / (1024 * (opened.until - first))
        assert metrics["utilization"][0] == pytest.approx(utilization, rel=1e-9)


def assert_sensible(point: Point, n_batches: int) -> dict[str, np.ndarray]:
    metrics = FAMILY.simulate(point).metrics
    assert set(metrics) == {metric.name for metric in FAMILY.measured(point.measures)}
    for name, values in metrics.items():
        assert values.shape == (n_batches,), name
        assert np.isfinite(values).all(), name
    assert (metrics["slowdown"] >= 1 - 1e-9).all()
    assert (metrics["slowdown_p95"] <= metrics["slowdown_max"]).all()
    assert ((metrics["utilization"] > 0) & (metrics["utilization"] <= 1 + 1e-9)).all()
    assert (metrics["slots_per_job"] >= 1 - 1e-9).all()
    assert (metrics["wait"] == 0).all()
    return metrics


def of_log(batches: Batches) -> dict[str, np.ndarray]:
    workload = {"name": "log", "model": "swf", "path": str(LOG)}
    policy = POLICIES["best_fit"] | {"job_limit": 50}
    return FAMILY.simulate(Point(policy, workload, {"name": "log"}, None, batches)).metrics


@pytest.mark.parametrize(("n_batches", "warmup"), [(1, 0), (7, 0), (20, 0), (19, 1)])
@pytest.mark.parametrize("size", [None, 10**9])
def test_every_job_of_a_log_is_in_a_batch(size: int | None, n_batches: int, warmup: int) -> None:
    """1,000 jobs in as many batches as were asked for; the last may be short, as under backfilling."""
    jobs = of_log(Batches(size, warmup, (n_batches,)))["jobs"]
    full = -(-1000 // (n_batches + warmup))
    assert len(jobs) == n_batches
    assert jobs.sum() == 1000 - warmup * full
    assert set(jobs[:-1]) <= {full}
    assert 0 < jobs[-1] <= full


def test_batches_of_a_log_add_up_to_the_whole() -> None:
    whole, parts = of_log(Batches(None, 0, (1,))), of_log(Batches(None, 0, (7,)))
    np.testing.assert_allclose(np.average(parts["slowdown"], weights=parts["jobs"]), whole["slowdown"][0])
    # At the end of a batch virtual time is set back, which rounds elsewhere.
    assert parts["response_time_max"].max() == pytest.approx(whole["response_time_max"][0], rel=1e-12)


def test_a_log_of_several_batches_has_full_ones_only() -> None:
    assert of_log(Batches(300, 0, (7,)))["jobs"].tolist() == [300, 300, 300]
    assert of_log(Batches(300, 1, (1, 2, 7)))["jobs"].tolist() == [300, 300]
    assert of_log(Batches(300, 3, (7,)))["jobs"].tolist() == []


def test_looks_at_a_log_end_where_it_is_precise_enough() -> None:
    asked = []

    def enough(metrics: dict[str, np.ndarray]) -> bool:
        asked.append(len(metrics["slowdown"]))
        return len(asked) == 2

    metrics = of_log(Batches(100, 1, (2, 4, 8), enough))
    assert asked == [2, 4]
    assert len(metrics["slowdown"]) == 4


def test_the_first_look_at_a_stream_changes_nothing() -> None:
    (point,) = points("policy=buddy", "grid.workload=[lublin2003]", "grid.load=[0.6]", "batch_size=150")
    at_once = FAMILY.simulate(replace(point, batches=Batches(150, 1, (8,)))).metrics
    in_steps = FAMILY.simulate(replace(point, batches=Batches(150, 1, (1, 3, 8), lambda m: False))).metrics
    for name, values in at_once.items():
        np.testing.assert_array_equal(in_steps[name], values)


def test_a_job_that_is_submitted_again_counts_as_often() -> None:
    """A trace whose users wait for one run before they submit the next."""
    jobs = Jobs(
        np.array([0.0, 1.0]), np.array([2.0, 3.0]), np.full(2, np.nan), np.array([4, 4]),
        np.zeros(2, np.int64), runs=np.array([3, 1]), key=np.zeros(2, np.int64),
    )  # fmt: skip
    trace = Trace("two users", jobs, pool(8))
    assert trace.n_measured == 4
    batches, available = trace.divided(Batches(None, 0, (1,)))
    measuring = Measuring(Measures(), 4)
    measured = Measured(4, 1, range(2), trace.n_measured)
    simulation = Simulation(Rules(find("first_fit")), 8, iter([jobs]), measured, measuring=measuring)
    simulation.run(1)
    assert (batches.size, available) == (4, 1)
    assert simulation.now == 6.0
    assert measuring.metrics()["jobs"].tolist() == [4]
    assert measuring.metrics()["response_time"].tolist() == [(2 + 2 + 2 + 3) / 4]
