"""The profile of one pool as a linked list of steps, and the list of gaps, see `tables`."""

import numpy as np
from numba import float64, int64, void

from models.backfill.conservative import tables
from models.kernels.bits import ONE
from models.kernels.compiling import part


@part(void(tables.SYSTEM, tables.NUMBER, int64, int64, int64))
def record_gap(system: tables.ConservativePool, at: int, known: int, most: int, turn: int) -> None:
    """Record that processors have become free in a step, see `tables.GAP`. O(1)."""
    step, gap = system.step, system.gap
    i = step[at].gap
    if i == tables.NONE:
        i = system.state[0].n_gaps
        system.state[0].n_gaps += 1
        step[at].gap = i
        gap[i].time, gap[i].step = step[at].time, at
        gap[i].known, gap[i].most, gap[i].turn = known, most, turn
    else:
        gap[i].known = min(gap[i].known, known)
        gap[i].most = max(gap[i].most, most)
        gap[i].turn = max(gap[i].turn, turn)


@part(void(tables.SYSTEM, tables.NUMBER))
def close_gap(system: tables.ConservativePool, i: int) -> None:
    """Remove an entry from the list of gaps; the last one takes its place. O(1)."""
    step, gap = system.step, system.gap
    step[gap[i].step].gap = tables.NONE
    system.state[0].n_gaps -= 1
    last = system.state[0].n_gaps
    if i != last:
        gap[i] = gap[last]
        step[gap[i].step].gap = i


@part(tables.NUMBER(tables.SYSTEM, tables.NUMBER, float64))
def split_step(system: tables.ConservativePool, at: int, instant: float) -> int:
    """Begin a step at an instant within step `at`, and return its number. O(1)."""
    state, step = system.state[0], system.step
    made = state.spare
    if made != tables.NONE:
        state.spare = step[made].after
    else:
        made = state.n_steps
        state.n_steps += 1
    following = step[at].after
    step[made] = step[at]
    step[made].time = instant
    step[made].before = at
    step[at].after = made
    if following != tables.NONE:
        step[following].before = made
    step[made].n_jobs = 0
    step[made].starting = tables.NONE
    step[made].gap = tables.NONE
    i = step[at].gap
    if i != tables.NONE:
        record_gap(system, made, system.gap[i].known, system.gap[i].most, system.gap[i].turn)
    return made


@part(void(tables.SYSTEM, tables.NUMBER))
def release_step(system: tables.ConservativePool, at: int) -> None:
    """Count one job fewer that starts or ends there; without any, a step joins its predecessor. O(1)."""
    state, step, gap = system.state[0], system.step, system.gap
    step[at].n_jobs -= 1
    previous, following = step[at].before, step[at].after
    if step[at].n_jobs == 0 and previous != tables.NONE:
        i = step[at].gap
        if i != tables.NONE:
            known, most, turn = gap[i].known, gap[i].most, gap[i].turn
            close_gap(system, i)
            record_gap(system, previous, known, most, turn)
        step[previous].after = following
        if following != tables.NONE:
            step[following].before = previous
        step[at].after = state.spare
        state.spare = at


@part(void(tables.SYSTEM))
def drop_past(system: tables.ConservativePool) -> None:
    """Remove the steps before now. O(1) on average."""
    state, step = system.state[0], system.step
    first = state.first
    while step[first].after != tables.NONE and step[step[first].after].time <= state.now:
        following = step[first].after
        step[following].before = tables.NONE
        if step[first].gap != tables.NONE:
            close_gap(system, step[first].gap)
        step[first].after = state.spare
        state.spare = first
        first = following
    step[first].time = state.now
    state.first = first


@part(tables.NUMBER(tables.SYSTEM, tables.NUMBER, int64, float64))
def first_fit(system: tables.ConservativePool, at: int, size: int, duration: float) -> int:
    """Return the first step from `at` on from which a job fits for its whole duration. O(steps)."""
    step = system.step
    found = tables.NONE
    while at != tables.NONE:
        if found != tables.NONE and step[found].time + duration <= step[at].time:
            return found
        if step[at].free < size:
            found = tables.NONE
        elif found == tables.NONE:
            found = at
        at = step[at].after
    return found


@part(tables.NUMBER(tables.SYSTEM, tables.NUMBER, int64))
def first_adjacent(system: tables.ConservativePool, at: int, size: int) -> int:
    """Return the first of the steps right before `at` throughout which a job fits. O(their number)."""
    before = system.step[at].before
    while before != tables.NONE and system.step[before].free >= size:
        at = before
        before = system.step[at].before
    return at


@part(tables.NUMBER(tables.SYSTEM, tables.NUMBER, float64, int64))
def take(system: tables.ConservativePool, at: int, end: float, size: int) -> int:
    """Allocate processors from the beginning of a step to `end`, and return the step that begins there.

    O(steps between).
    """
    step = system.step
    while step[at].after != tables.NONE and step[step[at].after].time <= end:
        step[at].free -= size
        at = step[at].after
    if step[at].time == end:
        return at
    made = split_step(system, at, end)
    step[at].free -= size
    return made


@part(void(tables.SYSTEM, tables.NUMBER, int64))
def give_back(system: tables.ConservativePool, at: int, size: int) -> None:
    """Free processors in a step; a job that starts at its end and fits in it now may advance.

    O(jobs that start there).
    """
    queue, step = system.queue, system.step
    free = step[at].free + size
    step[at].free = free
    position = step[step[at].after].starting
    while position != tables.NONE:
        if queue.size[position] <= free:
            queue.may_advance[position >> tables.SHIFT] |= ONE << np.uint64(position & tables.MASK)
        position = queue.reservation[position].next_there


@part(void(tables.SYSTEM, tables.NUMBER, tables.NUMBER))
def link_start(system: tables.ConservativePool, position: int, at: int) -> None:
    """Reserve the start at the beginning of a step for a job. O(1)."""
    reservation, step = system.queue.reservation, system.step
    other = step[at].starting
    reservation[position].first = at
    reservation[position].planned = step[at].time
    reservation[position].next_there = other
    reservation[position].last_there = tables.NONE
    if other != tables.NONE:
        reservation[other].last_there = position
    step[at].starting = position
    step[at].n_jobs += 1


@part(void(tables.SYSTEM, tables.NUMBER))
def unlink_start(system: tables.ConservativePool, position: int) -> None:
    """Remove a job from the list of jobs that start where it does. O(1)."""
    reservation = system.queue.reservation
    earlier, later = reservation[position].last_there, reservation[position].next_there
    if earlier != tables.NONE:
        reservation[earlier].next_there = later
    else:
        system.step[reservation[position].first].starting = later
    if later != tables.NONE:
        reservation[later].last_there = earlier
