"""Chiang and Vernon's sentences on datasets made so that they must hold, must fail, or must stay open."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from fabricated_chiang2001 import EXPERIMENTS, Point, dataset

from analysis.chiang2001.claims import claims
from analysis.chiang2001.labels import AXES, FEBRUARY, JANUARY, LONGER, LONGEST, MARCH, NOVEMBER, RANGES
from analysis.study import Study

Change = Callable[[str, Point, float], float]
"""(metric, point, true mean) -> mean that makes a sentence false."""


def change(
    where: Callable[[Point], bool], factor: float = 1.0, plus: float = 0.0, metric: str = ""
) -> Change:
    def changed(m: str, at: Point, value: float) -> float:
        return factor * value + plus if where(at) and metric in ("", m) else value

    return changed


def of(policy: str, factor: float, metric: str = "", month: str = "", ranges: tuple[str, ...] = ()) -> Change:
    def where(at: Point) -> bool:
        return (
            at["policy"] == policy
            and month in ("", at["workload"])
            and (not ranges or at.get("runtime_range") in ranges)
        )

    return change(where, factor, 0.0, metric)


def everywhere(factor: float, metric: str, plus: float = 0.0) -> Change:
    return change(lambda at: True, factor, plus, metric)


def long_jobs_in_march(at: Point) -> bool:
    return at["policy"] == "ncsa_lsf" and at["workload"] == MARCH and at.get("job_class", "").startswith("lt")


def wild(at: Point) -> bool:
    return at["policy"] == "easy" and at["workload"] in (NOVEMBER, JANUARY)


LSF, PRIORITY, LXF_W, SJF = "ncsa_lsf", "priority_backfill", "lxf_w_backfill", "sjf_backfill"
LXF, EQ, EQ_50H = "lxf_w_immediate", "eq_spatial_5m", "eq_spatial_5m_50h"
SHORT = (RANGES[0],)

FALSE: dict[str, dict[str, Change]] = {
    "o2k_backfill": {
        "2.1-reservations-idle": of(LSF, 2, "held_idle", MARCH),
        "4.1-average-waits": of(LSF, 0.01, "wait_by_class"),
        "4.1-maximum-waits": of(LSF, 10, "wait_max", MARCH),
        "4.1-short-jobs-wait-as-long": of(LSF, 0.2, "wait", MARCH, SHORT),
        "4.1-largest-waits-scattered": of(LSF, 0.1, "wait_max", JANUARY, (LONGER[2],)),
        "4.1-short-jobs-over-50-hours": of(LSF, 0.1, "wait_max", JANUARY, SHORT),
        "4.1-month-to-month": change(wild, 20, metric="wait"),
        "4.1-month-to-month-relative": change(wild, 3, metric="wait_p95"),
        "4.1-lt-jobs-in-march": change(long_jobs_in_march, 0.3, metric="wait_by_class"),
        "4.2-fcfs-and-priority-similar": of(PRIORITY, 1.5, "wait_max", MARCH),
        "4.2-lower-average-than-lsf": of(LSF, 0.2, "wait", MARCH),
        "4.2-lower-maximum-than-lsf": of(LSF, 0.2, "wait_max", MARCH),
        "4.2-lower-95-percentile-than-lsf": of(LSF, 0.2, "wait_p95", MARCH),
        "4.3-maximum-waits-of-short-jobs": of(SJF, 0.1, "wait_max", MARCH, SHORT),
        "4.2-shorter-first-outperforms": of(SJF, 2, "wait", MARCH),
        "4.2-except-maximum-wait": of(LXF_W, 0.5, "wait_max"),
        "4.2-sjf-slowdown-in-february": of(SJF, 2.5, "slowdown", FEBRUARY),
        "4.2-sjf-mostly-best": of(LXF_W, 0.5),
        "4.2-sjf-starvation": of(SJF, 0.5, "wait_max", FEBRUARY),
        "4.2-lxf-w-significantly-better": of(LXF_W, 1.3, "wait_p95", MARCH),
        "1-favouring-short-jobs": of(SJF, 1.5, "slowdown"),
        "5-expansion-factor": of(LXF_W, 2, "wait_max", MARCH),
    },
    "o2k_immediate": {
        "4.3-improves-slowdown": of(LXF, 5, "slowdown", MARCH),
        "4.3-no-harm": of(LXF, 1.5, "wait_max", MARCH),
        "4.3-lower-95-percentile-in-two": of(LXF, 1.05, "wait_p95"),
        "4.3-short-jobs-among-the-longest-waits": of(LXF_W, 0.1, "wait_max", MARCH, SHORT),
        "4.3-better-than-soon": of("lxf_w_soon", 0.2, "slowdown", MARCH),
        "4.3-similar-for-longer-jobs": of(LXF, 2, "slowdown", MARCH, (LONGER[1],)),
        "4.3-key-conclusion": of(LXF, 1.5, "slowdown", MARCH, (LONGEST,)),
        "5-immediate-service": of(LXF, 1.5, "slowdown", "", (LONGEST,)),
    },
    "o2k_equipartition": {
        "4.4-interval-hardly-matters": of("eq_spatial_0m", 1.2, "wait_max", MARCH),
        "4.4-placed-at-once": of(EQ, 0.9, "started_at_once", MARCH),
        "4.4-extreme-maximum-wait": of(EQ, 0.5, "wait_max", MARCH),
        "4.4-50-hours-reduce-the-maximum": of(EQ_50H, 9, "wait_max", MARCH),
        "4.4-50-hours-cost": of(EQ_50H, 0.5, "wait_p95", MARCH),
        "4.4-lower-95-percentile": of(EQ, 3, "wait_p95", MARCH),
        "4.4-backfill-competitive": of(EQ, 0.5, "wait", MARCH),
        "4.4-one-to-ten-minutes": of(EQ, 20, "slowdown", MARCH, (LONGER[0],)),
        "4.4-high-load-months": of(LXF, 5, "wait_p95", NOVEMBER),
        "1-further-improvement": of(EQ, 2, "wait_p95"),
        "5-95-percentile": of(EQ, 2, "wait_p95", "", (LONGEST,)),
        "5-backfill-competitive": of(EQ, 0.5, "wait"),
        "5-longest-running-jobs": of(EQ, 0.5, "wait_max", "", (LONGEST,)),
    },
    "o2k_workload": {
        "3-table-4-number-of-jobs": everywhere(1.0, "number_of_jobs", 1.0),
        "3-table-4-processor-demand": everywhere(1.5, "processor_demand"),
        "3-table-4-memory-demand": everywhere(1.5, "memory_demand"),
        "3-large-jobs-demand": everywhere(0.8, "processor_demand"),
        "3-aggregate-demand": everywhere(0.8, "processor_demand"),
        "3-demand-of-mt-lj": everywhere(1.5, "processor_demand"),
        "3-demand-of-lt-mj": everywhere(1.5, "processor_demand"),
        "2.4-over-an-hour-ends-in-a-minute": everywhere(2.0, "over_an_hour_ends_in_a_minute"),
        "2.4-over-ten-hours-ends-in-a-minute": everywhere(3.0, "over_ten_hours_ends_in_a_minute"),
        "2.4-over-an-hour-ends-in-a-minute-spread": everywhere(0.0, "over_an_hour_ends_in_a_minute", 0.2),
        "2.4-over-ten-hours-ends-in-a-minute-spread": everywhere(0.0, "over_ten_hours_ends_in_a_minute", 0.2),
        "4.4-room-in-memory": everywhere(5.0, "must_wait_for_memory"),
        "3-under-a-minute": everywhere(2.0, "under_a_minute"),
        "3-lt-short-enough-for-st": everywhere(0.5, "short_enough_for_st"),
        "3-memory-under-a-tenth": everywhere(2.0, "memory_under_tenth"),
        "3-under-a-minute-below-1-gb": everywhere(0.9, "under_a_minute_below_1gb"),
        "3-many-serial-jobs": everywhere(0.1, "serial_share"),
        "3-many-powers-of-two": everywhere(0.1, "power_of_two_share"),
        "3-serial-jobs-over-512-mb": everywhere(0.5, "serial_over_512mb"),
        "3-longer-jobs-are-wider": everywhere(-1.0, "runtime_size_correlation"),
        "3-shorter-jobs-use-less-memory": everywhere(-1.0, "runtime_used_memory_correlation"),
        "3-wider-jobs-request-less-memory": everywhere(-1.0, "memory_size_correlation"),
        "3-serial-jobs-use-more-memory": everywhere(0.1, "serial_memory_ratio"),
        "3-three-periods": everywhere(-1.0, "arrivals", 25.0),
    },
}
"""Experiment -> claim -> what makes it false."""

FEW = (NOVEMBER, JANUARY, FEBRUARY, MARCH)
"""Months that sentences name."""

CLAIMS = [(name, claim) for name, found in FALSE.items() for claim in found]


def study(name: str, **made: Any) -> Study:
    return Study(dataset(name, **made).squeeze("machine"), Path("results") / name, axes=AXES)


@cache
def verdicts(name: str) -> dict[str, str]:
    return {claim.id.removeprefix("chiang2001-"): claim.verdict for claim in claims(study(name))}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_claim_holds_where_every_sentence_is_true(name: str) -> None:
    assert {claim: verdict for claim, verdict in verdicts(name).items() if verdict != "holds"} == {}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_claim_is_tested_both_ways(name: str) -> None:
    assert set(verdicts(name)) == set(FALSE[name])


@pytest.mark.parametrize(("name", "claim"), CLAIMS)
def test_a_claim_fails_where_its_sentence_is_false(name: str, claim: str) -> None:
    changed, true = FALSE[name][claim], EXPERIMENTS[name]["truth"]
    found = study(name, months=FEW, truth=lambda metric, at: changed(metric, at, true(metric, at)))
    verdict = {one.id.removeprefix("chiang2001-"): one.verdict for one in claims(found)}
    assert verdict[claim] == "fails"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_nothing_is_said_of_what_has_not_run(name: str) -> None:
    found = claims(study(name, unfinished=lambda at: True))
    assert {claim.verdict for claim in found} == {"inconclusive"}
    assert all("not tested" in line for claim in found for line in claim.evidence[1:] if line[0] in "✓✗?")


def test_a_month_that_is_not_there_leaves_its_claims_open() -> None:
    found = {c.id: c for c in claims(study("o2k_equipartition", months=("o2k_1999_10", "o2k_1999_11")))}
    for claim in ("4.4-extreme-maximum-wait", "4.4-high-load-months"):
        assert found[f"chiang2001-{claim}"].verdict == "inconclusive"
    assert found["chiang2001-4.4-lower-95-percentile"].verdict == "holds"


def test_one_month_of_each_kind_gives_no_verdict_by_chance() -> None:
    """A single replication has no interval, so nothing can be decided."""
    found = claims(study("o2k_immediate", replications=1))
    assert {claim.verdict for claim in found} == {"inconclusive"}


def test_readings_are_tested_apart() -> None:
    both = study("o2k_immediate", ties=["instant", "event"])
    assert {letter: one.label for letter, one in both.readings.items()} == {"A": "default", "B": "ties=event"}
    assert {claim.reading for one in both.readings.values() for claim in claims(one)} == {
        "default",
        "ties=event",
    }
