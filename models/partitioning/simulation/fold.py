"""Folding: partitions are halved and doubled, and jobs take turns in the larger ones (section 4.4).

With 2^k ≤ J < 2^(k+1) jobs the mesh is a grid of 2^(k+1) equal cells (of P cells if J = P). A job has one
cell, a small partition, or two neighbours, a large one: always a rectangle. The cells lie on a closed walk
(see `geometry.walk`), and a large partition is two consecutive cells. At a rotation every small partition
that is followed by a large one takes over its first cell. So large partitions move against the walk by one
cell and small ones along it by two, and large ones may come to lie across the cells of the next coarser grid.

The following choices are not in the paper:

Arrivals
    halve one large partition; the newcomer gets the half that comes later on the walk. One that lies in
    both halves of the machine is taken first, else one in the half with fewer jobs, by the same rule within
    that half. Nothing else moves. When all partitions are small, the cells are halved, which moves no job:
    from 16 jobs on it changes the order of the walk ("global re-ordering", section 4.4.5).
Departures
    leave a free partition, and rotations follow at once until it is taken (4.4.3): a small partition before
    a large free one gets its first half, and one before a small free one gets all of it. If all partitions
    are large, the next coarser grid takes the place of this one; jobs that lie across its cells move by a
    cell.
Systems
    An even number of jobs is two systems, each with half of the machine, as soon as each half holds half of
    the jobs, none lies in both, and the large ones follow the half's own walk; and so on within each half.
    This is checked before every rotation. Until these conditions hold, which may be never on a long machine,
    they rotate as one system, which is as fair but takes longer.
Joining
    Systems that an arrival or a departure left with different densities of jobs become one at the next
    rotation. A large partition may not follow the common walk (it may lie where the half's walk closes).
    Systems with such partitions first rotate alone, immediately, until they have none; if that never happens,
    all jobs are laid out again along the common walk, in their order and with their sizes.

Instants of rotation follow each other at the policy's interval (I, or I times the number of jobs, for which
the time since the last instant counts when that number changes). They pass without effect when all partitions
have one size, and are then not due.
"""

import numpy as np
from numba import void

from models.kernels.compiling import kernel, part
from models.partitioning.simulation import fold_cells, fold_moves
from models.partitioning.simulation.progress import SIGNATURE, begin
from models.partitioning.simulation.state import NONE, TABLES


@part()
def period(settings, n_jobs):
    """Return the seconds between two instants of rotation."""
    return settings.rotation * max(n_jobs, 1) if settings.rotation_per_job else settings.rotation


@part(void(TABLES))
def pass_instants(tables):
    """Before the number of jobs changes, skip the instants at which there was nothing to rotate."""
    settings, state = tables.settings, tables.state[0]
    if settings.rotation < np.inf and state.rotation_due == np.inf:
        time = period(settings, state.n_running)
        state.rotated += np.floor((state.now - state.rotated) / time) * time


@part(void(TABLES))
def plan_rotation(tables):
    """Set when the next rotation is due; there is none if the number of jobs is a power of two."""
    settings, state = tables.settings, tables.state[0]
    n_jobs = state.n_running
    due = max(state.now, state.rotated + period(settings, n_jobs))
    state.rotation_due = np.inf
    if n_jobs & (n_jobs - 1):
        state.rotation_due = due
    elif due == state.now:
        state.rotated = due


@kernel(SIGNATURE)
def arrive(job, tables, curve):
    """Give the newcomer half of a large partition; it begins when the other job has folded. O(cells)."""
    lists, cells, state = tables.lists, tables.shares.cells, tables.state[0]
    pass_instants(tables)
    now = state.now
    newcomer = state.n_running
    ready = now
    second = 0
    if newcomer == 0:
        fold_cells.set_level(0, tables)
    else:
        part = fold_cells.host(tables)
        position = lists.part_position[part]
        walk, _, first_cell, n_cells = fold_cells.extent(fold_cells.system_of(position, tables), state.level)
        index = lists.part_index[part]
        kept = cells[walk, first_cell + index]
        second = cells[walk, first_cell + (index + 1) % n_cells]
        charge = 1.0 if tables.settings.charged else 0.0
        ready = fold_moves.fold(position, second, kept, charge, tables, curve)
    lists.running[newcomer] = job
    fold_cells.hold(newcomer, second, NONE, tables)
    begin(job, ready - now, fold_moves.small(state.level), tables, curve)
    state.n_running += 1
    levels = tables.shares.processors.shape[0] // fold_moves.SHARES_OF_LEVEL
    if state.n_running == 1 << state.level and state.level < levels - 1:
        fold_cells.refine(state.n_running, tables)
    plan_rotation(tables)


@kernel(SIGNATURE)
def depart(position, tables, curve):
    """Rotate until the partition that the job left is taken (section 4.4.3). O(cells) for each rotation.

    If one of the last two jobs leaves, the other one unfolds to the whole machine from wherever it is.
    """
    lists, cells, state = tables.lists, tables.shares.cells, tables.state[0]
    pass_instants(tables)
    charge = 1.0 if tables.settings.charged else 0.0
    n_jobs = state.n_running
    if n_jobs > 1:
        if 2 * n_jobs == 1 << state.level:
            coarser = fold_cells.rows_of(state.level) + fold_cells.COARSER
            for i in range(n_jobs):
                if cells[coarser, lists.first[i]] != cells[coarser, lists.second[i]]:
                    fold_moves.lay_out(charge * (n_jobs > 2), tables, curve)
                    break
            fold_cells.coarsen(n_jobs, tables)
        system = fold_cells.system_of(position, tables)
        wanted = 1 if lists.second[position] == NONE else 2
        for i in range(fold_cells.list_parts(system, tables)):
            wanted -= lists.part_size[i] == 1 and lists.part_position[i] != position
        if wanted > 0:
            fold_moves.join(charge, tables, curve)
            system = 1
        state.free = position
        while state.free != NONE:
            fold_moves.exchange(system, charge, tables, curve)
        last = n_jobs - 1
        if position != last:
            lists.running[position] = lists.running[last]
            fold_cells.hold(position, lists.first[last], lists.second[last], tables)
    state.n_running -= 1
    plan_rotation(tables)


@kernel(SIGNATURE)
def rotate(_, tables, curve):
    """Exchange small and large partitions of neighbours once in each system. O(cells x log cells)."""
    lists, state = tables.lists, tables.state[0]
    state.rotated = state.now
    first = fold_cells.list_parts(lists.systems[0], tables)
    first_cells = fold_cells.extent(lists.systems[0], state.level)[3]
    for i in range(1, state.n_systems):
        n_parts = fold_cells.list_parts(lists.systems[i], tables)
        if n_parts * first_cells != first * fold_cells.extent(lists.systems[i], state.level)[3]:
            fold_moves.join(1.0, tables, curve)
            break
    fold_cells.divide(tables)
    for i in range(state.n_systems):
        fold_moves.exchange(lists.systems[i], 1.0, tables, curve)
    plan_rotation(tables)
