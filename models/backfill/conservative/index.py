"""The index of waiting jobs: sets of positions by size, request and zone, see `tables`."""

import numpy as np
from numba import float64, int64, uint32, void

from models.backfill.conservative import tables
from models.backfill.job_table import NO_JOB
from models.kernels.bits import ONE, ZERO
from models.kernels.compiling import part


@part(uint32(tables.QUEUE, float64))
def zone(queue: tables.IndexedQueue, instant: float) -> np.uint32:
    """Return the zone of an instant; the last one is open-ended. O(1)."""
    return np.uint32(min(max((instant - queue.grid[0]) * queue.grid[1], 0.0), tables.ZONES - 1.0))


@part(void(tables.QUEUE, int64, int64, float64, int64))
def index_job(
    queue: tables.IndexedQueue, position: int, size_class: int, requested: float, its_zone: int
) -> None:
    """Add a job to the smallest of the sets that it belongs to, see `accumulate`. O(classes)."""
    word = position >> tables.SHIFT
    bit = ONE << np.uint64(position & tables.MASK)
    queue.present[word] |= bit
    queue.of_size[size_class + 1, word] |= bit
    c = queue.least_request.shape[0] - 1
    while queue.least_request[c] > requested:
        c -= 1
    queue.of_request[c, word] |= bit
    queue.later[its_zone, word] |= bit


@part(void(tables.QUEUE, int64))
def accumulate(queue: tables.IndexedQueue, word: int) -> None:
    """Add the jobs of one word that are in a set to all larger ones. O(classes + zones)."""
    for c in range(1, queue.of_size.shape[0]):
        queue.of_size[c, word] |= queue.of_size[c - 1, word]
    for c in range(1, queue.of_request.shape[0]):
        queue.of_request[c, word] |= queue.of_request[c - 1, word]
    for z in range(tables.ZONES - 2, -1, -1):
        queue.later[z, word] |= queue.later[z + 1, word]


@part(void(tables.QUEUE, int64))
def clear_index(queue: tables.IndexedQueue, word: int) -> None:
    """Remove the jobs of a word from all sets. O(classes + zones)."""
    queue.present[word] = ZERO
    for c in range(queue.of_size.shape[0]):
        queue.of_size[c, word] = ZERO
    for c in range(queue.of_request.shape[0]):
        queue.of_request[c, word] = ZERO
    for z in range(tables.ZONES):
        queue.later[z, word] = ZERO


@part(void(tables.QUEUE, int64, int64, float64, float64))
def enter(queue: tables.IndexedQueue, position: int, size: int, requested: float, planned: float) -> None:
    """Add a job with a reservation. O(classes + zones), O(classes x zones) at worst."""
    size_class = queue.class_of_size[size]
    z = int(zone(queue, planned))
    index_job(queue, position, size_class, requested, z)
    accumulate(queue, position >> tables.SHIFT)
    while z >= 0 and queue.shortest[z, size_class] > requested:
        for c in range(size_class, queue.shortest.shape[1]):
            queue.shortest[z, c] = min(queue.shortest[z, c], requested)
        z -= 1


@part(void(tables.QUEUE, int64))
def leave(queue: tables.IndexedQueue, position: int) -> None:
    """Remove a job that starts. O(1).

    `shortest` stays valid, and gets less precise, as it does where a job moves forward.
    """
    word = position >> tables.SHIFT
    others = ~(ONE << np.uint64(position & tables.MASK))
    queue.job[position] = NO_JOB
    queue.may_advance[word] &= others
    queue.may_jump[word] &= others
    queue.present[word] &= others


@part()
def compact(queue, state):
    """Close up positions; the old ones stay in `moved_to`."""
    reservation, size = queue.reservation, queue.size
    n = state[0].n_positions
    kept = 0
    for word in range((n + tables.MASK) >> tables.SHIFT):
        advance, jump = queue.may_advance[word], queue.may_jump[word]
        queue.may_advance[word] = queue.may_jump[word] = ZERO
        for old in range(word << tables.SHIFT, min((word + 1) << tables.SHIFT, n)):
            job = queue.job[old]
            if job == NO_JOB:
                continue
            queue.job[old] = NO_JOB
            queue.job[kept] = job
            queue.moved_to[old] = kept
            size[kept] = size[old]
            reservation[kept] = reservation[old]
            bit, to = np.uint64(old & tables.MASK), np.uint64(kept & tables.MASK)
            queue.may_advance[kept >> tables.SHIFT] |= (advance >> bit & ONE) << to
            queue.may_jump[kept >> tables.SHIFT] |= (jump >> bit & ONE) << to
            kept += 1
    state[0].n_positions = kept


@part()
def renumber_steps(system):
    """Renumber the steps in the order of time, here and in all jobs."""
    state, queue, step, ordered, number = (
        system.state[0], system.queue, system.step, system.ordered, system.number,
    )  # fmt: skip
    reservation = queue.reservation
    n_steps = 0
    at = state.first
    while at != tables.NONE:
        number[at] = n_steps
        ordered[n_steps] = step[at]
        n_steps += 1
        at = step[at].after
    for i in range(n_steps):
        step[i] = ordered[i]
        step[i].before, step[i].after = i - 1, i + 1
        if step[i].starting != tables.NONE:
            step[i].starting = queue.moved_to[step[i].starting]
        if step[i].gap != tables.NONE:
            system.gap[step[i].gap].step = i
    step[0].before = step[n_steps - 1].after = tables.NONE
    state.first, state.spare, state.n_steps = 0, tables.NONE, n_steps
    for i in range(state.n_positions):
        reservation[i].first, reservation[i].last = number[reservation[i].first], number[reservation[i].last]
        if reservation[i].next_there != tables.NONE:
            reservation[i].next_there = queue.moved_to[reservation[i].next_there]
        if reservation[i].last_there != tables.NONE:
            reservation[i].last_there = queue.moved_to[reservation[i].last_there]
    for i in range(state.n_running):
        job = system.heap[i]
        system.until[job] = number[system.until[job]]


@part()
def rebuild_index(queue, state, n_before):
    """Rebuild the index of closed-up positions; `n_before` were in use before."""
    reservation, shortest, now, n = queue.reservation, queue.shortest, state[0].now, state[0].n_positions
    last = now
    for i in range(n):
        last = max(last, reservation[i].planned)
    queue.grid[0] = now
    queue.grid[1] = tables.ZONES / max(last - now, 1.0)
    for z in range(tables.ZONES):
        for c in range(shortest.shape[1]):
            shortest[z, c] = np.inf
    for word in range(((n_before + tables.MASK) >> tables.SHIFT) + 1):
        clear_index(queue, word)
    for word in range((n + tables.MASK) >> tables.SHIFT):
        for i in range(word << tables.SHIFT, min((word + 1) << tables.SHIFT, n)):
            requested = reservation[i].requested
            z, c = zone(queue, reservation[i].planned), queue.class_of_size[queue.size[i]]
            shortest[z, c] = min(shortest[z, c], requested)
            index_job(queue, i, c, requested, z)
        accumulate(queue, word)
    for z in range(tables.ZONES - 1, -1, -1):
        for c in range(shortest.shape[1]):
            if c > 0:
                shortest[z, c] = min(shortest[z, c], shortest[z, c - 1])
            if z < tables.ZONES - 1:
                shortest[z, c] = min(shortest[z, c], shortest[z + 1, c])


@part(void(tables.SYSTEM))
def reorganize(system: tables.ConservativePool) -> None:
    """Close up positions, renumber the steps in the order of time, and rebuild the index.

    Data that are used together are then stored together. O(steps + positions + running jobs + (positions / 64
    + zones) x classes + positions / 64 x zones).
    """
    n_before = system.state[0].n_positions
    compact(system.queue, system.state)
    renumber_steps(system)
    rebuild_index(system.queue, system.state, n_before)
