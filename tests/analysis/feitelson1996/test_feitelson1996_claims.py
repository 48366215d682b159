"""Packing schemes: saturation, missing points, single loads, and the readings of alternative scheduling."""

from pathlib import Path
from typing import Any

import pytest
import xarray as xr
from fabricated import SATURATION, SCHEMES, dataset, truth
from papers import LOADS, PACKING

from analysis.claims import Claim
from analysis.feitelson1996.claims import claims
from analysis.feitelson1996.labels import AXES
from analysis.study import Study


def made(**altered: Any) -> xr.Dataset:
    """Return a fabricated dataset in which all is clear."""
    if not altered:
        return PACKING.true("packing").copy(deep=True)
    return dataset(**{"loads": LOADS, "noise": 0.002, "replications": 6, "batches": 8, **altered})


def on(data: xr.Dataset, **reading: str) -> dict[str, Claim]:
    """Return the claims on a dataset, by the part of the id after the section."""
    study = Study(data.squeeze(["workload", "machine"]), Path("results/packing"), reading, axes=AXES)
    return {claim.id.split("-", 2)[2]: claim for claim in claims(study)}


def verdicts(**altered: Any) -> dict[str, str]:
    """Return the verdicts on a fabricated dataset."""
    return {name: claim.verdict for name, claim in on(made(**altered)).items()}


def test_batches_of_one_replication_serve_as_far_as_they_look_independent() -> None:
    found = verdicts(replications=1, batches=30)
    # One interval in a hundred is withheld by mistake, and a claim needs up to 14 of them.
    assert set(found.values()) <= {"holds", "inconclusive"}
    assert sum(verdict == "holds" for verdict in found.values()) > 0.7 * len(found)


@pytest.mark.parametrize(
    ("name", "scheme", "factor"),
    [("over-90-sustained", "first_fit", 0.85), ("over-95-sustained", "buddy", 0.9)],
)
def test_saturation_below_a_threshold_refutes_that_it_is_sustained(
    name: str, scheme: str, factor: float
) -> None:
    def altered(m: str, s: str, *point: Any) -> float:
        return truth(m, s, *point) * (factor if (m, s) == ("utilization", scheme) else 1.0)

    assert verdicts(mean=altered, saturation=SATURATION | {scheme: 0.9})[name] == "fails"


def test_saturated_points_are_no_evidence() -> None:
    everywhere = verdicts(saturation=dict.fromkeys(SCHEMES, 0.3))
    engine_only = {"fig9-balance", "fig9-end"}
    of_logs = {"small-jobs", "powers-of-two", "larger-run-longer", "order-of-run-lengths"}
    # Saturation says something about the utilisation that a scheme sustains, and about nothing else.
    sustained = {"over-90-sustained", "over-95-sustained", "above-static-partitioning"}
    assert {everywhere[name] for name in sustained} == {"fails"}
    assert everywhere["load-based-not-over-90"] == "holds"
    rest = everywhere.keys() - engine_only - of_logs - sustained - {"load-based-not-over-90"}
    assert {everywhere[name] for name in rest} == {"inconclusive"}


@pytest.mark.parametrize("scheme", ["buddy", "best_fit"])
def test_unfinished_points_leave_claims_open(scheme: str) -> None:
    found = verdicts(unfinished=lambda s, load: s == scheme and load == 0.8)
    assert found["first-four-identical"] == ("inconclusive" if scheme == "best_fit" else "holds")
    assert found["buddy-migration-best"] == "inconclusive"
    assert found["buddy-leads-medium"] == ("inconclusive" if scheme == "buddy" else "holds")
    assert found["buddy-unifications-rare"] == ("inconclusive" if scheme == "buddy" else "holds")


def test_a_grid_without_the_points_leaves_claims_open() -> None:
    found = verdicts(loads=(0.6,), schemes=("first_fit", "buddy"), alternations=("exclusive",))
    assert found["first-four-identical"] == "inconclusive"
    assert found["alternation-helps-all"] == "inconclusive"
    assert found["migration-leads-highest"] == "inconclusive"


def test_a_trace_study_without_feature_axes_is_tested_as_far_as_it_goes() -> None:
    found = verdicts(features=False, name="packing_trace", workload="swf")
    assert found["load-based-worse"] == "holds"
    assert found["unification-no-effect"] == "inconclusive"


def test_better_than_all_means_at_medium_and_at_the_highest_loads() -> None:
    """An average over all loads would hide that buddy is worse than best fit up to 0.8."""

    def turning(m: str, s: str, load: float, *features: Any) -> float:
        factor = 1.0
        if (m, s) == ("slowdown", "buddy"):
            factor = truth(m, "best_fit", load, *features) / truth(m, s, load, *features)
            factor *= 1.07 if load <= 0.8 else 0.75
        return truth(m, s, load, *features) * factor

    loads = [load for load in LOADS if load >= 0.5]
    averages = [sum(turning("slowdown", s, load) for load in loads) for s in ("buddy", "best_fit")]
    assert averages[0] < averages[1]
    found = on(made(mean=turning))["buddy-migration-best"]
    assert found.verdict == "fails"
    (text,) = (line for line in found.evidence if line.startswith("The opposite holds"))
    assert "buddy / best fit at 0.5: 1.07" in text
    assert "buddy / best fit at 0.9" not in text


def test_no_utilization_is_sustained_by_counting_pes_twice() -> None:
    """Where two jobs may fill the same PEs, a batch above 1 shows more work than a machine can do."""
    data = made()
    data["utilization"].loc[{"alternation": "shared", "load": 0.97}] += 0.05
    sentences = {
        "over-90-sustained",
        "load-based-not-over-90",
        "over-95-sustained",
        "above-static-partitioning",
    }
    for alternation, verdicts_ in (("shared", {"inconclusive"}), ("exclusive", {"holds"})):
        found = on(data, alternation=alternation)
        assert {found[name].verdict for name in sentences} == verdicts_
    assert "38 % of the batches" in on(data, alternation="shared")["over-90-sustained"].evidence[1]


def test_precedence_matters_only_where_a_pe_serves_one_job() -> None:
    """Under each precedence, what is lost without alternation is compared with the one run that there is."""
    data = dataset(
        loads=LOADS, noise=0.002, replications=6, batches=8,
        readings={"precedence": ["arrival", "largest"]},
        exclude=lambda p: p["precedence"] == "largest" and p["alternation"] != "exclusive",
    )  # fmt: skip
    study = Study(data.squeeze(["workload", "machine"]), Path("results/packing"), axes=AXES)
    assert [one.title for one in study.readings.values()] == [
        "alternation=exclusive, precedence=arrival (default)",
        "precedence=largest",
        "alternation=shared",
        "alternation=none",
    ]
    found = {claim.id.split("-", 2)[2]: claim for claim in claims(study.readings["B"])}
    assert found["alternation-helps-all"].verdict == "holds"
    assert (
        found["alternation-helps-all"].reading
        == "alternation=exclusive, precedence=largest, unification=true"
    )
