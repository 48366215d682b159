"""What is free from now on, on one pool: a step function of time as a linked list.

A step begins where a job starts or is expected to end, and is there as long as some job does. So a job knows
its two steps, and whoever moves by a little walks from there; nobody searches the whole list for a time.

Where something becomes free that somebody might use, the step is in a list of holes until all have had their
turn since, or until it is taken again: nearly all are at once, by the next one who moves forward.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import float64, from_dtype, int32, int64, types, uint32, void
from numpy.typing import NDArray

from models.arrays import Floats
from models.kernels.compiling import part
from models.kernels.lanes import LANES
from models.kernels.types import FLOATS

NUMBER = uint32
"""Of a step, a hole or a position. It is unsigned: whether a signed index counts from the end of its array
would be asked at every look, and took a quarter of all time."""
NUMBERS = uint32[::1]
FIRST: Any = np.uint32(0)
NOWHERE: Any = np.uint32(0xFFFF_FFFF)

NOBODY_FAILED = np.int32(0x7FFF_FFFF)

Numbers = NDArray[np.uint32]
Records = NDArray[np.void]


STEP = np.dtype(
    [
        ("time", "f8"), ("free", "i4"), ("before", "u4"), ("after", "u4"), ("n_holders", "i4"),
        ("starting", "u4"), ("hole", "u4"),
    ]
)  # fmt: skip
"""A step: half a line of the cache, because whoever walks over it looks at most of it.

time
    When it begins, in seconds; it lasts to the beginning of the next one, the last for ever.
free
    Processors that are free then.
before, after
    Its neighbours, or `NOWHERE`. Where the number is no step's, `after` is the next such number.
n_holders
    How many jobs start there or are expected to end there.
starting
    The position of one of the waiting jobs that start there, or `NOWHERE`; they are a list, see
    `held.HELD_JOB`.
hole
    Its entry in the list of steps in which something has become free, or `NOWHERE`.
"""

HOLE = np.dtype([("step", "u4"), ("known", "i4"), ("turn", "i8")])
"""A step in which something has become free, and that not all who wait have been tried in since.

step
    Its number.
known
    So many were free before. With no more than these nobody who waits fits there before its start.
turn
    The last turn, of placing all anew, in which something became free there.
"""


class Steps(NamedTuple):
    """The steps by their numbers; every array has room for all that there can be at once.

    Numbers are given anew in the order of time every now and then (`held.in_order`), so that who goes on to a
    neighbour mostly finds it beside.

    Parameters
    ----------
    step : ndarray of `STEP`
        Step 0 is the first one at the beginning.
    hole : ndarray of `HOLE`
        In no order. What nearly all are passed over by is in arrays of its own, as the next four are, so that
        eight are looked at at once (`lanes.has_room`).
    hole_time : ndarray of float, seconds
        When the step of each begins.
    hole_most : ndarray of int32
        Who needs more processors does not fit, unless more has become free since, and then that is noted.
        -1 beyond the last hole, where nobody fits.
    failed_size, failed_request : ndarray of int32, of float in seconds
        Who needs and requests as much or more has no room there for so long, in the same sense.
    ordered : ndarray of `STEP`
        For use while they get new numbers.
    number : ndarray of int
        The new number of each, for the same use.
    spare : ndarray of int, shape (2,)
        A number that was a step's and is none's now, or `NOWHERE`; and how many numbers have been given.
    n_holes : ndarray of int, shape (1,)
    """

    step: Records
    hole: Records
    hole_time: Floats
    hole_most: NDArray[np.int32]
    failed_size: NDArray[np.int32]
    failed_request: Floats
    ordered: Records
    number: Numbers
    spare: Numbers
    n_holes: Numbers


STEPS = types.NamedTuple(
    [
        from_dtype(STEP)[::1], from_dtype(HOLE)[::1], FLOATS, *[int32[::1]] * 2, FLOATS,
        from_dtype(STEP)[::1], *[NUMBERS] * 3,
    ],
    Steps,
)  # fmt: skip


def all_free(processors: int, n_jobs: int) -> Steps:
    """Return one step for ever, and room for two of each job and two more for one that moves."""
    room = 2 * n_jobs + 4
    step = np.zeros(room, STEP)
    step[0] = (-np.inf, processors, NOWHERE, NOWHERE, 0, NOWHERE, NOWHERE)
    return Steps(
        step,
        np.zeros(room, HOLE),
        np.zeros(room + LANES),
        np.full(room + LANES, -1, np.int32),
        np.zeros(room + LANES, np.int32),
        np.zeros(room + LANES),
        np.zeros(room, STEP),
        np.zeros(room, np.uint32),
        np.array([NOWHERE, 1], np.uint32),
        np.zeros(1, np.uint32),
    )


@part(void(STEPS, NUMBER, int64, int64, int64))
def note_hole(steps: Steps, at: int, known: int, most: int, turn: int) -> None:
    """Note that something has become free in a step, see `HOLE` and `Steps`. O(1)."""
    i = steps.step[at].hole
    if i == NOWHERE:
        i = steps.n_holes[0]
        steps.n_holes[0] += 1
        steps.step[at].hole = i
        steps.hole_time[i] = steps.step[at].time
        steps.hole_most[i] = most
        steps.hole[i].step = at
        steps.hole[i].known = known
        steps.hole[i].turn = turn
    else:
        steps.hole[i].known = min(steps.hole[i].known, known)
        steps.hole[i].turn = max(steps.hole[i].turn, turn)
        steps.hole_most[i] = max(steps.hole_most[i], most)
    steps.failed_size[i] = NOBODY_FAILED


@part(void(STEPS, NUMBER))
def close_hole(steps: Steps, i: int) -> None:
    """Take an entry out of the list of holes; the last one takes its place. O(1)."""
    steps.step[steps.hole[i].step].hole = NOWHERE
    steps.n_holes[0] -= 1
    last = steps.n_holes[0]
    if i != last:
        steps.hole_time[i] = steps.hole_time[last]
        steps.hole_most[i] = steps.hole_most[last]
        steps.failed_size[i] = steps.failed_size[last]
        steps.failed_request[i] = steps.failed_request[last]
        steps.hole[i].step = steps.hole[last].step
        steps.hole[i].known = steps.hole[last].known
        steps.hole[i].turn = steps.hole[last].turn
        steps.step[steps.hole[i].step].hole = i
    steps.hole_most[last] = -1


@part(NUMBER(STEPS, NUMBER, float64))
def begin_at(steps: Steps, at: int, instant: float) -> int:
    """Let a step begin at an instant later than the beginning of step `at` and before that of the next one.

    O(1).
    """
    step = steps.step
    made = steps.spare[0]
    if made != NOWHERE:
        steps.spare[0] = step[made].after
    else:
        made = steps.spare[1]
        steps.spare[1] += 1
    following = step[at].after
    step[made].time = instant
    step[made].free = step[at].free
    step[made].before = at
    step[made].after = following
    step[at].after = made
    if following != NOWHERE:
        step[following].before = made
    step[made].n_holders = 0
    step[made].starting = NOWHERE
    step[made].hole = NOWHERE
    i = step[at].hole
    if i != NOWHERE:
        note_hole(steps, made, steps.hole[i].known, steps.hole_most[i], steps.hole[i].turn)
    return made


@part(void(STEPS, NUMBER))
def drop(steps: Steps, at: int) -> None:
    """Let the number of a step be no step's. O(1)."""
    steps.step[at].after = steps.spare[0]
    steps.spare[0] = at


@part(void(STEPS, NUMBER))
def let_go(steps: Steps, at: int) -> None:
    """One job fewer starts or ends there: without any, a step but the first is like the one before. O(1)."""
    step = steps.step
    step[at].n_holders -= 1
    previous, following = step[at].before, step[at].after
    if step[at].n_holders == 0 and previous != NOWHERE:
        i = step[at].hole
        if i != NOWHERE:
            known, most, turn = steps.hole[i].known, steps.hole_most[i], steps.hole[i].turn
            close_hole(steps, i)
            note_hole(steps, previous, known, most, turn)
        step[previous].after = following
        if following != NOWHERE:
            step[following].before = previous
        drop(steps, at)


@part(NUMBER(STEPS, NUMBER, float64))
def forget(steps: Steps, first: int, now: float) -> int:
    """Drop what lies before now, and return the first step that is left. O(1) on average."""
    step = steps.step
    while step[first].after != NOWHERE and step[step[first].after].time <= now:
        following = step[first].after
        step[following].before = NOWHERE
        if step[first].hole != NOWHERE:
            close_hole(steps, step[first].hole)
        drop(steps, first)
        first = following
    step[first].time = now
    return first


@part(NUMBER(STEPS, NUMBER, int64, float64))
def first_fit(steps: Steps, at: int, size: int, duration: float) -> int:
    """Return the first step from `at` on from which a job fits for its whole duration. O(steps)."""
    step = steps.step
    found = NOWHERE
    while at != NOWHERE:
        if found != NOWHERE and step[found].time + duration <= step[at].time:
            return found
        if step[at].free < size:
            found = NOWHERE
        elif found == NOWHERE:
            found = at
        at = step[at].after
    return found


@part(NUMBER(STEPS, NUMBER, int64))
def pushed_forward(steps: Steps, at: int, size: int) -> int:
    """Return the first step of those right before `at` that all have room for a job. O(their number)."""
    before = steps.step[at].before
    while before != NOWHERE and steps.step[before].free >= size:
        at = before
        before = steps.step[at].before
    return at


@part(NUMBER(STEPS, NUMBER, float64, int64))
def take(steps: Steps, at: int, end: float, size: int) -> int:
    """Take processors away from the beginning of a step to `end`, and return the step that begins there.

    O(steps between).
    """
    step = steps.step
    while step[at].after != NOWHERE and step[step[at].after].time <= end:
        step[at].free -= size
        at = step[at].after
    if step[at].time == end:
        return at
    made = begin_at(steps, at, end)
    step[at].free -= size
    return made
