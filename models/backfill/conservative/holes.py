"""Who may jump into a hole: jobs that fit, as a whole and before their start, where something became free.

What is new to a job is a stretch of time that overlaps the hole and has room for it all along. Such stretches
are the largest rectangles under the step function that reach into the hole: from one level to the next lower
one they get longer. A job that only moves forward by less than its length has room right before its start,
and is found by that (`held.give_back`). A job of which both is true is found twice: before its turn comes
another one may cut the stretch in two.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, void

from models.backfill.conservative.held import HELD, HeldJobs
from models.backfill.conservative.steps import NOWHERE, STEPS, Steps
from models.backfill.conservative.waiting import SHIFT, WAITING, Waiting, look_at, zone
from models.kernels.bits import ONE, ZERO, lowest_position
from models.kernels.compiling import part


@part(void(HELD, STEPS, WAITING, int64, float64, int64, float64, int64))
def mark(
    jobs: HeldJobs, steps: Steps, waiting: Waiting, size: int, hole: float, left: int, until: float,
    n_positions: int,
) -> None:  # fmt: skip
    """Have those looked at who fit into so many processors from the beginning of step `left` to `until`.

    O(positions / 64 + jobs that are found).

    Parameters
    ----------
    jobs, steps, waiting : see there
    size : processors that are free all the time
    hole : when the hole begins: who starts before does not reach into it
    left, until : see above
    n_positions : given so far
    """
    since = steps.time[left]
    size_class, hole_zone = waiting.class_of_size[size], zone(waiting, hole)
    request_class = waiting.least_request.shape[0] - 1
    while since + waiting.least_request[request_class] > until:
        request_class -= 1
    for word in range((n_positions >> SHIFT) + 1):
        rest = waiting.of_size[word, size_class] & waiting.later[word, hole_zone]
        rest &= waiting.of_request[word, request_class]
        while rest != ZERO:
            position = (word << SHIFT) + lowest_position(rest)
            rest &= rest - ONE
            job = waiting.job[position]
            over = since + jobs.requested[job]
            planned = jobs.planned[job]
            if planned > hole and jobs.size[job] <= size and over <= until and over <= planned:
                if since < jobs.since[job]:
                    jobs.since[job] = since
                    jobs.source[job] = left
                jobs.until[job] = max(jobs.until[job], until)
                look_at(waiting, position)


@part(void(HELD, STEPS, WAITING, int64, int64, int64))
def open_hole(
    jobs: HeldJobs, steps: Steps, waiting: Waiting, begin: int, end: int, n_positions: int
) -> None:  # fmt: skip
    """Have those looked at who may jump into the steps from `begin` to before `end`, in which something has
    become free; `n_positions` have been given.

    O(steps of the hole x steps around it) at worst, and O(waiting jobs / 64) for each stretch into which the
    shortest request fits. Mostly a hole is one step, and its neighbours are nearly full.
    """
    hole = steps.time[begin]
    hole_zone = zone(waiting, hole)
    at = begin
    lowest = 0
    while at != end:
        # Levels down to that of the step before, whose own stretches are the same from there on.
        size = steps.free[at]
        above, lowest = lowest, size
        left, right = at, steps.after[at]
        at = right
        while size > above:
            size_class = waiting.class_of_size[size]
            shortest = waiting.shortest[hole_zone, size_class]
            if shortest == np.inf:
                break
            lower = 0
            while right != NOWHERE:
                lower = steps.free[right]
                if lower < size:
                    break
                lower = 0
                if waiting.shortest[zone(waiting, steps.time[right]), size_class] == np.inf:
                    break  # nobody of that size starts later
                right = steps.after[right]
            while steps.before[left] != NOWHERE and steps.free[steps.before[left]] >= size:
                left = steps.before[left]
            until = np.inf if right == NOWHERE else steps.time[right]
            if steps.time[left] + shortest <= until:
                mark(jobs, steps, waiting, size, hole, left, until, n_positions)
            if steps.before[left] != NOWHERE:
                lower = max(lower, steps.free[steps.before[left]])
            size = lower
