"""The rule that turns intervals into verdicts."""

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.claims import SMALLEST_ERROR, Claim, Fact, Open, Within, judge, rows, shown, smallest_error
from analysis.claims.comparisons import turns
from analysis.claims.counting import beyond_chance
from sweep.statistics import Interval


def estimate(mean: float, half_width: float):
    """Return a measure whose width grows with the confidence, as Student's intervals do."""

    def measure(confidence: float) -> Interval:
        factor = math.log(1 - confidence) / math.log(0.05)
        return Interval(mean, half_width * factor, 0.0, 30, "batch means", math.isnan(half_width))

    return measure


@pytest.mark.parametrize(
    ("mean", "half_width", "verdict"),
    [
        (0.8, 0.1, "holds"),
        (1.2, 0.1, "fails"),
        (0.95, 0.1, "inconclusive"),
        (0.8, math.nan, "inconclusive"),  # a withheld interval, however clear the mean seems
        (math.nan, math.nan, "inconclusive"),
        (1.0, 0.0, "fails"),  # equal is not less
    ],
)
def test_one_sided(mean: float, half_width: float, verdict: str) -> None:
    assert judge([Within("a / b", estimate(mean, half_width), high=1.0)], 0.95)[0] == verdict


@pytest.mark.parametrize(
    ("mean", "half_width", "verdict"),
    [
        (1.0, 0.05, "holds"),
        (1.0, 0.2, "inconclusive"),  # wide intervals never show that two things are equal
        (1.3, 0.1, "fails"),
        (0.7, 0.1, "fails"),
        (1.1, 0.05, "inconclusive"),
    ],
)
def test_equivalence(mean: float, half_width: float, verdict: str) -> None:
    assert judge([Within("a / b", estimate(mean, half_width), 0.9, 1.1)], 0.95)[0] == verdict


@pytest.mark.parametrize(
    ("limits", "equal", "mean", "verdict", "side"),
    [
        ({"low": 1.2}, 1.0, 1.4, "holds", ""),
        ({"low": 1.2}, 1.0, 1.1, "direction holds", "below"),
        ({"high": 1 / 1.2}, 1.0, 0.9, "direction holds", "below"),
        ({"low": 1.0, "high": 1.2}, 1.0, 1.5, "direction holds", "above"),  # "slightly"
        ({"low": 0.8, "high": 1.0}, 1.0, 0.5, "direction holds", "above"),
        ({"low": 0.1}, 0.0, 0.05, "direction holds", "below"),
        ({"low": 1.2}, 1.0, 0.9, "fails", ""),
        ({"low": 1.2}, 1.0, 1.01, "fails", ""),  # its direction is open, its size refuted
        ({"low": 1.2}, 1.0, 1.19, "inconclusive", ""),
        ({"low": 0.8, "high": 1.25}, 1.0, 1.5, "fails", ""),  # "similar" has no direction
        ({"low": 1.2}, None, 1.1, "fails", ""),  # a level has none either
        ({"low": 1.0}, 1.0, 0.9, "fails", ""),
    ],
)
def test_a_size_beyond_its_margin_leaves_the_direction(
    limits: dict[str, float], equal: float | None, mean: float, verdict: str, side: str
) -> None:
    part = Within("a / b", estimate(mean, 0.02), **limits, equal=equal)
    for parts in ([part], [part, Fact("so", is_so=True)]):
        found, evidence = judge(parts, 0.95)
        assert found == verdict
        assert evidence[0].startswith(f"Direction holds, size {side} the margin") == bool(side)
        assert (evidence[1][0] == "≈") == bool(side)
    assert judge([part, Fact("wrong", is_so=False)], 0.95)[0] == "fails"


def test_one_false_part_refutes_only_if_it_survives_the_number_of_parts() -> None:
    good = Within("good", estimate(0.5, 0.1), high=1.0)
    clearly_bad = Within("bad", estimate(2.0, 0.1), high=1.0)
    barely_bad = Within("bad", estimate(1.11, 0.1), high=1.0)
    assert judge([barely_bad], 0.95)[0] == "fails"
    assert judge([good] * 9 + [barely_bad], 0.95)[0] == "inconclusive"
    assert judge([good] * 9 + [clearly_bad], 0.95)[0] == "fails"
    assert judge([good] * 10, 0.95)[0] == "holds"


def test_open_parts_leave_a_claim_open_but_do_not_protect_it() -> None:
    good, bad = Fact("good", is_so=True), Fact("bad", is_so=False)
    missing = Open("missing", "saturated")
    assert judge([good, missing], 0.95)[0] == "inconclusive"
    assert judge([bad, missing], 0.95)[0] == "fails"
    assert judge([], 0.95)[0] == "inconclusive"


@pytest.mark.parametrize(
    ("so", "not_so", "unknown", "verdict"),
    [(4, 3, 0, "holds"), (3, 4, 0, "fails"), (3, 3, 1, "inconclusive"), (0, 3, 4, "inconclusive")],
)
def test_at_least_four_of_seven(so: int, not_so: int, unknown: int, verdict: str) -> None:
    parts = [Fact("", is_so=True)] * so + [Fact("", is_so=False)] * not_so + [Open("", "")] * unknown
    assert judge(parts, 0.95, needed=4)[0] == verdict


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0, 5)), min_size=1, max_size=6), st.floats(0.5, 0.999))
def test_verdicts_follow_from_intervals(points: list[tuple[float, float]], confidence: float) -> None:
    """A claim and its opposite never hold both, and more confidence never turns a verdict round."""
    below = [Within("", estimate(mean, half), high=0.0) for mean, half in points]
    above = [Within("", estimate(mean, half), low=0.0) for mean, half in points]
    assert not judge(below, confidence)[0] == judge(above, confidence)[0] == "holds"
    before, after = judge(below, confidence)[0], judge(below, (1 + confidence) / 2)[0]
    assert after in (before, "inconclusive")


def test_the_interval_that_decided_is_shown() -> None:
    """A comparison beyond the limit at 95 % may stay open for the number of comparisons: both are shown."""
    barely_bad = Within("bad", estimate(1.11, 0.1), high=1.0)
    verdict, evidence = judge([barely_bad] * 10, 0.95)
    assert verdict == "inconclusive"
    # One-sided: what an interval leaves out on both sides is twice the error.
    alone, corrected = (0.1 * math.log(2 * error) / math.log(0.05) for error in (0.05, 0.005))
    shown = (
        f"1.110 ± {alone:.3f} (required: below 1, one-sided); ± {corrected:.2f} corrected for 10 comparisons"
    )
    assert evidence[1] == f"? bad: {shown}"
    assert 1.11 - alone > 1 > 1.11 - corrected


@pytest.mark.parametrize(("mean", "n_parts"), [(0.8, 1), (0.8, 5), (1.3, 1), (1.3, 5)])
def test_the_smallest_error_is_where_the_verdict_would_turn(mean: float, n_parts: int) -> None:
    parts = [Within("a / b", estimate(mean, 0.1), high=1.0)] * n_parts
    error = smallest_error(parts, 0.95)
    verdict = judge(parts, 0.95)[0]
    # The interval is 0.1 wide at 5 % and grows with the error's logarithm; one-sided it reaches 1 at:
    expected = 0.5 * 0.05 ** (abs(mean - 1) / 0.1) * (n_parts if verdict == "fails" else 1)
    assert error == pytest.approx(expected, rel=0.02)
    assert judge(parts, 1 - 1.03 * error)[0] == verdict
    assert judge(parts, 1 - 0.97 * error)[0] == "inconclusive"


def test_no_verdict_has_no_error_and_facts_have_the_smallest() -> None:
    assert smallest_error([Within("", estimate(0.95, 0.1), high=1.0)], 0.95) is None
    assert smallest_error([Fact("", is_so=True)], 0.95) == SMALLEST_ERROR


def test_a_sentence_turns_at_a_load_only_where_chance_over_all_loads_is_ruled_out() -> None:
    pair = SimpleNamespace(ratio=estimate(1.11, 0.1))
    sample = SimpleNamespace(against=lambda other: pair)
    curve: Any = SimpleNamespace(confidence=0.95, place=float, sample=lambda place: sample)
    for n_loads, n_turns in ((1, 1), (10, 0)):
        loads: Any = SimpleNamespace(choose=lambda curves, n=n_loads: (np.linspace(0.1, 0.9, n), ""))
        assert len(turns("ratio", curve, curve, loads, 1, high=1.0)) == n_turns


def test_verdicts_beyond_chance_hold_the_error_over_all_claims_together() -> None:
    """Of thirty sentences of which none is true, some verdict errs in 5 % of the studies and not in 79 %."""
    errors = [0.04, 0.0016, 1e-6] + [None] * 27
    claims = [Claim(f"c{i}", "", "", "holds", (), "", error) for i, error in enumerate(errors)]
    facts = [replace(claim, id=f"of {claim.id}", is_fact=True) for claim in claims]
    assert beyond_chance([*claims, *facts], 0.95) == {"c1", "c2"}, "only findings may err"
    random = np.random.default_rng(1)
    chance = random.random((20_000, 30))  # an error of a true hypothesis is uniform
    wrong = [
        bool(beyond_chance([Claim(str(i), "", "", "holds", (), "", e) for i, e in enumerate(row)], 0.95))
        for row in chance[:2000]
    ]
    assert 0.03 < np.mean(wrong) < 0.07
    assert (chance < 0.05).any(axis=1).mean() > 0.7


@pytest.mark.parametrize(
    ("mean", "half_width", "text"),
    [(12.3456, 1.2, "12.3 ± 1.2"), (0.00123, 0.00002, "0.001230 ± 0.000020"), (1500.4, 120.0, "1500 ± 120")],
)
def test_digits_follow_the_width(mean: float, half_width: float, text: str) -> None:
    assert shown(estimate(mean, half_width)(0.95)) == text


def test_fewer_parts_than_a_sentence_asks_for_decide_nothing():
    no, yes = Fact("no", False), Fact("yes", True)
    assert judge([no], 0.95, needed=2)[0] == "inconclusive"
    assert judge([yes, no], 0.95, needed=4)[0] == "inconclusive"
    assert judge([yes, no, no], 0.95, needed=2)[0] == "fails"
    assert "1 hold, 1 fail, 0 inconclusive; at least 4 required" in judge([yes, no], 0.95, needed=4)[1][0]


@pytest.mark.parametrize(("asked", "needed"), [(None, None), (2, 2), ("most", 3)])
def test_most_comparisons_are_more_than_half_of_them(asked: Any, needed: int | None) -> None:
    row = {"id": "a", "source": "", "statement": "", "test": {"four": {}}, "needed": asked}
    tester: Any = SimpleNamespace(claim=lambda *_, needed, **more: needed)
    assert rows._judged(tester, {"four": lambda test: [Fact("", True)] * 4}, row, {}) == needed
