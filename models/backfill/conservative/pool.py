"""Conservative backfilling with compression on one pool of processors: the fast path.

The rules are those of `kernel`: where a job ends, the waiting ones are placed anew one by one in order of
submission, each where it fits first with all others where they are. But only those are looked at that can
have got an earlier start since they were looked at last, because processors have become free

- right before their start, so that they move forward into them (nearly all moves are of that kind, and by one
  step), see `held.give_back`;
- in a stretch of time into which they fit as a whole, see `holes`.

What became free behind a job in the queue is seen by it at the next end, as it is if all are looked at.

References
----------
D. G. Feitelson, A. M. Weil, "Utilization and predictability in scheduling the IBM SP2 with backfilling",
*12th Intl. Parallel Processing Symposium*, 1998.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, void

from models.arrays import Ints
from models.backfill.conservative.held import (
    HELD,
    HeldJobs,
    close_up,
    give_back,
    give_up,
    hold,
    in_order,
    index_anew,
    none_held,
)
from models.backfill.conservative.holes import close_old, first_hole, open_hole
from models.backfill.conservative.rules import Conservative
from models.backfill.conservative.steps import (
    FIRST,
    NOWHERE,
    NUMBER,
    STEPS,
    Steps,
    all_free,
    begin_at,
    first_fit,
    forget,
    let_go,
    pushed_forward,
    take,
)
from models.backfill.conservative.waiting import (
    MASK,
    SHIFT,
    WAITING,
    Waiting,
    enter,
    leave,
    nobody,
)
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule
from models.kernels.bits import ALL, ONE, ZERO, lowest_position
from models.kernels.compiling import kernel, part
from models.kernels.ends import pop, push
from models.kernels.ties import next_end, next_submission, takes_end, takes_submission
from models.kernels.types import INTS

EVENTS_BETWEEN_ORDERS = 64
"""So many events later all is put in order anew (positions, steps and the index): it costs little then, and
what belongs together lies together."""


@part(NUMBER(HELD, STEPS, WAITING, NUMBER, NUMBER))
def move(jobs: HeldJobs, steps: Steps, waiting: Waiting, job: int, at: int) -> int:
    """Move a waiting job forward to the beginning of a step, and return the first step of the hole that it
    leaves behind, which ends where the job was expected to end. O(steps that it moves over).

    The two steps that it has left are not let go yet.
    """
    held, step = jobs.held, steps.step
    size = jobs.size[job]
    first, last = held[job].first, held[job].last
    end = step[at].time + held[job].requested
    if end > step[first].time:
        while at != first:
            step[at].free -= size
            at = step[at].after
        hole = last
        before = step[hole].before
        while step[before].time >= end:
            hole = before
            give_back(jobs, steps, waiting, hole, size)
            before = step[hole].before
        if step[hole].time != end:
            hole = begin_at(steps, before, end)
            give_back(jobs, steps, waiting, hole, size)
        held[job].last = hole
        return hole
    held[job].last = take(steps, at, end, size)
    at = first
    while at != last:
        give_back(jobs, steps, waiting, at, size)
        at = step[at].after
    return first


@part(float64(HELD, STEPS, WAITING, int64, int64))
def compress(jobs: HeldJobs, steps: Steps, waiting: Waiting, turn: int, n_positions: int) -> float:
    """Place waiting jobs anew in order of submission, those that are to be looked at; return the first start
    of those that move, inf if nobody does.

    O(positions / 64), and O(steps that they move over) for the jobs, besides what `first_hole` costs where
    something may have become free for one as a whole.

    Parameters
    ----------
    jobs, steps, waiting : see there
    turn : how many times that has been done before
    n_positions : given so far
    """
    held, step = jobs.held, steps.step
    next_start = np.inf
    for word in range((n_positions >> SHIFT) + 1):
        rest = waiting.looked_at[word] | waiting.may_fit[word]
        while rest != ZERO:
            bit = lowest_position(rest)
            one = ONE << np.uint64(bit)
            job = np.uint32((word << SHIFT) + bit)
            before, last = held[job].first, held[job].last
            at = before
            if waiting.looked_at[word] & one != ZERO:
                at = pushed_forward(steps, at, jobs.size[job])
            if waiting.may_fit[word] & one != ZERO:
                at = first_hole(jobs, steps, job, at)
            waiting.looked_at[word] &= ~one
            waiting.may_fit[word] &= ~one
            if at != before:
                hole = move(jobs, steps, waiting, job, at)
                give_up(jobs, steps, job)
                hold(jobs, steps, job, at)
                step[held[job].last].n_holders += 1
                next_start = min(next_start, held[job].planned)
                if hole != last:
                    open_hole(jobs, steps, waiting, hole, last, jobs.size[job], turn, n_positions)
                let_go(steps, before)
                let_go(steps, last)
            # Those before it are looked at the next time.
            rest = ZERO
            if bit != MASK:
                rest = (waiting.looked_at[word] | waiting.may_fit[word]) & (ALL << np.uint64(bit + 1))
    close_old(steps, turn)
    return next_start


@part(float64(HELD, STEPS, WAITING, NUMBER, int64, NUMBER))
def place(
    jobs: HeldJobs, steps: Steps, waiting: Waiting, first: int, job: int, position: int
) -> float:  # fmt: skip
    """Give a newcomer the earliest start that disturbs nobody's, and return it. O(steps)."""
    held, step = jobs.held, steps.step
    size, requested = jobs.processors[job], jobs.requested[job]
    at = first_fit(steps, first, size, requested)
    waiting.job[position] = job
    jobs.size[position] = size
    held[position].requested = requested
    held[position].last = take(steps, at, step[at].time + requested, size)
    step[held[position].last].n_holders += 1
    hold(jobs, steps, position, at)
    enter(waiting, position, size, requested, held[position].planned)
    return held[position].planned


@part(float64(STEPS, NUMBER))
def first_start(steps: Steps, at: int) -> float:
    """Return the first start that somebody holds from a step on, inf if nobody does. O(steps up to it)."""
    while at != NOWHERE and steps.step[at].starting == NOWHERE:
        at = steps.step[at].after
    return np.inf if at == NOWHERE else steps.step[at].time


@kernel(void(HELD, STEPS, WAITING, boolean, INTS))
def run(jobs: HeldJobs, steps: Steps, waiting: Waiting, instant: bool, heap: Ints) -> None:
    """Simulate jobs to their last end.

    A submission costs O(waiting + running) jobs, all of it a look at one number of each. An end costs
    O(running) jobs and O(1), in practice, for each waiting job that moves. How many do is up to the rules:
    with a queue much deeper than what runs about a fifth of all.

    Parameters
    ----------
    jobs, steps, waiting : none has been submitted
    instant : see `models.kernels.ties`; jobs start first of all when their time has come
    heap : room for all jobs
    """
    n_jobs = jobs.submit.shape[0]
    n_running = 0
    n_waiting = 0
    n_positions = 0
    arrived = 0
    first = FIRST
    next_start = np.inf
    n_events = 0
    turn = 0
    held, step = jobs.held, steps.step
    while arrived < n_jobs or n_running > 0 or n_waiting > 0:
        next_submit = next_submission(jobs.submit, arrived)
        now = min(next_submit, next_end(jobs.end, heap, n_running), next_start)
        first = forget(steps, first, now)
        n_events += 1
        if n_events % EVENTS_BETWEEN_ORDERS == 0:
            n_positions = close_up(jobs, waiting, n_positions)
            in_order(jobs, steps, waiting, n_positions, first, heap, n_running)
            first = FIRST
            index_anew(jobs, waiting, n_positions, now)

        # A job whose time has come starts, whatever else happens now: the plan has a place for it.
        if next_start <= now:
            position = step[first].starting
            while position != NOWHERE:
                job = waiting.job[position]
                jobs.start[job] = now
                jobs.end[job] = now + jobs.runtime[job]
                jobs.until[job] = held[position].last
                push(jobs.end, heap, n_running, job)
                leave(waiting, position)
                step[first].n_holders -= 1
                n_running += 1
                n_waiting -= 1
                position = held[position].next_there
            step[first].starting = NOWHERE
            next_start = first_start(steps, first) if n_waiting > 0 else np.inf

        n_ended = 0
        while takes_end(instant, now, next_end(jobs.end, heap, n_running), next_submit, n_ended):
            job = pop(jobs.end, heap, n_running)
            n_running -= 1
            at, expected = first, jobs.until[job]
            size = jobs.processors[job]
            while at != expected:
                give_back(jobs, steps, waiting, at, size)
                at = step[at].after
            if expected != first and n_waiting > 0:
                open_hole(jobs, steps, waiting, first, expected, size, turn, n_positions)
            let_go(steps, expected)
            n_ended += 1
        if n_ended > 0:
            next_start = min(next_start, compress(jobs, steps, waiting, turn, n_positions))
            turn += 1

        # Newcomers are placed after all those that were there before them.
        n_taken = n_ended
        while takes_submission(instant, now, next_submission(jobs.submit, arrived), n_taken):
            planned = place(jobs, steps, waiting, first, arrived, np.uint32(n_positions))
            if planned > now:
                jobs.promised[arrived] = planned
            next_start = min(next_start, planned)
            n_positions += 1
            n_waiting += 1
            arrived += 1
            n_taken += 1


def simulate(jobs: Jobs, machine: Machine, rules: Conservative) -> Schedule:
    """Run all jobs to their ends.

    Parameters
    ----------
    jobs : Jobs
        As they run under the rules, none of them longer than requested.
    machine : Machine
        One pool that all of them fit on.
    rules : Conservative
    """
    n = len(jobs)
    held = none_held(jobs)
    steps, waiting = all_free(machine.largest, n), nobody(jobs.size, jobs.requested, machine.largest)
    run(held, steps, waiting, rules.instant, np.empty(n, np.int64))
    return Schedule(jobs, machine, held.start, held.end, np.zeros(n, np.int64), promised=held.promised)
