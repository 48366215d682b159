"""The study across families from the command's face for notebooks: planned, run in small, and read."""

from pathlib import Path

import pytest

import sweep
from analysis.families.contestants import Field
from analysis.registry import opened

SMALL = {
    "policy": ["easy", "fcfs", "lxf_w_backfill", "buddy", "equi_plus"],
    "workload": ["lublin2003"],
    "load": [0.5, 0.7],
    "level": [None, 2],
    "switch_cost": [0, 20],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a small part of the study."""
    output = tmp_path_factory.mktemp("families")
    sizes = {"replications": 5, "batches": 2, "batch_size": 100}
    sweep.Study("families", grid=SMALL, output=output, executor="serial", **sizes).run(progress=False)
    return output


@pytest.mark.exhaustive
def test_a_small_part_is_run_and_read(folder: Path) -> None:
    study, paper = opened(folder)
    assert paper.key == "families"
    field = Field(study)
    labels = {one.label for one in field.all}
    assert {"EASY", "Buddy ∞", "Buddy 2", "Buddy 2 + backfilling", "EQUI+", "EQUI+, Downey"} <= labels
    assert {one.label for one in field.costly} == {"Buddy ∞", "Buddy 2 + backfilling"}
    assert {claim.verdict for claim in paper.claims(study)} <= {"holds", "fails", "inconclusive"}
    assert paper.tables(study)
    assert paper.summary(study)
