"""Curves along other axes than the load, exact comparisons, claims on parts of the dissertation's grids."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fabricated_mccann1994 import Point, memory
from papers import study, verdicts

from analysis.claims.comparisons import AxisRange, listed, ratio
from analysis.claims.testers import average, everywhere, monotone
from analysis.mccann1994.labels import KEY
from analysis.study.curve import DONE, SATURATED, UNFINISHED


def found_on(name: str, **made: Any) -> dict[str, str]:
    """Return the verdicts on a fabricated dataset."""
    return verdicts(KEY, study(KEY, name, **made))


def test_a_curve_along_jobs() -> None:
    found = study(KEY, "efficiency_preservation", jobs=[8, 2, 4], unfinished=lambda at: at["jobs"] == 4)
    curve = found.curve("efficiency_preservation", "static_8", along="jobs", workload="speedup_curve")
    assert curve.axis == "jobs"
    assert curve.x.tolist() == [2, 4, 8]
    assert curve.status == (DONE, UNFINISHED, DONE)
    assert curve.intervals().mean[[0, 2]] == pytest.approx([2 * 0.37, 8 * 0.37])


def test_null_has_no_place_on_an_axis_but_can_be_asked_for() -> None:
    found = study(KEY, "birth_death")
    limited = found.curve("blow_up", "equi_plus", along="memory_limit", load=0.5)
    assert limited.x.tolist() == [1, 2, 4, 8, 16, 64]
    free = found.curve("blow_up", "equi_plus")
    assert found.usual()["memory_limit"] == "null"
    four = found.curve("blow_up", "equi_plus", memory_limit=4)
    at = ((free, 0.5), (limited, 64), (four, 0.5), (limited, 4))
    values = [curve.sample(curve.place(x)).plain for curve, x in at]
    assert values[0] == pytest.approx(values[1])
    assert values[2] == values[3]
    assert found.curve("blow_up", "fold_20").status[-2:] == (SATURATED, SATURATED)


def test_a_metrics_own_dimension_is_chosen_like_a_feature() -> None:
    found = study(KEY, "partitioning", noise=0.0)
    at = {"along": "short_fraction", "load": 0.5}
    short = found.curve("class_response_time", "equi_plus", job_class="short", **at)
    everyone = found.curve("class_response_time", "equi_plus", **at)
    assert short.x.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert np.isnan(short.intervals().mean).tolist() == [True, False, False, False, False]
    assert everyone.intervals().mean[-1] == pytest.approx(short.intervals().mean[-1])


def test_ranges_of_any_axis() -> None:
    found = study(KEY, "efficiency_preservation")
    curves = [
        found.curve("efficiency_preservation", policy, along="jobs") for policy in ("fold_never", "equi_plus")
    ]
    part = ratio("a / b", *curves, AxisRange("odd", 3, 7, only=(3.0, 5.0, 7.0)), low=1.0)
    assert part.describe(0.95).startswith("a / b at jobs 3, 5, 7: ")
    assert part.holds(0.95)
    assert listed("memory_limit", np.array([2.0])) == "memory limit 2"
    assert listed("load", np.arange(1.0, 6)) == "loads 1–5 (5)"


def test_exact_comparisons_name_the_exceptions() -> None:
    found = study(KEY, "efficiency_preservation", jobs=range(1, 10))
    fold, equi = (
        found.curve("efficiency_preservation", policy, along="jobs") for policy in ("fold_never", "equi")
    )
    everything = AxisRange("all")
    assert everywhere("fold|equi", fold, "at least", equi, everything).holds(0.95)
    strict = everywhere("fold|equi", fold, "above", equi, everything)
    assert strict.fails(0.95)
    assert "fold above equi at 5 of 9 points, jobs 1–9 (9); not at 1, 2, 4, 8" in strict.describe(0.95)
    assert monotone("fold", fold, True, everything).holds(0.95)
    assert monotone("equi", equi, True, everything).fails(0.95)
    assert average("fold", fold, 1.0, everything, 1.0, 1.1).holds(0.95)
    assert average("fold", fold, 1.0, everything, low=1.1).fails(0.95)
    # Ratios are averaged, not numbers: one large number does not decide.
    tall = replace(fold, values=fold.values * np.where(fold.x == 9, 100, 1)[:, None, None])
    again = replace(tall, values=tall.values * np.where(fold.x == 9, 1, 0.5)[:, None, None])
    assert average("half", again, tall, everything, high=0.6).holds(0.95)


def test_a_limit_at_which_equipartition_is_unstable_is_pronounced() -> None:
    found = found_on("birth_death", saturated=lambda at: at["memory_limit"] == 8 and at["load"] == 0.9)
    assert found["5.3.2-not-pronounced"] == "fails"


def test_each_interval_between_decisions_has_its_verdicts() -> None:
    """Ten seconds, and short jobs do not wait under small limits; a minute, and they do."""
    truth = memory

    def shorter(metric: str, at: Point) -> float:
        better = (
            metric == "class_response_time" and at["job_class"] == "short" and at["memory_limit"] in (1, 2, 3)
        )
        return truth(metric, at) * (0.5 if better and at["admission_interval"] == 10 else 1.0)

    one = study(KEY, "partitioning_memory", truth=shorter, admission_interval=[10.0, 60.0])
    found = {letter: verdicts(KEY, reading) for letter, reading in one.readings.items()}
    assert [reading.label for reading in one.readings.values()] == ["default", "admission_interval=60"]
    assert [found[letter]["5.4.2-small-limits-delay-short-jobs"] for letter in "AB"] == ["fails", "holds"]
    assert found["A"].keys() == found["B"].keys()


def test_saturation_refutes_stability() -> None:
    found = found_on("birth_death", saturated=lambda at: at["policy"] == "fold_200" and at["load"] >= 0.9)
    assert found["5.3.1-constant-interval-stable"] == "fails"
    assert found["5.3.1-short-rotation-unstable"] == "fails"


def test_numbers_with_chance_in_them_are_no_facts() -> None:
    assert set(found_on("fairness", noise=0.01, exact=False, replications=6, batches=10).values()) == {
        "inconclusive"
    }


def test_unfinished_points_leave_only_claims_open_that_need_them() -> None:
    found = found_on("efficiency_preservation", unfinished=lambda at: at["policy"] == "fold_50")
    needed = {"4.3.1-remainder-sizes",  # a slip of the text
              "5.2.2-sensitive-to-rotation", "5.2.2-folding-better", "5.2.2-folding-better-many",
              "5.2.2-folding-much-better"}  # fmt: skip
    assert {claim for claim, verdict in found.items() if verdict != "holds"} == needed
