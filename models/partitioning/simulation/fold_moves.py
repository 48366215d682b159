"""Compiled moves of folding: rotations, and the rare cases in which all partitions are laid out anew.

At a rotation the job with the large partition folds onto half of it first; then the other one, which has
worked on as before, unfolds into what was freed (section 5.2.1). Each stands still while its own threads
move.
"""

from __future__ import annotations

from typing import Any

from numba import float64, int64, void

from models.kernels.compiling import part
from models.partitioning.simulation.fold_cells import (
    GRID_ROW,
    direction,
    extent,
    follows,
    hold,
    list_parts,
    rows_of,
)
from models.partitioning.simulation.progress import reallocate
from models.partitioning.simulation.state import (
    FIRST,
    FREE,
    LEVEL,
    N_SYSTEMS,
    NONE,
    NOW,
    OWNER,
    PART_INDEX,
    PART_POSITION,
    PART_SIZE,
    PLAN,
    RESUME,
    RUNNING,
    SECOND,
    STATE,
    SYSTEMS,
    Plan,
    State,
)
from models.workloads.speedup.curves import CURVE

# Kinds of moves: seconds to fold a large partition onto its half, to unfold it again, and to move a job to
# another partition of the same size.
FOLDING, UNFOLDING, MOVING, N_MOVES = range(4)

# Shares of a level: a small partition, and large ones whose cells lie side by side or one above the other.
SHARES_OF_LEVEL = 3


@part(int64(int64))
def small(level: int) -> int:
    """Return the share of a small partition at a level."""
    return SHARES_OF_LEVEL * level


@part(int64(int64, int64, STATE, PLAN))
def large(first: int, second: int, state: State, plan: Plan) -> int:
    """Return the share of a large partition of two cells."""
    level = state.counts[LEVEL]
    return SHARES_OF_LEVEL * level + 1 + direction(first, second, rows_of(level) + GRID_ROW, plan.cells)


@part(void(int64, int64, int64, float64, float64, STATE, PLAN, CURVE))
def unfold(
    position: int, own: int, taken: int, ready: float, charge: float, state: State, plan: Plan, curve: Any
) -> None:
    """Let a job with a small partition take a cell beside it, which will be vacant at `ready`."""
    share = large(own, taken, state, plan)
    hold(position, own, taken, state.order)
    pause = charge * plan.moves[UNFOLDING, share]
    job = state.order[RUNNING, position]
    reallocate(job, ready - state.clocks[NOW], pause, share, state, plan, curve)


@part(float64(int64, int64, int64, float64, STATE, PLAN, CURVE))
def fold(position: int, given: int, kept: int, charge: float, state: State, plan: Plan, curve: Any) -> float:
    """Let a job with a large partition give a cell away, and return when that will be vacant."""
    pause = charge * plan.moves[FOLDING, large(given, kept, state, plan)]
    hold(position, kept, NONE, state.order)
    job = state.order[RUNNING, position]
    reallocate(job, 0.0, pause, small(state.counts[LEVEL]), state, plan, curve)
    return state.real[job, RESUME]


@part(int64(int64, float64, STATE, PLAN, CURVE), inline=False)
def exchange(system: int, charge: float, state: State, plan: Plan, curve: Any) -> int:
    """Exchange each small partition with a large one that follows it, and return how many jobs moved.

    What is free takes nothing; a small partition before a small free one takes all of that (section 4.4.3).
    """
    order, counts, cells = state.order, state.counts, plan.cells
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
        ready = state.clocks[NOW]
        if order[PART_SIZE, i] == 2:
            kept = cells[walk, begin + (index + 1) % n_cells]
            if giver == free:
                hold(giver, kept, NONE, order)
            else:
                ready = fold(giver, taken, kept, charge, state, plan, curve)
                n_moved += 1
        else:
            counts[FREE] = NONE
        unfold(taker, own, taken, ready, charge, state, plan, curve)
        n_moved += 1
    return n_moved


@part(void(float64, STATE, PLAN, CURVE), inline=False)
def lay_out(charge: float, state: State, plan: Plan, curve: Any) -> None:
    """Put all partitions one after the other along the walk, as it meets them. O(cells)."""
    order, counts = state.order, state.counts
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
                pause = charge * plan.moves[MOVING, small(level)]
                reallocate(job, 0.0, pause, small(level), state, plan, curve)
            cell += 1
        else:
            hold(position, cell, cell + 1, order)
            if min(first, second) != cell or max(first, second) != cell + 1:
                share = large(cell, cell + 1, state, plan)
                pause = charge * plan.moves[MOVING, share]
                reallocate(job, 0.0, pause, share, state, plan, curve)
            cell += 2
    counts[N_SYSTEMS] = 1
    order[SYSTEMS, 0] = 1


@part(void(float64, STATE, PLAN, CURVE), inline=False)
def join(charge: float, state: State, plan: Plan, curve: Any) -> None:
    """Make one system of all. Those with partitions that do not follow the common walk first go on alone."""
    order, counts = state.order, state.counts
    longest = 0
    for i in range(counts[N_SYSTEMS]):
        longest = max(longest, extent(order[SYSTEMS, i], counts[LEVEL])[3])
    for _ in range(longest):
        n_in_the_way = n_moved = 0
        for i in range(counts[N_SYSTEMS]):
            system = order[SYSTEMS, i]
            if not follows(system, 1, order, plan.cells, counts):
                n_in_the_way += 1
                n_moved += exchange(system, charge, state, plan, curve)
        if n_in_the_way == 0:
            counts[N_SYSTEMS] = 1
            order[SYSTEMS, 0] = 1
            return
        if n_moved == 0:
            break
    lay_out(charge, state, plan, curve)
