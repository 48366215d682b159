"""Who waits with immediate service, in no order: a pass asks who goes first, and who is small enough.

Priorities that change with time change for all at each event, so that a sorted queue would cost more than
looking through all that wait for the few who matter. What a look needs stands side by side for that.
"""

from __future__ import annotations

from numba import boolean, int64, void

from models.arrays import Ints
from models.backfill.immediate.state import LISTS, NOBODY, SERVED, WAITING, Lists, Served, Waiting
from models.backfill.priority.order import KB_IN_MEMORY_UNIT, SECONDS_IN_HOUR, WEIGHTS, highest
from models.backfill.priority.passing import COLUMNS, Columns
from models.backfill.priority.weights import Weights
from models.kernels.compiling import part
from models.kernels.types import INTS


@part(void(WAITING, int64, int64, SERVED, WEIGHTS))
def join(waiting: Waiting, n: int, job: int, jobs: Served, weights: Weights) -> None:
    """Let one more job wait, behind `n`. O(1)."""
    columns = jobs.columns
    waiting.job[n] = job
    waiting.place[job] = n
    waiting.submit[n] = jobs.submit[job]
    waiting.ran[n] = jobs.ran[job]
    waiting.requested[n] = jobs.requested[job]
    waiting.size[n] = columns.size[job]
    waiting.need[n] = columns.need[job]
    waiting.bypassed[n] = columns.bypassed[job]
    waiting.key[n] = columns.key[job]
    waiting.hours[n] = jobs.requested[job] / SECONDS_IN_HOUR
    waiting.units[n] = columns.need[job] / KB_IN_MEMORY_UNIT
    waiting.shortness[n] = weights.shortness / waiting.hours[n]


@part(void(WAITING, int64, int64))
def copy(waiting: Waiting, source: int, place: int) -> None:
    """Let who waits at one place wait at another."""
    waiting.job[place] = waiting.job[source]
    waiting.place[waiting.job[place]] = place
    waiting.submit[place] = waiting.submit[source]
    waiting.ran[place] = waiting.ran[source]
    waiting.requested[place] = waiting.requested[source]
    waiting.size[place] = waiting.size[source]
    waiting.need[place] = waiting.need[source]
    waiting.bypassed[place] = waiting.bypassed[source]
    waiting.key[place] = waiting.key[source]
    waiting.hours[place] = waiting.hours[source]
    waiting.units[place] = waiting.units[source]
    waiting.shortness[place] = waiting.shortness[source]


@part(void(LISTS, int64, int64, SERVED, int64))
def leave(lists: Lists, n: int, place: int, jobs: Served, n_chosen: int) -> None:
    """Take one of `n` out; the last one takes its place, among the `n_chosen` too. O(those)."""
    waiting = lists.waiting
    job = waiting.job[place]
    jobs.columns.bypassed[job] = waiting.bypassed[place]
    copy(waiting, n - 1, place)
    waiting.place[job] = NOBODY
    for i in range(n_chosen):
        if lists.chosen[i] == n - 1:
            lists.chosen[i] = place
    lists.n_behind[0] = n - 1 if place > 0 and lists.n_behind[0] == n else 0


@part(void(WAITING, int64, int64, SERVED, WEIGHTS))
def change_places(waiting: Waiting, one: int, other: int, jobs: Served, weights: Weights) -> None:
    """Let two of those that wait change places. O(1)."""
    if one != other:
        job, bypassed, key = waiting.job[one], waiting.bypassed[one], waiting.key[one]
        copy(waiting, other, one)
        join(waiting, other, job, jobs, weights)
        waiting.bypassed[other] = bypassed
        waiting.key[other] = key


@part(boolean(WAITING, int64, int64, boolean, COLUMNS))
def goes_before(waiting: Waiting, one: int, other: int, sticky: bool, jobs: Columns) -> bool:
    """Tell which of two goes first: who holds a start, then by priority, then by submission."""
    job, than = waiting.job[one], waiting.job[other]
    if sticky and jobs.held[job] != jobs.held[than]:
        return jobs.held[job] < jobs.held[than]
    if waiting.key[one] != waiting.key[other]:
        return waiting.key[one] > waiting.key[other]
    return job < than


@part(int64(WAITING, int64, int64, boolean, COLUMNS, int64))
def first(waiting: Waiting, begin: int, end: int, sticky: bool, jobs: Columns, best: int) -> int:
    """Return the place of the one who goes first, of one place and those behind `begin` up to `end`.

    O(of those).
    """
    if sticky:
        for i in range(begin + 1, end):
            if goes_before(waiting, i, best, True, jobs):
                best = i
        return best
    if begin + 1 < end:
        other = highest(waiting.key, waiting.job, begin + 1, end)
        if goes_before(waiting, other, best, False, jobs):
            best = other
    return best


@part(int64(WAITING, INTS, int64, boolean, COLUMNS))
def first_of(waiting: Waiting, chosen: Ints, n_chosen: int, sticky: bool, jobs: Columns) -> int:
    """Return the place of the one who goes first of some, and take it off the list of them. O(of those)."""
    best = 0
    for i in range(1, n_chosen):
        if goes_before(waiting, chosen[i], chosen[best], sticky, jobs):
            best = i
    place = chosen[best]
    chosen[best] = chosen[n_chosen - 1]
    return place


@part(boolean(WAITING, int64, int64, int64))
def some_are_small(waiting: Waiting, n: int, but: int, most: int) -> bool:
    """Tell whether any of `n` but one asks for no more processors than so many. O(n)."""
    found = 0
    for i in range(n):
        found += waiting.size[i] <= most
    if but != NOBODY and waiting.size[but] <= most:
        found -= 1
    return found > 0


@part(void(WAITING, int64, int64, int64))
def pass_by(waiting: Waiting, n: int, n_given: int, place: int) -> None:
    """Note that the one at a place starts, ahead of all that hold a start or go before it. O(n)."""
    job, key = waiting.job[place], waiting.key[place]
    for i in range(n_given):
        waiting.bypassed[i] += 1
    for i in range(n_given, n):
        waiting.bypassed[i] += (waiting.key[i] > key) | ((waiting.key[i] == key) & (waiting.job[i] < job))
