"""The BBN TC2000: jobs keep their PEs, users share slices fairly (Jette 1997, section "BBN TC2000")."""

from __future__ import annotations

from typing import NamedTuple

from numba import boolean

from models.arrays import Ints
from models.kernels.compiling import kernel, part
from models.kernels.types import record
from models.production_gang.slices.course import (
    BOUNDARY,
    DECIDED,
    N_ACTIVE,
    N_CHOSEN,
    N_WAITING,
    NEVER,
    NOBODY,
    SLICE_COURSE,
    SLICE_JOBS,
    SLICE_LISTS,
    SLICE_PHASES,
    SLICE_TIMES,
    SliceCourse,
    SliceJobs,
    SliceLists,
    SlicePhases,
    SliceTimes,
    answer,
    begin_phase,
    decide_next,
    first_due,
    go_on,
    halt,
    next_instant,
    next_submission,
    next_to_grow,
    remove_active,
    running,
    take_submission,
    uses,
    wish,
)
from models.production_gang.slices.noted import (
    SLICE_NOTES,
    SliceNotes,
    end_switches,
    has_room,
    note,
    note_levels,
)

POOL = 0
"""The only host."""

BITS = 64


class TcPool(NamedTuple):
    """PEs and users.

    Parameters
    ----------
    pes : ndarray of int, shape (n_jobs * words,)
        The PEs of each job, 64 to a word; those that it had at its end stay.
    crowd : ndarray of int, shape (n_pes,)
        Jobs that are assigned to each PE.
    taken, stopped : ndarray of int, shape (words,)
        PEs of the jobs that run in the slice that is decided, and of those that are stopped at its beginning.
    had, jobs_of : ndarray of int, shape (n_users,)
        PEs times slices that each user has had; jobs that he has in the system.
    charged : ndarray of int, shape (n_jobs,)
        PEs for which a job that runs is charged in each slice.
    words : int
    newcomer_slices : int
    equal : bool
        Whether it matters what users have had.
    blocks : bool
        Whether a job that is admitted gets a block of PEs.
    """

    pes: Ints
    crowd: Ints
    taken: Ints
    stopped: Ints
    had: Ints
    jobs_of: Ints
    charged: Ints
    words: int
    newcomer_slices: int
    equal: bool
    blocks: bool


TC_POOL = record(TcPool)


@part()
def _owns(job, pe, pool):
    return (pool.pes[job * pool.words + pe // BITS] >> (pe % BITS)) & 1


@part()
def _grow(job, n, course, pool):
    """Give a job the least crowded PEs that it does not have, until it has `n`. O(PEs x different crowds)."""
    n_pes = pool.crowd.shape[0]
    crowd = -1
    while course.has[job] < n:
        least = -1
        for pe in range(n_pes):
            found = pool.crowd[pe]
            if found > crowd and (least < 0 or found < least) and not _owns(job, pe, pool):
                least = found
        for pe in range(n_pes):
            if course.has[job] < n and pool.crowd[pe] == least and not _owns(job, pe, pool):
                pool.pes[job * pool.words + pe // BITS] |= 1 << (pe % BITS)
                pool.crowd[pe] += 1
                course.has[job] += 1
        crowd = least


@part()
def _take_block(job, n, course, pool):
    """Give a job that has no PEs the aligned block of `n` PEs that is least crowded. O(PEs)."""
    n_pes = pool.crowd.shape[0]
    step = 1
    while step < n:
        step *= 2
    found = 0
    least = NOBODY
    for begin in range(0, n_pes - n + 1, step):
        crowd = 0
        for pe in range(begin, begin + n):
            crowd += pool.crowd[pe]
        if least == NOBODY or crowd < least:
            found = begin
            least = crowd
    for pe in range(found, found + n):
        pool.pes[job * pool.words + pe // BITS] |= 1 << (pe % BITS)
        pool.crowd[pe] += 1
    course.has[job] = n


@part()
def _shrink(job, n, course, pool):
    """Take the most crowded PEs from a job, until it has `n`. O(PEs x PEs that are taken)."""
    while course.has[job] > n:
        most = NOBODY
        for pe in range(pool.crowd.shape[0]):
            if _owns(job, pe, pool) and (most == NOBODY or pool.crowd[pe] >= pool.crowd[most]):
                most = pe
        pool.pes[job * pool.words + most // BITS] &= ~(1 << (most % BITS))
        pool.crowd[most] -= 1
        course.has[job] -= 1


@part()
def _note(job, now, course, pieces):
    if now > course.since[job]:
        if course.start[job] != course.start[job]:
            course.start[job] = course.since[job]
        note(pieces, job, POOL, course.since[job], now, float(uses(job, course)), course.has[job])


@part()
def _finish_phase(job, now, jobs, phases, times, course, lists, pool, notes):
    """A job's phase is over, and perhaps the job."""
    _note(job, now, course, notes.pieces)
    course.phase[job] += 1
    if course.phase[job] == phases.share.shape[0]:
        course.end[job] = now
        course.due[job] = float("inf")
        course.on[job] = 0
        for pe in range(pool.crowd.shape[0]):
            pool.crowd[pe] -= _owns(job, pe, pool)
        pool.jobs_of[jobs.owner[job]] -= 1
        remove_active(job, lists)
        answer(job, now, jobs, lists)
        return
    begin_phase(job, jobs, course, phases)
    if phases.tells and course.wants[job] < course.has[job]:
        _shrink(job, course.wants[job], course, pool)
    go_on(job, now, jobs, course, times)


@part()
def _admit(job, now, jobs, phases, course, lists, pool):
    """Give a job its PEs, and see to it that its user has saved up nothing. O(active jobs + PEs x crowds)."""
    owner = jobs.owner[job]
    n_active = lists.numbers[N_ACTIVE]
    if pool.jobs_of[owner] == 0 and n_active > 0:
        least = pool.had[jobs.owner[lists.active[0]]]
        for i in range(1, n_active):
            least = min(least, pool.had[jobs.owner[lists.active[i]]])
        pool.had[owner] = max(pool.had[owner], least)
    pool.jobs_of[owner] += 1
    course.admitted[job] = now
    begin_phase(job, jobs, course, phases)
    if pool.blocks:
        _take_block(job, wish(job, jobs, course, phases), course, pool)
    else:
        _grow(job, wish(job, jobs, course, phases), course, pool)
    lists.active[n_active] = job
    lists.numbers[N_ACTIVE] = n_active + 1


@part()
def _goes_before(job, other, jobs, course, pool):
    """Tell whether a job comes before another in the order of a slice."""
    new = course.slices[job] < pool.newcomer_slices
    if new != (course.slices[other] < pool.newcomer_slices):
        return new
    if pool.equal and not new:
        mine, his = pool.had[jobs.owner[job]], pool.had[jobs.owner[other]]
        if mine != his:
            return mine < his
    if course.last[job] != course.last[other]:
        return course.last[job] < course.last[other]
    return job < other


@part()
def _sort(jobs, course, lists, pool):
    """Put the active jobs in order: O(active jobs + changes of places) from the order of the last slice."""
    active = lists.active
    for i in range(1, lists.numbers[N_ACTIVE]):
        job = active[i]
        at = i
        while at > 0 and _goes_before(job, active[at - 1], jobs, course, pool):
            active[at] = active[at - 1]
            at -= 1
        active[at] = job


@part()
def _choose(job, pool):
    """Take a job's PEs for a slice, if all are left; tell whether they were. O(words)."""
    at = job * pool.words
    for w in range(pool.words):
        if pool.pes[at + w] & pool.taken[w]:
            return False
    for w in range(pool.words):
        pool.taken[w] |= pool.pes[at + w]
    return True


@part()
def _decide(now, jobs, phases, times, course, lists, pool, notes):
    """Decide who runs from the beginning of a slice on. O(active jobs x words) in a lasting order."""
    numbers = lists.numbers
    k = numbers[BOUNDARY]
    passed = k - numbers[DECIDED] - 1
    for i in range(numbers[N_CHOSEN]):  # slices that nobody had to look at
        job = lists.chosen[i]
        pool.had[jobs.owner[job]] += passed * pool.charged[job]
        course.slices[job] += passed
        course.last[job] = k - 1

    job = next_to_grow(NOBODY, jobs, course, lists, phases) if phases.share.shape[0] > 1 else NOBODY
    while job != NOBODY:
        if course.on[job]:
            _note(job, now, course, notes.pieces)
            halt(job, now, jobs, course, times)
        _grow(job, wish(job, jobs, course, phases), course, pool)
        if course.on[job]:
            go_on(job, now, jobs, course, times)
        job = next_to_grow(job, jobs, course, lists, phases)
    for i in range(numbers[N_WAITING]):
        _admit(lists.waiting[i], now, jobs, phases, course, lists, pool)
    numbers[N_WAITING] = 0

    _sort(jobs, course, lists, pool)
    pool.taken[:] = 0
    pool.stopped[:] = 0
    numbers[N_CHOSEN] = 0
    for i in range(numbers[N_ACTIVE]):
        job = lists.active[i]
        lists.is_chosen[job] = _choose(job, pool)
        if lists.is_chosen[job]:
            lists.chosen[numbers[N_CHOSEN]] = job
            numbers[N_CHOSEN] += 1
        elif course.on[job]:
            _note(job, now, course, notes.pieces)
            halt(job, now, jobs, course, times)
            course.due[job] = float("inf")
            course.on[job] = 0
            course.stops[job] += 1
            for w in range(pool.words):
                pool.stopped[w] |= pool.pes[job * pool.words + w]
    for i in range(numbers[N_CHOSEN]):
        job = lists.chosen[i]
        if not course.on[job]:
            course.on[job] = 1
            pays = False
            for w in range(pool.words):
                pays |= (pool.pes[job * pool.words + w] & pool.stopped[w]) != 0
            since = now + times.switch if pays else now
            go_on(job, since, jobs, course, times)
            if since > now:
                note(notes.switches, job, POOL, now, since, float(course.has[job]), course.has[job])
                notes.levels.switch_ends[0] = since
                notes.levels.switching[0] += course.has[job]
                notes.levels.switching[1] += uses(job, course)
        pool.charged[job] = course.has[job]
        pool.had[jobs.owner[job]] += course.has[job]
        course.slices[job] += 1
        course.last[job] = k
    numbers[DECIDED] = k
    numbers[BOUNDARY] = NEVER if numbers[N_CHOSEN] == numbers[N_ACTIVE] else k + 1


@part()
def _idle(course, lists, pool):
    """Return how many PEs no job uses. O(active jobs)."""
    idle = pool.crowd.shape[0]
    for i in range(lists.numbers[N_ACTIVE]):
        job = lists.active[i]
        if course.on[job]:
            idle -= uses(job, course)
    return idle


@part()
def _waits(course, lists):
    """Tell whether some job that has been submitted does not run. O(active jobs)."""
    numbers = lists.numbers
    return numbers[N_WAITING] > 0 or running(course, lists) < numbers[N_ACTIVE]


@kernel(boolean(SLICE_JOBS, SLICE_PHASES, SLICE_TIMES, SLICE_COURSE, SLICE_LISTS, TC_POOL, SLICE_NOTES))
def run(
    jobs: SliceJobs, phases: SlicePhases, times: SliceTimes,
    course: SliceCourse, lists: SliceLists, pool: TcPool, notes: SliceNotes,
) -> bool:  # fmt: skip
    """Run all jobs to their ends, or until there may be no room for notes; tell whether all have ended.

    O(active jobs) for each event, and O(active jobs x words) for each slice in which some job finds no place.
    """
    numbers = lists.numbers
    while has_room(notes, 2 * numbers[N_ACTIVE] + 2, numbers[N_ACTIVE] + numbers[N_WAITING] + 2):
        now = next_instant(jobs, course, lists, times)
        end_switches(notes.levels, now, _idle(course, lists, pool), 0.0, _waits(course, lists))
        if now == float("inf"):
            return True
        job = first_due(now, course, lists)
        while job != NOBODY:
            _finish_phase(job, now, jobs, phases, times, course, lists, pool, notes)
            decide_next(now, times.slice, numbers)
            job = first_due(now, course, lists)
        job = next_submission(jobs, lists)
        while job != NOBODY and jobs.submit[job] <= now:
            take_submission(job, jobs, lists)
            lists.waiting[numbers[N_WAITING]] = job
            numbers[N_WAITING] += 1
            decide_next(now, times.slice, numbers)
            job = next_submission(jobs, lists)
        if numbers[BOUNDARY] != NEVER and numbers[BOUNDARY] * times.slice <= now:
            _decide(now, jobs, phases, times, course, lists, pool, notes)
        note_levels(notes.levels, now, _idle(course, lists, pool), 0.0, _waits(course, lists))
    return False
