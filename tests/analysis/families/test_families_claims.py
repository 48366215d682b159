"""Sentences across families that no row of changed means refutes, or that stay open, or are not asked."""

import math
from typing import Any

from fabricated_families import Point, truth
from papers import study, verdicts

NAME = "families"


def found(**made: Any) -> dict[str, str]:
    """Return claim -> verdict."""
    return verdicts(NAME, study(NAME, NAME, **made))


def test_fcfs_that_keeps_up_refutes_the_sentence_on_utilization() -> None:
    def keeps_up(metric: str, at: Point) -> float:
        if at["policy"] == "fcfs":
            return min(at["load"], 0.97) - 0.001 if metric == "utilization" else 100.0
        return truth(metric, at)

    assert found(truth=keeps_up, saturated=lambda at: False)["feitelson1996-5-utilization"] == "fails"


def test_packing_schemes_that_saturate_early_refute_it_too() -> None:
    def full(at: Point) -> bool:
        return at["policy"] in ("buddy", "migration", "fcfs") and at["load"] > 0.8

    def at_most(metric: str, at: Point) -> float:
        return min(truth(metric, at), 0.8) if metric == "utilization" and full(at) else truth(metric, at)

    assert found(truth=at_most, saturated=full)["feitelson1996-5-utilization"] == "fails"


def test_noise_and_unfinished_points_leave_sentences_open() -> None:
    assert "inconclusive" in found(noise=3.0, own=1.0, luck=()).values()
    part_way = found(unfinished=lambda at: at["policy"] == "easy" and at["load"] == 0.8)
    assert part_way["zhang2003-beats-backfilling-2"] == "inconclusive"
    assert part_way["mccann1994-2.2-equality-costs"] == "holds"


def test_a_grid_without_a_policy_has_no_sentence_on_it() -> None:
    some = found(policy=("easy", "buddy"), level=(math.nan,), queue=("fcfs",), switch_cost=(0,))
    assert set(some) == {
        "mualem2001-overestimates-help", "jette1997-responsiveness", "silva1999-1-degrades-gradually",
        "silva1999-1-immediate-service",
    }  # fmt: skip
    assert some["silva1999-1-immediate-service"] == "inconclusive"
