"""Schedules on a mesh (McCann 1994, section 6.7); the claims check Figs. 6.2 to 6.10."""

from typing import Any

import numpy as np
import pytest

from models.medium_term.engine import make_schedule
from models.medium_term.realisation import Placement, realise

BUDDY = {"schedule": "buddy_schedule", "groups": "smallest_first"}
EQUI_EPOCH = {"schedule": "equi_epoch"}

FIG_6_11 = [2, 2, 4, 4, 8, 8, 8, 8]


def test_fig_6_11_on_a_mesh() -> None:
    schedule = make_schedule(BUDDY, 16, FIG_6_11)
    placements = realise(schedule, 4, 4)
    assert [(p.rectangle.height, p.rectangle.width) for p in placements] == [(1, 2)] * 2 + [(2, 2)] * 2 + [
        (2, 4)
    ] * 4
    where = {
        least: {p.rectangle[:2] for p in placements if schedule.boxes[p.job].minimum == least}
        for least in (2, 4, 8)
    }
    assert where == {8: {(0, 0)}, 4: {(2, 0)}, 2: {(2, 2), (3, 2)}}  # the first processors are in the corner


def test_rectangles_of_an_epoch_are_as_square_as_they_can_be() -> None:
    placements = realise(make_schedule(EQUI_EPOCH, 144, [36] * 4), 12, 12)
    assert {(p.rectangle.height, p.rectangle.width) for p in placements} == {(6, 6)}


def test_of_equally_few_epochs_the_larger_ones_come_first() -> None:
    schedule = make_schedule({"schedule": "optimal_epoch"}, 4, [1, 1, 2])
    assert [box.width for box in schedule.boxes] == [2, 2, 4]


def cells(placement: Placement) -> set[tuple[int, int]]:
    """Processors of a placement."""
    top, left, height, width = placement.rectangle
    return {(row, column) for row in range(top, top + height) for column in range(left, left + width)}


@pytest.mark.parametrize(
    ("policy", "rows", "columns"),
    [
        (BUDDY, 4, 4),
        (BUDDY, 2, 8),
        (BUDDY, 16, 1),
        (EQUI_EPOCH, 8, 4),
        (EQUI_EPOCH, 6, 10),
        (EQUI_EPOCH, 3, 7),
    ],
)
def test_rectangles_tile_the_mesh_at_every_moment(policy: dict[str, Any], rows: int, columns: int) -> None:
    rng = np.random.default_rng(rows * columns)
    for n_jobs in range(1, 13):
        most = rng.integers(1, rows * columns + 1)  # long lists of small jobs among them
        schedule = make_schedule(policy, rows * columns, rng.integers(1, most + 1, n_jobs).tolist())
        placements = realise(schedule, rows, columns)
        assert [len(cells(p)) for p in placements] == [box.width for box in schedule.boxes]
        assert [(p.start, p.end) for p in placements] == [(box.y, box.end) for box in schedule.boxes]
        for moment in schedule.starts:
            running = [cells(p) for p in placements if p.start <= moment < p.end]
            assert sum(map(len, running)) == rows * columns
            assert set().union(*running) == {
                (row, column) for row in range(rows) for column in range(columns)
            }
