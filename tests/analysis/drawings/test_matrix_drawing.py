"""Pictures of the matrix: who runs where, and the paper's Fig. 9 from the engine."""

import numpy as np
import pytest

from analysis.drawings.matrix import FREE, alternates
from analysis.drawings.scene import asked
from analysis.feitelson1996 import drawings
from analysis.figures import style
from models.counting import counted

MAPPED = np.array([[0, 0, FREE, FREE], [1, FREE, FREE, 2], [3, 3, 3, 3]])


@pytest.mark.parametrize(
    ("alternation", "precedence", "expected"),
    [("none", [0, 1, 2, 3], ()), ("shared", [0, 1, 2, 3], ((0, 2),)), ("exclusive", [2, 0, 1, 3], ((0, 2),))],
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
    for parts in drawings.facts().values():
        for part in parts:
            assert part.is_so, part.label


def test_a_matrix_is_that_of_the_points_own_simulation() -> None:
    settings = drawings.MATRIX | {"policy": "first_fit", "time": "40", "load": "0.7"}
    state, _ = drawings.state_of(asked(settings), 40.0)
    with style.styled():
        figure = drawings.matrix(settings)
        figure.draw_without_rendering()
    title = figure.axes[0].get_title(loc="left")
    jobs = np.unique(state.mapped[state.mapped != FREE]).size
    of_slots = counted(len(state.mapped), "slot")
    assert f"load 0.7, time 40, alternation exclusive: {counted(jobs, 'job')} in {of_slots}" in title
