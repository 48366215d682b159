"""The DEC Alpha cluster: tickets for gangs that span computers, local decisions for the others, and a
fair-share class scheduler for jobs that are not gang scheduled (Jette 1997, section "DEC Alpha")."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import boolean

from models.arrays import Floats, Ints
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

SPANS = -1
"""Instead of the computer of a gang that has several."""

CHANGED, PARTIAL, N_SPANNING, WAITING_FROM, ISSUED, REVOKED, N_COUNTS = range(7)
"""Positions in `AlphaCluster.counts`: whether gangs, or what they have, have changed since tickets were
looked at; gangs that span computers and have no ticket for some slice; gangs in `spanning`; where in
`SliceLists.waiting` those begin that have not been admitted; tickets issued and revoked so far."""

N_FREE, FREE_FROM, FREE_TO, N_FREE_COUNTS = range(4)
"""Positions in `AlphaFree.counts`: jobs in `there`; where those in `waiting` begin and end."""


class AlphaCluster(NamedTuple):
    """Computers, and the gangs on them.

    Parameters
    ----------
    processors, gang : ndarray of int, shape (n_hosts,)
        CPUs of each computer, and those that gangs may have.
    room : ndarray of int, shape (n_hosts,), KB
        What jobs may still have of its memory.
    memory : ndarray of int, shape (n_jobs,), KB
        Of each processor.
    home : ndarray of int, shape (n_jobs,)
        A gang's computer, or `SPANS`; filled in, but for those that span computers.
    row : ndarray of int, shape (n_jobs,)
        Row of `layout` and `tickets` of those.
    layout : ndarray of int, shape (n_rows * n_hosts,)
        CPUs on each computer, filled in.
    tickets : ndarray of int, shape (n_rows * frame,)
        Whether it has one for the slice.
    full : ndarray of int, shape (frame * n_hosts,)
        CPUs with tickets.
    ranks : ndarray of int, shape (frame,)
        Slices in the order in which they are taken, of equals.
    committed : ndarray of int, shape (n_priorities * n_hosts,)
        CPUs that gangs of each priority have.
    used, load, stopped : ndarray of int, shape (n_hosts,)
        CPUs that gangs use at the moment, that they have in the slice that is decided, that those had that
        were stopped at its beginning.
    spanning : ndarray of int, shape (n_rows,)
        Gangs that span computers, by priority, then number.
    counts : ndarray of int, shape (N_COUNTS,)
    gang_from : int
        Processors from which on a job is gang scheduled.
    """

    processors: Ints
    gang: Ints
    room: Ints
    memory: Ints
    home: Ints
    row: Ints
    layout: Ints
    tickets: Ints
    full: Ints
    ranks: Ints
    committed: Ints
    used: Ints
    load: Ints
    stopped: Ints
    spanning: Ints
    counts: Ints
    gang_from: int


class AlphaFree(NamedTuple):
    """Jobs that are not gang scheduled: all processes on a computer get equal shares, and have one clock.

    Parameters
    ----------
    there, waiting : ndarray of int, shape (n_jobs,)
        Those that are on some computer, in no order; all that were submitted, in order.
    target : ndarray of float, shape (n_jobs,), seconds
        Of its computer's clock, at which a job ends.
    processes : ndarray of int, shape (n_hosts,)
    clock, read, speed : ndarray of float, shape (n_hosts,), seconds
        CPU time that a process of the computer has had, when that was so, and what it gets a second.
    least, next_end : ndarray of float, shape (n_hosts,)
        The first target, and when it is reached at that speed.
    counts : ndarray of int, shape (N_FREE_COUNTS,)
    """

    there: Ints
    waiting: Ints
    target: Floats
    processes: Ints
    clock: Floats
    read: Floats
    speed: Floats
    least: Floats
    next_end: Floats
    counts: Ints


ALPHA_CLUSTER, ALPHA_FREE = map(record, (AlphaCluster, AlphaFree))


@part()
def _add(job, n, sign, cpus, at, cluster):
    """Add a gang's first `n` CPUs to those of each computer, from position `at` on. O(1), or O(computers)."""
    home = cluster.home[job]
    if home != SPANS:
        cpus[at + home] += sign * n
        return
    n_hosts = cluster.gang.shape[0]
    for h in range(n_hosts):
        k = min(n, cluster.layout[cluster.row[job] * n_hosts + h])
        cpus[at + h] += sign * k
        n -= k


@part()
def _fits(job, n, cpus, at, cluster):
    """Tell whether the first `n` CPUs of a gang are free beside these. O(1), or O(computers)."""
    home = cluster.home[job]
    if home != SPANS:
        return cpus[at + home] + n <= cluster.gang[home]
    n_hosts = cluster.gang.shape[0]
    for h in range(n_hosts):
        k = min(n, cluster.layout[cluster.row[job] * n_hosts + h])
        if k > 0 and cpus[at + h] + k > cluster.gang[h]:
            return False
        n -= k
    return True


@part()
def _sum(job, n, cpus, at, cluster):
    """Return the sum of these over the computers of the first `n` CPUs of a gang. O(1), or O(computers)."""
    home = cluster.home[job]
    if home != SPANS:
        return cpus[at + home]
    n_hosts = cluster.gang.shape[0]
    found = 0
    for h in range(n_hosts):
        k = min(n, cluster.layout[cluster.row[job] * n_hosts + h])
        if k > 0:
            found += cpus[at + h]
        n -= k
    return found


@part()
def _note(job, begin, end, used, has, pieces, cluster):
    """Note what a gang has and uses on each computer. O(1), or O(computers)."""
    home = cluster.home[job]
    if home != SPANS:
        note(pieces, job, home, begin, end, float(used), has)
        return
    n_hosts = cluster.gang.shape[0]
    for h in range(n_hosts):
        most = cluster.layout[cluster.row[job] * n_hosts + h]
        has_here, used_here = min(has, most), min(used, most)
        if has_here > 0:
            note(pieces, job, h, begin, end, float(used_here), has_here)
        has -= has_here
        used -= used_here


@part()
def _note_gang(job, now, course, cluster, notes):
    if now > course.since[job]:
        if course.start[job] != course.start[job]:
            course.start[job] = course.since[job]
        _note(job, course.since[job], now, uses(job, course), course.has[job], notes.pieces, cluster)


@part()
def _set_has(job, n, jobs, course, cluster):
    """A gang has so many CPUs from now on."""
    at = jobs.owner[job] * cluster.gang.shape[0]
    _add(job, course.has[job], -1, cluster.committed, at, cluster)
    course.has[job] = n
    _add(job, n, 1, cluster.committed, at, cluster)
    cluster.counts[CHANGED] = 1


@part()
def _take_memory(job, sign, jobs, cluster):
    """Take a gang's memory, or give it back."""
    home = cluster.home[job]
    if home != SPANS:
        cluster.room[home] -= sign * jobs.most[job] * cluster.memory[job]
        return
    n_hosts = cluster.gang.shape[0]
    for h in range(n_hosts):
        cluster.room[h] -= sign * cluster.layout[cluster.row[job] * n_hosts + h] * cluster.memory[job]


@part()
def _finish_phase(job, now, jobs, phases, times, course, lists, cluster, notes):
    """A gang's phase is over, and perhaps the gang."""
    _note_gang(job, now, course, cluster, notes)
    _add(job, uses(job, course), -1, cluster.used, 0, cluster)
    course.phase[job] += 1
    if course.phase[job] == phases.share.shape[0]:
        course.end[job] = now
        course.due[job] = float("inf")
        course.on[job] = 0
        _set_has(job, 0, jobs, course, cluster)
        _take_memory(job, -1, jobs, cluster)
        remove_active(job, lists)
        if cluster.home[job] == SPANS:
            counts = cluster.counts
            at = 0
            while cluster.spanning[at] != job:
                at += 1
            for i in range(at, counts[N_SPANNING] - 1):
                cluster.spanning[i] = cluster.spanning[i + 1]
            counts[N_SPANNING] -= 1
        answer(job, now, jobs, lists)
        return
    begin_phase(job, jobs, course, phases)
    if phases.tells and course.wants[job] < course.has[job]:
        _set_has(job, course.wants[job], jobs, course, cluster)
    _add(job, uses(job, course), 1, cluster.used, 0, cluster)
    go_on(job, now, jobs, course, times)


# Where a gang goes.


@part()
def _committed(h, cluster):
    """Return the CPUs that gangs have on a computer. O(priorities)."""
    n_hosts = cluster.gang.shape[0]
    found = 0
    for at in range(h, cluster.committed.shape[0], n_hosts):
        found += cluster.committed[at]
    return found


@part()
def _home_for(job, n, jobs, cluster):
    """Return the computer with the smallest load for a gang of `n` CPUs, or `NOBODY`. O(computers)."""
    most = jobs.most[job]
    found = NOBODY
    least = np.inf
    for h in range(cluster.gang.shape[0]):
        if cluster.gang[h] < most or cluster.room[h] < cluster.memory[job] * most:
            continue
        load = (_committed(h, cluster) + n) / cluster.gang[h]
        if load < least:
            found = h
            least = load
    return found


@part()
def _lay_out(job, jobs, cluster):
    """Spread a gang over computers, the least loaded first; tell whether it has room. O(computers^2)."""
    n_hosts = cluster.gang.shape[0]
    at = cluster.row[job] * n_hosts
    for h in range(n_hosts):
        cluster.layout[at + h] = -1  # not asked yet
    rest = jobs.most[job]
    for _ in range(n_hosts):
        found = NOBODY
        least = np.inf
        for h in range(n_hosts):
            if cluster.layout[at + h] < 0 and cluster.gang[h] > 0:
                load = _committed(h, cluster) / cluster.gang[h]
                if load < least:
                    found = h
                    least = load
        if found == NOBODY:
            break
        k = min(rest, cluster.gang[found])
        if cluster.memory[job] > 0:
            k = min(k, cluster.room[found] // cluster.memory[job])
        cluster.layout[at + found] = k
        rest -= k
    for h in range(n_hosts):
        cluster.layout[at + h] = max(cluster.layout[at + h], 0)
    return rest == 0


@part()
def _admit(job, now, jobs, phases, course, lists, cluster):
    """Give a gang its computers, if it has room there; tell whether it had. O(computers^2 + gangs)."""
    begin_phase(job, jobs, course, phases)
    n = wish(job, jobs, course, phases)
    if cluster.row[job] == NOBODY:
        home = _home_for(job, n, jobs, cluster)
        if home == NOBODY:
            return False
        cluster.home[job] = home
    else:
        if not _lay_out(job, jobs, cluster):
            return False
        at = cluster.counts[N_SPANNING]
        while at > 0:
            other = cluster.spanning[at - 1]
            if jobs.owner[other] < jobs.owner[job] or (jobs.owner[other] == jobs.owner[job] and other < job):
                break
            cluster.spanning[at] = other
            at -= 1
        cluster.spanning[at] = job
        cluster.counts[N_SPANNING] += 1
    _take_memory(job, 1, jobs, cluster)
    _set_has(job, n, jobs, course, cluster)
    course.admitted[job] = now
    lists.active[lists.numbers[N_ACTIVE]] = job
    lists.numbers[N_ACTIVE] += 1
    return True


# Tickets.


@part()
def _tickets_for(job, jobs, course, cluster):
    """Return how many tickets a gang shall have. O(computers x priorities)."""
    n_hosts, frame = cluster.gang.shape[0], cluster.ranks.shape[0]
    shall = frame
    rest = course.has[job]
    for h in range(n_hosts):
        k = min(rest, cluster.layout[cluster.row[job] * n_hosts + h])
        rest -= k
        if k == 0:
            continue
        above = 0
        for rank in range(jobs.owner[job]):
            above += cluster.committed[rank * n_hosts + h]
        equal = cluster.committed[jobs.owner[job] * n_hosts + h]
        gang = cluster.gang[h]
        if above >= gang:
            shall = 0
        elif above + equal > gang:
            shall = min(shall, max(frame * (gang - above) // equal, 1))
    return shall


@part()
def _issue(jobs, course, cluster):
    """Revoke tickets and issue others. O(gangs that span computers x frame x (frame + computers))."""
    n_hosts, frame = cluster.gang.shape[0], cluster.ranks.shape[0]
    counts = cluster.counts
    cluster.full[:] = 0
    counts[PARTIAL] = 0
    for i in range(counts[N_SPANNING]):
        job = cluster.spanning[i]
        has, at = course.has[job], cluster.row[job] * frame
        shall = _tickets_for(job, jobs, course, cluster)
        held = 0
        for s in cluster.ranks:
            if not cluster.tickets[at + s]:
                continue
            if held < shall and _fits(job, has, cluster.full, s * n_hosts, cluster):
                held += 1
                _add(job, has, 1, cluster.full, s * n_hosts, cluster)
            else:
                cluster.tickets[at + s] = 0
                counts[REVOKED] += 1
        while held < shall:
            found = NOBODY
            least = 0
            for s in cluster.ranks:
                if cluster.tickets[at + s] or not _fits(job, has, cluster.full, s * n_hosts, cluster):
                    continue
                load = _sum(job, has, cluster.full, s * n_hosts, cluster)
                if found == NOBODY or load < least:
                    found = s
                    least = load
            if found == NOBODY:
                break
            cluster.tickets[at + found] = 1
            _add(job, has, 1, cluster.full, found * n_hosts, cluster)
            held += 1
            counts[ISSUED] += 1
        counts[PARTIAL] += held < frame
    counts[CHANGED] = 0


# Jobs that are not gang scheduled.


@part()
def _read_clock(h, now, free):
    free.clock[h] += free.speed[h] * (now - free.read[h])
    free.read[h] = now


@part()
def _find_next_end(h, free):
    free.next_end[h] = np.inf
    if free.processes[h] > 0 and free.speed[h] > 0:
        free.next_end[h] = free.read[h] + (free.least[h] - free.clock[h]) / free.speed[h]


@part()
def _find_least(h, free, cluster):
    """O(jobs that are not gang scheduled)."""
    free.least[h] = np.inf
    for i in range(free.counts[N_FREE]):
        job = free.there[i]
        if cluster.home[job] == h:
            free.least[h] = min(free.least[h], free.target[job])


@part()
def _note_free(job, now, jobs, course, free, cluster, notes):
    h = cluster.home[job]
    if now > course.since[job] and free.speed[h] > 0:
        if course.start[job] != course.start[job]:
            course.start[job] = course.since[job]
        size = jobs.size[job]
        note(notes.pieces, job, h, course.since[job], now, size * free.speed[h], size)


@part()
def _end_free(h, now, jobs, course, lists, free, cluster, notes):
    """End the jobs of a computer that have reached their targets."""
    free.clock[h] = free.least[h]
    free.read[h] = now
    n = 0
    for i in range(free.counts[N_FREE]):
        job = free.there[i]
        if cluster.home[job] != h or free.target[job] > free.least[h]:
            free.there[n] = job
            n += 1
            continue
        _note_free(job, now, jobs, course, free, cluster, notes)
        course.end[job] = now
        free.processes[h] -= jobs.size[job]
        cluster.room[h] += jobs.size[job] * cluster.memory[job]
        answer(job, now, jobs, lists)
    free.counts[N_FREE] = n
    if free.processes[h] == 0:
        free.clock[h] = 0.0
    _find_least(h, free, cluster)
    _find_next_end(h, free)


@part()
def _place_free(now, jobs, course, free, cluster):
    """Give those that wait a computer, as long as there is room for the first one. O(computers) each."""
    counts = free.counts
    while counts[FREE_FROM] < counts[FREE_TO]:
        job = free.waiting[counts[FREE_FROM]]
        size = jobs.size[job]
        found = NOBODY
        least = np.inf
        for h in range(cluster.processors.shape[0]):
            if cluster.processors[h] < size or cluster.room[h] < cluster.memory[job] * size:
                continue
            load = (free.processes[h] + size) / cluster.processors[h]
            if load < least:
                found = h
                least = load
        if found == NOBODY:
            return
        counts[FREE_FROM] += 1
        _read_clock(found, now, free)
        cluster.home[job] = found
        cluster.room[found] -= size * cluster.memory[job]
        free.processes[found] += size
        free.target[job] = free.clock[found] + jobs.runtime[job]
        free.there[counts[N_FREE]] = job
        counts[N_FREE] += 1
        course.admitted[job] = now
        course.since[job] = now
        free.least[found] = min(free.least[found], free.target[job])
        _find_next_end(found, free)


@part()
def _share(now, jobs, course, free, cluster, notes):
    """Let processes go on as fast as gangs leave room. O(computers), and O(jobs) where that changes."""
    for h in range(cluster.processors.shape[0]):
        if free.processes[h] == 0:
            free.speed[h] = 0.0
            continue
        speed = min(1.0, (cluster.processors[h] - cluster.used[h]) / free.processes[h])
        if speed == free.speed[h]:
            continue
        _read_clock(h, now, free)
        for i in range(free.counts[N_FREE]):
            job = free.there[i]
            if cluster.home[job] == h:
                _note_free(job, now, jobs, course, free, cluster, notes)
                course.since[job] = now
        free.speed[h] = speed
        _find_next_end(h, free)


# The decision.


@part()
def _goes_before(job, other, jobs, course):
    if jobs.owner[job] != jobs.owner[other]:
        return jobs.owner[job] < jobs.owner[other]
    if course.last[job] != course.last[other]:
        return course.last[job] < course.last[other]
    return job < other


@part()
def _decide(now, jobs, phases, times, course, lists, cluster, notes):
    """Decide who runs from the beginning of a slice on. O(active gangs), each on its computers."""
    numbers, counts = lists.numbers, cluster.counts
    k = numbers[BOUNDARY]
    passed = k - numbers[DECIDED] - 1
    for i in range(numbers[N_CHOSEN]):  # slices that nobody had to look at
        course.slices[lists.chosen[i]] += passed
        course.last[lists.chosen[i]] = k - 1

    job = next_to_grow(NOBODY, jobs, course, lists, phases) if phases.share.shape[0] > 1 else NOBODY
    while job != NOBODY:
        if course.on[job]:
            _note_gang(job, now, course, cluster, notes)
            halt(job, now, jobs, course, times)
            _add(job, uses(job, course), -1, cluster.used, 0, cluster)
        _set_has(job, wish(job, jobs, course, phases), jobs, course, cluster)
        if course.on[job]:
            _add(job, uses(job, course), 1, cluster.used, 0, cluster)
            go_on(job, now, jobs, course, times)
        job = next_to_grow(job, jobs, course, lists, phases)
    while counts[WAITING_FROM] < numbers[N_WAITING]:
        if not _admit(lists.waiting[counts[WAITING_FROM]], now, jobs, phases, course, lists, cluster):
            break
        counts[WAITING_FROM] += 1
    if counts[CHANGED]:
        _issue(jobs, course, cluster)

    frame = cluster.ranks.shape[0]
    cluster.load[:] = 0
    cluster.stopped[:] = 0
    for i in range(counts[N_SPANNING]):
        job = cluster.spanning[i]
        lists.is_chosen[job] = cluster.tickets[cluster.row[job] * frame + k % frame]
        if lists.is_chosen[job]:
            _add(job, course.has[job], 1, cluster.load, 0, cluster)
    active = lists.active
    for i in range(1, numbers[N_ACTIVE]):
        job = active[i]
        at = i
        while at > 0 and _goes_before(job, active[at - 1], jobs, course):
            active[at] = active[at - 1]
            at -= 1
        active[at] = job
    for spans in (
        False,
        True,
    ):  # what the computers' own gangs leave is for one slice given to those that span them
        for i in range(numbers[N_ACTIVE]):
            job = active[i]
            if (cluster.home[job] == SPANS) != spans or (spans and lists.is_chosen[job]):
                continue
            lists.is_chosen[job] = _fits(job, course.has[job], cluster.load, 0, cluster)
            if lists.is_chosen[job]:
                _add(job, course.has[job], 1, cluster.load, 0, cluster)
    numbers[N_CHOSEN] = 0
    for i in range(numbers[N_ACTIVE]):
        job = active[i]
        if lists.is_chosen[job]:
            lists.chosen[numbers[N_CHOSEN]] = job
            numbers[N_CHOSEN] += 1
        elif course.on[job]:
            _note_gang(job, now, course, cluster, notes)
            halt(job, now, jobs, course, times)
            _add(job, uses(job, course), -1, cluster.used, 0, cluster)
            _add(job, course.has[job], 1, cluster.stopped, 0, cluster)
            course.due[job] = np.inf
            course.on[job] = 0
            course.stops[job] += 1
    for i in range(numbers[N_CHOSEN]):
        job = lists.chosen[i]
        if not course.on[job]:
            course.on[job] = 1
            pays = times.switch > 0 and _sum(job, course.has[job], cluster.stopped, 0, cluster) > 0
            since = now + times.switch if pays else now
            _add(job, uses(job, course), 1, cluster.used, 0, cluster)
            go_on(job, since, jobs, course, times)
            if pays:
                n = uses(job, course)  # the class scheduler gives others the rest meanwhile, too
                _note(job, now, since, n, course.has[job], notes.switches, cluster)
                notes.levels.switch_ends[0] = since
                notes.levels.switching[0] += n
                notes.levels.switching[1] += n
        course.slices[job] += 1
        course.last[job] = k
    numbers[DECIDED] = k
    all_run = numbers[N_CHOSEN] == numbers[N_ACTIVE] and counts[PARTIAL] == 0
    numbers[BOUNDARY] = NEVER if all_run else k + 1


@part()
def _idle_reserve(free, cluster):
    """Return the CPUs in reserve that nobody uses: other jobs use these first. O(computers)."""
    found = 0.0
    for h in range(cluster.gang.shape[0]):
        kept = cluster.processors[h] - cluster.gang[h]
        found += max(kept - free.processes[h] * free.speed[h], 0.0)
    return found


@part()
def _idle(free, cluster):
    """Return the CPUs that nobody uses. O(computers)."""
    found = 0.0
    for h in range(cluster.gang.shape[0]):
        found += max(cluster.processors[h] - cluster.used[h] - free.processes[h] * free.speed[h], 0.0)
    return found


@part()
def _waits(course, lists, free, cluster):
    """Tell whether some job that has been submitted does not run. O(active gangs + computers)."""
    numbers = lists.numbers
    if free.counts[FREE_FROM] < free.counts[FREE_TO] or cluster.counts[WAITING_FROM] < numbers[N_WAITING]:
        return True
    for h in range(cluster.gang.shape[0]):
        if free.processes[h] > 0 and free.speed[h] == 0:
            return True
    return running(course, lists) < numbers[N_ACTIVE]


@kernel(
    boolean(
        SLICE_JOBS,
        SLICE_PHASES,
        SLICE_TIMES,
        SLICE_COURSE,
        SLICE_LISTS,
        ALPHA_CLUSTER,
        ALPHA_FREE,
        SLICE_NOTES,
    )
)
def run(
    jobs: SliceJobs, phases: SlicePhases, times: SliceTimes,
    course: SliceCourse, lists: SliceLists, cluster: AlphaCluster, free: AlphaFree, notes: SliceNotes,
) -> bool:  # fmt: skip
    """Run all jobs to their ends, or until there may be no room for notes; tell whether all have ended.

    O(active gangs + computers) for each event, and for each slice in which some gang finds no place.
    """
    numbers = lists.numbers
    n_hosts = cluster.gang.shape[0]
    while has_room(
        notes,
        (2 * numbers[N_ACTIVE] + 2) * n_hosts + 2 * free.counts[N_FREE] + 2,
        (numbers[N_ACTIVE] + numbers[N_WAITING] - cluster.counts[WAITING_FROM] + 2) * n_hosts,
    ):
        now = next_instant(jobs, course, lists, times)
        for h in range(n_hosts):
            now = min(now, free.next_end[h])
        end_switches(
            notes.levels, now, _idle(free, cluster), _idle_reserve(free, cluster),
            _waits(course, lists, free, cluster),
        )  # fmt: skip
        if now == np.inf:
            return True
        for h in range(n_hosts):
            if free.next_end[h] <= now:
                _end_free(h, now, jobs, course, lists, free, cluster, notes)
                if cluster.counts[WAITING_FROM] < numbers[N_WAITING]:
                    decide_next(now, times.slice, numbers)
        job = first_due(now, course, lists)
        while job != NOBODY:
            _finish_phase(job, now, jobs, phases, times, course, lists, cluster, notes)
            decide_next(now, times.slice, numbers)
            job = first_due(now, course, lists)
        job = next_submission(jobs, lists)
        while job != NOBODY and jobs.submit[job] <= now:
            take_submission(job, jobs, lists)
            if jobs.size[job] < cluster.gang_from:
                free.waiting[free.counts[FREE_TO]] = job
                free.counts[FREE_TO] += 1
            else:
                lists.waiting[numbers[N_WAITING]] = job
                numbers[N_WAITING] += 1
                decide_next(now, times.slice, numbers)
            job = next_submission(jobs, lists)
        _place_free(now, jobs, course, free, cluster)
        if numbers[BOUNDARY] != NEVER and numbers[BOUNDARY] * times.slice <= now:
            _decide(now, jobs, phases, times, course, lists, cluster, notes)
        _share(now, jobs, course, free, cluster, notes)
        note_levels(
            notes.levels, now, _idle(free, cluster), _idle_reserve(free, cluster),
            _waits(course, lists, free, cluster),
        )  # fmt: skip
    return False
