"""Pictures of the matrix: who runs where, and the paper's Fig. 9 from the engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fabricated import dataset, write

from analysis.drawings.matrix import FREE, alternates
from analysis.errors import AnalysisError
from analysis.feitelson1996.drawings import fig9
from analysis.feitelson1996.drawings import matrix as drawings
from analysis.figures import style

MAPPED = np.array([[0, 0, FREE, FREE], [1, FREE, FREE, 2], [3, 3, 3, 3]])


@pytest.mark.parametrize(
    ("alternation", "precedence", "expected"),
    [
        ("none", [0, 1, 2, 3], ()),
        ("shared", [0, 1, 2, 3], ((0, 2),)),
        ("exclusive", [2, 0, 1, 3], ((0, 2),)),
    ],
)
def test_alternates(alternation: str, precedence: list[int], expected: tuple[tuple[int, int], ...]) -> None:
    assert alternates(MAPPED, alternation, precedence) == expected


def test_only_shared_lets_two_jobs_fill_the_same_pes() -> None:
    mapped = np.array([[0, 0, FREE], [FREE, 1, 1], [2, FREE, FREE]])
    assert alternates(mapped, "shared", [0, 1, 2]) == ((1, 2), (2, 1))
    overlapping = np.array([[0, 0, FREE, FREE], [1, FREE, 1, FREE], [FREE, FREE, FREE, 2]])
    assert alternates(overlapping, "shared", [0, 1, 2]) == ((0, 2), (1, 2), (2, 0), (2, 1))
    assert alternates(overlapping, "exclusive", [0, 1, 2]) == ((0, 2), (1, 2), (2, 0))
    assert alternates(overlapping, "exclusive", [1, 0, 2]) == ((0, 2), (1, 2), (2, 1))


def test_fig9_is_the_papers() -> None:
    for parts in fig9.facts().values():
        for part in parts:
            assert part.is_so, part.label


def test_matrix_of_a_datasets_own_simulation(tmp_path: Path) -> None:
    results = write(tmp_path, dataset(loads=(0.5,)))
    settings = drawings.MATRIX | {"policy": "first_fit", "time": "40", "results": str(results)}
    with style.styled():
        figure = drawings.matrix(settings)
        figure.draw_without_rendering()
    assert "load 0.9, time 40" in figure.axes[0].get_title(loc="left")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"load": "much"}, "load=much: give a positive number"),
        ({"time": "-1"}, "time=-1: give a positive number"),
        ({"policy": "bogus"}, "policy=bogus: no such policy in this dataset; valid: first_fit"),
        ({"alternation": "both"}, "alternation=both: give none, shared or exclusive"),
    ],
)
def test_wrong_settings_are_told(wrong: dict[str, str], message: str, tmp_path: Path) -> None:
    results = write(tmp_path, dataset(loads=(0.5,)))
    with pytest.raises(AnalysisError, match=message):
        drawings.matrix(drawings.MATRIX | {"policy": "first_fit", "results": str(results)} | wrong)
