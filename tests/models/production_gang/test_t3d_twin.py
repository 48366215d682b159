"""The T3D's engine against a plain twin written from the rules, and against the laws over whole weeks."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
import t3d_cases
import t3d_checker

from models.point import Point
from models.production_gang import model

SEEDS = range(100, 160)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_engine_does_what_the_twin_does(seed: int) -> None:
    """Machines from one node on, all places, classes, queues, limits, orders, nice values, feedback."""
    case = t3d_cases.of_random(seed, small=True)
    try:
        told = t3d_cases.story(t3d_cases.by_twin(case), case)
    except AssertionError as stuck:
        if "wait for ever" not in str(stuck):
            raise
        with pytest.raises(ValueError, match="wait for ever"):
            t3d_cases.by_engine(case)
        return
    found = t3d_cases.story_of_engine(t3d_cases.by_engine(case))
    for what, values in told.items():
        assert found[what] == values, what


def test_the_random_cases_have_all_there_is() -> None:
    cases = [t3d_cases.of_random(seed, small=True) for seed in SEEDS]
    runs = []
    for case in cases:
        with suppress(ValueError):  # jobs that wait for ever
            runs.append(t3d_cases.by_engine(case))
    assert len(runs) > 0.95 * len(cases)
    assert sum(int(run.preemptions.sum()) for run in runs) > 100
    assert sum(run.schedule.wait.max() > 0 for run in runs) > len(runs) / 2
    for key in ("order", "blocking", "preemptive", "unclassified"):
        assert len({case.policy[key] for case in cases}) > 1
    for key in ("places", "wire_neighbours", "torus", "node_processors", "barrier_wires"):
        assert len({case.machine[key] for case in cases}) > 1
    moved = 0
    for run in runs:
        stays = run.detail.residencies
        moved += sum(np.unique(stays.corner[stays.job == job]).size > 1 for job in np.unique(stays.job))
    assert moved > 10


def weeks(policy: str, machine: dict[str, Any] | None = None, **keys: Any) -> list[str]:
    workload = t3d_cases.file("workload", "t3d_three_weeks")
    rules, hardware = t3d_cases.policy(policy, **keys), t3d_cases.machine(**(machine or {}))
    run = model.run(Point(rules, workload, hardware, None, seed=(1, 2, 3)))
    assert len(run.schedule.jobs) > 5000
    assert (run.preemptions.sum() > 200) == bool(rules["preemptive"])
    stays = run.detail.residencies
    return t3d_checker.violations(stays, run.schedule.jobs, hardware, rules, run.detail.admitted, run.clock)


@pytest.mark.parametrize("policy", t3d_cases.POLICIES)
def test_the_laws_are_kept_over_weeks(policy: str) -> None:
    assert weeks(policy) == []


@pytest.mark.parametrize(
    ("machine", "keys"),
    [
        ({"places": "half", "barrier_wires": 2}, {}),
        ({"places": "any"}, {"order": "arrival", "blocking": "urgent"}),
        ({"wire_neighbours": "allowed"}, {"oversubscribe": None, "drain_after": 7200}),
        ({"torus": "8x8x4"}, {"swap_out": 0.5, "swap_in": 0.25}),
        ({}, {"aggregate_limit": 512, "nice": {"above": 2, "every": 3600, "half_life": 604_800}}),
    ],
)
def test_the_laws_are_kept_over_weeks_on_other_machines_by_other_rules(
    machine: dict[str, Any], keys: dict[str, Any]
) -> None:
    assert weeks("llnl_gang", machine, **keys) == []
