"""Months of the Origin 2000: months that are missing, one replication, readings."""

from papers import claims, paper, study

from analysis.chiang2001.labels import KEY


def test_a_month_that_is_not_there_leaves_its_claims_open() -> None:
    found = {
        c.id: c for c in claims(KEY, study(KEY, "o2k_equipartition", workload=("o2k_1999_10", "o2k_1999_11")))
    }
    for claim in ("4.4-extreme-maximum-wait", "4.4-high-load-months"):
        assert found[f"chiang2001-{claim}"].verdict == "inconclusive"
    assert found["chiang2001-4.4-lower-95-percentile"].verdict == "holds"


def test_one_month_of_each_kind_gives_no_verdict_by_chance() -> None:
    """A single replication has no interval, so nothing can be decided."""
    found = claims(KEY, study(KEY, "o2k_immediate", replications=1))
    assert {claim.verdict for claim in found} == {"inconclusive"}


def test_readings_are_tested_apart() -> None:
    both = study(KEY, "o2k_immediate", ties=["instant", "event"])
    assert {letter: one.label for letter, one in both.readings.items()} == {"A": "default", "B": "ties=event"}
    assert {claim.reading for one in both.readings.values() for claim in paper(KEY).claims(one)} == {
        "default",
        "ties=event",
    }
