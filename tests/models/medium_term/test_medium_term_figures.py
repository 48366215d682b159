"""The schedules of McCann 1994, Figs. 6.2 to 6.11, what a schedule is, and how it lies on a mesh."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from models.medium_term.engine import make_schedule
from models.medium_term.realisation import Placement, realise
from models.medium_term.schedule import Box, Schedule

BUDDY = {"schedule": "buddy_schedule", "groups": "smallest_first"}
EQUI_EPOCH = {"schedule": "equi_epoch"}
GREEDY_LARGEST = {"schedule": "greedy_largest"}
OPTIMAL_EPOCH = {"schedule": "optimal_epoch"}

FIG_6_4 = [2, 2, 4, 4, 4, 8, 8, 8]
FIG_6_7 = [2, 3, 3, 4, 4, 4, 5, 6]
FIG_6_9 = [4, 4, 4, 4, 8]
FIG_6_11 = [2, 2, 4, 4, 8, 8, 8, 8]


def boxes(schedule: Schedule) -> list[tuple[int, int, Fraction, int, Fraction]]:
    """Minimum, first processor, start, processors and duration of each job, the first placed first."""
    return [box[1:] for box in sorted(schedule.boxes, key=lambda box: (box.x, box.y))]


def epochs(schedule: Schedule) -> list[list[int]]:
    """Minima of the jobs in each epoch, in order of time."""
    assert schedule.is_epoch_schedule
    return [sorted(box.minimum for box in schedule.boxes if box.y == start) for start in schedule.starts]


def eighths(*rows: tuple[int, int, int, int, int]) -> list[tuple[int, int, Fraction, int, Fraction]]:
    """Boxes with times in eighths of T."""
    return [(least, x, Fraction(y, 8), width, Fraction(height, 8)) for least, x, y, width, height in rows]


def test_fig_6_4() -> None:
    assert boxes(make_schedule(BUDDY, 16, FIG_6_4)) == eighths(
        (8, 0, 0, 8, 2), (8, 0, 2, 8, 2), (8, 0, 4, 8, 2),  # consecutively, on eight processors each
        (4, 0, 6, 8, 2),  # forced
        (4, 8, 0, 4, 4), (4, 8, 4, 4, 4),
        (2, 12, 0, 2, 8), (2, 14, 0, 2, 8),  # never reallocated
    )  # fmt: skip


def test_fig_6_7() -> None:
    schedule = make_schedule(EQUI_EPOCH, 12, FIG_6_7)
    assert epochs(schedule) == [[2, 3, 3], [4, 4, 4], [5, 6]]
    # The text gives the last two jobs 8 processors each, which 12 do not have.
    assert [box.width for box in schedule.boxes] == [4, 4, 4, 4, 4, 4, 6, 6]


def test_fig_6_8_equi_epoch_is_not_optimal_on_140_processors() -> None:
    schedule = make_schedule(EQUI_EPOCH, 140, [20] * 10)
    assert [len(jobs) for jobs in epochs(schedule)] == [7, 2, 1]
    assert [box.width for box in schedule.boxes] == [20] * 7 + [70] * 2 + [140]
    better = make_schedule(OPTIMAL_EPOCH, 140, [20] * 10)
    assert [len(jobs) for jobs in epochs(better)] == [5, 5]
    assert {box.width for box in better.boxes} == {28}


def test_fig_6_9_the_greedy_from_the_largest_is_not_optimal() -> None:
    assert epochs(make_schedule(EQUI_EPOCH, 16, FIG_6_9)) == [[4, 4, 4, 4], [8]]
    assert epochs(make_schedule(GREEDY_LARGEST, 16, FIG_6_9)) == [[4, 8], [4, 4], [4]]


def test_fig_6_10_buddy_against_equi_epoch() -> None:
    epoch, buddy = make_schedule(EQUI_EPOCH, 16, FIG_6_4), make_schedule(BUDDY, 16, FIG_6_4)
    assert epochs(epoch) == [[2, 2, 4, 4], [4, 8], [8, 8]]
    assert [box.width for box in epoch.boxes if box.minimum == 2] == [4, 4]
    assert [(box.width, box.height) for box in buddy.boxes if box.minimum == 2] == [(2, 1), (2, 1)]
    # Equation 6.1: three times all processors; four boxes of 8 and two of 4.
    assert (epoch.reallocations, buddy.reallocations) == (3 * 16, 4 * 8 + 2 * 4)


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


HALF = Fraction(1, 2)
VALID = (Box(0, 1, 0, Fraction(0), 2, HALF), Box(1, 2, 0, HALF, 2, HALF))
WIDE = (Box(0, 1, 0, Fraction(0), 1, Fraction(1)), Box(1, 1, 1, Fraction(0), 1, Fraction(1)))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((), "allowed: one box for each"),
        ((VALID[1], VALID[0]), "in that order"),
        ((VALID[0]._replace(minimum=3), VALID[1]), "needs at least 3"),
        ((VALID[0]._replace(height=Fraction(1, 3)), VALID[1]), "equal shares are 1 processors"),
        ((VALID[0], VALID[1]._replace(x=1)), "there are 0 to 1"),
        ((VALID[0], VALID[1]._replace(y=Fraction(1, 3))), "overlaps with one below it, or leaves a gap"),
        ((VALID[0]._replace(y=Fraction(1, 4)), VALID[1]), "overlaps with one below it, or leaves a gap"),
        ((WIDE[0], WIDE[1]._replace(x=0)), "overlaps with one below it, or leaves a gap"),
        ((WIDE[0], WIDE[1]._replace(x=0, y=Fraction(1))), "the schedule is not full"),
    ],
)
def test_a_schedule_is_valid_or_refused_in_one_line(given: tuple[Box, ...], message: str) -> None:
    assert Schedule(2, VALID).reallocations == 4
    assert Schedule(2, WIDE).reallocations == 0
    with pytest.raises(ValueError, match=message) as refused:
        Schedule(2, given)
    assert "\n" not in str(refused.value)
