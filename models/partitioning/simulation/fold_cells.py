"""Compiled bookkeeping of folding: cells, partitions and systems, as in `geometry.folding`.

A *position* is an index into the list RUNNING; it has one or two cells. Cells are numbered along the walk
over the whole machine at the present level. A system is named like the nodes of a binary tree: 1 is the whole
machine, 2 n and 2 n + 1 are the halves of n.
"""

from __future__ import annotations

from numba import boolean, int64, types, void

from models.arrays import Ints
from models.kernels.compiling import kernel, part
from models.kernels.types import INTS
from models.partitioning.simulation.state import (
    FIRST,
    LEVEL,
    N_SYSTEMS,
    NONE,
    OWNER,
    PART_INDEX,
    PART_POSITION,
    PART_SIZE,
    SECOND,
    SYSTEMS,
    WHOLE,
)

# Rows of the table of cells for a level, from `rows_of` on: the cell's row in the grid; at the next level the
# first of its halves; at the one before the cell of which it is a half; by depth, whether the halves of the
# systems of that depth have closed walks. Then a row for each depth with the walks of its systems, one after
# the other, and a row for each depth with the place of each cell in the row before.
GRID_ROW, FINER, COARSER, CLOSED, WALK = range(5)


@kernel(int64(int64))
def rows_of(level: int) -> int:
    """Return the first row of a level in the table of cells: each level has 6 + 2 level of them."""
    return level * (level + 5)


@part(types.UniTuple(int64, 4)(int64, int64))
def extent(system: int, level: int) -> tuple[int, int, int, int]:
    """Return a system's row of walks, its row of places, and where it begins and how many cells it has."""
    depth = 0
    while system >> (depth + 1):
        depth += 1
    row = rows_of(level) + WALK + depth
    n_cells = 1 << (level - depth)
    return row, row + level + 1, (system - (1 << depth)) * n_cells, n_cells


@part(int64(int64, WHOLE, WHOLE, INTS), inline=False)
def list_parts(system: int, order: Ints, cells: Ints, counts: Ints) -> int:
    """List positions, indices of first cells and sizes along a system's walk; return how many. O(cells)."""
    walk, _, begin, n_cells = extent(system, counts[LEVEL])
    shift = 0
    if n_cells > 2 and order[OWNER, cells[walk, begin]] == order[OWNER, cells[walk, begin + n_cells - 1]]:
        shift = 1  # the last cell and the first are one partition
    n_parts = 0
    before = NONE
    for i in range(shift, n_cells + shift):
        index = i if i < n_cells else 0
        position = order[OWNER, cells[walk, begin + index]]
        if position == before and n_parts > 0:
            order[PART_SIZE, n_parts - 1] = 2
        else:
            order[PART_POSITION, n_parts] = position
            order[PART_INDEX, n_parts] = index
            order[PART_SIZE, n_parts] = 1
            n_parts += 1
        before = position
    return n_parts


@part(void(int64, int64, int64, WHOLE))
def hold(position: int, first: int, second: int, order: Ints) -> None:
    """Give cells to a position."""
    order[FIRST, position] = first
    order[SECOND, position] = second
    order[OWNER, first] = position
    if second != NONE:
        order[OWNER, second] = position


@part(int64(int64, int64, int64, WHOLE))
def direction(first: int, second: int, row: int, cells: Ints) -> int:
    """Return 0 if two neighbouring cells lie side by side, 1 if one lies above the other."""
    return int(cells[row, first] != cells[row, second])


@part(int64(int64, int64, WHOLE, WHOLE, INTS))
def size_in(system: int, position: int, order: Ints, cells: Ints, counts: Ints) -> int:
    """Return how many cells of a position lie in a system: 0, 1 or 2."""
    _, places, begin, n_cells = extent(system, counts[LEVEL])
    found = 0
    if begin <= cells[places, order[FIRST, position]] < begin + n_cells:
        found = 1
    second = order[SECOND, position]
    if second != NONE and begin <= cells[places, second] < begin + n_cells:
        found += 1
    return found


@part(int64(int64, WHOLE, WHOLE, INTS), inline=False)
def system_of(position: int, order: Ints, cells: Ints, counts: Ints) -> int:
    """Return the system to which a position belongs."""
    for i in range(counts[N_SYSTEMS]):
        if size_in(order[SYSTEMS, i], position, order, cells, counts) > 0:
            return order[SYSTEMS, i]
    return 1


@part(boolean(int64, int64, WHOLE, WHOLE, INTS), inline=False)
def follows(inner: int, outer: int, order: Ints, cells: Ints, counts: Ints) -> bool:
    """Tell whether the cells of each partition in one system follow each other on the walk of another."""
    walk, _, begin, n_cells = extent(inner, counts[LEVEL])
    _, places, _, n_outer = extent(outer, counts[LEVEL])
    for i in range(begin, begin + n_cells):
        position = order[OWNER, cells[walk, i]]
        second = order[SECOND, position]
        if second != NONE:
            apart = abs(cells[places, order[FIRST, position]] - cells[places, second])
            if apart != 1 and apart != n_outer - 1:
                return False
    return True


@part(boolean(int64, WHOLE, WHOLE, INTS), inline=False)
def divides(system: int, order: Ints, cells: Ints, counts: Ints) -> bool:
    """Tell whether a system falls into two of half the jobs, each on half of its cells."""
    level = counts[LEVEL]
    walk, _, _, n_cells = extent(system, level)
    depth = walk - rows_of(level) - WALK
    n_parts = list_parts(system, order, cells, counts)
    if n_parts == n_cells or 2 * n_parts == n_cells:
        return False  # all partitions are of one size: nothing rotates
    if n_parts % 2 or not cells[rows_of(level) + CLOSED, depth]:
        return False
    n_first = 0
    for i in range(n_parts):
        position = order[PART_POSITION, i]
        inside = size_in(2 * system, position, order, cells, counts)
        if inside == order[PART_SIZE, i]:
            n_first += 1
        elif inside:
            return False
    return (
        2 * n_first == n_parts
        and follows(2 * system, 2 * system, order, cells, counts)
        and follows(2 * system + 1, 2 * system + 1, order, cells, counts)
    )


@part(void(WHOLE, WHOLE, INTS), inline=False)
def divide(order: Ints, cells: Ints, counts: Ints) -> None:
    """Let every system fall into as small ones as it can. O(cells) for each level of them."""
    i = 0
    while i < counts[N_SYSTEMS]:
        system = order[SYSTEMS, i]
        if divides(system, order, cells, counts):
            for j in range(counts[N_SYSTEMS], i + 1, -1):
                order[SYSTEMS, j] = order[SYSTEMS, j - 1]
            order[SYSTEMS, i] = 2 * system
            order[SYSTEMS, i + 1] = 2 * system + 1
            counts[N_SYSTEMS] += 1
        else:
            i += 1


@part(int64(WHOLE, WHOLE, INTS), inline=False)
def host(order: Ints, cells: Ints, counts: Ints) -> int:
    """Return the index, in the parts of its system that are listed, of the one that a newcomer halves.

    One that lies in both halves of the system is taken first, else one in the half with fewer jobs.
    """
    system = NONE
    n_parts = n_cells = 1
    for i in range(counts[N_SYSTEMS]):
        its_parts = list_parts(order[SYSTEMS, i], order, cells, counts)
        its_cells = extent(order[SYSTEMS, i], counts[LEVEL])[3]
        if its_parts < its_cells and (system == NONE or its_parts * n_cells < n_parts * its_cells):
            system, n_parts, n_cells = order[SYSTEMS, i], its_parts, its_cells
    n_parts = list_parts(system, order, cells, counts)
    while True:
        n_large = in_halves_0 = in_halves_1 = large_0 = large_1 = 0
        first = across = NONE
        for i in range(n_parts):
            position = order[PART_POSITION, i]
            if size_in(system, position, order, cells, counts) == 0:
                continue
            inside = size_in(2 * system, position, order, cells, counts) if n_cells > 1 else 0
            large = order[PART_SIZE, i] == 2
            if large:
                n_large += 1
                if first == NONE:
                    first = i
                if inside == 1 and across == NONE:
                    across = i
            if inside:
                in_halves_0 += 1
                large_0 += large
            else:
                in_halves_1 += 1
                large_1 += large
        if n_large == 1 or n_cells == 2:
            return first
        if across != NONE:
            return across
        take_second = large_0 == 0 or (large_1 > 0 and in_halves_1 < in_halves_0)
        system = 2 * system + take_second
        n_cells //= 2


@part(void(int64, WHOLE, INTS))
def set_level(level: int, order: Ints, counts: Ints) -> None:
    """Begin with one system on a grid of 2 ** level cells."""
    counts[LEVEL] = level
    counts[N_SYSTEMS] = 1
    order[SYSTEMS, 0] = 1


@part(void(int64, WHOLE, WHOLE, INTS), inline=False)
def refine(n_jobs: int, order: Ints, cells: Ints, counts: Ints) -> None:
    """Halve every cell: all partitions, which are small, become large. O(jobs)."""
    row = rows_of(counts[LEVEL]) + FINER
    for position in range(n_jobs):
        finer = cells[row, order[FIRST, position]]
        order[FIRST, position] = finer
        order[SECOND, position] = finer + 1
    set_level(counts[LEVEL] + 1, order, counts)
    for position in range(n_jobs):
        hold(position, order[FIRST, position], order[SECOND, position], order)


@part(void(int64, WHOLE, WHOLE, INTS), inline=False)
def coarsen(n_jobs: int, order: Ints, cells: Ints, counts: Ints) -> None:
    """Take cells twice as large: all partitions, which are large, become small. O(jobs)."""
    row = rows_of(counts[LEVEL]) + COARSER
    set_level(counts[LEVEL] - 1, order, counts)
    for position in range(n_jobs):
        order[FIRST, position] = cells[row, order[FIRST, position]]
        order[SECOND, position] = NONE
    for position in range(n_jobs):
        order[OWNER, order[FIRST, position]] = position
