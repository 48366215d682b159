"""The T3D's engine against a plain twin written from the rules, and against the laws over whole weeks."""

from __future__ import annotations

from typing import Any

import pytest
import t3d_cases
import t3d_checker

from models.point import Point
from models.production_gang import model

EXHAUSTIVE = pytest.mark.exhaustive
SEEDS = [100, 101, *(pytest.param(seed, marks=EXHAUSTIVE) for seed in range(102, 140))]


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


@pytest.mark.exhaustive
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
