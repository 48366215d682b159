"""Jette's sentences on datasets made so that they must hold, must fail, or must stay open."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fabricated_jette1997 import EXPERIMENTS, WEEK, Point, dataset, t3d, used

from analysis.jette1997 import PAPER, derived
from analysis.jette1997.claims import TESTERS, claims
from analysis.jette1997.labels import (
    AXES,
    BENCHMARK_WEEK,
    DAY,
    FIFTEEN_MONTHS,
    GANG,
    HOUR,
    KEY,
    LENGTHS,
    NIGHT,
    THREE_WEEKS,
    UNICOS_MAX,
)
from analysis.study import Study

Change = Callable[[str, Point, float], float]
"""(metric, point, true value) -> value that makes a sentence false."""


def of(policy: str, metric: str, factor: float, **where: Any) -> Change:
    """Multiply a metric of one scheduler by a factor, at some points only."""

    def changed(m: str, at: Point, value: float) -> float:
        here = m == metric and at["policy"] == policy
        here = here and all(at.get(key) == wanted for key, wanted in where.items())
        return factor * value if here else value

    return changed


def plus(policy: str, metric: str, more: float, **where: Any) -> Change:
    """Add to a metric of one scheduler, at some points only."""

    def changed(m: str, at: Point, value: float) -> float:
        here = m == metric and at["policy"] == policy
        here = here and all(at.get(key) == wanted for key, wanted in where.items())
        return value + more if here else value

    return changed


def at_night(metric: str, factor: float) -> Change:
    def changed(m: str, at: Point, value: float) -> float:
        here = m == metric and at["policy"] == GANG and str(at["hour"]) in NIGHT
        return factor * value if here else value

    return changed


def by_day(metric: str, wanted: float) -> Change:
    def changed(m: str, at: Point, value: float) -> float:
        here = m == metric and at["policy"] == GANG and str(at["hour"]) in DAY
        return wanted if here else value

    return changed


INTERACTIVE = {"site_class": "interactive"}
FALSE: dict[str, dict[str, Change]] = {
    "llnl_t3d": {
        "workload-67-and-13-percent": of(GANG, "class_jobs", 0.7, workload=THREE_WEEKS, **INTERACTIVE),
        "t3d-jobs-of-three-weeks": of(GANG, "class_work", 1.1, workload=THREE_WEEKS, site_class="production"),
        "workload-negligible-late-at-night": of(GANG, "interactive_jobs_by_hour", 40, hour=3),
        "t3d-33-percent-before": of(UNICOS_MAX, "utilization", 1.3),
        "fig1-order": of("djm", "utilization", 0.6),
        "t3d-increased-substantially": of(GANG, "utilization", 0.6),
        "t3d-96-percent-a-week": of(GANG, "utilization", 0.965),
        "5-95-percent-while-responsive": of(GANG, "class_slowdown", 1.1, workload=FIFTEEN_MONTHS),
        "t3d-no-work-on-weekends": of(GANG, "no_work_weekends", 0.1),
        "t3d-slowdown-18-percent": of(GANG, "class_slowdown", 1.1, workload=THREE_WEEKS),
        "5-slowdown-under-20-percent": of(GANG, "class_slowdown", 1.1, workload=FIFTEEN_MONTHS),
        "t3d-eight-percent-preempted": of(GANG, "preempted_share", 1.6, workload=THREE_WEEKS),
        "t3d-usually-not-preempted": of(GANG, "class_preempted", 11, **INTERACTIVE),
        "t3d-long-jobs-few-percent": of(GANG, "interactive_undelayed_by_length", 0.5, length=LENGTHS[-1]),
        "t3d-variation": of(GANG, "interactive_slowdown_by_length", 0.2, length=LENGTHS[0]),
        "t3d-daytime-within-seconds": by_day("interactive_begun_10s_by_hour", 0.4),
        "t3d-daytime-not-preempted": by_day("interactive_preempted_by_hour", 0.6),
        "t3d-four-digits-at-night": at_night("interactive_slowdown_max_by_hour", 0.7),
        "t3d-worse-at-night": at_night("interactive_slowdown_by_hour", 0.6),
        "t3d-21-percent-throughput": of(GANG, "class_ended", 0.9, workload=BENCHMARK_WEEK),
        "t3d-no-loss-of-total": of(GANG, "class_delivered", 0.9, workload=BENCHMARK_WEEK),
        "t3d-aggregate-improves": of(GANG, "class_delivered", 0.97, workload=BENCHMARK_WEEK),
        "t3d-interactivity-good-before": of(UNICOS_MAX, "class_slowdown", 1.1),
        "0-better-responsiveness-and-utilization": of(
            UNICOS_MAX, "class_slowdown", 0.95, workload=THREE_WEEKS
        ),
        "overview-switching-slight": plus(GANG, "switching_share", 0.03, workload=THREE_WEEKS),
        "t3d-three-things": plus(GANG, "limits_loss", 0.04, workload=FIFTEEN_MONTHS),
        "classes-never-preempted": plus(GANG, "class_preempted", 0.01, site_class="debug"),
        "t3d-switching-compensated": plus(GANG, "packing_loss", 0.1, workload=THREE_WEEKS),
        "t3d-held-back-before": plus(GANG, "limits_loss", 0.2, workload=THREE_WEEKS),
    },
    "llnl_tradeoff": {
        "t3d-slices-reduce-responsiveness": of(GANG, "class_slowdown", 2.0, do_not_disturb="0"),
        "t3d-slices-prevent-thrashing": of(GANG, "switching_share", 0.0, do_not_disturb="0"),
        "t3d-slices-critical-for-utilization": of(GANG, "utilization", 0.7, do_not_disturb="10"),
    },
}
"""Experiment -> claim -> what makes it false."""

CLAIMS = [(name, claim) for name, found in FALSE.items() for claim in found]


def study(name: str, **made: Any) -> Study:
    return Study(dataset(name, **made), Path("results") / name, axes=AXES).under(AXES)


def verdicts_of(found: Study) -> dict[str, str]:
    return {claim.id.removeprefix(f"{KEY}-"): claim.verdict for claim in claims(found)}


@cache
def true(name: str) -> Study:
    return study(name, replications=6)


@pytest.mark.parametrize("name", FALSE)
def test_every_claim_holds_where_every_sentence_is_true(name: str) -> None:
    assert {claim: verdict for claim, verdict in verdicts_of(true(name)).items() if verdict != "holds"} == {}


@pytest.mark.parametrize("name", FALSE)
def test_every_claim_is_tested_both_ways(name: str) -> None:
    assert set(verdicts_of(true(name))) == set(FALSE[name])


@pytest.mark.parametrize(("name", "claim"), CLAIMS)
def test_a_claim_fails_where_its_sentence_is_false(name: str, claim: str) -> None:
    changed, truth = FALSE[name][claim], EXPERIMENTS[name]["truth"]
    metrics = EXPERIMENTS[name]["metrics"]
    # Only what some change concerns is fabricated anew.
    found = true(name).data.copy(deep=True)
    for metric, own in metrics.items():
        grid = {axis: found[axis].values.tolist() for axis in EXPERIMENTS[name]["grid"]}
        for place in np.ndindex(*map(len, grid.values())):
            at = {axis: values[i] for (axis, values), i in zip(grid.items(), place, strict=True)}
            for group in np.ndindex(*(found.sizes[dim] for dim in own)):
                where = {dim: found[dim].values.tolist()[i] for dim, i in zip(own, group, strict=True)}
                if metric.endswith("_by_hour") and "hour" not in where:
                    continue
                point = {**at, **where, "batch": 20}
                before = truth(metric, point)
                after = changed(metric, point, before)
                if after != before:
                    key = (*place, slice(None), slice(None), *group)
                    values = found[metric].values[key]
                    found[metric].values[key] = values * (after / before) if before else values + after
    made = Study(found, Path("results") / name, axes=AXES).under(AXES)
    assert verdicts_of(made)[claim] == "fails"


@pytest.mark.parametrize("name", FALSE)
def test_nothing_is_said_of_what_has_not_run(name: str) -> None:
    found = claims(study(name, unfinished=lambda at: True))
    assert {claim.verdict for claim in found} == {"inconclusive"}
    assert all("not tested" in line for claim in found for line in claim.evidence[1:] if line[0] in "✓✗?")


def test_every_claim_names_figures_that_there_are() -> None:
    for name in FALSE:
        names = {picture.name for picture in PAPER.pictures(true(name), None)}
        assert {figure for claim in claims(true(name)) for figure in claim.figures} <= names


def test_what_is_said_of_months_and_weeks_is_not_asked_of_the_days_of_three_weeks() -> None:
    found = study("llnl_t3d", workload=(THREE_WEEKS, BENCHMARK_WEEK), noise=0.0, replications=5)
    verdicts = verdicts_of(found)
    of_months = {
        "t3d-33-percent-before", "fig1-order", "t3d-increased-substantially", "t3d-96-percent-a-week",
        "5-95-percent-while-responsive", "t3d-no-work-on-weekends",
    }  # fmt: skip
    assert {verdicts[name] for name in of_months} == {"inconclusive"}
    assert {verdicts[name] for name in verdicts if name not in of_months} == {"holds"}
    (claim,) = [one for one in claims(found) if one.id.endswith("33-percent-before")]
    assert all("not in this grid" in line for line in claim.evidence[1:])


def test_a_comparison_with_other_families_claims_nothing() -> None:
    assert claims(study("llnl_compare")) == ()


def test_without_what_tells_of_begins_nothing_is_claimed_of_them() -> None:
    found = verdicts_of(
        study("llnl_t3d", without=("interactive_begun_10s_by_hour", "no_work_weekends"), replications=5)
    )
    assert "t3d-daytime-within-seconds" not in found
    assert "t3d-no-work-on-weekends" not in found
    assert "t3d-daytime-not-preempted" in found


def test_a_month_is_the_weeks_whose_middle_lies_in_it_weighted_by_time() -> None:
    """Of weeks from October 1, 1995, on: middles are October 4, 11, 18, 25, November 1, 8, 15, 22, 29."""
    found = study("llnl_t3d", noise=0.0, replications=5)
    month = derived.months(found, GANG, FIFTEEN_MONTHS)
    assert month.tolist()[:10] == [1, 1, 1, 1, 2, 2, 2, 2, 2, 3]
    assert month.max() == 15
    at = {"policy": GANG, "workload": FIFTEEN_MONTHS}
    weeks = [used({**at, "batch": week}) for week in np.flatnonzero(month == 9)]
    sample = derived.of_months(found, "utilization", GANG, FIFTEEN_MONTHS, 9)
    assert sample.values.mean() == pytest.approx(np.mean(weeks))
    assert sample.values.shape == (5, len(weeks))


def test_weekends_of_a_month_count_for_their_time() -> None:
    """Four weeks, the last of which has a tenth of the weekend: (.1 + .2 + .3 + .1 x .9) / 3.1."""
    found = study("llnl_t3d", noise=0.0, replications=5)
    n_weeks = int((derived.months(found, GANG, FIFTEEN_MONTHS) == 1).sum())
    at = {"policy": list(found.policies).index(GANG), "workload": 0, "batch": slice(0, n_weeks)}
    found.data["weekends"] = found.data["period"] * 2 / 7
    found.data["no_work_weekends"].attrs["weight"] = "weekends"
    found.data["weekends"][at | {"batch": 3}] *= 0.1
    found.data["no_work_weekends"][at] = np.array([0.1, 0.2, 0.3, 0.9])
    sample = derived.of_months(found, "no_work_weekends", GANG, FIFTEEN_MONTHS, 1)
    assert sample.values.mean() == pytest.approx((0.1 + 0.2 + 0.3 + 0.09) / 3.1)


def test_a_week_that_is_cut_short_counts_for_its_time_and_is_no_best_week() -> None:
    found = study("llnl_t3d", noise=0.0, replications=5)
    at = {"policy": list(found.policies).index(GANG), "workload": 0, "batch": 64}
    found.data["period"][at] = WEEK / 7
    found.data["utilization"][at] = 1.0
    assert derived.best_week(found, GANG, FIFTEEN_MONTHS).values.max() == pytest.approx(0.98)
    month = derived.of_months(found, "utilization", GANG, FIFTEEN_MONTHS, 15)
    n = month.values.shape[1]
    assert month.values.mean() == pytest.approx((0.98 * (n - 1) + 1 / 7) / (n - 1 + 1 / 7))


def test_an_aggregate_slowdown_is_a_ratio_of_sums() -> None:
    """Two hours with 1,000 s and 100 s of runtimes and slowdowns of 1.1 and 5: (1,100 + 500) / 1,100."""

    def truth(metric: str, at: Point) -> float:
        if metric == "interactive_runtime_by_hour":
            return {9: 1000.0, 10: 100.0}.get(at["hour"], 0.0)
        if metric == "interactive_slowdown_by_hour":
            return {9: 1.1, 10: 5.0}.get(at["hour"], np.nan)
        return t3d(metric, at)

    found = study("llnl_t3d", truth=truth, noise=0.0, replications=5)
    sample = derived.grouped(found, "slowdown", HOUR, ("9", "10"), GANG, THREE_WEEKS)
    assert np.nanmean(sample.values) == pytest.approx(1600 / 1100)
    every = derived.grouped(found, "slowdown", HOUR, DAY, GANG, THREE_WEEKS)
    assert np.nanmean(every.values) == pytest.approx(1600 / 1100)


def test_the_demand_of_the_three_weeks_is_told_beside_the_sentence_on_95_percent() -> None:
    """334.0 M of 256 x 21 x 86,400 s are 71.9 %; a week of 95 % leaves 60 % to each of the two others."""
    demand = TESTERS["demand"](None, 0.95)
    assert "71.9%" in demand
    assert "60%" in demand
    (claim,) = [one for one in claims(true("llnl_t3d")) if one.id.endswith("95-percent-while-responsive")]
    assert demand in claim.evidence


def test_weeks_above_a_limit_are_those_of_their_own_run() -> None:
    found = study("llnl_t3d", noise=0.0, replications=5)
    policy = list(found.policies).index(GANG)
    at = {"policy": policy, "workload": 0, "batch": 64, "site_class": 1}
    found.data["class_slowdown"][at] = [1.17, 1.17, 1.17, 1.17, 3.0]
    found.data["utilization"][{"policy": policy, "workload": 0, "batch": 64}] = [0.98, 0.98, 0.98, 0.98, 0.9]
    sample = derived.in_full_weeks(found, GANG, FIFTEEN_MONTHS, 0.95)
    assert sample.values.ravel() == pytest.approx(1.17)
