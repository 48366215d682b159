"""Facts of chapter 4: partitions of EQUI, threads under EQUI+, Folding's arrivals, rotations and walks."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
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


def _sizes(jobs: int) -> list[tuple[int, int]]:
    """Return the height and width of each partition of EQUI."""
    return [(one.height, one.width) for one in partition(SIDE, SIDE, jobs)]


def _are(
    text: str, sizes: Sequence[tuple[int, int]], expected: Mapping[tuple[int, int], int]
) -> tuple[str, bool]:
    found = Counter(sizes)
    shown = ", ".join(f"{n} of {height}×{width}" for (height, width), n in found.items())
    return f"{text}: {shown}", found == expected


def _eleven_jobs() -> Facts:
    rows, widths, remainder, columns, _ = sections(SIDE, SIDE, 11)
    text = f"{rows} rows of {len(widths)} partitions; in the remainder section {remainder}, {columns} wide"
    return [
        (text, (rows, len(widths), remainder, columns) == (4, 2, 3, 4)),
        _are("regular", _sizes(11)[:8], {(4, 6): 8}),
    ]


def _twelve_or_thirteen() -> Facts:
    counts = np.unique(thread_counts(snake(SIDE, SIDE, 4, 5), 4, 5)).tolist()
    there = (4, 5) in _sizes(13)
    return [
        ("13 jobs: some have 4 × 5 processors", there),
        (f"threads of each: {counts}", counts == [12, 13]),
    ]


class Mapped(NamedTuple):
    """Shape of a partition, and under EQUI+ its fullest processor, threads moved, and neighbours apart."""

    height: int
    width: int
    fullest: int
    moved: float
    apart: int


@cache
def _mapped() -> tuple[Mapped, ...]:
    """Return every shape of EQUI, for all numbers of jobs."""
    found = []
    for height, width in sorted({size for jobs in range(1, SIDE**2 + 1) for size in _sizes(jobs)}):
        own = snake(SIDE, SIDE, height, width)
        moved = float((own != contraction(SIDE, SIDE, height, width)).mean())
        apart = [abs(np.diff(side, axis=axis)).max() for axis in (0, 1) for side in np.divmod(own, width)]
        found.append(Mapped(height, width, thread_counts(own, height, width).max(), moved, max(apart)))
    return tuple(found)


def _all(text: str, found: Sequence[bool], what: str) -> Facts:
    return [(f"{text} in {sum(found)} of {len(found)} {what}", all(found))]


def _shapes(text: str, holds: Callable[[Mapped], bool]) -> Facts:
    return _all(text, [holds(one) for one in _mapped()], f"shapes of 1 to {SIDE**2} jobs")


def _disturbs_one() -> Facts:
    held = [dict(FoldedMesh(SIDE, SIDE, jobs).partitions()) for jobs in range(1, MOST_JOBS + 1)]
    moved = [sum(before[job] != after[job] for job in before) for before, after in pairwise(held)]
    return _all("at most one running job is moved", [n <= 1 for n in moved], "arrivals")


class Rotation(NamedTuple):
    """A full cycle of J jobs: when sizes recur; each job's exchanges and large partitions; see `_settles`."""

    jobs: int
    recurs: int
    exchanges: set[int]
    large: set[int]
    settled: bool


@cache
def _rotation(jobs: int) -> Rotation:
    mesh = FoldedMesh(SIDE, SIDE, jobs)
    small, large = small_and_large(cycle_length(jobs))
    for _ in range(min(small, large)):
        mesh.rotate()
    twice = "ss" if small <= large else "bb"
    settled = not any(twice in string + string[0] for string in mesh.strings())
    sizes: list[dict[int, int]] = []
    for _ in range(jobs + 1):
        sizes.append({job: place.n_processors for job, place in mesh.partitions()})
        mesh.rotate()
    recurs = next(n for n in range(1, jobs + 1) if sizes[n] == sizes[0])
    turns, most = sizes[: recurs + 1], max(sizes[0].values())
    exchanges = {sum(a[job] != b[job] for a, b in pairwise(turns)) for job in sizes[0]}
    return Rotation(
        jobs, recurs, exchanges, {sum(one[job] == most for one in turns[1:]) for job in sizes[0]}, settled
    )


def _five_jobs() -> Facts:
    mesh, five = FoldedMesh(SIDE, SIDE, 5), _rotation(5)
    strings = mesh.strings()
    mesh.rotate()
    strings += mesh.strings()
    return [
        (f"strings before and after a rotation: {strings}", strings == ["ssbbb", "sbsbb"]),
        (f"N(5) = {five.recurs}, f(5) = {five.exchanges}", (five.recurs, five.exchanges) == (5, {4})),
    ]


def _rotations(text: str, holds: Callable[[Rotation], bool]) -> Facts:
    found = [holds(_rotation(jobs)) for jobs in range(3, MOST_JOBS + 1) if cycle_length(jobs)]
    return _all(text, found, f"J up to {MOST_JOBS} that are not powers of two")


def _by_the_equations(one: Rotation) -> bool:
    return one.recurs == cycle_length(one.jobs) and one.exchanges == {rotations_per_job(one.jobs)}


def _closed(cells: int, n_split: int) -> list[bool]:
    """Return for each choice of halved cells whether local changes keep the walk closed."""
    walk, axis = cycle(SIDE, SIDE, cells), splits(SIDE, SIDE)[cells.bit_length() - 1]
    return [not broken_links(refined(walk, chosen, axis)) for chosen in combinations(range(cells), n_split)]


def _local_up_to_sixteen() -> Facts:
    found = [so for cells in (2, 4, 8) for more in range(1, cells + 1) for so in _closed(cells, more)]
    return _all("3 to 16 partitions: the walk stays closed", found, "choices of partitions to halve")


def _not_beyond_sixteen() -> Facts:
    two = _closed(16, 2)
    text = f"18 partitions: it does in {sum(two)} of {len(two)}, not in all"
    return [*_all("17 partitions: the walk stays closed", _closed(16, 1), "choices"), (text, not all(two))]


def _same_direction() -> Facts:
    walk, closed = cycle(SIDE, SIDE, 16), []
    for halved in range(16):
        walk = refined(walk, (2 * halved,), splits(SIDE, SIDE)[3])  # as 16 partitions were made of 8
        closed.append(not broken_links(walk))
    return _all("17 to 32 partitions, halved one by one: the walk stays closed", closed, "steps")


FACTS: Mapping[str, Callable[[], Facts]] = {
    "eleven_jobs": _eleven_jobs,
    "remainder_sizes": lambda: [_are("remainder", _sizes(11)[8:], {(5, 6): 2, (4, 6): 1})],
    "power_of_two": lambda: _shapes(
        "a side is a power of two", lambda one: SIDE % one.height * (SIDE % one.width) == 0
    ),
    "twelve_or_thirteen": _twelve_or_thirteen,
    "least_possible": lambda: _shapes(
        "the fullest processor has the fewest threads possible",
        lambda one: one.fullest == -(-SIDE * SIDE // (one.height * one.width)),
    ),
    "adjacent": lambda: _shapes(
        "neighbouring threads are at most one processor apart", lambda one: one.apart <= 1
    ),
    "few_moved": lambda: _shapes(f"at most {FEW:.0%} of the threads move", lambda one: one.moved <= FEW),
    "disturbs_one": _disturbs_one,
    "five_jobs": _five_jobs,
    "cycle_lengths": partial(
        _rotations, "rotations are N(J), with f(J) exchanges of a job,", _by_the_equations
    ),
    "equal_service": lambda: _rotations(
        "large partitions are equally frequent", lambda one: len(one.large) == 1
    ),
    "settles": lambda: _rotations("no two of the rarer size follow each other", lambda one: one.settled),
    "local_up_to_sixteen": _local_up_to_sixteen,
    "not_beyond_sixteen": _not_beyond_sixteen,
    "same_direction": _same_direction,
}
