"""Facts of chapter 4: partitions of EQUI, threads under EQUI+, Folding's arrivals, rotations and walks."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from analysis.mccann1994.claims.schedules import Facts
from analysis.mccann1994.local_order import broken_links, refined
from models.partitioning.geometry.equipartition import partition, sections
from models.partitioning.geometry.mapping import contraction, snake, thread_counts
from models.partitioning.geometry.rotation import cycle_length, rotations_per_job, small_and_large
from models.partitioning.geometry.walk import cycle
from models.partitioning.simulation.folded_mesh import FoldedMesh
from models.topology.shapes import splits

SIDE = 16
"""Of the square mesh of the chapter's examples."""

MOST_JOBS = 64
"""On which rotation is followed; partitions of all numbers of jobs are computed."""

FEW = 0.2
"""Share of the threads up to which "only a few" have moved."""


def _eleven_jobs() -> Facts:
    found = sections(SIDE, SIDE, 11)
    sizes = Counter(
        (one.height, one.width) for one in partition(SIDE, SIDE, 11)[: found.rows * len(found.widths)]
    )
    return [
        (
            f"regular section: {found.rows} rows of {len(found.widths)} partitions",
            (found.rows, len(found.widths)) == (4, 2),
        ),
        (f"their sizes: {_in_words(sizes)}", sizes == {(4, 6): 8}),
        (
            f"remainder section: {found.remainder} partitions, {found.remainder_width} columns",
            found[2:4] == (3, 4),
        ),
    ]


def _remainder_sizes() -> Facts:
    sizes = Counter((one.height, one.width) for one in partition(SIDE, SIDE, 11)[8:])
    return [(f"remainder section: {_in_words(sizes)}", sizes == {(5, 6): 2, (4, 6): 1})]


@cache
def _shapes() -> frozenset[tuple[int, int]]:
    """Return the height and width of every partition of EQUI, for all numbers of jobs."""
    return frozenset(
        (one.height, one.width) for jobs in range(1, SIDE**2 + 1) for one in partition(SIDE, SIDE, jobs)
    )


def _power_of_two() -> Facts:
    n = sum(SIDE % height == 0 or SIDE % width == 0 for height, width in _shapes())
    return [_in_all("a side is a power of two", n, len(_shapes()), f"shapes of 1 to {SIDE**2} jobs")]


def _twelve_or_thirteen() -> Facts:
    counts = sorted(set(thread_counts(snake(SIDE, SIDE, 4, 5), 4, 5).ravel().tolist()))
    there = (4, 5) in {(one.height, one.width) for one in partition(SIDE, SIDE, 13)}
    return [
        ("with 13 jobs a partition has 4 × 5 processors", there),
        (f"EQUI+ gives each of them {' or '.join(map(str, counts))} threads", counts == [12, 13]),
    ]


class Mapped(NamedTuple):
    """A shape under EQUI+: its fullest processor, the least possible, threads moved, and neighbours apart."""

    fullest: int
    least: int
    moved: float
    apart: int


@cache
def _mapped() -> tuple[Mapped, ...]:
    """Return what EQUI+ does on every shape."""
    return tuple(_map(height, width) for height, width in sorted(_shapes()))


def _map(height: int, width: int) -> Mapped:
    own, plain = (mapping(SIDE, SIDE, height, width) for mapping in (snake, contraction))
    row, column = np.divmod(own, width)
    apart = [abs(np.diff(side, axis=axis)) for axis in (0, 1) for side in (row, column)]
    return Mapped(
        int(thread_counts(own, height, width).max()),
        -(-SIDE * SIDE // (height * width)),
        float((own != plain).mean()),
        max(int(one.max()) for one in apart),
    )


def _least_possible() -> Facts:
    n = sum(one.fullest == one.least for one in _mapped())
    return [_in_all("the fullest processor has the fewest threads possible", n, len(_mapped()), "shapes")]


def _adjacent() -> Facts:
    farthest = max(one.apart for one in _mapped())
    return [
        (f"neighbours are up to {farthest} apart along a side, in {len(_mapped())} shapes", farthest <= 1)
    ]


def _few_moved() -> Facts:
    moved = [one.moved for one in _mapped()]
    text = f"EQUI+ moves up to {max(moved):.0%} of the threads of a shape (allowed: {FEW:.0%})"
    return [(text, max(moved) <= FEW)]


@cache
def _disturbed() -> list[int]:
    """Return how many jobs each arrival moves, from the second job on."""
    held = [dict(FoldedMesh(SIDE, SIDE, jobs).partitions()) for jobs in range(1, MOST_JOBS + 1)]
    return [sum(before[job] != after[job] for job in before) for before, after in pairwise(held)]


def _disturbs_one() -> Facts:
    moved = _disturbed()
    return [
        (
            f"arrivals 2 to {len(moved) + 1} move {min(moved)} to {max(moved)} running jobs each",
            max(moved) <= 1,
        )
    ]


class Rotation(NamedTuple):
    """A full cycle of rotations of J jobs: when sizes recur, exchanges and large partitions of each job."""

    recurs: int
    exchanges: frozenset[int]
    large: frozenset[int]
    settled: bool


@cache
def _rotation(jobs: int) -> Rotation:
    mesh = FoldedMesh(SIDE, SIDE, jobs)
    small, large = small_and_large(cycle_length(jobs) or 1)
    for _ in range(min(small, large)):
        mesh.rotate()
    repeated = "ss" if small <= large else "bb"
    settled = cycle_length(jobs) == 0 or not any(repeated in string + string[0] for string in mesh.strings())
    sizes = [_sizes(mesh)]
    for _ in range(jobs):
        mesh.rotate()
        sizes.append(_sizes(mesh))
    recurs = next((n for n in range(1, len(sizes)) if sizes[n] == sizes[0]), 0)
    most, turns = max(sizes[0].values()), sizes[:recurs]
    exchanges = [sum(a[job] != b[job] for a, b in zip(turns, sizes[1:], strict=False)) for job in sizes[0]]
    shares = [sum(turn[job] == most for turn in turns) for job in sizes[0]]
    return Rotation(recurs, frozenset(exchanges), frozenset(shares), settled)


def _sizes(mesh: FoldedMesh) -> dict[int, int]:
    return {job: place.n_processors for job, place in mesh.partitions()}


def _five_jobs() -> Facts:
    mesh, five = FoldedMesh(SIDE, SIDE, 5), _rotation(5)
    (before,) = mesh.strings()
    mesh.rotate()
    (after,) = mesh.strings()
    return [
        (f"the string is {before}, and {after} after a rotation", (before, after) == ("ssbbb", "sbsbb")),
        (f"N(5) = {five.recurs}: sizes recur after as many rotations", five.recurs == cycle_length(5) == 5),
        (
            f"f(5) = {_several(five.exchanges)} exchanges of each job in them",
            five.exchanges == {4} == {rotations_per_job(5)},
        ),
    ]


def _rotating() -> Iterator[tuple[int, Rotation]]:
    """Yield the numbers of jobs at which partitions rotate."""
    return ((jobs, _rotation(jobs)) for jobs in range(3, MOST_JOBS + 1) if cycle_length(jobs))


def _every(text: str, holds: Callable[[int, Rotation], bool]) -> Facts:
    found = [holds(jobs, one) for jobs, one in _rotating()]
    return [_in_all(text, sum(found), len(found), f"J up to {MOST_JOBS} that are not powers of two")]


def _cycle_lengths() -> Facts:
    return [
        *_every("sizes recur after N(J) rotations", lambda jobs, one: one.recurs == cycle_length(jobs)),
        *_every(
            "each job takes part in f(J) of them",
            lambda jobs, one: one.exchanges == {rotations_per_job(jobs)},
        ),
    ]


def _equal_service() -> Facts:
    return _every("all jobs have a large partition equally often", lambda jobs, one: len(one.large) == 1)


def _settles() -> Facts:
    return _every(
        "no two of the rarer size follow each other after min(S, B) rotations", lambda jobs, one: one.settled
    )


def _local(cells: int, n_split: int) -> tuple[int, int]:
    """Return for how many choices of halved cells the walk stays closed by local changes, and of how many."""
    walk, axis = cycle(SIDE, SIDE, cells), splits(SIDE, SIDE)[cells.bit_length() - 1]
    found = [not broken_links(refined(walk, chosen, axis)) for chosen in combinations(range(cells), n_split)]
    return sum(found), len(found)


def _local_up_to_sixteen() -> Facts:
    counts = [_local(cells, more) for cells in (2, 4, 8) for more in range(1, cells + 1)]
    kept, of = (sum(part) for part in zip(*counts, strict=True))
    return [_in_all("3 to 16 partitions: local changes keep the walk closed", kept, of, "choices to halve")]


def _not_beyond_sixteen() -> Facts:
    (one, of_one), (two, of_two) = _local(16, 1), _local(16, 2)
    return [
        (f"17 partitions: {one} of {of_one} choices keep a closed walk by local changes", one == of_one),
        (f"18 partitions: {two} of {of_two} do", two < of_two),
    ]


def _same_direction() -> Facts:
    walk, broken = cycle(SIDE, SIDE, 16), []
    again = splits(SIDE, SIDE)[3]  # the direction that made 16 partitions of 8
    for halved in range(16):
        walk = refined(walk, (2 * halved,), again)
        broken.append(broken_links(walk))
    n = broken.count(0)
    return [_in_all("17 to 32 partitions, halved one by one: the walk stays closed", n, 16, "steps")]


def _in_all(text: str, n: int, of: int, what: str) -> tuple[str, bool]:
    return f"{text} in {n} of {of} {what}", n == of


def _in_words(sizes: Mapping[tuple[int, int], int]) -> str:
    return ", ".join(f"{n} of {height}×{width}" for (height, width), n in sizes.items())


def _several(numbers: frozenset[int]) -> str:
    return " or ".join(map(str, sorted(numbers)))


FACTS: Mapping[str, Callable[[], Facts]] = {
    "eleven_jobs": _eleven_jobs, "remainder_sizes": _remainder_sizes, "power_of_two": _power_of_two,
    "twelve_or_thirteen": _twelve_or_thirteen, "least_possible": _least_possible, "adjacent": _adjacent,
    "few_moved": _few_moved, "disturbs_one": _disturbs_one, "five_jobs": _five_jobs,
    "cycle_lengths": _cycle_lengths, "equal_service": _equal_service, "settles": _settles,
    "local_up_to_sixteen": _local_up_to_sixteen, "not_beyond_sixteen": _not_beyond_sixteen,
    "same_direction": _same_direction,
}  # fmt: skip
