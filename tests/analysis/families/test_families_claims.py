"""Sentences across families on datasets made so that they must hold, must fail, or must stay open."""

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
from fabricated_families import FAMILY, Point, dataset, truth

from analysis.families.claims import claims
from analysis.families.labels import AXES, GANG, KEY, SPACE
from analysis.study import Study

Change = Callable[[str, Point, float], float]
"""(metric, point, true mean) -> mean that makes a sentence false."""


def study(data: xr.Dataset) -> Study:
    return Study(data, Path("results/families"), axes=AXES).under(AXES)


@cache
def of(change: Change | None = None, **made: Any) -> dict[str, str]:
    """Return claim -> verdict."""

    def changed(metric: str, at: Point) -> float:
        value = truth(metric, at)
        return value if change is None or math.isnan(value) else change(metric, at, value)

    found = claims(study(dataset(truth=changed, **made)))
    return {claim.id.removeprefix(f"{KEY}-"): claim.verdict for claim in found}


def times(factor: float, *metrics: str, **where: Any) -> Change:
    """Multiply some metrics by a factor at some points, for one workload only."""

    def changed(metric: str, at: Point, value: float) -> float:
        here = metric in metrics and at["workload"] == "lublin2003"
        return factor * value if here and all(at[axis] == wanted for axis, wanted in where.items()) else value

    return changed


def everywhere(policy: str, factor: float) -> Change:
    """Change a policy's slowdowns and response times under all workloads."""

    def changed(metric: str, at: Point, value: float) -> float:
        return (
            factor * value
            if at["policy"] == policy and metric in ("bounded_slowdown", "response_time")
            else value
        )

    return changed


def sharper(metric: str, at: Point, value: float) -> float:
    """Let gang scheduling degrade at once, and backfilling not at all."""
    if metric == "bounded_slowdown" and FAMILY[at["policy"]] in (GANG, SPACE):
        steep = 2.0 if FAMILY[at["policy"]] == SPACE else 1.2
        flat = value / (at["load"] / 0.5) ** steep
        return flat * (at["load"] / 0.5) ** 3 if FAMILY[at["policy"]] == GANG else flat
    return value


def costly(metric: str, at: Point, value: float) -> float:
    return 20 * value if metric == "response_time" and at["switch_cost"] == 10 else value


def harmful(metric: str, at: Point, value: float) -> float:
    return 10 * value if metric == "bounded_slowdown" and at["policy"] == "best_fit" else value


def queued(metric: str, at: Point, value: float) -> float:
    return 500.0 if metric == "wait" and at["level"] == 2 and at["queue"] == "fcfs" else value


def saturates_early(metric: str, at: Point, value: float) -> float:
    """Let packing schemes deliver 80 % of the machine at most: beyond, they saturate."""
    if at["policy"] not in ("buddy", "migration"):
        return value
    if metric == "bounded_slowdown" and at["load"] > 0.8:
        return math.nan
    return min(value, 0.8) if metric == "utilization" else value


BOTH = ("bounded_slowdown", "response_time")
FALSE: dict[str, Change] = {
    "zhang2003-beats-backfilling-2": times(9, *BOTH, level=2.0, queue="backfill"),
    "zhang2003-beats-gang-2": times(9, "bounded_slowdown", level=2.0, queue="backfill"),
    "zhang2003-beats-backfilling-3": times(9, *BOTH, level=3.0, queue="backfill"),
    "zhang2003-beats-gang-3": times(9, "response_time", level=3.0, queue="backfill"),
    "zhang2003-beats-backfilling-5": times(9, *BOTH, level=5.0, queue="backfill"),
    "zhang2003-beats-gang-5": times(9, "response_time", level=5.0, queue="backfill"),
    "mualem2001-easy-somewhere": everywhere("conservative", 0.5),
    "mualem2001-conservative-somewhere": everywhere("conservative", 3.0),
    "mualem2001-overestimates-help": times(2, "bounded_slowdown", policy="easy", requests="real"),
    "feitelson1996-5-utilization": saturates_early,
    "feitelson1996-5-less-harmful": harmful,
    "feitelson1996-5-buffered-jobs-fill-holes": times(3, "response_time", level=5.0),
    "jette1997-responsiveness": times(20, "response_time", policy="buddy", switch_cost=0),
    "jette1997-cost-made-up-for": costly,
    "jette1997-dynamic-partitioning": times(9, "bounded_slowdown", policy="equi_plus"),
    "silva1999-1-degrades-gradually": sharper,
    "silva1999-1-immediate-service": queued,
    "chiang2001-5-starvation-free": times(3, "wait_max", policy="lxf_w_backfill"),
    "chiang2001-5-equipartition-p95": times(50, "response_time_p95", policy="equi_plus"),
    "chiang2001-5-immediate-competitive": times(2, "response_time_max", policy="lxf_w_immediate"),
    "mccann1994-1.2.2-space-sharing-linear": times(9, "response_time", policy="equi_plus", speedup="linear"),
    "mccann1994-1.2.2-space-sharing-downey": times(9, "response_time", policy="equi_plus", speedup="downey"),
    "mccann1994-2.2-as-shortest-first": times(99, "response_time", policy="equi_plus", speedup="linear"),
    "mccann1994-2.2-equality-costs": times(0.5, "response_time", policy="fold_200"),
}
"""Sentence -> what makes it false, most of them under one of two workloads only."""


def test_every_sentence_holds_where_it_is_true() -> None:
    assert of() == dict.fromkeys(FALSE, "holds")


@pytest.mark.parametrize("name", FALSE)
def test_a_sentence_fails_where_it_is_false(name: str) -> None:
    assert of(FALSE[name])[name] == "fails"


def test_fcfs_that_keeps_up_refutes_the_sentence_on_utilization() -> None:
    def keeps_up(metric: str, at: Point) -> float:
        if at["policy"] == "fcfs":
            return min(at["load"], 0.97) - 0.001 if metric == "utilization" else 100.0
        return truth(metric, at)

    found = {claim.id: claim.verdict for claim in claims(study(dataset(truth=keeps_up)))}
    assert found[f"{KEY}-feitelson1996-5-utilization"] == "fails"


def test_noise_and_unfinished_points_leave_sentences_open() -> None:
    found = of(None, noise=0.0, own_noise=3.0)
    assert "inconclusive" in found.values()
    part_way = of(None, unfinished=lambda at: at["policy"] == "easy" and at["load"] == 0.8)
    assert part_way["zhang2003-beats-backfilling-2"] == "inconclusive"
    assert part_way["mccann1994-2.2-equality-costs"] == "holds"


def test_a_grid_without_a_policy_has_no_sentence_on_it() -> None:
    found = of(None, policy=("easy", "buddy"), level=(math.nan,), queue=("fcfs",), switch_cost=(0,))
    assert set(found) == {
        "mualem2001-overestimates-help", "jette1997-responsiveness", "silva1999-1-degrades-gradually",
        "silva1999-1-immediate-service",
    }  # fmt: skip
    assert found["silva1999-1-immediate-service"] == "inconclusive"
