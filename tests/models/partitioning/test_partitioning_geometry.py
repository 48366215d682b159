"""Shapes and places of partitions, threads on processors, and rotation (McCann 1994, chapter 4)."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from math import ceil
from typing import Any

import numpy as np
import pytest
from family_cases import composed
from folding_twin import Folding, Move
from hypothesis import given, settings
from hypothesis import strategies as st

from models.partitioning.geometry.equipartition import LEFTOVER, partition, sections
from models.partitioning.geometry.mapping import contraction, snake
from models.partitioning.geometry.rotation import cycle_length, rotations_per_job, small_and_large
from models.partitioning.geometry.walk import cycle
from models.partitioning.simulation.folded_mesh import FoldedMesh
from models.topology.mesh import Mesh, Rectangle

SIDES = (1, 2, 4, 8, 16, 32)
MESHES = tuple(product(SIDES, SIDES))


def tiles(rows: int, columns: int, rectangles: list[Rectangle]) -> bool:
    """Return whether every processor lies in exactly one rectangle."""
    top, left, height, width = np.array(rectangles).T
    if min(top.min(), left.min()) < 0 or min(height.min(), width.min()) < 1:
        return False
    corners = np.zeros((rows + 1, columns + 1), np.int64)
    for row, column, sign in ((top, left, 1), (top + height, left, -1), (top, left + width, -1)):
        np.add.at(corners, (row, column), sign)
    np.add.at(corners, (top + height, left + width), 1)
    return bool((corners.cumsum(0).cumsum(1)[:-1, :-1] == 1).all())


def shapes(rectangles: list[Rectangle]) -> Counter[tuple[int, int]]:
    return Counter((r.height, r.width) for r in rectangles)


@pytest.mark.parametrize(("processors", "sides"), [(128, (8, 16)), (16, (4, 4)), (12, (3, 4)), (7, (1, 7))])
def test_a_number_of_processors_is_the_mesh_nearest_to_a_square(
    processors: int, sides: tuple[int, int]
) -> None:
    mesh = Mesh.of(composed("machine", "log", processors=processors))
    assert (mesh.rows, mesh.columns) == sides


@pytest.mark.parametrize("leftover", LEFTOVER)
def test_equipartitions_tile_every_mesh_and_have_a_side_that_is_a_power_of_two(leftover: str) -> None:
    for rows, columns in MESHES:
        # Every number of jobs for the default; others only differ in widths.
        step = 1 if leftover == "smallest" else max(rows * columns // 97, 1)
        for jobs in range(1, rows * columns + 1, step):
            found = partition(rows, columns, jobs, leftover)
            assert len(found) == jobs
            assert tiles(rows, columns, found)
            # A power of two divides the machine's side, and only a power of two does.
            assert all(rows % h == 0 or columns % w == 0 for h, w in shapes(found))


def naive_widths(across: int, along: int, jobs: int, x: int, leftover: str) -> tuple[list[int], int, int]:
    """Follow the text of section 4.3.1 column by column, with exact fractions."""
    y = jobs // 2**x
    w = jobs - 2**x * y
    fair = Fraction(across * along, jobs)
    widths = [int(fair / (across // 2**x))] * y
    flexible = w in (1, 2, 4, 8, 16, 32)
    # Equation 4.2: 1 - floor(J / 2^X) 2^X / J is the remainder section's fair share of the columns.
    share = along * (1 - Fraction(y * 2**x, jobs))
    remainder = (
        max(int(share) if flexible else max([p for p in SIDES if p <= share], default=0), 1) if w else 0
    )
    while (left := along - sum(widths) - remainder) > 0:
        growth = 1 if flexible else remainder
        now, then = Fraction(across * remainder, w or 1), Fraction(across * (remainder + growth), w or 1)
        height = across // 2**x
        narrowest = min(range(y), key=lambda column: widths[column])
        own, wider = height * widths[narrowest], height * (widths[narrowest] + 1)
        to_remainder = {
            "smallest": now < own,
            "smallest_remainder": now <= own,
            "fair_share": abs(then - fair) < abs(wider - fair),
            "regular": False,
            "remainder": True,
        }[leftover]
        if w and growth <= left and to_remainder:
            remainder += growth
        else:
            widths[narrowest] += 1
    return widths, remainder, w


@pytest.mark.parametrize("leftover", LEFTOVER)
@pytest.mark.parametrize(("rows", "columns"), [(16, 16), (8, 16), (32, 16)])
def test_columns_are_shared_as_a_naive_reading_of_the_text_does(
    rows: int, columns: int, leftover: str
) -> None:
    for jobs in range(1, rows * columns + 1):
        k = jobs.bit_length() - 1
        # The orientation alternates with every power of two, beginning along the larger dimension.
        first = (rows, columns) if rows >= columns else (columns, rows)
        across, along = first if k % 2 else first[::-1]
        widths, remainder, w = naive_widths(across, along, jobs, ceil(k / 2), leftover)
        found = sections(rows, columns, jobs, leftover)
        assert found.rows == 2 ** ceil(k / 2)
        assert (list(found.widths), found.remainder_width, found.remainder) == (widths, remainder, w)
        assert (columns if found.transposed else rows) == across


def test_walks_go_from_neighbour_to_neighbour_over_all_cells() -> None:
    for rows, columns in MESHES:
        if min(rows, columns) == 1 < rows * columns // 2:
            continue
        n_cells = 1
        while n_cells <= rows * columns:
            found = cycle(rows, columns, n_cells)
            assert len(found) == n_cells
            assert len(shapes(found)) == 1
            assert tiles(rows, columns, found)
            if n_cells > 1:
                assert all(touch(one, other) for one, other in pairwise([*found, found[0]]))
                pairs = {
                    cells(one) | cells(other) for one, other in zip(found[::2], found[1::2], strict=True)
                }
                assert pairs == set(map(cells, cycle(rows, columns, n_cells // 2)))
            n_cells *= 2


@cache
def cells(one: Rectangle) -> frozenset[tuple[int, int]]:
    """Return the processors of a rectangle."""
    rows, columns = range(one.top, one.top + one.height), range(one.left, one.left + one.width)
    return frozenset(product(rows, columns))


def touch(one: Rectangle, other: Rectangle) -> bool:
    """Return whether two disjoint rectangles share a piece of a side."""
    around = {(r + i, c + j) for r, c in cells(one) for i, j in ((0, 1), (0, -1), (1, 0), (-1, 0))}
    return not around.isdisjoint(cells(other))


def filled(jobs: int, rows: int = 16, columns: int = 16) -> Folding:
    folding = Folding(rows, columns)
    for job in range(jobs):
        folding.arrive(job)
    return folding


def overlap(one: Rectangle, other: Rectangle) -> bool:
    return not cells(one).isdisjoint(cells(other))


def assert_sound(folding: Folding) -> None:
    """Check all that holds at any moment."""
    held = dict(folding.partitions())
    assert len(held) == folding.n_jobs == len(folding.partitions())
    if not held:
        return
    processors = folding.rows * folding.columns
    assert tiles(folding.rows, folding.columns, list(held.values()))
    cell = processors // folding.n_cells
    assert folding.n_cells == min(2 ** folding.n_jobs.bit_length(), processors)
    small, large = (folding.n_jobs, 0) if folding.n_jobs == processors else small_and_large(folding.n_jobs)
    sizes = Counter(r.n_processors for r in held.values())
    assert sizes == Counter({cell: small, 2 * cell: large})
    assert "".join(folding.strings()) == "".join(
        "s" if r.n_processors == cell else "b" for _, r in folding.partitions()
    )
    for string, walk in zip(folding.strings(), folding.walks(), strict=True):
        assert string.count("s") + 2 * string.count("b") == len(walk)
        if len(walk) > 1:
            assert all(touch(one, other) for one, other in pairwise([*walk, walk[0]]))


def follow(held: dict[Any, Rectangle], steps: list[list[Move]]) -> None:
    """Do what the steps say."""
    for step in steps:
        for job, before, after in step:
            assert held.get(job) == before != after
            if after is None:
                del held[job]
            else:
                held[job] = after


def assert_only_neighbours_move(step: list[Move]) -> None:
    """Each job that grows takes half of one neighbour's partition, which keeps the other half."""
    grown = [move for move in step if move.after.n_processors > move.before.n_processors]
    shrunk = [move for move in step if move.after.n_processors < move.before.n_processors]
    assert 2 * len(grown) == 2 * len(shrunk) == len(step) == len({move.job for move in step})
    for taker in grown:
        givers = [m for m in shrunk if overlap(taker.after, m.before)]
        assert len(givers) == 1
        (giver,) = givers
        assert touch(taker.before, giver.before)
        assert overlap(taker.before, taker.after)
        assert overlap(giver.before, giver.after)
        areas = [taker.before, giver.before, taker.after, giver.after]
        one, two, three, four = (r.n_processors for r in areas)
        assert two == three == 2 * one == 2 * four


@pytest.mark.parametrize("jobs", [1, 2, 3, 5, 6, 11, 12, 20, 31, 64])
def test_jobs_that_arrived_one_by_one_rotate_by_equations_4_6_and_4_7(jobs: int) -> None:
    folding = filled(jobs)
    for _ in range(jobs):
        folding.rotate()
    systems = jobs // cycle_length(jobs) if cycle_length(jobs) else len(folding.strings())
    assert len(folding.strings()) == systems

    def large_ones() -> frozenset[int]:
        most = 2 * 256 // folding.n_cells
        return frozenset(job for job, r in folding.partitions() if r.n_processors == most)

    first, turns, taken_part = large_ones(), [], Counter(dict.fromkeys(range(jobs), 0))
    for _ in range(max(cycle_length(jobs), 1)):
        turns.append(large_ones())
        (step,) = folding.rotate()
        assert_only_neighbours_move(step)
        taken_part.update(move.job for move in step)
    assert large_ones() == first
    assert len(set(turns)) == len(turns)
    assert set(taken_part.values()) == {rotations_per_job(jobs)}
    assert len(set(Counter(job for turn in turns for job in turn).values())) == 1


@pytest.mark.parametrize(("rows", "columns", "jobs"), [(16, 16, 5), (16, 16, 12), (32, 2, 20), (8, 16, 33)])
def test_drawings_read_the_partitions_of_the_twin(rows: int, columns: int, jobs: int) -> None:
    mesh, twin = FoldedMesh(rows, columns, jobs), filled(jobs, rows, columns)
    for _ in range(cycle_length(jobs) + 2):
        assert [(job - 1, place) for job, place in mesh.partitions()] == twin.partitions()
        assert mesh.strings() == twin.strings()
        mesh.rotate()
        twin.rotate()


def test_an_arrival_disturbs_at_most_one_job() -> None:
    folding = Folding(16, 16)
    for job in range(256):
        ((*others, newcomer),) = folding.arrive(job)
        assert newcomer.job == job
        assert len(others) == (job > 0)
        for move in others:
            assert cells(move.after) | cells(newcomer.after) == cells(move.before)


def fast_rotation(string: str, gone: int) -> tuple[str, int]:
    """Let a job go from a string: the others, from the first on, and the number of fast rotations."""
    parts = list(string)
    parts[gone] = "F" if parts[gone] == "b" else "f"
    steps = 0
    while {"F", "f"} & set(parts):
        after, taken = list(parts), None
        for i, part in enumerate(parts):
            if parts[i - 1] == "s" and part in "bFf":
                after[i - 1] = "b"
                if part == "f":
                    taken = i
                else:
                    after[i] = {"b": "s", "F": "f"}[part]
        parts = after if taken is None else after[:taken] + after[taken + 1 :]
        steps += 1
    return "".join(parts), steps


@pytest.mark.parametrize("jobs", [5, 9])
def test_departures_rotate_fast_until_the_processors_are_taken(jobs: int) -> None:
    for rotations, gone in product(range(jobs + 2), range(jobs)):
        folding = filled(jobs)
        for _ in range(rotations):
            folding.rotate()
        ((string,), order) = folding.strings(), [job for job, _ in folding.partitions()]
        expected, n_steps = fast_rotation(string, gone)
        held = dict(folding.partitions())
        departure, *fast = folding.depart(order[gone])
        assert departure == [Move(order[gone], held[order[gone]], None)]
        assert len(fast) == n_steps
        follow(held, [departure, *fast])
        assert held == dict(folding.partitions())
        remaining = [job for job in order if job != order[gone]]
        large = max(r.n_processors for r in held.values())
        assert "".join("b" if held[job].n_processors == large else "s" for job in remaining) == expected
        assert all(overlap(move.before, move.after) for step in fast for move in step)
        assert_sound(folding)


@settings(max_examples=40)
@given(
    mesh=st.sampled_from([(16, 16), (16, 16), (8, 16), (4, 4), (32, 2), (1, 2), (2, 2)]),
    jobs=st.integers(0, 64),
    events=st.lists(st.tuples(st.sampled_from("adr"), st.integers(0, 63)), min_size=10, max_size=60),
)
def test_partitions_stay_sound_under_any_history(
    mesh: tuple[int, int], jobs: int, events: list[tuple[str, int]]
) -> None:
    most = min(mesh[0] * mesh[1], 64)
    folding = filled(min(jobs, most), *mesh)
    held = dict(folding.partitions())
    for newcomer, (event, pick) in enumerate(events, start=64):
        if event == "a" and len(held) < most:
            steps = folding.arrive(newcomer)
        elif event == "d" and held:
            steps = folding.depart(sorted(held)[pick % len(held)])
        else:
            steps = folding.rotate()
            assert_only_neighbours_move(steps[-1])
        follow(held, steps)
        assert held == dict(folding.partitions())
        assert_sound(folding)


@pytest.mark.exhaustive
@settings(max_examples=25)
@given(
    jobs=st.integers(2, 40),
    events=st.lists(st.tuples(st.sampled_from("adr"), st.integers(0, 63)), min_size=10, max_size=40),
)
def test_every_job_gets_equal_time_after_any_history(jobs: int, events: list[tuple[str, int]]) -> None:
    folding = filled(jobs)
    for newcomer, (event, pick) in enumerate(events, start=64):
        order = sorted(job for job, _ in folding.partitions())
        if event == "a" and len(order) < 64:
            folding.arrive(newcomer)
        elif event == "d" and len(order) > 1:
            folding.depart(order[pick % len(order)])
        else:
            folding.rotate()
    for _ in range(2 * folding.n_cells):
        folding.rotate()
    # From here on the system repeats itself: the sizes after J rotations at the latest, the places later.
    first = dict(folding.partitions())
    time = Counter(dict.fromkeys(first, 0))
    for _ in range(64 * folding.n_cells):
        time.update({job: r.n_processors for job, r in folding.partitions()})
        (step,) = folding.rotate()
        assert_only_neighbours_move(step)
        if dict(folding.partitions()) == first:
            break
    assert dict(folding.partitions()) == first
    assert len(set(time.values())) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Mesh.of({"mesh": "16.0x16"}), r"^machine.mesh=.*; allowed: "),
        (
            lambda: Mesh.of(composed("machine", "log", mesh="4x4", bandwidth=float("inf"))),
            r"^machine.bandwidth=.*; allowed: ",
        ),
        (lambda: partition(4, 8, 33), "33 jobs on 4 × 8 processors; allowed: 1 to 32"),
        (lambda: partition(4, 8, 3, "widest"), "leftover=widest; allowed: smallest, "),
        (lambda: partition(12, 16, 2), "allowed: powers of two"),
        (lambda: snake(16, 16, 5, 3), "5 × 3 processors on 16 × 16; the snake mapping needs a side"),
        (lambda: contraction(16, 16, 32, 4), "32 × 4 processors; allowed: up to 16 × 16"),
        (lambda: cycle(1, 8, 4), "no closed walk over 4 cells of 1 × 8 processors; allowed: 2 or more rows"),
        (lambda: Folding(1, 8), "folding on 1 × 8 processors; allowed: 2 or more rows"),
        (lambda: filled(16).arrive(3), "job 3 arrives again"),
    ],
)
def test_bad_geometry_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
