"""McCann's sentences on datasets made so that they must hold, must fail, or must stay open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from fabricated_mccann1994 import EXPERIMENTS, Point, dataset

from analysis.mccann1994.claims import claims
from analysis.mccann1994.labels import AXES
from analysis.study import Study

Change = Callable[[str, Point, float], float]
"""(metric, point, true mean) -> mean that makes a sentence false."""

OF_THE_POLICIES = {
    "6.3-forced-allocation", "6.3-worked-example", "6.7-rests-on-one", "6.5.1-worked-example",
    "6.5.1-eight-processors", "6.5.2-example-140", "6.5.2-example-greedy", "6.6-example",
}  # fmt: skip
"""Claims on worked examples, which depend on no dataset."""

A_SLIP = "6.5.1-eight-processors"
"""The text gives two jobs 8 of 12 processors each."""


def change(
    where: Callable[[Point], bool], factor: float = 1.0, plus: float = 0.0, metric: str = ""
) -> Change:
    def changed(m: str, at: Point, value: float) -> float:
        return factor * value + plus if where(at) and metric in ("", m) else value

    return changed


def of(policy: str, factor: float = 1.0, plus: float = 0.0, metric: str = "") -> Change:
    return change(lambda at: at["policy"] == policy, factor, plus, metric)


def constant(policy: str, value: float, metric: str = "") -> Change:
    return of(policy, 0.0, value, metric)


def small(at: Point) -> bool:
    return at["memory_limit"] in (1, 2, 3)


FALSE: dict[str, dict[str, Change]] = {
    "efficiency_preservation": {
        "3.1-above-one": constant("ideal_dynamic", 0.9),
        "3.2-drastic-decrease": change(lambda at: at["policy"] == "static_4" and at["jobs"] == 1, 3),
        "3.2-idle-processors": change(lambda at: at["policy"] == "static_4" and at["jobs"] < 4, 5),
        "3.2-dynamic-at-high-loads": of("static_8", 9),
        "3.2-eight-above-four": of("static_8", 0.5),
        "5.2.2-equi-losses": of("equi", plus=0.2),
        "5.2.2-equi-plus-improves": of("equi", plus=0.2),
        "5.2.2-equi-plus-losses": constant("equi_plus", 1.0),
        "5.2.2-losses-decrease": change(
            lambda at: at["policy"] == "equi_plus" and at["jobs"] > 16, plus=-0.2
        ),
        "5.2.2-sensitive-to-rotation": of("fold_20", plus=0.1),
        "5.2.2-fold-never-above-one": of("fold_never", plus=-0.1),
        "5.2.2-folding-better": of("fold_50", plus=-0.2),
        "5.2.2-folding-better-many": of("fold_50", plus=-0.2),
        "5.2.2-folding-much-better": of("fold_50", plus=-0.06),
        "5.2.2-rises-with-variation": change(lambda at: at["delta"] == 10, 0.5),
        "5.3.2-equi-losses-above-four": constant("equi_plus", 1.1),
        "5.3.2-equi-losses-above-four-many": constant("equi_plus", 1.1),
        "5.4.2-inefficient-for-odd-jobs": change(
            lambda at: at["policy"] == "equi_plus" and at["jobs"] % 2 == 1, plus=0.3
        ),
        "5.5-folding-superior": of("equi_plus", plus=0.3),
    },
    "fairness": {
        "5.2.3-even-numbers": change(lambda at: at["jobs"] % 2 == 0, 2.0),
        "5.2.3-near-ideal": change(lambda at: at["q"] == 4 / 15, 1.2),
        "5.2.3-rotation-as-long-as-jobs": change(lambda at: at["q"] == 1.0, 1.1),
    },
    "birth_death": {
        "5.3.1-folding-faster": of("fold_200", 2.0),
        "5.3.1-short-rotation-unstable": of("fold_20", 2.0),
        "5.3.1-interval-times-jobs": of("fold_20j", 1.5),
        "5.3.2-folding-improves-with-limit": change(lambda at: at["memory_limit"] == 64, 2.0),
        "5.3.2-equi-local-minimum": change(lambda at: at["memory_limit"] == 1, 0.1),
        "5.3.2-not-pronounced": change(lambda at: at["memory_limit"] == 8, 3.0),
        "5.5-folding-best": of("fold_never", 1.5),
        "5.5-overhead-and-balance": of("equi", 0.5),
    },
    "partitioning": {
        "5.4.1-folding-dominates": of("fold_50", 1.5, metric="class_response_time"),
        "5.4.1-best-of-each": of("fold_50", 0.5, metric="class_response_time"),
        "5.4.1-ten-percent": of("fold_never", 0.8, metric="class_response_time"),
        "5.4.1-interval-times-jobs": of("fold_15j", 1.5, metric="class_response_time"),
        "5.4.1-equally-fair": of("equi", 1.5, metric="blow_up_cv"),
        "5.4.1-fold-never-fair": of("fold_never", 1.5, metric="blow_up_cv"),
        "5.4.1-fcfs-poor": of("one_at_a_time", 0.1, metric="blow_up_cv"),
        "5.5-better-at-no-penalty": of("fold_never", 1.5, metric="blow_up_cv"),
        "5.3-chain-accurate": of("equi_plus", 1.2, metric="class_response_time"),
    },
    "partitioning_memory": {
        "5.4.2-small-limits-hurt-folding": change(small, 0.3, metric="class_response_time"),
        "5.4.2-small-limits-may-help-equi": change(small, 2.0, metric="class_response_time"),
        "5.4.2-small-limits-delay-short-jobs": change(small, 0.3, metric="class_response_time"),
        "5.4.2-same-variation": of("fold_never", 1.5, metric="blow_up_cv"),
        "5.4.2-variation-falls-with-limit": change(small, 0.5, metric="blow_up_cv"),
        "5.4.2-fold-never-dominates": of("fold_never", 3.0, metric="class_response_time"),
    },
    "memory_schedules": {
        "6.4.2-buddy-optimal": of("buddy_schedule", 1.1, metric="reallocations"),
        "6.5.2-equi-epoch-optimal": of("equi_epoch", 1.1, metric="epochs"),
        "6.5.2-not-optimal-elsewhere": of("optimal_epoch", 1.1, metric="epochs"),
        "6.5.2-greedy-not-optimal": of("greedy_largest", 0.9, metric="epochs"),
        "6.6-buddy-fewer-reallocations": of("buddy_schedule", 1.5, metric="reallocations"),
        "6.4.2-smallest-groups-first": of("buddy_schedule", 0.5, metric="uninterrupted_in_group"),
    },
    "memory_examples": {},
}
"""Experiment -> claim -> what makes it false; one more is made by saturation."""

STABLE = "5.3.1-constant-interval-stable"


def verdicts(name: str, **made: Any) -> dict[str, str]:
    """Return the verdicts on a fabricated dataset."""
    study = Study(dataset(name, **made).squeeze("machine"), Path("results") / name, axes=AXES)
    return {claim.id.removeprefix("mccann1994-"): claim.verdict for claim in claims(study)}


@cache
def of_the_truth(name: str) -> dict[str, str]:
    return verdicts(name)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_all_hold_where_the_dissertation_is_right(name: str) -> None:
    found = of_the_truth(name)
    made = {*FALSE[name], *({STABLE} if name == "birth_death" else ())}
    assert found.keys() == (OF_THE_POLICIES if name == "memory_examples" else made)
    assert {claim for claim, verdict in found.items() if verdict != "holds"} == found.keys() & {A_SLIP}


@pytest.mark.parametrize(("name", "claim"), [(name, claim) for name in FALSE for claim in FALSE[name]])
def test_fails_where_the_opposite_is_true(name: str, claim: str) -> None:
    truth = EXPERIMENTS[name]["truth"]
    altered = FALSE[name][claim]
    assert verdicts(name, truth=lambda m, at: altered(m, at, truth(m, at)))[claim] == "fails"


def test_every_sentence_is_counted_in_one_experiment() -> None:
    found = Counter(claim for name in EXPERIMENTS for claim in of_the_truth(name))
    assert [claim for claim, times in found.items() if times > 1] == []
    assert len(found) == 60
    assert found.keys() >= OF_THE_POLICIES


def test_a_limit_at_which_equipartition_is_unstable_is_pronounced() -> None:
    found = verdicts("birth_death", saturated=lambda at: at["memory_limit"] == 8 and at["load"] == 0.9)
    assert found["5.3.2-not-pronounced"] == "fails"


def test_each_interval_between_decisions_has_its_verdicts() -> None:
    """Ten seconds, and short jobs do not wait under small limits; a minute, and they do."""
    truth = EXPERIMENTS["partitioning_memory"]["truth"]

    def shorter(metric: str, at: Point) -> float:
        better = metric == "class_response_time" and at["job_class"] == "short" and small(at)
        return truth(metric, at) * (0.5 if better and at["admission_interval"] == 10 else 1.0)

    made = dataset("partitioning_memory", truth=shorter, admission_interval=[10.0, 60.0])
    one = Study(made.squeeze("machine"), Path("results"), axes=AXES)
    found = {
        letter: {claim.id.removeprefix("mccann1994-"): claim.verdict for claim in claims(reading)}
        for letter, reading in one.readings.items()
    }
    assert [reading.label for reading in one.readings.values()] == ["default", "admission_interval=60"]
    assert [found[letter]["5.4.2-small-limits-delay-short-jobs"] for letter in "AB"] == ["fails", "holds"]
    assert found["A"].keys() == found["B"].keys()


def test_saturation_refutes_stability() -> None:
    found = verdicts("birth_death", saturated=lambda at: at["policy"] == "fold_200" and at["load"] >= 0.9)
    assert found[STABLE] == "fails"
    assert found["5.3.1-short-rotation-unstable"] == "fails"


def test_numbers_with_chance_in_them_are_no_facts() -> None:
    assert set(verdicts("fairness", noise=0.01).values()) == {"inconclusive"}


def test_noise_leaves_claims_open() -> None:
    assert verdicts("partitioning", noise=0.5, seed=3)["5.4.1-ten-percent"] == "inconclusive"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_dataset_with_nothing_run_decides_nothing(name: str) -> None:
    found = verdicts(name, unfinished=lambda at: True)
    undecided = {claim for claim, verdict in found.items() if verdict == "inconclusive"}
    assert undecided == found.keys() - OF_THE_POLICIES


def test_unfinished_points_leave_only_claims_open_that_need_them() -> None:
    found = verdicts("efficiency_preservation", unfinished=lambda at: at["policy"] == "fold_50")
    needed = {"5.2.2-sensitive-to-rotation", "5.2.2-folding-better", "5.2.2-folding-better-many",
              "5.2.2-folding-much-better"}  # fmt: skip
    assert {claim for claim, verdict in found.items() if verdict != "holds"} == needed


def test_a_grid_without_the_points_leaves_claims_open() -> None:
    found = verdicts("partitioning", short_fraction=[0.5], policy=["equi_plus", "fold_never"])
    assert found["5.4.1-ten-percent"] == "holds"
    assert found["5.4.1-folding-dominates"] == found["5.3-chain-accurate"] == "inconclusive"
    assert verdicts("fairness", q=[None, 4 / 15])["5.2.3-rotation-as-long-as-jobs"] == "inconclusive"


def test_every_claim_says_where_and_under_what_it_was_tested() -> None:
    for name in EXPERIMENTS:
        made = dataset(name, leftover=["smallest", "regular"]) if name == "fairness" else dataset(name)
        one = Study(made.squeeze("machine"), Path("results") / name, axes=AXES).readings["A"]
        for claim in claims(one):
            assert claim.id.startswith("mccann1994-")
            assert claim.source.count("“") == claim.source.count("”") >= 1
            assert claim.reading == one.label
            assert len(claim.evidence) >= 2
