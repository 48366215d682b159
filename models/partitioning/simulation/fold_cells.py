"""Compiled bookkeeping of folding: cells, partitions and systems, see `fold`.

A *position* is an index into the list RUNNING; it has one or two cells. Cells are numbered along the walk
over the whole machine at the present level. A system is named like the nodes of a binary tree: 1 is the whole
machine, 2 n and 2 n + 1 are the halves of n.
"""

from numba import boolean, int64, types, void

from models.kernels.compiling import kernel, part
from models.partitioning.simulation.state import NONE, TABLES

# Rows of the table of cells for a level, from `rows_of` on: the cell's row in the grid; at the next level the
# first of its halves; at the one before the cell of which it is a half; by depth, whether the halves of the
# systems of that depth have closed walks. Then a row for each depth with the walks of its systems, one after
# the other, and a row for each depth with the place of each cell in the row before.
GRID_ROW, FINER, COARSER, CLOSED, WALK = range(5)


@kernel(int64(int64))
def rows_of(level):
    """Return the first row of a level in the table of cells: each level has 6 + 2 level of them."""
    return level * (level + 5)


@part(types.UniTuple(int64, 4)(int64, int64))
def extent(system, level):
    """Return a system's row of walks, its row of places, its beginning and its number of cells."""
    depth = 0
    while system >> (depth + 1):
        depth += 1
    row = rows_of(level) + WALK + depth
    n_cells = 1 << (level - depth)
    return row, row + level + 1, (system - (1 << depth)) * n_cells, n_cells


@part(int64(int64, TABLES), inline=False)
def list_parts(system, tables):
    """List positions, indices of first cells and sizes along a system's walk; return how many. O(cells)."""
    lists, cells, state = tables.lists, tables.shares.cells, tables.state[0]
    walk, _, begin, n_cells = extent(system, state.level)
    shift = 0
    if n_cells > 2 and lists.owner[cells[walk, begin]] == lists.owner[cells[walk, begin + n_cells - 1]]:
        shift = 1  # the last cell and the first are one partition
    n_parts = 0
    before = NONE
    for i in range(shift, n_cells + shift):
        index = i if i < n_cells else 0
        position = lists.owner[cells[walk, begin + index]]
        if position == before and n_parts > 0:
            lists.part_size[n_parts - 1] = 2
        else:
            lists.part_position[n_parts] = position
            lists.part_index[n_parts] = index
            lists.part_size[n_parts] = 1
            n_parts += 1
        before = position
    return n_parts


@part(void(int64, int64, int64, TABLES))
def hold(position, first, second, tables):
    """Give cells to a position."""
    lists = tables.lists
    lists.first[position] = first
    lists.second[position] = second
    lists.owner[first] = position
    if second != NONE:
        lists.owner[second] = position


@part(int64(int64, int64, TABLES))
def size_in(system, position, tables):
    """Return how many cells of a position lie in a system: 0, 1 or 2."""
    lists, cells, state = tables.lists, tables.shares.cells, tables.state[0]
    _, places, begin, n_cells = extent(system, state.level)
    found = 0
    if begin <= cells[places, lists.first[position]] < begin + n_cells:
        found = 1
    second = lists.second[position]
    if second != NONE and begin <= cells[places, second] < begin + n_cells:
        found += 1
    return found


@part(int64(int64, TABLES), inline=False)
def system_of(position, tables):
    """Return the system to which a position belongs."""
    lists, state = tables.lists, tables.state[0]
    for i in range(state.n_systems):
        if size_in(lists.systems[i], position, tables) > 0:
            return lists.systems[i]
    return 1


@part(boolean(int64, int64, TABLES), inline=False)
def follows(inner, outer, tables):
    """Return whether the cells of each partition in one system follow each other on the walk of another."""
    lists, cells, state = tables.lists, tables.shares.cells, tables.state[0]
    walk, _, begin, n_cells = extent(inner, state.level)
    _, places, _, n_outer = extent(outer, state.level)
    for i in range(begin, begin + n_cells):
        position = lists.owner[cells[walk, i]]
        second = lists.second[position]
        if second != NONE:
            apart = abs(cells[places, lists.first[position]] - cells[places, second])
            if apart != 1 and apart != n_outer - 1:
                return False
    return True


@part(boolean(int64, TABLES), inline=False)
def divides(system, tables):
    """Return whether a system divides into two of half the jobs, each on half of its cells."""
    lists, cells, state = tables.lists, tables.shares.cells, tables.state[0]
    level = state.level
    walk, _, _, n_cells = extent(system, level)
    depth = walk - rows_of(level) - WALK
    n_parts = list_parts(system, tables)
    if n_parts == n_cells or 2 * n_parts == n_cells:
        return False  # all partitions are of one size: nothing rotates
    if n_parts % 2 or not cells[rows_of(level) + CLOSED, depth]:
        return False
    n_first = 0
    for i in range(n_parts):
        position = lists.part_position[i]
        inside = size_in(2 * system, position, tables)
        if inside == lists.part_size[i]:
            n_first += 1
        elif inside:
            return False
    return (
        2 * n_first == n_parts
        and follows(2 * system, 2 * system, tables)
        and follows(2 * system + 1, 2 * system + 1, tables)
    )


@part(void(TABLES), inline=False)
def divide(tables):
    """Divide every system as far as possible. O(cells) for each level of systems."""
    lists, state = tables.lists, tables.state[0]
    i = 0
    while i < state.n_systems:
        system = lists.systems[i]
        if divides(system, tables):
            for j in range(state.n_systems, i + 1, -1):
                lists.systems[j] = lists.systems[j - 1]
            lists.systems[i] = 2 * system
            lists.systems[i + 1] = 2 * system + 1
            state.n_systems += 1
        else:
            i += 1


@part(int64(TABLES), inline=False)
def host(tables):
    """Return the index, among the listed parts of its system, of the part that a newcomer halves.

    A part that lies in both halves of the system comes first, otherwise one in the half with fewer jobs.
    """
    lists, state = tables.lists, tables.state[0]
    system = NONE
    n_parts = n_cells = 1
    for i in range(state.n_systems):
        its_parts = list_parts(lists.systems[i], tables)
        its_cells = extent(lists.systems[i], state.level)[3]
        if its_parts < its_cells and (system == NONE or its_parts * n_cells < n_parts * its_cells):
            system, n_parts, n_cells = lists.systems[i], its_parts, its_cells
    n_parts = list_parts(system, tables)
    while True:
        n_large = in_halves_0 = in_halves_1 = large_0 = large_1 = 0
        first = across = NONE
        for i in range(n_parts):
            position = lists.part_position[i]
            if size_in(system, position, tables) == 0:
                continue
            inside = size_in(2 * system, position, tables) if n_cells > 1 else 0
            large = lists.part_size[i] == 2
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


@part(void(int64, TABLES))
def set_level(level, tables):
    """Begin with one system on a grid of 2 ** level cells."""
    lists, state = tables.lists, tables.state[0]
    state.level = level
    state.n_systems = 1
    lists.systems[0] = 1


@part(void(int64, TABLES), inline=False)
def refine(n_jobs, tables):
    """Halve every cell: all partitions, which are small, become large. O(jobs)."""
    lists, cells, state = tables.lists, tables.shares.cells, tables.state[0]
    row = rows_of(state.level) + FINER
    for position in range(n_jobs):
        finer = cells[row, lists.first[position]]
        lists.first[position] = finer
        lists.second[position] = finer + 1
    set_level(state.level + 1, tables)
    for position in range(n_jobs):
        hold(position, lists.first[position], lists.second[position], tables)


@part(void(int64, TABLES), inline=False)
def coarsen(n_jobs, tables):
    """Take cells twice as large: all partitions, which are large, become small. O(jobs)."""
    lists, cells, state = tables.lists, tables.shares.cells, tables.state[0]
    row = rows_of(state.level) + COARSER
    set_level(state.level - 1, tables)
    for position in range(n_jobs):
        lists.first[position] = cells[row, lists.first[position]]
        lists.second[position] = NONE
    for position in range(n_jobs):
        lists.owner[lists.first[position]] = position
