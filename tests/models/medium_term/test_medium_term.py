"""The family of medium-term scheduling: requirements, what is measured, and what is refused."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import medium_term_twin as twin
import numpy as np
import pytest
from family_cases import refused

from models.medium_term import FAMILY, requirements
from models.medium_term.engine import make_schedule
from models.medium_term.schedule import Schedule
from models.point import Batches, Point

POLICIES: dict[str, dict[str, Any]] = {
    "buddy_schedule": {"schedule": "buddy_schedule", "groups": "smallest_first"},
    "buddy_schedule_reversed": {"schedule": "buddy_schedule", "groups": "largest_first"},
    "equi_epoch": {"schedule": "equi_epoch"},
    "greedy_largest": {"schedule": "greedy_largest"},
    "optimal_epoch": {"schedule": "optimal_epoch"},
    "optimal_buddy": {"schedule": "optimal_schedule", "allocations": "powers_of_two"},
    "optimal_schedule": {"schedule": "optimal_schedule", "allocations": "all"},
}
UNIFORM = {"model": "uniform", "jobs": 8}
POWERS = {"model": "powers_of_two", "jobs": 8}
SMALL_HEAVY = {"model": "small_heavy", "jobs": 8, "mean": 0.1}
LISTED = {"model": "listed", "requirements": [8, 2, 4, 8, 2, 4, 8, 4]}
SIXTEEN = {"processors": 16}
SEED = (1, 2, 3)
BUDDY = POLICIES["buddy_schedule"]


def point(policy: dict[str, Any], workload: dict[str, Any], batches: Batches | None = None) -> Point:
    return Point(policy, workload, SIXTEEN, None, batches or Batches(), SEED)


def through_their_group(schedule: Schedule, policy: dict[str, Any]) -> float:
    """Return the part of the jobs that begin and end with their group, from where the groups' times are."""
    bounds = [Fraction(0), Fraction(1)]
    if "groups" in policy:
        sizes = [2**bit for bit, digit in enumerate(f"{schedule.jobs:b}"[::-1]) if digit == "1"]
        ordered = sizes[::-1] if policy["groups"] == "largest_first" else sizes
        bounds = [Fraction(0), *(Fraction(n, schedule.jobs) for n in np.cumsum(ordered).tolist())]
    spans = set(pairwise(bounds))
    return sum((box.y, box.end) in spans for box in schedule.boxes) / schedule.jobs


@pytest.mark.parametrize("n_jobs", [5, 8])
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("workload", [UNIFORM, SMALL_HEAVY], ids=lambda workload: workload["model"])
def test_metrics_are_those_of_the_schedules(
    policy: dict[str, Any], workload: dict[str, Any], n_jobs: int
) -> None:
    workload = workload | {"jobs": n_jobs}
    batches = Batches(size=3, warmup=1, checkpoints=(2, 4))
    outcome = FAMILY.simulate(point(policy, workload, batches))
    assert not outcome.overflowed
    assert outcome.jobs == 5 * 3 * n_jobs
    all_lists = list(requirements.lists(workload, 16, batches, SEED))
    assert len(all_lists) == 5
    for i, lists in enumerate(all_lists[1:]):
        schedules = [make_schedule(policy, 16, minimum.tolist()) for minimum in lists]
        for made, minimum in zip(schedules, lists.tolist(), strict=True):
            assert twin.is_valid(16, [(box.x, box.y, box.width, box.height) for box in made.boxes], minimum)
        expected: dict[str, list[float]] = {
            "reallocations": [s.reallocations for s in schedules],
            "epochs": [s.epochs for s in schedules],
            "uninterrupted": [sum(box.height == 1 for box in s.boxes) / s.jobs for s in schedules],
            "uninterrupted_in_group": [through_their_group(s, policy) for s in schedules],
            "processors_per_job": [sum(box.width for box in s.boxes) / s.jobs for s in schedules],
            "processors_at_once": [
                s.reallocations / max(1, len({box.end for box in s.reallocated})) for s in schedules
            ],
        }
        assert set(outcome.metrics) == set(expected) == {metric.name for metric in FAMILY.metrics}
        for name, values in expected.items():
            assert outcome.metrics[name].shape == (4,)
            assert outcome.metrics[name][i] == pytest.approx(np.mean(values))


def geometric(processors: int, mean: float) -> list[Fraction]:
    """Probabilities of 1 to P processors, each `more` times the one before."""
    more = 1 - 1 / Fraction(max(1.0, mean * processors))
    weights = [more**n for n in range(processors)]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize(
    ("workload", "processors", "probability"),
    [
        (UNIFORM, 12, [Fraction(1, 12)] * 12),
        (POWERS, 16, [Fraction(n in (1, 2, 4, 8, 16), 5) for n in range(1, 17)]),
        (POWERS, 12, [Fraction(n in (1, 2, 4, 8), 4) for n in range(1, 13)]),
        (SMALL_HEAVY, 64, geometric(64, 0.1)),
        (SMALL_HEAVY, 8, [Fraction(n == 1) for n in range(1, 9)]),  # 0.1 of 8 is less than one processor
        (SMALL_HEAVY | {"mean": 1.0}, 20, geometric(20, 1.0)),
    ],
)
def test_distributions(workload: dict[str, Any], processors: int, probability: list[Fraction]) -> None:
    """Evenly spread random numbers give every requirement its share, to within one of them."""
    n = 10_000
    chance = (np.arange(n) + 0.5) / n
    drawn = requirements.DRAWN[workload["model"]](chance, processors, workload)
    counts = np.bincount(drawn, minlength=processors + 1)
    assert counts[0] == 0
    assert np.abs(counts[1:] - n * np.array(probability, float)).max() <= 1.001
    extreme = np.array([0.0, np.nextafter(1.0, 0.0)])
    least, most = requirements.DRAWN[workload["model"]](extreme, processors, workload)
    assert (least, most) == (drawn.min(), max(n for n, p in enumerate(probability, 1) if p))


BAD: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any], float | None, str]] = [
    (BUDDY, UNIFORM, {"processors": 12}, None, "machine.processors=12 is not a power of two"),
    (BUDDY, UNIFORM, {"processors": None}, None, "machine.processors=null takes the processors from a log"),
    (BUDDY, UNIFORM, SIXTEEN, 0.5, "load=0.5: a schedule of given jobs has no load"),
    (BUDDY | {"groups": "none"}, UNIFORM | {"jobs": 6}, SIXTEEN, None, "6 jobs are not a power of two"),
    ({"schedule": "buddy"}, UNIFORM, SIXTEEN, None, "policy.schedule=buddy; allowed: buddy_schedule, equi"),
    (POLICIES["optimal_buddy"], UNIFORM | {"jobs": 17}, SIXTEEN, None, "17 jobs have too many schedules"),
    (
        POLICIES["optimal_schedule"],
        UNIFORM,
        {"processors": 17},
        None,
        "17 processors have too many schedules",
    ),
    (BUDDY, UNIFORM | {"model": "gauss"}, SIXTEEN, None, "workload.model=gauss; allowed: uniform, powers"),
    (BUDDY, SMALL_HEAVY | {"mean": 0}, SIXTEEN, None, "workload.mean=0; allowed: a fraction of the machine"),
    (BUDDY, LISTED, {"processors": 4}, None, "a job needs at least 8 processors and the machine has 4"),
    (BUDDY, LISTED | {"requirements": [1, 0]}, SIXTEEN, None, "allowed: a list of positive whole numbers"),
]


@pytest.mark.parametrize("case", BAD, ids=lambda case: case[-1])
def test_bad_input_is_refused_in_one_line(case: Any) -> None:
    *parts, message = case
    with refused(message):
        FAMILY.check(Point(*parts))
