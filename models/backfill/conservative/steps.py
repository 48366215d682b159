"""The profile of one pool as a linked list of steps, and the list of gaps, see `tables`."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, void

from models.backfill.conservative.tables import (
    MASK,
    NONE,
    NUMBER,
    SHIFT,
    SYSTEM,
    ConservativePool,
)
from models.kernels.bits import ONE
from models.kernels.compiling import part


@part(void(SYSTEM, NUMBER, int64, int64, int64))
def record_gap(system: ConservativePool, at: int, known: int, most: int, turn: int) -> None:
    """Record that something has become free in a step, see `tables.GAP`. O(1)."""
    step, gap = system.step, system.gap
    i = step[at].gap
    if i == NONE:
        i = system.state[0].n_gaps
        system.state[0].n_gaps += 1
        step[at].gap = i
        gap[i].time, gap[i].step = step[at].time, at
        gap[i].known, gap[i].most, gap[i].turn = known, most, turn
    else:
        gap[i].known = min(gap[i].known, known)
        gap[i].most = max(gap[i].most, most)
        gap[i].turn = max(gap[i].turn, turn)


@part(void(SYSTEM, NUMBER))
def close_gap(system: ConservativePool, i: int) -> None:
    """Remove an entry from the list of gaps; the last one takes its place. O(1)."""
    step, gap = system.step, system.gap
    step[gap[i].step].gap = NONE
    system.state[0].n_gaps -= 1
    last = system.state[0].n_gaps
    if i != last:
        gap[i] = gap[last]
        step[gap[i].step].gap = i


@part(NUMBER(SYSTEM, NUMBER, float64))
def split_step(system: ConservativePool, at: int, instant: float) -> int:
    """Begin a step at an instant within step `at`, and return its number. O(1)."""
    state, step = system.state[0], system.step
    made = state.spare
    if made != NONE:
        state.spare = step[made].after
    else:
        made = state.n_steps
        state.n_steps += 1
    following = step[at].after
    step[made] = step[at]
    step[made].time = instant
    step[made].before = at
    step[at].after = made
    if following != NONE:
        step[following].before = made
    step[made].n_jobs = 0
    step[made].starting = NONE
    step[made].gap = NONE
    i = step[at].gap
    if i != NONE:
        record_gap(system, made, system.gap[i].known, system.gap[i].most, system.gap[i].turn)
    return made


@part(void(SYSTEM, NUMBER))
def release_step(system: ConservativePool, at: int) -> None:
    """Count one job fewer that starts or ends there: without any, a step joins the one before. O(1)."""
    state, step, gap = system.state[0], system.step, system.gap
    step[at].n_jobs -= 1
    previous, following = step[at].before, step[at].after
    if step[at].n_jobs == 0 and previous != NONE:
        i = step[at].gap
        if i != NONE:
            known, most, turn = gap[i].known, gap[i].most, gap[i].turn
            close_gap(system, i)
            record_gap(system, previous, known, most, turn)
        step[previous].after = following
        if following != NONE:
            step[following].before = previous
        step[at].after = state.spare
        state.spare = at


@part(void(SYSTEM))
def drop_past(system: ConservativePool) -> None:
    """Remove the steps before now. O(1) on average."""
    state, step = system.state[0], system.step
    first = state.first
    while step[first].after != NONE and step[step[first].after].time <= state.now:
        following = step[first].after
        step[following].before = NONE
        if step[first].gap != NONE:
            close_gap(system, step[first].gap)
        step[first].after = state.spare
        state.spare = first
        first = following
    step[first].time = state.now
    state.first = first


@part(NUMBER(SYSTEM, NUMBER, int64, float64))
def first_fit(system: ConservativePool, at: int, size: int, duration: float) -> int:
    """Return the first step from `at` on from which a job fits for its whole duration. O(steps)."""
    step = system.step
    found = NONE
    while at != NONE:
        if found != NONE and step[found].time + duration <= step[at].time:
            return found
        if step[at].free < size:
            found = NONE
        elif found == NONE:
            found = at
        at = step[at].after
    return found


@part(NUMBER(SYSTEM, NUMBER, int64))
def first_adjacent(system: ConservativePool, at: int, size: int) -> int:
    """Return the first step of those right before `at` in all of which a job fits. O(their number)."""
    before = system.step[at].before
    while before != NONE and system.step[before].free >= size:
        at = before
        before = system.step[at].before
    return at


@part(NUMBER(SYSTEM, NUMBER, float64, int64))
def take(system: ConservativePool, at: int, end: float, size: int) -> int:
    """Take processors from the beginning of a step to `end`, and return the step that begins there.

    O(steps between).
    """
    step = system.step
    while step[at].after != NONE and step[step[at].after].time <= end:
        step[at].free -= size
        at = step[at].after
    if step[at].time == end:
        return at
    made = split_step(system, at, end)
    step[at].free -= size
    return made


@part(void(SYSTEM, NUMBER, int64))
def give_back(system: ConservativePool, at: int, size: int) -> None:
    """Free processors in a step; a job that starts at its end and fits in it now may advance.

    O(jobs that start there).
    """
    queue, step = system.queue, system.step
    free = step[at].free + size
    step[at].free = free
    position = step[step[at].after].starting
    while position != NONE:
        if queue.size[position] <= free:
            queue.may_advance[position >> SHIFT] |= ONE << np.uint64(position & MASK)
        position = queue.reservation[position].next_there


@part(void(SYSTEM, NUMBER, NUMBER))
def link_start(system: ConservativePool, position: int, at: int) -> None:
    """Reserve the start at the beginning of a step for a job. O(1)."""
    reservation, step = system.queue.reservation, system.step
    other = step[at].starting
    reservation[position].first = at
    reservation[position].planned = step[at].time
    reservation[position].next_there = other
    reservation[position].last_there = NONE
    if other != NONE:
        reservation[other].last_there = position
    step[at].starting = position
    step[at].n_jobs += 1


@part(void(SYSTEM, NUMBER))
def unlink_start(system: ConservativePool, position: int) -> None:
    """Remove a job from the list of those that start where it does. O(1)."""
    reservation = system.queue.reservation
    earlier, later = reservation[position].last_there, reservation[position].next_there
    if earlier != NONE:
        reservation[earlier].next_there = later
    else:
        system.step[reservation[position].first].starting = later
    if later != NONE:
        reservation[later].last_there = earlier
