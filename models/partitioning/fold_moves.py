"""Compiled moves of folding: rotations, and the rare cases in which all partitions are laid out anew.

At a rotation the job with the large partition folds onto half of it first; then the other one, which has
worked on as before, unfolds into what was freed (section 5.2.1). Each stands still while its own threads
move.
"""

from __future__ import annotations

from numba import float64, int64, void

from models.arrays import Floats, Ints
from models.kernels.compiling import kernel
from models.partitioning.fold_cells import (
    GRID_ROW,
    direction,
    extent,
    follows,
    hold,
    list_parts,
    rows_of,
)
from models.partitioning.progress import reallocate
from models.partitioning.state import (
    CELLS,
    COUNTS,
    FIRST,
    FREE,
    LEVEL,
    N_SYSTEMS,
    NONE,
    OWNER,
    PART_INDEX,
    PART_POSITION,
    PART_SIZE,
    REAL,
    RESUME,
    RUNNING,
    SECOND,
    SYSTEMS,
    TABLES,
    WHOLE,
)

# Tables by level and, for large partitions, the direction in which their cells lie: seconds of work done in a
# second on a small and on a large partition; seconds to fold a large one onto its half, to unfold it again,
# and to move a job to another small and to another large one.
SMALL_RATE, LARGE_RATE, FOLDING, UNFOLDING, SMALL_MOVE, LARGE_MOVE, N_TABLES = range(7)


@kernel(void(int64, int64, int64, float64, float64, float64, REAL, WHOLE, TABLES, CELLS, COUNTS), inline=True)
def unfold(
    position: int, own: int, taken: int, ready: float, charge: float, now: float, real: Floats, order: Ints,
    tables: Floats, cells: Ints, counts: Ints,
) -> None:  # fmt: skip
    """Let a job with a small partition take a cell beside it, which will be vacant at `ready`."""
    level = counts[LEVEL]
    way = direction(own, taken, rows_of(level) + GRID_ROW, cells)
    hold(position, own, taken, order)
    pause = charge * tables[UNFOLDING, level, way]
    reallocate(order[RUNNING, position], now, ready - now, pause, tables[LARGE_RATE, level, way], real)


@kernel(float64(int64, int64, int64, float64, float64, REAL, WHOLE, TABLES, CELLS, COUNTS), inline=True)
def fold(
    position: int, given: int, kept: int, charge: float, now: float, real: Floats, order: Ints,
    tables: Floats, cells: Ints, counts: Ints,
) -> float:  # fmt: skip
    """Let a job with a large partition give a cell away, and return when that will be vacant."""
    level = counts[LEVEL]
    way = direction(given, kept, rows_of(level) + GRID_ROW, cells)
    hold(position, kept, NONE, order)
    job = order[RUNNING, position]
    pause = charge * tables[FOLDING, level, way]
    reallocate(job, now, 0.0, pause, tables[SMALL_RATE, level, 0], real)
    return real[job, RESUME]


@kernel(int64(int64, float64, float64, REAL, WHOLE, TABLES, CELLS, COUNTS))
def exchange(
    system: int, charge: float, now: float, real: Floats, order: Ints, tables: Floats, cells: Ints,
    counts: Ints,
) -> int:  # fmt: skip
    """Exchange each small partition with a large one that follows it, and return how many jobs moved.

    What is free takes nothing; a small partition before a small free one takes all of that (section 4.4.3).
    """
    walk, _, begin, n_cells = extent(system, counts[LEVEL])
    n_parts = list_parts(system, order, cells, counts)
    free = counts[FREE]
    n_moved = 0
    for i in range(n_parts):
        before = n_parts - 1 if i == 0 else i - 1
        giver, taker = order[PART_POSITION, i], order[PART_POSITION, before]
        if taker == free or order[PART_SIZE, before] == 2:
            continue
        if order[PART_SIZE, i] == 1 and giver != free:
            continue
        own = cells[walk, begin + order[PART_INDEX, before]]
        index = order[PART_INDEX, i]
        taken = cells[walk, begin + index]
        ready = now
        if order[PART_SIZE, i] == 2:
            kept = cells[walk, begin + (index + 1) % n_cells]
            if giver == free:
                hold(giver, kept, NONE, order)
            else:
                ready = fold(giver, taken, kept, charge, now, real, order, tables, cells, counts)
                n_moved += 1
        else:
            counts[FREE] = NONE
        unfold(taker, own, taken, ready, charge, now, real, order, tables, cells, counts)
        n_moved += 1
    return n_moved


@kernel(void(float64, float64, REAL, WHOLE, TABLES, CELLS, COUNTS))
def lay_out(
    charge: float, now: float, real: Floats, order: Ints, tables: Floats, cells: Ints, counts: Ints
) -> None:
    """Put all partitions one after the other along the walk, as it meets them. O(cells)."""
    level = counts[LEVEL]
    n_parts = 0
    for cell in range(1 << level):
        position = order[OWNER, cell]
        first, second = order[FIRST, position], order[SECOND, position]
        if second == NONE or cell == min(first, second):
            order[PART_POSITION, n_parts] = position
            n_parts += 1
    cell = 0
    for i in range(n_parts):
        position = order[PART_POSITION, i]
        job = order[RUNNING, position]
        first, second = order[FIRST, position], order[SECOND, position]
        if second == NONE:
            hold(position, cell, NONE, order)
            if first != cell:
                pause = charge * tables[SMALL_MOVE, level, 0]
                reallocate(job, now, 0.0, pause, tables[SMALL_RATE, level, 0], real)
            cell += 1
        else:
            hold(position, cell, cell + 1, order)
            if min(first, second) != cell or max(first, second) != cell + 1:
                way = direction(cell, cell + 1, rows_of(level) + GRID_ROW, cells)
                pause = charge * tables[LARGE_MOVE, level, way]
                reallocate(job, now, 0.0, pause, tables[LARGE_RATE, level, way], real)
            cell += 2
    counts[N_SYSTEMS] = 1
    order[SYSTEMS, 0] = 1


@kernel(void(float64, float64, REAL, WHOLE, TABLES, CELLS, COUNTS))
def join(
    charge: float, now: float, real: Floats, order: Ints, tables: Floats, cells: Ints, counts: Ints
) -> None:
    """Make one system of all. Those with partitions that do not follow the common walk first go on alone."""
    longest = 0
    for i in range(counts[N_SYSTEMS]):
        longest = max(longest, extent(order[SYSTEMS, i], counts[LEVEL])[3])
    for _ in range(longest):
        n_in_the_way = n_moved = 0
        for i in range(counts[N_SYSTEMS]):
            system = order[SYSTEMS, i]
            if not follows(system, 1, order, cells, counts):
                n_in_the_way += 1
                n_moved += exchange(system, charge, now, real, order, tables, cells, counts)
        if n_in_the_way == 0:
            counts[N_SYSTEMS] = 1
            order[SYSTEMS, 0] = 1
            return
        if n_moved == 0:
            break
    lay_out(charge, now, real, order, tables, cells, counts)
