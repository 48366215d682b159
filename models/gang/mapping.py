"""Changes of the mapping: of one job, of slots that close or unite, of all jobs under migration."""

import numpy as np

from models.gang import alternation
from models.gang.memory import is_limited, take_all_memory, take_memory
from models.gang.profile import AT_PRESENT
from models.gang.queueing import REPACK, surely_fit
from models.kernels.compiling import part
from models.packing.slots import NOWHERE, close_slot, map_job, slot_to_unite_with, unite, unmap_job


@part()
def settle_in(job, slot, system):
    """Map a newcomer to the chosen PEs of a slot, and let it and the others run wherever they now can."""
    settings, matrix, table, buffers = system.settings, system.matrix, system.table, system.buffers
    state = system.state[0]
    table.jobs[job].slot = slot  # so that it does not count as one of the others
    opened = slot == state.n_slots
    if settings.alternation == alternation.SHARED:
        if opened:
            alternation.slot_comes_or_goes(1, slot, buffers.chosen, 0, table, state)
        else:
            alternation.slot_changes(-1, slot, buffers.chosen, 0, matrix.occupied, table, state)
    map_job(job, slot, matrix, table, buffers.chosen, state)
    if is_limited(settings):
        take_memory(table.pes, job, table.jobs[job].memory, AT_PRESENT, system.profile.memory)
    if settings.alternation == alternation.SHARED:
        n_slots = alternation.count_shared(job, state.n_slots, matrix, table)
        if n_slots > 1:  # it already runs in one
            alternation.run_in(job, n_slots, table, state)
    elif settings.alternation == alternation.EXCLUSIVE:
        alternation.grant_where_it_fits(job, opened, matrix, table, buffers.granted, state)


@part()
def clear_out(job, system):
    """After a job was unmapped, let the others run wherever they now can, and close or unite its slot."""
    settings, matrix, table, granted = system.settings, system.matrix, system.table, system.buffers.granted
    state = system.state[0]
    slot = table.jobs[job].slot
    if settings.alternation == alternation.EXCLUSIVE:
        alternation.grant_where_it_ran(job, matrix, table, granted, state)
    if matrix.free[slot] == settings.n_pes:
        if settings.alternation == alternation.SHARED:
            alternation.slot_comes_or_goes(-1, slot, table.pes, job, table, state)
        elif settings.alternation == alternation.EXCLUSIVE:
            alternation.revoke(slot, matrix, table, state)
        close_slot(slot, settings.n_pes, matrix, table, state)
        return
    if settings.alternation == alternation.SHARED:
        alternation.slot_changes(1, slot, table.pes, job, matrix.occupied, table, state)
    if settings.unification:
        other = slot_to_unite_with(slot, state.n_slots, matrix.occupied)
        if other != NOWHERE:
            low = min(slot, other)
            high = max(slot, other)
            if settings.alternation == alternation.SHARED:
                alternation.slots_unite(low, high, matrix.occupied, table, state)
            elif settings.alternation == alternation.EXCLUSIVE:
                alternation.revoke(low, matrix, table, state)
                alternation.revoke(high, matrix, table, state)
            unite(low, high, settings.n_pes, matrix, table, state)
            state.unifications += 1
            slot = low
    if settings.alternation == alternation.EXCLUSIVE:
        alternation.grant(slot, matrix, table, granted, state)


@part()
def migrate(position, ended, place, release, rearrange, admit, system):
    """Let the scheme map all jobs again, and let them run wherever they now can.

    After the end of a job (or NOWHERE), repacking might take more slots than are allowed, or more memory:
    first fit decreasing is not monotone. Then the mapping stays, and all are mapped again the next time.
    """
    settings, matrix, table, state = system.settings, system.matrix, system.table, system.state[0]
    before = state.n_slots
    stay = False
    if ended != NOWHERE and not surely_fit(state.n_jobs, settings):
        stay = admit(REPACK, np.uint64(0), place, release, rearrange, system) == NOWHERE
    if stay:
        unmap_job(ended, matrix, table)
        slot = table.jobs[ended].slot
        if matrix.free[slot] == settings.n_pes:
            if settings.alternation == alternation.EXCLUSIVE:
                alternation.revoke(slot, matrix, table, state)
            close_slot(slot, settings.n_pes, matrix, table, state)
    else:
        start = 0 if state.out_of_order else position
        state.n_slots = rearrange(start, state.n_jobs, before, settings.n_pes, matrix, table)
    state.out_of_order = stay
    if is_limited(settings):
        take_all_memory(table, state, system.profile.memory)
    n_slots = state.n_slots
    if settings.alternation == alternation.SHARED:
        alternation.count_all_shared(n_slots, matrix, table, state)
    elif settings.alternation == alternation.EXCLUSIVE:
        for slot in range(n_slots, before):
            alternation.revoke(slot, matrix, table, state)
        for slot in range(n_slots):
            alternation.grant(slot, matrix, table, system.buffers.granted, state)
