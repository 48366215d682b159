"""Where it can be counted which test of a job succeeds, each job starts as if Slurm's tests were all made."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from family_cases import jobs_of

from models.jobs.requests import Requests
from models.slurm import building
from models.slurm.asked import asked
from models.slurm.configuration.reading import of_lines
from models.slurm.engine import Result, run
from models.slurm.kernel.tables import BY_CPUS, BY_NODES, UNCOUNTED

N_JOBS, N_NODES, CPUS = 900, 160, 16


def scheduled(plans: int, lines: list[str], kind: str) -> Result:
    """Run jobs of one CPU up to many nodes; of kind `one` those that fit on a node may have only one."""
    rng = np.random.default_rng(1)
    nodes = np.where(rng.random(N_JOBS) < 0.3, rng.choice([2, 3, 8, 30], N_JOBS), 1)
    tasks = np.where(nodes > 1, nodes * rng.choice([4, CPUS], N_JOBS), rng.choice([1, 1, 2, 5, CPUS], N_JOBS))
    limit = 60 * rng.choice([2, 5, 30, 180], N_JOBS)
    runtime = np.maximum(1, limit * rng.choice([0.02, 0.5, 1.0], N_JOBS)).astype(int)
    submit = np.sort(rng.integers(0, 5400, N_JOBS))
    most_nodes = np.where((nodes == 1) & (kind == "one"), 1, 0)
    request = Requests.of(tasks, np.zeros(N_JOBS, np.int64), nodes=nodes, most_nodes=most_nodes)
    jobs = replace(jobs_of(submit, runtime, tasks, requested=limit), request=request)
    shared = "EXCLUSIVE" if kind == "exclusive" else "NO"
    of_all = f"PartitionName=all Nodes=ALL OverSubscribe={shared}"
    configuration = of_lines("counting", [f"NodeName=n[1-{N_NODES}] CPUs={CPUS}", of_all, *lines])
    return run(asked(jobs, configuration), configuration, plans=plans)


@pytest.mark.parametrize("plans", [0, pytest.param(200_000, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("version", ["22.05", "24.11", "26.05"])
@pytest.mark.parametrize("kind", ["any", "one", "exclusive"])
def test_counting_changes_no_start(
    monkeypatch: pytest.MonkeyPatch, kind: str, version: str, plans: int
) -> None:
    lines = [
        f"SLURM_VERSION={version}",
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_CPU",
        "SchedulerParameters=bf_interval=30,bf_resolution=60,bf_max_job_test=900",
    ]
    counted, kinds = building._counted, set[int]()

    def noted(*given: Any) -> np.ndarray:
        found = counted(*given)
        kinds.update(np.unique(found).tolist())
        return found

    monkeypatch.setattr(building, "_counted", noted)
    found = scheduled(plans, lines, kind)
    assert kinds == {"any": {BY_CPUS, BY_NODES}, "one": {BY_CPUS, BY_NODES}, "exclusive": {BY_NODES}}[kind]
    monkeypatch.setattr(building, "_counted", lambda *given: np.full(len(counted(*given)), UNCOUNTED))
    tested = scheduled(plans, lines, kind)
    np.testing.assert_array_equal(found.start, tested.start)
    np.testing.assert_array_equal(found.planned, tested.planned)
    for one, other in zip(found.plans, tested.plans, strict=True):
        np.testing.assert_array_equal(one, other)
    assert bool(plans) == bool(len(found.plans[0]))
    assert (np.diff(found.start) < 0).sum() > 50  # many overtake others
