"""Folding as a policy of the engine: `models.partitioning.geometry.folding`, compiled.

What that module says of arrivals, departures, systems and rotations holds here; a test lets both run the same
course. Instants of rotation follow each other at the policy's interval (I, or I times the number of jobs, for
which the time since the last instant counts when that number changes). They pass without effect when all
partitions are of one size, and the engine is then told of none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64, int64, void

from models.kernels.compiling import kernel, part
from models.partitioning.simulation.discipline import SIGNATURE
from models.partitioning.simulation.fold_cells import (
    COARSER,
    coarsen,
    divide,
    extent,
    hold,
    host,
    list_parts,
    refine,
    rows_of,
    set_level,
    system_of,
)
from models.partitioning.simulation.fold_moves import (
    SHARES_OF_LEVEL,
    exchange,
    fold,
    join,
    lay_out,
    small,
)
from models.partitioning.simulation.progress import begin
from models.partitioning.simulation.state import (
    FIRST,
    FREE,
    LEVEL,
    N_RUNNING,
    N_SYSTEMS,
    NONE,
    NOW,
    PART_INDEX,
    PART_POSITION,
    PART_SIZE,
    ROTATED,
    ROTATION_DUE,
    RUNNING,
    SECOND,
    SETTINGS,
    STATE,
    SYSTEMS,
    Plan,
    Settings,
    State,
)


@part(float64(SETTINGS, int64))
def period(settings: Settings, n_jobs: int) -> float:
    """Return the seconds between two instants of rotation."""
    return settings.rotation * max(n_jobs, 1) if settings.rotation_per_job else settings.rotation


@part(void(SETTINGS, STATE))
def pass_instants(settings: Settings, state: State) -> None:
    """Before the number of jobs changes: let the instants pass at which there was nothing to rotate."""
    clocks = state.clocks
    if settings.rotation < np.inf and clocks[ROTATION_DUE] == np.inf:
        time = period(settings, state.counts[N_RUNNING])
        clocks[ROTATED] += np.floor((clocks[NOW] - clocks[ROTATED]) / time) * time


@part(void(SETTINGS, STATE))
def plan_rotation(settings: Settings, state: State) -> None:
    """Tell the engine of the next rotation; there is none if the number of jobs is a power of two."""
    clocks = state.clocks
    n_jobs = state.counts[N_RUNNING]
    due = max(clocks[NOW], clocks[ROTATED] + period(settings, n_jobs))
    clocks[ROTATION_DUE] = np.inf
    if n_jobs & (n_jobs - 1):
        clocks[ROTATION_DUE] = due
    elif due == clocks[NOW]:
        clocks[ROTATED] = due


@kernel(SIGNATURE)
def arrive(job: int, state: State, plan: Plan, curve: Any) -> None:
    """Give the newcomer half of a large partition; it begins when the other job has folded. O(cells)."""
    order, counts, settings, cells = state.order, state.counts, plan.settings, plan.cells
    pass_instants(settings, state)
    now = state.clocks[NOW]
    newcomer = counts[N_RUNNING]
    ready = now
    second = 0
    if newcomer == 0:
        set_level(0, order, counts)
    else:
        part = host(order, cells, counts)
        position = order[PART_POSITION, part]
        walk, _, first_cell, n_cells = extent(system_of(position, order, cells, counts), counts[LEVEL])
        index = order[PART_INDEX, part]
        kept = cells[walk, first_cell + index]
        second = cells[walk, first_cell + (index + 1) % n_cells]
        ready = fold(position, second, kept, settings.charged, state, plan, curve)
    order[RUNNING, newcomer] = job
    hold(newcomer, second, NONE, order)
    begin(job, ready - now, small(counts[LEVEL]), state, plan, curve)
    counts[N_RUNNING] += 1
    levels = plan.processors.shape[0] // SHARES_OF_LEVEL
    if counts[N_RUNNING] == 1 << counts[LEVEL] and counts[LEVEL] < levels - 1:
        refine(counts[N_RUNNING], order, cells, counts)
    plan_rotation(settings, state)


@kernel(SIGNATURE)
def depart(position: int, state: State, plan: Plan, curve: Any) -> None:
    """Rotate until what the job left is taken (section 4.4.3). O(cells) for each rotation.

    Where the last but one of two jobs leaves, the other one unfolds to the whole machine from wherever it is.
    """
    order, counts, cells = state.order, state.counts, plan.cells
    pass_instants(plan.settings, state)
    charge = float(plan.settings.charged)
    n_jobs = counts[N_RUNNING]
    if n_jobs > 1:
        if 2 * n_jobs == 1 << counts[LEVEL]:
            coarser = rows_of(counts[LEVEL]) + COARSER
            for i in range(n_jobs):
                if cells[coarser, order[FIRST, i]] != cells[coarser, order[SECOND, i]]:
                    lay_out(charge * (n_jobs > 2), state, plan, curve)
                    break
            coarsen(n_jobs, order, cells, counts)
        system = system_of(position, order, cells, counts)
        wanted = 1 if order[SECOND, position] == NONE else 2
        for i in range(list_parts(system, order, cells, counts)):
            wanted -= order[PART_SIZE, i] == 1 and order[PART_POSITION, i] != position
        if wanted > 0:
            join(charge, state, plan, curve)
            system = 1
        counts[FREE] = position
        while counts[FREE] != NONE:
            exchange(system, charge, state, plan, curve)
        last = n_jobs - 1
        if position != last:
            order[RUNNING, position] = order[RUNNING, last]
            hold(position, order[FIRST, last], order[SECOND, last], order)
    counts[N_RUNNING] -= 1
    plan_rotation(plan.settings, state)


@kernel(SIGNATURE)
def rotate(_: int, state: State, plan: Plan, curve: Any) -> None:
    """Exchange small and large partitions of neighbours once in each system. O(cells x log cells)."""
    order, counts, cells = state.order, state.counts, plan.cells
    state.clocks[ROTATED] = state.clocks[NOW]
    first = list_parts(order[SYSTEMS, 0], order, cells, counts)
    first_cells = extent(order[SYSTEMS, 0], counts[LEVEL])[3]
    for i in range(1, counts[N_SYSTEMS]):
        n_parts = list_parts(order[SYSTEMS, i], order, cells, counts)
        if n_parts * first_cells != first * extent(order[SYSTEMS, i], counts[LEVEL])[3]:
            join(1.0, state, plan, curve)
            break
    divide(order, cells, counts)
    for i in range(counts[N_SYSTEMS]):
        exchange(order[SYSTEMS, i], 1.0, state, plan, curve)
    plan_rotation(plan.settings, state)
