"""Silva and Scherson's sentences on datasets made so that they must hold, must fail, or must stay open."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fabricated_silva1999 import EXPERIMENTS, Point, dataset

from analysis.claims import Open
from analysis.silva1999.claims import TESTERS, SameOrder, claims, combined
from analysis.silva1999.labels import (
    AXES,
    COMMUNICATION,
    COMPUTATION,
    GANG,
    IDLE,
    IO,
    JOBS,
    KEY,
    PRIORITIES,
    ROUND_ROBIN,
    SYNCHRONIZATION,
    UNCOORDINATED,
)
from analysis.study import Study
from analysis.study.curve import DONE
from analysis.study.sample import Sample

MODULE = import_module("analysis.silva1999.claims")
PHASES = "2.1-phase-change-detected"

Change = Callable[[str, Point, float], float]
"""(metric, point, true mean) -> mean that makes a sentence false."""


def of(policy: str, workload: str, metric: str, factor: float, **where: Any) -> Change:
    """Multiply a metric of one scheduler under one workload (or all) by a factor, at some points only."""

    def changed(m: str, at: Point, value: float) -> float:
        here = m == metric and at["policy"] == policy and workload in ("", at["workload"])
        here = here and all(at.get(key) == wanted for key, wanted in where.items())
        return factor * value if here else value

    return changed


def steady(metric: str, at: Point, value: float) -> float:
    """Let a controller cost the less the larger the machine is."""
    if metric == "pe_time" and at["pe_state"] == "switching":
        return 0.1 * 64 * 4000.0
    return value


LATE = {"horizon": 40000.0}
"""Where one horizon of four is enough to refute what is said of a whole figure."""

FALSE: dict[str, dict[str, Change]] = {
    "concurrent_gang": {
        "3.2-io-throughput": of(PRIORITIES, IO, JOBS, 0.9, **LATE),
        "3.2-io-idle-time": of(PRIORITIES, IO, IDLE, 1.96, **LATE),
        "3.2-io-priorities-first": of(PRIORITIES, IO, JOBS, 0.92, **LATE),
        "3.2-io-round-robin-between": of(ROUND_ROBIN, IO, IDLE, 1.5, **LATE),
        "3.2-computation-slightly-better": of(PRIORITIES, COMPUTATION, JOBS, 1.05, **LATE),
        "3.2-computation-idle-time": of(PRIORITIES, COMPUTATION, IDLE, 1.5, **LATE),
        "3.2-computation-idle-slots-filled": of(PRIORITIES, COMPUTATION, "pe_time", 1.5, pe_state="empty"),
        "3.2-communication-throughput": of(PRIORITIES, COMMUNICATION, JOBS, 0.93, **LATE),
        "3.2-communication-idle-time": of(PRIORITIES, COMMUNICATION, IDLE, 1.22, **LATE),
        "3.2-communication-waits": of(PRIORITIES, COMMUNICATION, "task_wait", 3, **LATE),
        "3.2-communication-gang-over-uncoordinated": of(UNCOORDINATED, COMMUNICATION, JOBS, 1.2, **LATE),
        "3.2-communication-even-better": of(UNCOORDINATED, COMMUNICATION, IDLE, 0.5, **LATE),
        "3.2-synchronization-throughput": of(PRIORITIES, SYNCHRONIZATION, JOBS, 0.93, **LATE),
        "3.2-synchronization-idle-time": of(PRIORITIES, SYNCHRONIZATION, IDLE, 1.22, **LATE),
        "3.2-synchronization-waits": of(PRIORITIES, SYNCHRONIZATION, "task_wait", 3, **LATE),
        "3.2-synchronization-gang-over-uncoordinated": of(UNCOORDINATED, SYNCHRONIZATION, IDLE, 0.5, **LATE),
        "3.2-synchronization-even-better": of(PRIORITIES, SYNCHRONIZATION, JOBS, 0.5, **LATE),
        "3.2-synchronization-round-robin-last": of(ROUND_ROBIN, SYNCHRONIZATION, JOBS, 1.3, **LATE),
        "3.2-32-like-16": of(PRIORITIES, IO, JOBS, 0.7, machine="torus4x8", **LATE),
        "0-in-particular-io": of(PRIORITIES, COMPUTATION, IDLE, 0.3, **LATE),
        "4-utilization": of(PRIORITIES, COMMUNICATION, "utilization", 0.5, **LATE),
        "4-priorities-smarter": of(ROUND_ROBIN, COMMUNICATION, IDLE, 0.5, **LATE),
        "2.2-only-pes-concerned": of(PRIORITIES, IO, "pes_told", 8),
    },
    "concurrent_gang_scale": {
        "2.2-clock-scales": of(
            PRIORITIES, "", "pe_time", 30, central_cost=0.0, processors=1024, pe_state="switching"
        ),
        "2.2-clock-keeps-utilization": of(
            PRIORITIES, "", "utilization", 0.8, central_cost=0.0, processors=4096
        ),
        "2.2-central-grows": steady,
        "2.2-central-limits-utilization": of(
            PRIORITIES, "", "utilization", 3, central_cost=0.002, processors=4096
        ),
    },
}
"""Experiment -> claim -> what makes it false."""

CLAIMS = [(name, claim) for name, found in FALSE.items() for claim in found]


@pytest.fixture(autouse=True)
def _no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the claim that needs the kernels: `test_silva1999_drawings` has it."""
    monkeypatch.setattr(MODULE, "phase_changes", lambda measures: (Open("changes of phase", "not run"),))


def study(name: str, **made: Any) -> Study:
    return Study(dataset(name, **made), Path("results") / name, axes=AXES).under(AXES)


def verdicts_of(found: Study) -> dict[str, str]:
    verdicts = {claim.id.removeprefix(f"{KEY}-"): claim.verdict for claim in claims(found)}
    return {name: verdict for name, verdict in verdicts.items() if name != PHASES}


@cache
def truth(name: str) -> dict[str, str]:
    return verdicts_of(study(name))


@pytest.mark.parametrize("name", FALSE)
def test_every_claim_holds_where_every_sentence_is_true(name: str) -> None:
    assert {claim: verdict for claim, verdict in truth(name).items() if verdict != "holds"} == {}


@pytest.mark.parametrize("name", FALSE)
def test_every_claim_is_tested_both_ways(name: str) -> None:
    assert set(truth(name)) == set(FALSE[name])


@pytest.mark.parametrize(("name", "claim"), CLAIMS)
def test_a_claim_fails_where_its_sentence_is_false(name: str, claim: str) -> None:
    changed, true = FALSE[name][claim], EXPERIMENTS[name]["truth"]
    few = {"horizon": (10000.0, 40000.0)} if "horizon" in EXPERIMENTS[name]["grid"] else {}
    found = study(name, truth=lambda metric, at: changed(metric, at, true(metric, at)), **few)
    assert verdicts_of(found)[claim] == "fails"


@pytest.mark.parametrize("name", FALSE)
def test_nothing_is_said_of_what_has_not_run(name: str) -> None:
    found = claims(study(name, unfinished=lambda at: True))
    assert {claim.verdict for claim in found} == {"inconclusive"}
    assert all("not tested" in line for claim in found for line in claim.evidence[1:] if line[0] in "✓✗?")


def test_one_horizon_that_is_missing_leaves_its_figure_open() -> None:
    half = study("concurrent_gang", unfinished=lambda at: at["horizon"] == 30000.0)
    assert verdicts_of(half)["3.2-io-throughput"] == "inconclusive"


def test_a_slight_gain_is_no_significant_one_and_evidence_says_so() -> None:
    true = EXPERIMENTS["concurrent_gang"]["truth"]
    slight = of(PRIORITIES, IO, JOBS, 1.03 / 1.15)
    found = study("concurrent_gang", truth=lambda metric, at: slight(metric, at, true(metric, at)))
    (claim,) = [one for one in claims(found) if one.id == f"{KEY}-3.2-io-throughput"]
    assert claim.verdict == "fails"
    assert "If any gain counts: holds; 4 comparisons: 4 hold, 0 fail, 0 open" in claim.evidence


def test_every_claim_names_figures_that_there_are() -> None:
    from analysis.silva1999 import PAPER

    for name in FALSE:
        found = study(name)
        names = {picture.name for picture in PAPER.pictures(found, None)}
        assert {figure for claim in claims(found) for figure in claim.figures} <= names


def test_a_grid_of_16_pes_is_not_asked_of_32() -> None:
    found = verdicts_of(study("concurrent_gang", machine=("torus4x4",)))
    assert "3.2-32-like-16" not in found
    assert found["3.2-io-throughput"] == "holds"


def test_of_several_loads_the_first_counts() -> None:
    true = EXPERIMENTS["concurrent_gang"]["truth"]

    def bad_at_low_load(metric: str, at: Point) -> float:
        value = true(metric, at)
        return 0.5 * value if metric == JOBS and at["load"] == 0.9 and at["policy"] == PRIORITIES else value

    high_first = study("concurrent_gang", truth=bad_at_low_load, load=(1.5, 0.9))
    low_first = study("concurrent_gang", truth=bad_at_low_load, load=(0.9, 1.5))
    assert verdicts_of(high_first)["3.2-io-throughput"] == "holds"
    assert verdicts_of(low_first)["3.2-io-throughput"] == "fails"


def sample(*values: float) -> Sample:
    return Sample(np.array(values)[:, None], DONE)


def test_same_order_asks_for_the_same_side_or_for_hardly_any_difference() -> None:
    one = sample(*np.linspace(0.99, 1.01, 9))
    ahead, behind = sample(*np.linspace(1.18, 1.22, 9)), sample(*np.linspace(0.78, 0.82, 9))
    more, less = sample(*np.linspace(1.012, 1.032, 9)), sample(*np.linspace(0.97, 0.99, 9))
    assert SameOrder("", ((ahead, one), (ahead, one)), 0.05).holds(0.95)
    assert SameOrder("", ((ahead, one), (behind, one)), 0.05).fails(0.95)
    assert SameOrder("", ((more, one), (less, one)), 0.05).holds(0.95)
    assert not SameOrder("", ((more, one), (less, one)), 0.05).fails(0.95)
    open_ = SameOrder(
        "", ((ahead, one), (sample(0.5, 1.0, 1.7, 1.1, 0.9), sample(1.0, 1.0, 1.0, 1.0, 1.0))), 0.05
    )
    assert not open_.holds(0.95)
    assert not open_.fails(0.95)
    assert "1.20" in SameOrder("", ((ahead, one), (ahead, one)), 0.05).describe(0.95)


def test_what_is_combined_keeps_the_worse_state() -> None:
    assert combined(sample(6.0), sample(3.0), np.divide).values.item() == 2.0
    assert combined(sample(6.0), Sample.absent("unfinished"), np.divide).reason == "unfinished"


def test_waits_are_for_each_second_of_computation() -> None:
    """Twice the waiting in twice the computation is no more of it."""
    true = EXPERIMENTS["concurrent_gang"]["truth"]

    def doubled(metric: str, at: Point) -> float:
        twice = at["policy"] == PRIORITIES and (metric == "task_wait" or at.get("pe_state") == "busy")
        return (2.0 if twice else 1.0) * true(metric, at)

    assert verdicts_of(study("concurrent_gang", truth=doubled))["3.2-communication-waits"] == "holds"


def test_gains_are_ratios_of_the_right_way_round() -> None:
    test = MODULE.Tester(study("concurrent_gang", noise=1e-6))
    jobs, idle = (TESTERS["gains"](test, metric, PRIORITIES, GANG, IO)[0] for metric in (JOBS, IDLE))
    assert "1.150000 ±" in jobs.describe(0.95)
    assert "0.500000 ±" in idle.describe(0.95)
    assert jobs.holds(0.95)
    assert idle.holds(0.95)
