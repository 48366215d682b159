"""Every claim of every paper holds, fails and stays open where it has to."""

from pathlib import Path

import pytest
from papers import (
    EXPERIMENTS,
    KEYS,
    alike,
    claims,
    false,
    made,
    of,
    paper,
    study,
    true,
    turned,
    verdicts,
    without_jobs,
)

import analysis
from analysis.paper import content
from analysis.study import Study

FILES = Path(analysis.__file__).parent
ALIKE = Path(__file__).parents[1] / "alike.yaml"

OF_THE_MODELS = {
    "4.2-fig9-balance", "4.2-fig9-end",
    "3.1-small-jobs", "3.1-powers-of-two", "3.2-larger-run-longer", "3.3-order-of-run-lengths",
    *(row["id"] for section in ("partitions", "lemmas", "examples")
      for row in content(FILES / "mccann1994/claims.yaml")[section]),
}  # fmt: skip
"""Claims on what models do, which depend on no dataset."""

SLIPS = {"6.5.1-eight-processors", "4.3.1-remainder-sizes"}
"""The text gives two jobs 8 of 12 processors each, and a section of 4 columns partitions of 5 × 6."""

BY_SATURATION = {
    "5.3.1-constant-interval-stable", "4.2-load-based-not-over-90", "5-above-static-partitioning",
    "4.2-load-based-slots-improve", "4.2-buddy-many-unifications", "4.2-over-90-sustained",
    "4.2-over-95-sustained", "feitelson1996-5-utilization",
}  # fmt: skip
"""Claims that tests of the papers' own make false."""

STUDIES = [*EXPERIMENTS, ("families", "families")]
EVERY = [
    (key, name, claim) for key in (*KEYS, "families") for name, rows in false(key).items() for claim in rows
]
CLAIMS = [pytest.param(*one, marks=[pytest.mark.exhaustive] if i % 4 else []) for i, one in enumerate(EVERY)]
SOME = [pytest.param(*one, marks=[pytest.mark.exhaustive] if i % 3 else []) for i, one in enumerate(STUDIES)]
"""Every fourth claim and every third experiment in the first tier."""


@pytest.mark.parametrize(("key", "name"), STUDIES)
def test_every_claim_holds_where_every_sentence_is_true(key: str, name: str) -> None:
    found = verdicts(key, true(key, name))
    every = {claim for one in false(key).values() for claim in one}
    known = {*false(key).get(name, every), *BY_SATURATION, *OF_THE_MODELS}
    assert set(false(key).get(name, ())) <= set(found) <= known, "each claim is tested both ways"
    wrong = {claim for claim, verdict in found.items() if verdict != "holds"}
    assert wrong <= SLIPS


@pytest.mark.parametrize(("key", "name", "claim"), CLAIMS)
def test_a_claim_fails_where_its_sentence_is_false(key: str, name: str, claim: str) -> None:
    data = made(key).false(name, false(key)[name][claim])
    assert verdicts(key, of(key, data))[claim] == "fails"


def held(key: str, found: Study) -> set[str]:
    """Return the findings that hold on a study."""
    some = [claim for claim in claims(key, found) if claim.verdict == "holds" and not claim.calibrated]
    return {claim.id.removeprefix(f"{key}-") for claim in some} - OF_THE_MODELS


@pytest.mark.parametrize("key", [*KEYS, "families"])
def test_a_claim_holds_on_policies_that_are_alike_or_turned_only_with_a_reason(key: str) -> None:
    studies = [name for paper, name in STUDIES if paper == key]
    found = set().union(*(held(key, change(key, name)) for name in studies for change in (alike, turned)))
    reasons = content(ALIKE).get(key, {})
    assert found == {claim for some in reasons.values() for claim in some}


@pytest.mark.parametrize(("key", "name"), STUDIES)
def test_no_claim_holds_without_the_jobs_it_speaks_of(key: str, name: str) -> None:
    assert held(key, without_jobs(key, name)) <= {"5.3.1-constant-interval-stable"}, "a chain has no jobs"


@pytest.mark.parametrize("file", sorted(FILES.glob("*/claims.yaml")), ids=lambda file: file.parent.name)
def test_no_paper_has_a_number_of_its_own_for_a_word_of_degree(file: Path) -> None:
    shared = content(FILES / "claims/words.yaml")
    names = {word["name"] for word in shared["words"]} | set(shared["limits"])
    assert not names & set(content(file)["names"])


@pytest.mark.parametrize(("key", "name"), SOME)
def test_without_runs_every_claim_is_open(key: str, name: str) -> None:
    found = claims(key, study(key, name, unfinished=lambda at: True))
    of_data = [claim for claim in found if claim.id.removeprefix(f"{key}-") not in OF_THE_MODELS]
    assert {claim.verdict for claim in of_data} <= {"inconclusive"}
    lines = [line for claim in of_data for line in claim.evidence[1:] if line[0] in "✓✗?"]
    assert all("not tested" in line or "no finished points" in line for line in lines)


@pytest.mark.parametrize(("key", "name"), STUDIES)
def test_claims_have_quotes_evidence_and_figures_that_exist(key: str, name: str) -> None:
    found = true(key, name)
    names = {picture.name for picture in paper(key).pictures(found, None)}
    for claim in claims(key, found):
        assert claim.id.startswith(f"{key}-")
        assert claim.source.count("“") == claim.source.count("”")
        assert "{" not in claim.source + claim.statement
        assert len(claim.evidence) >= 2
        assert set(claim.figures) <= names or len(found.readings) > 1
        assert claim.error is None or 0 < claim.error <= 0.05


def test_each_sentence_belongs_to_one_experiment() -> None:
    for key, n in (("mccann1994", 81), ("chiang2001", 70), ("jette1997", 40)):
        names = [claim for name in made(key).experiments for claim in verdicts(key, true(key, name))]
        assert len(names) == len(set(names)) == n
