"""docs/partitioning.md says what the claims say, under the readings that the models took."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import sweep
from analysis.mccann1994 import PAPER
from sweep.config import compose
from sweep.plan import plan

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "partitioning.md").read_text()
EXACT = ("efficiency_preservation", "fairness", "birth_death", "memory_examples")
"""Experiments without chance in them: they run in seconds."""


def table(heading: str) -> list[list[str]]:
    """Return the cells of the first table under a heading, without its head."""
    section = PAGE.split(f"# {heading}\n")[1]
    rows = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    assert rows
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows[0].splitlines()[2:]]


def told() -> dict[str, dict[str, str]]:
    """Return experiment -> sentence -> verdict, as the page has them."""
    verdicts = ("holds", "fails", "inconclusive")
    return {
        row[0].split("`")[1]: {
            name: verdict
            for verdict, cell in zip(verdicts, row[1:], strict=True)
            for name in re.findall(r"`([^`]+)`", cell)
        }
        for row in table("The verdicts")
    }


def test_every_reading_is_in_the_table_of_readings() -> None:
    choices = [row[0].lower() for row in table("The reading")]
    names = [name for pairs in PAPER.readings.content["taken"].values() for name in pairs]  # type: ignore[attr-defined]
    assert [name for name in names if not any(name.lower() in choice for choice in choices)] == []


def test_the_interval_of_the_text_is_told_for_every_value_that_is_run() -> None:
    study = plan.expand(compose.load(("+experiment=partitioning_memory",), ROOT / "conf"))
    intervals = study.settings.grid["admission_interval"]
    assert list(intervals) == [10, 60, 120]
    assert len(study.ids) == 2 * 13 * 2 * len(intervals)
    (row,) = [row for row in table("The reading") if "5.4.2" in row[0]]
    assert "10, 60, 120 s" in row[1]
    verdicts = {row[0].strip("`"): row[1:] for row in table("The interval between medium-term decisions")}
    assert all(len(cells) == len(intervals) for cells in verdicts.values())
    first = {name: cells[0].split()[0] for name, cells in verdicts.items()}
    assert first == told()["partitioning_memory"]


def test_no_sentence_is_counted_twice() -> None:
    found = told()
    assert set(found) == set(PAPER.experiments)
    counted = Counter(name for verdicts in found.values() for name in verdicts)
    assert max(counted.values()) == 1
    verdicts = Counter(verdict for verdicts in found.values() for verdict in verdicts.values())
    said = re.search(r"(\d+) of them, of which (\d+) hold, (\d+) fail and (\d+) is open", PAGE)
    assert said
    expected = [len(counted), *(verdicts[verdict] for verdict in ("holds", "fails", "inconclusive"))]
    assert [int(number) for number in said.groups()] == expected


@pytest.mark.exhaustive
@pytest.mark.parametrize("experiment", EXACT)
def test_the_page_has_the_verdicts_of_the_claims(experiment: str, tmp_path: Path) -> None:
    study = sweep.Study(experiment, executor="serial", output=str(tmp_path / experiment))
    study.run()
    claims = study.claims()
    names = claims.id.str.removeprefix("mccann1994-")
    assert dict(zip(names, claims.verdict, strict=True)) == told()[experiment]
