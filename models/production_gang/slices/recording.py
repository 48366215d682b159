"""The records of an engine: pieces of a schedule, and the causes by which processors without a job are lost.

Slices of seconds make millions of pieces. If only measures are needed, the engine records sums instead: the
mean of each group's processors, and of the lost ones, from one mark to the next. There is a mark at every
submission and end, and once a day for each of `Sums.days`. Measures use only intervals between these times,
so that the integrals are the same.

The engine stops where an array may be full, and continues with larger ones.
"""

import numpy as np

from models.jobs.calendar import DAY
from models.kernels.compiling import part


@part()
def record_piece(pieces, at, job, host, begin, end, used):
    """Record a piece; a row must be free. O(1)."""
    piece = pieces[at]
    piece.job, piece.host, piece.begin, piece.end, piece.used = job, host, begin, end, used


@part()
def has_capacity(system, n_pieces, n_switches):
    """Return whether this many more records fit, and the levels of an instant."""
    state = system.state[0]
    return (
        state.n_pieces + n_pieces <= system.pieces.shape[0]
        and state.n_switches + n_switches <= system.switches.shape[0]
        and state.n_levels + 2 <= system.levels.shape[0]
    )


@part()
def count_work(job, now, processors, system):
    """Add a job's usage since it was last counted to the sum of its class. O(1)."""
    it = system.jobs[job]
    if now > it.counted:
        system.sums.used[it.group] += processors * (now - it.counted)
        it.counted = now


@part()
def _count_level(time, system):
    state, sums = system.state[0], system.sums
    for i in range(3):
        sums.area[i] += sums.level[i] * (time - state.level_since)
    state.level_since = time


@part()
def record_sums(now, system):
    """Record the means since the last mark, after all running jobs are counted; begin new sums. O(groups)."""
    state, sums = system.state[0], system.sums
    _count_level(now, system)
    length = now - state.marked
    state.mark_due = 0
    if length > 0:
        for number in range(sums.used.shape[0]):
            if sums.used[number] > 0:
                mean = sums.used[number] / length
                record_piece(system.pieces, state.n_pieces, number, 0, state.marked, now, mean)
                state.n_pieces += 1
                sums.used[number] = 0.0
        level = system.levels[state.n_levels]
        level.time = state.marked
        level.lost, level.packing, level.limits = (
            sums.area[0] / length,
            sums.area[1] / length,
            sums.area[2] / length,
        )
        state.n_levels += 1
        sums.area[:] = 0.0
        state.marked = now
    state.next_mark = np.inf
    for first in sums.days:
        n = np.floor((now - first) / DAY) + 1
        while first + n * DAY <= now:  # a quotient may be rounded down
            n += 1
        state.next_mark = min(state.next_mark, first + n * DAY)


@part()
def _record_level(system, time, lost, packing, limits):
    state, levels = system.state[0], system.levels
    if system.settings.sums:
        _count_level(time, system)
        system.sums.level[0], system.sums.level[1], system.sums.level[2] = lost, packing, limits
        return
    at = state.n_levels
    if at > 0:
        last = levels[at - 1]
        if last.time == time:
            at -= 1
        elif last.lost == lost and last.packing == packing and last.limits == limits:
            return
    level = levels[at]
    level.time, level.lost, level.packing, level.limits = time, lost, packing, limits
    state.n_levels = at + 1


@part()
def record_levels(system, now, idle, reserve, waits):
    """Record the processors that are lost from now on. O(1).

    Parameters
    ----------
    system : System
    now : float
    idle : float
        Processors that no job uses, without regard to switches.
    reserve : float
        Idle CPUs that are kept from gangs.
    waits : bool
        Whether some job that has been submitted does not run.
    """
    state = system.state[0]
    lost = 0.0
    meanwhile = idle
    if now < state.switch_ends:
        lost = float(state.switching)
        meanwhile = idle + state.switching_uses - lost
    if lost > 0:
        short = min(reserve, meanwhile)
        _record_level(system, now, lost, (meanwhile - short) * waits, short * waits)
    else:
        _record_level(system, now, 0.0, (idle - reserve) * waits, reserve * waits)


@part()
def end_switches(system, now, idle, reserve, waits):
    """Record, before the events of an instant, that switches have ended since the last one. O(1)."""
    state = system.state[0]
    if state.switching > 0 and state.switch_ends <= now:
        _record_level(system, state.switch_ends, 0.0, (idle - reserve) * waits, reserve * waits)
        state.switching = state.switching_uses = 0
