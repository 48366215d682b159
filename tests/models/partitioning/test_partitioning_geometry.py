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
from folding_twin import Folding

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


@pytest.mark.parametrize("most", [97, pytest.param(1024, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("leftover", LEFTOVER)
def test_equipartitions_tile_every_mesh_and_have_a_side_that_is_a_power_of_two(
    leftover: str, most: int
) -> None:
    for rows, columns in MESHES:
        for jobs in range(1, rows * columns + 1, max(rows * columns // most, 1)):
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


def overlap(one: Rectangle, other: Rectangle) -> bool:
    return not cells(one).isdisjoint(cells(other))


def assert_sound(mesh: FoldedMesh) -> dict[int, Rectangle]:
    """Check all that holds at any moment, and return the partitions."""
    held, processors = dict(mesh.partitions()), mesh.rows * mesh.columns
    assert len(held) == mesh.n_jobs == len(mesh.partitions())
    assert tiles(mesh.rows, mesh.columns, list(held.values()))
    cell = processors // min(2 ** mesh.n_jobs.bit_length(), processors)
    small, large = (mesh.n_jobs, 0) if mesh.n_jobs == processors else small_and_large(mesh.n_jobs)
    assert Counter(r.n_processors for r in held.values()) == Counter({cell: small, 2 * cell: large})
    assert "".join(mesh.strings()) == "".join(
        "s" if r.n_processors == cell else "b" for _, r in mesh.partitions()
    )
    return held


def assert_only_neighbours_move(before: dict[int, Rectangle], after: dict[int, Rectangle]) -> set[int]:
    """Each job that grows takes half of one neighbour's partition; return the jobs that take part."""
    moved = {job for job in before if before[job] != after[job]}
    grown = {job for job in moved if after[job].n_processors > before[job].n_processors}
    assert 2 * len(grown) == len(moved)
    for taker in grown:
        (giver,) = (job for job in moved - grown if overlap(after[taker], before[job]))
        assert touch(before[taker], before[giver])
        assert overlap(before[taker], after[taker])
        assert overlap(before[giver], after[giver])
        areas = [before[taker], before[giver], after[taker], after[giver]]
        one, two, three, four = (r.n_processors for r in areas)
        assert two == three == 2 * one == 2 * four
    return moved


@pytest.mark.parametrize("jobs", [1, 2, 3, 5, 6, 11, 12, 20, 31, 64])
def test_jobs_that_arrived_one_by_one_rotate_by_equations_4_6_and_4_7(jobs: int) -> None:
    mesh = FoldedMesh(16, 16, jobs)
    for _ in range(jobs):
        mesh.rotate()
    systems = jobs // cycle_length(jobs) if cycle_length(jobs) else len(mesh.strings())
    assert len(mesh.strings()) == systems
    held, turns, taken_part = assert_sound(mesh), [], Counter(dict.fromkeys(range(1, jobs + 1), 0))
    most = max(r.n_processors for r in held.values())
    first = {job for job, r in held.items() if r.n_processors == most}
    for _ in range(max(cycle_length(jobs), 1)):
        turns.append(frozenset(job for job, r in held.items() if r.n_processors == most))
        mesh.rotate()
        before, held = held, assert_sound(mesh)
        taken_part.update(assert_only_neighbours_move(before, held))
    assert {job for job, r in held.items() if r.n_processors == most} == first
    assert len(set(turns)) == len(turns)
    assert set(taken_part.values()) == {rotations_per_job(jobs)}
    assert len(set(Counter(job for turn in turns for job in turn).values())) == 1


@pytest.mark.parametrize(("rows", "columns", "jobs"), [(16, 16, 5), (16, 16, 12), (32, 2, 20), (8, 16, 33)])
def test_drawings_read_the_partitions_of_the_twin(rows: int, columns: int, jobs: int) -> None:
    mesh, twin = FoldedMesh(rows, columns, jobs), Folding(rows, columns)
    for job in range(jobs):
        twin.arrive(job)
    for _ in range(cycle_length(jobs) + 2):
        assert [(job - 1, place) for job, place in mesh.partitions()] == twin.partitions()
        assert mesh.strings() == twin.strings()
        mesh.rotate()
        twin.rotate()


def test_an_arrival_disturbs_at_most_one_job() -> None:
    before: dict[int, Rectangle] = {}
    for job in range(1, 65):
        held = assert_sound(FoldedMesh(8, 8, job))
        moved = [other for other in before if before[other] != held[other]]
        assert len(moved) == (job > 1)
        for other in moved:
            assert cells(held[other]) | cells(held[job]) == cells(before[other])
        before = held


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
        (lambda: FoldedMesh(1, 8, 2), "folding on 1 × 8 processors; allowed: 2 or more rows"),
    ],
)
def test_bad_geometry_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
