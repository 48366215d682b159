"""What both engines know of jobs, and the steps that they have in common."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from models.arrays import Floats, Ints
from models.kernels.compiling import part
from models.kernels.ends import pop, push
from models.kernels.types import record

NOBODY = -1
NEVER = -1

N_ACTIVE, N_WAITING, N_CHOSEN, NEXT, N_FEEDBACK, BOUNDARY, DECIDED, N_NUMBERS = range(8)
"""Positions in `Lists.numbers`: how many jobs are in `active`, `waiting`, `chosen`; the next job of those
that wait for nobody's answer; how many are in `feedback`; the slice at whose beginning is decided next, or
`NEVER`; the last one at whose beginning was decided."""


class SliceJobs(NamedTuple):
    """Jobs by number, shape (n_jobs,).

    Parameters
    ----------
    submit : seconds; filled in where a job is submitted after another's end
    runtime : seconds
    size, most : processors that it asks for, and that it may have
    answers, next_answer : the first job that is submitted after this one's end, and the next one of
    the same, or `NOBODY`
    think : seconds from that end
    owner : TC2000: its user, from 0 on; Alpha: the rank of its class's priority, 0 is the highest
    """

    submit: Floats
    runtime: Floats
    size: Ints
    most: Ints
    answers: Ints
    next_answer: Ints
    think: Floats
    owner: Ints


class SlicePhases(NamedTuple):
    """Phases of a job: shares of its work and of its processors; `tells`: does the daemon hear of them?"""

    share: Floats
    part: Floats
    tells: bool


class SliceCourse(NamedTuple):
    """What becomes of the jobs, shape (n_jobs,).

    Parameters
    ----------
    left : seconds that its phase has left on all its processors, at `since`
    since, due : when it began to go on; when its phase is over, infinity while it does not run
    start, end, admitted : seconds
    phase : number; has, wants : processors; on : whether it runs
    last, slices : last slice that it ran in, and how many, those not looked at not counted yet
    stops : preemptions
    """

    left: Floats
    since: Floats
    due: Floats
    start: Floats
    end: Floats
    admitted: Floats
    phase: Ints
    has: Ints
    wants: Ints
    on: Ints
    last: Ints
    slices: Ints
    stops: Ints


class SliceLists(NamedTuple):
    """Lists of jobs, shape (n_jobs,), and their `numbers`.

    `independent` has the jobs that wait for nobody's answer, `feedback` is a heap of those whose submission
    is known, `is_chosen` tells who runs in the slice that is decided.
    """

    active: Ints
    waiting: Ints
    chosen: Ints
    is_chosen: Ints
    independent: Ints
    feedback: Ints
    numbers: Ints


class SliceTimes(NamedTuple):
    """Seconds of a slice and of a switch, and the share of its processors' time that a gang gets."""

    slice: float
    switch: float
    delivered: float


SLICE_JOBS, SLICE_PHASES, SLICE_COURSE, SLICE_LISTS, SLICE_TIMES = map(
    record, (SliceJobs, SlicePhases, SliceCourse, SliceLists, SliceTimes)
)


def nothing_done(n_jobs: int) -> SliceCourse:
    """Return the course of jobs of which none has been admitted."""
    left, since, due, start, end, admitted = (np.zeros(n_jobs) for _ in range(6))
    due[:], start[:], end[:], admitted[:] = np.inf, np.nan, np.nan, np.nan
    phase, has, wants, on, last, slices, stops = (np.zeros(n_jobs, np.int64) for _ in range(7))
    last[:] = NEVER
    return SliceCourse(left, since, due, start, end, admitted, phase, has, wants, on, last, slices, stops)


def no_lists(after: Ints) -> SliceLists:
    """Return lists of nobody, of jobs that are submitted after the ends of these, or of none."""
    n_jobs = after.size
    active, waiting, chosen, is_chosen, feedback = (np.zeros(n_jobs, np.int64) for _ in range(5))
    numbers = np.zeros(N_NUMBERS, np.int64)
    numbers[BOUNDARY] = numbers[DECIDED] = NEVER
    return SliceLists(active, waiting, chosen, is_chosen, np.flatnonzero(after < 0), feedback, numbers)


def answers(after: Ints) -> tuple[Ints, Ints]:
    """Return `SliceJobs.answers` and `SliceJobs.next_answer`."""
    first, following = np.full((2, after.size), NOBODY)
    for job in np.flatnonzero(after >= 0)[::-1].tolist():
        following[job] = first[after[job]]
        first[after[job]] = job
    return first, following


@part()
def next_submission(jobs, lists):
    """Return the job that is submitted next, of those of which it is known when, or `NOBODY`. O(1)."""
    numbers = lists.numbers
    found = NOBODY
    if numbers[NEXT] < lists.independent.shape[0]:
        found = lists.independent[numbers[NEXT]]
    if numbers[N_FEEDBACK] > 0:
        other = lists.feedback[0]
        if (
            found == NOBODY
            or jobs.submit[other] < jobs.submit[found]
            or (jobs.submit[other] == jobs.submit[found] and other < found)
        ):
            found = other
    return found


@part()
def take_submission(job, jobs, lists):
    """Take the job that `next_submission` returned. O(log jobs)."""
    numbers = lists.numbers
    if numbers[N_FEEDBACK] > 0 and lists.feedback[0] == job:
        pop(jobs.submit, lists.feedback, numbers[N_FEEDBACK])
        numbers[N_FEEDBACK] -= 1
    else:
        numbers[NEXT] += 1


@part()
def answer(job, now, jobs, lists):
    """Let the users who waited for a job's end think of their next ones. O(their number x log jobs)."""
    numbers = lists.numbers
    other = jobs.answers[job]
    while other != NOBODY:
        jobs.submit[other] = now + jobs.think[other]
        push(jobs.submit, lists.feedback, numbers[N_FEEDBACK], other)
        numbers[N_FEEDBACK] += 1
        other = jobs.next_answer[other]


@part()
def decide_next(now, length, numbers):
    """See to it that the next beginning of a slice is looked at, at or after now. O(1)."""
    k = np.int64(np.floor(now / length))
    while k * length < now:
        k += 1
    while (k - 1) * length >= now:
        k -= 1
    k = max(k, numbers[DECIDED] + 1)
    if numbers[BOUNDARY] == NEVER or k < numbers[BOUNDARY]:
        numbers[BOUNDARY] = k


@part()
def wish(job, jobs, course, phases):
    """Return how many processors a job asks the daemon for."""
    return course.wants[job] if phases.tells else jobs.most[job]


@part()
def uses(job, course):
    """Return how many processors a job uses while it runs."""
    return min(course.has[job], course.wants[job])


@part()
def begin_phase(job, jobs, course, phases):
    """Set what a job's phase has to do, and on how many processors."""
    phase = course.phase[job]
    course.left[job] = phases.share[phase] * jobs.runtime[job]
    wanted = np.int64(np.floor(phases.part[phase] * jobs.size[job] + 0.5))
    course.wants[job] = min(max(wanted, 1), jobs.most[job])


@part()
def go_on(job, since, jobs, course, times):
    """Let a job run from then on."""
    course.since[job] = since
    speed = uses(job, course) / jobs.size[job] * times.delivered
    course.due[job] = since + course.left[job] / speed


@part()
def halt(job, now, jobs, course, times):
    """Settle what a job has done, up to now. The piece has been noted before."""
    speed = uses(job, course) / jobs.size[job] * times.delivered
    course.left[job] -= (now - course.since[job]) * speed
    course.since[job] = now


@part()
def first_due(now, course, lists):
    """Return the first job by number whose phase is over, or `NOBODY`. O(active jobs)."""
    found = NOBODY
    for i in range(lists.numbers[N_ACTIVE]):
        job = lists.active[i]
        if course.due[job] <= now and (found == NOBODY or job < found):
            found = job
    return found


@part()
def remove_active(job, lists):
    """Take a job from the active ones, whose order stays. O(active jobs)."""
    n = lists.numbers[N_ACTIVE]
    at = 0
    while lists.active[at] != job:
        at += 1
    for i in range(at, n - 1):
        lists.active[i] = lists.active[i + 1]
    lists.numbers[N_ACTIVE] = n - 1


@part()
def next_instant(jobs, course, lists, times):
    """Return when something happens next, infinity for never. O(active jobs)."""
    numbers = lists.numbers
    now = np.inf
    if numbers[BOUNDARY] != NEVER:
        now = numbers[BOUNDARY] * times.slice
    for i in range(numbers[N_ACTIVE]):
        now = min(now, course.due[lists.active[i]])
    job = next_submission(jobs, lists)
    if job != NOBODY:
        now = min(now, jobs.submit[job])
    return now


@part()
def next_to_grow(after, jobs, course, lists, phases):
    """Return the next job by number that shall have more processors, or `NOBODY`. O(active jobs)."""
    found = NOBODY
    for i in range(lists.numbers[N_ACTIVE]):
        job = lists.active[i]
        if (
            job > after
            and wish(job, jobs, course, phases) > course.has[job]
            and (found == NOBODY or job < found)
        ):
            found = job
    return found


@part()
def running(course, lists):
    """Return how many of the active jobs run. O(active jobs)."""
    n = 0
    for i in range(lists.numbers[N_ACTIVE]):
        n += course.on[lists.active[i]]
    return n
