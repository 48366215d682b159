"""Compiled moves of folding: rotations, and the rare cases in which all partitions are laid out again.

At a rotation the job with the large partition folds onto half of it first; then the other job, which has
worked on meanwhile, unfolds into the freed cell (section 5.2.1). Each stands still while its own threads
move.
"""

from numba import float64, int64, void

from models.kernels.compiling import part
from models.partitioning.simulation import fold_cells
from models.partitioning.simulation.progress import reallocate
from models.partitioning.simulation.state import NONE, TABLES
from models.workloads.speedup.curves import CURVE

# Kinds of moves: seconds to fold a large partition onto its half, to unfold it again, and to move a job to
# another partition of the same size.
FOLDING, UNFOLDING, MOVING, N_MOVES = range(4)

# Shares of a level: a small partition, and large ones whose cells lie side by side or one above the other.
SHARES_OF_LEVEL = 3


@part(int64(int64))
def small(level):
    """Return the share of a small partition at a level."""
    return SHARES_OF_LEVEL * level


@part(int64(int64, int64, TABLES))
def large(first, second, tables):
    """Return the share of a large partition of two cells."""
    cells, level = tables.shares.cells, tables.state[0].level
    row = fold_cells.rows_of(level) + fold_cells.GRID_ROW
    one_above_the_other = cells[row, first] != cells[row, second]
    return SHARES_OF_LEVEL * level + 1 + one_above_the_other


@part(void(int64, int64, int64, float64, float64, TABLES, CURVE))
def unfold(position, own, taken, ready, charge, tables, curve):
    """Let a job with a small partition take a cell beside it, which will be vacant at `ready`."""
    lists, state = tables.lists, tables.state[0]
    share = large(own, taken, tables)
    fold_cells.hold(position, own, taken, tables)
    pause = charge * tables.shares.moves[UNFOLDING, share]
    job = lists.running[position]
    reallocate(job, ready - state.now, pause, share, tables, curve)


@part(float64(int64, int64, int64, float64, TABLES, CURVE))
def fold(position, given, kept, charge, tables, curve):
    """Let a job with a large partition give up a cell, and return when the cell will be vacant."""
    jobs, lists, state = tables.jobs, tables.lists, tables.state[0]
    pause = charge * tables.shares.moves[FOLDING, large(given, kept, tables)]
    fold_cells.hold(position, kept, NONE, tables)
    job = lists.running[position]
    reallocate(job, 0.0, pause, small(state.level), tables, curve)
    return jobs[job].resume


@part(int64(int64, float64, TABLES, CURVE), inline=False)
def exchange(system, charge, tables, curve):
    """Exchange each small partition with a large one that follows it, and return how many jobs moved.

    A free partition takes nothing; a small partition before a small free one takes all of it (section 4.4.3).
    """
    lists, cells, state = tables.lists, tables.shares.cells, tables.state[0]
    walk, _, begin, n_cells = fold_cells.extent(system, state.level)
    n_parts = fold_cells.list_parts(system, tables)
    free = state.free
    n_moved = 0
    for i in range(n_parts):
        before = n_parts - 1 if i == 0 else i - 1
        giver, taker = lists.part_position[i], lists.part_position[before]
        if taker == free or lists.part_size[before] == 2:
            continue
        if lists.part_size[i] == 1 and giver != free:
            continue
        own = cells[walk, begin + lists.part_index[before]]
        index = lists.part_index[i]
        taken = cells[walk, begin + index]
        ready = state.now
        if lists.part_size[i] == 2:
            kept = cells[walk, begin + (index + 1) % n_cells]
            if giver == free:
                fold_cells.hold(giver, kept, NONE, tables)
            else:
                ready = fold(giver, taken, kept, charge, tables, curve)
                n_moved += 1
        else:
            state.free = NONE
        unfold(taker, own, taken, ready, charge, tables, curve)
        n_moved += 1
    return n_moved


@part(void(float64, TABLES, CURVE), inline=False)
def lay_out(charge, tables, curve):
    """Lay out all partitions one after the other along the walk, in its order. O(cells)."""
    lists, state = tables.lists, tables.state[0]
    level = state.level
    n_parts = 0
    for cell in range(1 << level):
        position = lists.owner[cell]
        first, second = lists.first[position], lists.second[position]
        if second == NONE or cell == min(first, second):
            lists.part_position[n_parts] = position
            n_parts += 1
    cell = 0
    for i in range(n_parts):
        position = lists.part_position[i]
        job = lists.running[position]
        first, second = lists.first[position], lists.second[position]
        if second == NONE:
            fold_cells.hold(position, cell, NONE, tables)
            if first != cell:
                pause = charge * tables.shares.moves[MOVING, small(level)]
                reallocate(job, 0.0, pause, small(level), tables, curve)
            cell += 1
        else:
            fold_cells.hold(position, cell, cell + 1, tables)
            if min(first, second) != cell or max(first, second) != cell + 1:
                share = large(cell, cell + 1, tables)
                pause = charge * tables.shares.moves[MOVING, share]
                reallocate(job, 0.0, pause, share, tables, curve)
            cell += 2
    state.n_systems = 1
    lists.systems[0] = 1


@part(void(float64, TABLES, CURVE), inline=False)
def join(charge, tables, curve):
    """Join all systems. Systems with partitions that do not follow the common walk first rotate alone."""
    lists, state = tables.lists, tables.state[0]
    longest = 0
    for i in range(state.n_systems):
        longest = max(longest, fold_cells.extent(lists.systems[i], state.level)[3])
    for _ in range(longest):
        n_in_the_way = n_moved = 0
        for i in range(state.n_systems):
            system = lists.systems[i]
            if not fold_cells.follows(system, 1, tables):
                n_in_the_way += 1
                n_moved += exchange(system, charge, tables, curve)
        if n_in_the_way == 0:
            state.n_systems = 1
            lists.systems[0] = 1
            return
        if n_moved == 0:
            break
    lay_out(charge, tables, curve)
