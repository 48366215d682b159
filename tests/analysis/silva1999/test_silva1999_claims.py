"""Concurrent Gang: missing horizons, slight gains, loads, order on two machines, combined samples."""

from importlib import import_module

import numpy as np
from fabricated import change
from fabricated_silva1999 import Point, tasks
from papers import claims, study, verdicts

from analysis.silva1999.claims import SameOrder
from analysis.silva1999.labels import GANG, IDLE, IO, JOBS, KEY, PRIORITIES
from analysis.study.curve import DONE, Sample

MODULE = import_module("analysis.silva1999.claims")


def test_a_slight_gain_is_a_direction_where_a_significant_one_is_claimed() -> None:
    true = tasks
    slight = change(JOBS, 1.03 / 1.35, policy=PRIORITIES, workload=IO)
    found = study(KEY, "concurrent_gang", truth=lambda metric, at: slight(metric, at, true(metric, at)))
    (claim,) = [one for one in claims(KEY, found) if one.id == f"{KEY}-3.2-io-throughput"]
    assert claim.verdict == "direction holds"
    assert all("1.0" in line and " to " in line for line in claim.evidence[1:])


def test_of_several_loads_the_first_counts() -> None:
    true = tasks

    def bad_at_low_load(metric: str, at: Point) -> float:
        value = true(metric, at)
        return 0.4 * value if metric == JOBS and at["load"] == 0.9 and at["policy"] == PRIORITIES else value

    high_first = study(KEY, "concurrent_gang", truth=bad_at_low_load, load=(1.5, 0.9))
    low_first = study(KEY, "concurrent_gang", truth=bad_at_low_load, load=(0.9, 1.5))
    assert verdicts(KEY, high_first)["3.2-io-throughput"] == "holds"
    assert verdicts(KEY, low_first)["3.2-io-throughput"] == "fails"


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


def test_waits_are_for_each_second_of_computation() -> None:
    """Twice the waiting in twice the computation is no more of it."""
    true = tasks

    def doubled(metric: str, at: Point) -> float:
        twice = at["policy"] == PRIORITIES and (metric == "task_wait" or at.get("pe_state") == "busy")
        return (2.0 if twice else 1.0) * true(metric, at)

    assert verdicts(KEY, study(KEY, "concurrent_gang", truth=doubled))["3.2-communication-waits"] == "holds"


def test_gains_are_ratios_of_the_right_way_round() -> None:
    test = MODULE.Tester(study(KEY, "concurrent_gang", noise=1e-6))
    jobs, idle = (
        MODULE.TESTERS["compared"](test, metric, PRIORITIES, GANG, IO)[0] for metric in (JOBS, IDLE)
    )
    assert "1.350000 (1.3" in jobs.describe(0.95)
    assert "0.500000 (0.5" in idle.describe(0.95)
    assert jobs.holds(0.95)
    assert idle.holds(0.95)
