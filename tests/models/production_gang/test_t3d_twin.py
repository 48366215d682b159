"""The T3D's engine against a plain twin written from the rules, and rules that hold over whole weeks."""

from functools import cache
from typing import Any

import numpy as np
import pytest
import t3d_cases
import t3d_twin

from models.point import Point
from models.production_gang import model

EXHAUSTIVE = pytest.mark.exhaustive
SEEDS = [306, 333, *range(100, 140), *(pytest.param(seed, marks=EXHAUSTIVE) for seed in range(140, 180))]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_engine_does_what_the_twin_does(seed: int) -> None:
    """Machines from one node on, places, classes, queues, limits, orders, nice values, feedback, commands."""
    case = t3d_cases.of_random(seed)
    compare(case)
    compare(t3d_cases.with_commands(case, seed))


def compare(case: t3d_cases.Case) -> None:
    """Compare the engine with the twin, job by job."""
    try:
        expected = t3d_cases.story(t3d_cases.by_twin(case), case)
    except AssertionError as stuck:
        if "wait for ever" not in str(stuck):
            raise
        with pytest.raises(ValueError, match="wait for ever"):
            t3d_cases.by_engine(case)
        return
    found = t3d_cases.story_of_engine(t3d_cases.by_engine(case))
    for what, values in expected.items():
        assert found[what] == values, what


@pytest.mark.parametrize(
    ("policy", "machine", "keys"),
    [
        *((policy, {}, {}) for policy in t3d_cases.POLICIES),
        pytest.param("llnl_gang", {"places": "half", "barrier_wires": 2}, {}, marks=EXHAUSTIVE),
        pytest.param("llnl_gang", {"torus": "8x8x4"}, {"swap_out": 0.5, "swap_in": 0.25}, marks=EXHAUSTIVE),
    ],
)
def test_weeks_keep_nodes_wires_work_and_switches(
    policy: str, machine: dict[str, Any], keys: dict[str, Any]
) -> None:
    rules, hardware = t3d_cases.policy(policy, **keys), t3d_cases.machine(**machine)
    workload = t3d_cases.file("workload", "t3d_three_weeks")
    run = model.schedule(Point(rules, workload, hardware, None, seed=(1, 2, 3)))
    stays, jobs, box = run.detail.residencies, run.jobs, t3d_twin.Box(hardware)
    assert len(jobs) > 5000
    assert (run.preemptions.sum() > 200) == bool(rules["preemptive"])
    assert np.bincount(stays.job, stays.stops - stays.begins, len(jobs)) == pytest.approx(jobs.runtime)
    near = cache(box.neighbours)
    last: dict[t3d_twin.Node, int] = {}  # residency that had a node last
    had: set[int] = set()
    for stay in range(len(stays.job)):
        job, now, size = int(stays.job[stay]), stays.assigned[stay], int(jobs.size[stays.job[stay]])
        n_nodes = size // box.per_node
        nodes = box.block(box.nodes[stays.corner[stay]], box.shapes[n_nodes])
        before = [last[node] for node in nodes if node in last]
        assert (stays.stops[before] <= now).all()
        assert (stays.gone[before] <= stays.ready[stay]).all()
        beside = [last[n] for node in nodes for n in near(node) if n not in nodes and n in last]
        assert not ((stays.stops[beside] > now) & (stays.wire[beside] == stays.wire[stay])).any()
        read = size * rules["swap_in"] if job in had else 0.0
        assert stays.begins[stay] - stays.ready[stay] == pytest.approx(read, abs=1e-6)
        had.add(job)
        last |= dict.fromkeys(nodes, stay)
