"""Backfill candidates of a gap: jobs that fit as a whole, before their start, where processors became free.

The new opportunities of a job are stretches of time that overlap the gap and have enough processors
throughout. Such stretches are the largest rectangles under the step function that reach into the gap: from
one level to the next lower one they get longer. Each job is tried in the rectangle of its size, and only if
it did not fit in the gap before. A job that only moves forward by less than its length fits right before its
start, and `steps.give_back` finds it there. A job to which both applies is found twice, because another job
may cut the stretch in two before its turn.

Nearly all gaps are filled before the turn of the jobs that were found for them. So a job is only flagged as a
candidate; at its turn, `first_gap` determines where it fits, from the list of gaps that are still open.
"""

import numpy as np
from numba import boolean, float64, int64, void

from models.backfill.conservative.index import zone
from models.backfill.conservative.steps import close_gap, record_gap
from models.backfill.conservative.tables import NONE, NUMBER, SHIFT, SYSTEM, ConservativePool
from models.kernels.bits import ONE, ZERO, lowest_position
from models.kernels.compiling import part


@part(boolean(SYSTEM, int64, int64, float64, float64, float64))
def flag_candidates(
    system: ConservativePool, size: int, lower: int, gap: float, since: float, until: float
) -> bool:  # fmt: skip
    """Flag jobs that may fit from `since` to `until`; return whether there are any.

    O(positions / 64 + jobs found, once each).

    Parameters
    ----------
    system : see `tables`
    size : processors that are free all the time
    lower : a job that needs no more than these has a longer stretch of its own
    gap : when the gap begins: a job that starts before does not reach into it
    since, until : see above
    """
    queue = system.queue
    of_size, of_request, later = queue.of_size, queue.of_request, queue.later
    large, small = queue.class_of_size[size] + 1, queue.class_of_size[lower + 1]
    gap_zone = zone(queue, gap)
    request_class = queue.least_request.shape[0] - 1
    while since + queue.least_request[request_class] > until:
        request_class -= 1
    found = False
    for word in range((system.state[0].n_positions >> SHIFT) + 1):
        rest = of_size[large, word] & ~of_size[small, word] & later[gap_zone, word]
        rest &= of_request[request_class, word] & queue.present[word]
        if rest & queue.may_jump[word] != ZERO:
            found = True
            rest &= ~queue.may_jump[word]
        while rest != ZERO:
            position = np.uint32((word << SHIFT) + lowest_position(rest))
            lowest = rest & (~rest + ONE)
            rest ^= lowest
            needs = queue.size[position]
            over = since + queue.reservation[position].requested
            planned = queue.reservation[position].planned
            if needs <= size and needs > lower and planned > gap and over <= until and over <= planned:
                queue.may_jump[word] |= lowest
                found = True
    return found


@part(void(SYSTEM, NUMBER, NUMBER, int64))
def open_gap(system: ConservativePool, begin: int, end: int, size: int) -> None:
    """Flag the candidates of the steps from `begin` to before `end`, in which `size` processors became free.

    A step is recorded only if some job may fit there. A job that fits somewhere later was found when the last
    of its processors became free, in one of the steps in which they did.

    O(steps of the gap x steps around it) at worst, and O(waiting jobs / 64) for each stretch into which the
    shortest request fits. Mostly a gap is one step, and its neighbours are nearly full.
    """
    queue, step = system.queue, system.step
    gap = step[begin].time
    gap_zone = zone(queue, gap)
    here = begin
    while here != end:
        # Levels down to the number free before: a job that needs no more already fitted here.
        free = step[here].free
        level, above = free, free - size
        left, right = here, step[here].after
        following = right
        most = 0
        while level > above:
            size_class = queue.class_of_size[level]
            shortest = queue.shortest[gap_zone, size_class]
            if shortest == np.inf:
                break
            lower = 0
            while right != NONE:
                lower = step[right].free
                if lower < level:
                    break
                lower = 0
                if queue.shortest[zone(queue, step[right].time), size_class] == np.inf:
                    break  # no job of that size starts later
                right = step[right].after
            before = step[left].before
            while before != NONE and step[before].free >= level:
                left = before
                before = step[left].before
            if before != NONE:
                lower = max(lower, step[before].free)
            until = np.inf if right == NONE else step[right].time
            if step[left].time + shortest <= until and (
                flag_candidates(system, level, max(lower, above), gap, step[left].time, until)
            ):
                most = max(most, level)
            level = lower
        if most > 0:
            record_gap(system, here, above, most, system.state[0].turn)
        here = following


@part(NUMBER(SYSTEM, NUMBER, NUMBER))
def first_gap(system: ConservativePool, position: int, before: int) -> int:
    """Return the first step before `before` from which a waiting job fits as a whole before its start;
    `before`, from which it fits up to its start, if there is none.

    The number of processors now free in a gap, found on the way, is recorded. O(open gaps), and O(steps
    around the gaps that may fit).
    """
    state, queue, step, gap = system.state[0], system.queue, system.step, system.gap
    size, requested = queue.size[position], queue.reservation[position].requested
    planned = queue.reservation[position].planned
    best = before
    latest = step[before].time
    tried_from, tried_to = np.inf, -np.inf
    i = np.uint32(0)
    while i < state.n_gaps:
        time = gap[i].time
        if (gap[i].most < size) | (time >= latest) | (gap[i].known >= size):
            i += np.uint32(1)
            continue
        at = gap[i].step
        free = step[at].free
        if free <= gap[i].known:
            close_gap(system, i)  # the gap that takes its place is next
            continue
        if free < size:
            gap[i].most = free
        elif time < tried_from or time >= tried_to:
            left, right = at, step[at].after
            previous = step[left].before
            while previous != NONE and step[previous].free >= size:
                left = previous
                previous = step[left].before
            tried_from = step[left].time
            over = tried_from + requested
            while right != NONE and step[right].time < over and step[right].free >= size:
                right = step[right].after
            tried_to = np.inf if right == NONE else step[right].time
            if over <= tried_to and over <= planned:
                best = left
                latest = tried_from
        i += np.uint32(1)
    return best


@part(void(SYSTEM))
def close_old_gaps(system: ConservativePool) -> None:
    """Remove gaps in which nothing has become free since before this turn: all jobs have been tried in them.

    O(gaps).
    """
    for i in range(system.state[0].n_gaps, 0, -1):
        if system.gap[np.uint32(i - 1)].turn < system.state[0].turn:
            close_gap(system, np.uint32(i - 1))
