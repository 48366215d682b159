"""Who may jump into a hole: jobs that fit, as a whole and before their start, where something became free.

What is new to a job is a stretch of time that overlaps the hole and has room for it all along. Such stretches
are the largest rectangles under the step function that reach into the hole: from one level to the next lower
one they get longer. Each job is tried in that of its size, and only if it had no room in the hole before. One
that only moves forward by less than its length has room right before its start, and is found by that
(`held.give_back`). A job of which both is true is found twice: before its turn comes another one may cut the
stretch in two.

Nearly all holes are taken by somebody before the turn of those that were found for them comes. So it is only
noted that a job may fit, by one bit; where, it finds out at its turn (`first_hole`) from the list of holes
that are still open.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, void

from models.backfill.conservative.held import HELD, HeldJobs
from models.backfill.conservative.steps import (
    NOWHERE,
    NUMBER,
    STEPS,
    Steps,
    close_hole,
    note_hole,
)
from models.backfill.conservative.waiting import BLOCK, SHIFT, WAITING, Waiting, zone
from models.kernels.bits import ALL, ONE, ZERO, lowest_position
from models.kernels.compiling import part
from models.kernels.lanes import LANES, has_room


@part(boolean(HELD, WAITING, int64, int64, float64, float64, float64, int64))
def mark(
    jobs: HeldJobs, waiting: Waiting, size: int, lower: int, hole: float, since: float, until: float,
    n_positions: int,
) -> bool:  # fmt: skip
    """Note who may fit from `since` to `until`, of those larger than `lower` that fit into `size` processors;
    tell whether there is anybody, or may be of those that are noted already.

    O(positions / 64 + jobs that are found, once each).

    Parameters
    ----------
    jobs, waiting : see there
    size : processors that are free all the time
    lower : who needs no more than these has a longer stretch of its own
    hole : when the hole begins: who starts before does not reach into it
    since, until : see above
    n_positions : given so far
    """
    held = jobs.held
    of_size, of_request, later = waiting.of_size, waiting.of_request, waiting.later
    large, small = waiting.class_of_size[size] + 1, waiting.class_of_size[lower + 1]
    hole_zone = zone(waiting, hole)
    request_class = waiting.least_request.shape[0] - 1
    while since + waiting.least_request[request_class] > until:
        request_class -= 1
    found = False
    for block in range(0, (n_positions >> SHIFT) + 1, BLOCK):
        some = ZERO
        for word in range(block, block + BLOCK):
            some |= (
                of_size[large, word]
                & ~of_size[small, word]
                & later[hole_zone, word]
                & (of_request[request_class, word])
            )
        if some == ZERO:
            continue
        for word in range(block, block + BLOCK):
            rest = of_size[large, word] & ~of_size[small, word] & later[hole_zone, word]
            rest &= of_request[request_class, word] & waiting.present[word]
            if rest & waiting.may_fit[word] != ZERO:
                found = True
                rest &= ~waiting.may_fit[word]
            while rest != ZERO:
                job = np.uint32((word << SHIFT) + lowest_position(rest))
                lowest = rest & (~rest + ONE)
                rest ^= lowest
                needs = jobs.size[job]
                over = since + held[job].requested
                planned = held[job].planned
                if needs <= size and needs > lower and planned > hole and over <= until and over <= planned:
                    waiting.may_fit[word] |= lowest
                    found = True
    return found


@part(void(HELD, STEPS, WAITING, NUMBER, NUMBER, int64, int64, int64))
def open_hole(
    jobs: HeldJobs, steps: Steps, waiting: Waiting, begin: int, end: int, size: int, turn: int,
    n_positions: int,
) -> None:  # fmt: skip
    """Note who may jump into the steps from `begin` to before `end`, in which `size` processors have become
    free; `n_positions` have been given, and `turn` is that of placing all anew.

    A step is noted only if somebody may fit there. Who fits somewhere later on was found when the last of its
    processors became free, and in one of the steps in which they did.

    O(steps of the hole x steps around it) at worst, and O(waiting jobs / 64) for each stretch into which the
    shortest request fits. Mostly a hole is one step, and its neighbours are nearly full.
    """
    step = steps.step
    hole = step[begin].time
    hole_zone = zone(waiting, hole)
    here = begin
    while here != end:
        # Levels down to what was free before: who needs no more had room here already.
        free = step[here].free
        level, above = free, free - size
        left, right = here, step[here].after
        following = right
        most = 0
        while level > above:
            size_class = waiting.class_of_size[level]
            shortest = waiting.shortest[hole_zone, size_class]
            if shortest == np.inf:
                break
            lower = 0
            while right != NOWHERE:
                lower = step[right].free
                if lower < level:
                    break
                lower = 0
                if waiting.shortest[zone(waiting, step[right].time), size_class] == np.inf:
                    break  # nobody of that size starts later
                right = step[right].after
            before = step[left].before
            while before != NOWHERE and step[before].free >= level:
                left = before
                before = step[left].before
            if before != NOWHERE:
                lower = max(lower, step[before].free)
            until = np.inf if right == NOWHERE else step[right].time
            if step[left].time + shortest <= until:
                since, below = step[left].time, max(lower, above)
                if mark(jobs, waiting, level, below, hole, since, until, n_positions):
                    most = max(most, level)
            level = lower
        if most > 0:
            note_hole(steps, here, above, most, turn)
        here = following


@part(NUMBER(HELD, STEPS, NUMBER, NUMBER))
def first_hole(jobs: HeldJobs, steps: Steps, job: int, before: int) -> int:
    """Return the first step from which a waiting job fits as a whole before its start, and that is before the
    step `before` from which it has room up to its start; that step if there is none.

    What is found out about a hole on the way is kept: so many are free there by now, and for so long it has
    no room for so many. Whatever is right for a longer time or for more becomes so by something becoming
    free, and where that was last it is noted anew. So hardly any hole is looked at more than once or twice.

    O(holes that are open / 8), and O(steps around those that may do).
    """
    step, hole = steps.step, steps.hole
    hole_time, hole_most = steps.hole_time, steps.hole_most
    failed_size, failed_request = steps.failed_size, steps.failed_request
    size, requested, planned = jobs.size[job], jobs.held[job].requested, jobs.held[job].planned
    best = before
    latest = step[before].time
    tried_from, tried_to = np.inf, -np.inf
    for begin in range(0, steps.n_holes[0], LANES):
        rest = has_room(hole_time, hole_most, failed_size, failed_request, begin, size, requested, latest)
        while rest != ZERO:
            bit = lowest_position(rest)
            rest &= rest - ONE
            i = np.uint32(begin + bit)
            time = hole_time[i]
            if hole[i].known >= size or time >= latest or (time >= tried_from and time < tried_to):
                continue
            at = hole[i].step
            free = step[at].free
            if free <= hole[i].known:
                close_hole(steps, i)
                # The one that takes its place comes next.
                rest = has_room(
                    hole_time, hole_most, failed_size, failed_request, begin, size, requested, latest
                )
                rest &= ALL << np.uint64(bit)
                continue
            if free < size:
                hole_most[i] = free
                continue
            left, right = at, step[at].after
            previous = step[left].before
            while previous != NOWHERE and step[previous].free >= size:
                left = previous
                previous = step[left].before
            tried_from = step[left].time
            over = tried_from + requested
            while right != NOWHERE and step[right].time < over and step[right].free >= size:
                right = step[right].after
            tried_to = np.inf if right == NOWHERE else step[right].time
            if over > tried_to:
                failed_size[i] = size
                failed_request[i] = requested
            elif over <= planned:
                best = left
                latest = tried_from
    return best


@part(void(STEPS, int64))
def close_old(steps: Steps, turn: int) -> None:
    """Take those out of the list of holes in which nothing has become free since before a turn: all have been
    tried in them. O(holes).
    """
    for i in range(steps.n_holes[0] - 1, -1, -1):
        if steps.hole[i].turn < turn:
            close_hole(steps, i)
