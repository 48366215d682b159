"""Who runs from the beginning of a slice on: gangs with a ticket, then those that find room."""

from __future__ import annotations

import numpy as np

from models.kernels.compiling import part
from models.production_gang.slices.alpha.gangs import note_computers, note_gang, set_has
from models.production_gang.slices.alpha.layout import add, fits, summed
from models.production_gang.slices.alpha.placing import admit
from models.production_gang.slices.alpha.state import CHANGED, N_SPANNING, PARTIAL, SPANS, WAITING_FROM
from models.production_gang.slices.alpha.tickets import issue_tickets
from models.production_gang.slices.course import (
    BOUNDARY,
    DECIDED,
    N_ACTIVE,
    N_CHOSEN,
    N_WAITING,
    NEVER,
    NOBODY,
    go_on,
    halt,
    next_to_grow,
    uses,
    wish,
)


@part()
def _goes_before(job, other, jobs, course):
    if jobs.owner[job] != jobs.owner[other]:
        return jobs.owner[job] < jobs.owner[other]
    if course.last[job] != course.last[other]:
        return course.last[job] < course.last[other]
    return job < other


@part()
def decide(now, jobs, phases, times, course, lists, cluster, notes):
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
            note_gang(job, now, course, cluster, notes)
            halt(job, now, jobs, course, times)
            add(job, uses(job, course), -1, cluster.used, 0, cluster)
        set_has(job, wish(job, jobs, course, phases), jobs, course, cluster)
        if course.on[job]:
            add(job, uses(job, course), 1, cluster.used, 0, cluster)
            go_on(job, now, jobs, course, times)
        job = next_to_grow(job, jobs, course, lists, phases)
    while counts[WAITING_FROM] < numbers[N_WAITING]:
        if not admit(lists.waiting[counts[WAITING_FROM]], now, jobs, phases, course, lists, cluster):
            break
        counts[WAITING_FROM] += 1
    if counts[CHANGED]:
        issue_tickets(jobs, course, cluster)

    frame = cluster.ranks.shape[0]
    cluster.load[:] = 0
    cluster.stopped[:] = 0
    for i in range(counts[N_SPANNING]):
        job = cluster.spanning[i]
        lists.is_chosen[job] = cluster.tickets[cluster.row[job] * frame + k % frame]
        if lists.is_chosen[job]:
            add(job, course.has[job], 1, cluster.load, 0, cluster)
    active = lists.active
    for i in range(1, numbers[N_ACTIVE]):
        job = active[i]
        at = i
        while at > 0 and _goes_before(job, active[at - 1], jobs, course):
            active[at] = active[at - 1]
            at -= 1
        active[at] = job
    # What the computers' own gangs leave is for one slice given to those that span them.
    for spans in (False, True):
        for i in range(numbers[N_ACTIVE]):
            job = active[i]
            if (cluster.home[job] == SPANS) != spans or (spans and lists.is_chosen[job]):
                continue
            lists.is_chosen[job] = fits(job, course.has[job], cluster.load, 0, cluster)
            if lists.is_chosen[job]:
                add(job, course.has[job], 1, cluster.load, 0, cluster)
    numbers[N_CHOSEN] = 0
    for i in range(numbers[N_ACTIVE]):
        job = active[i]
        if lists.is_chosen[job]:
            lists.chosen[numbers[N_CHOSEN]] = job
            numbers[N_CHOSEN] += 1
        elif course.on[job]:
            note_gang(job, now, course, cluster, notes)
            halt(job, now, jobs, course, times)
            add(job, uses(job, course), -1, cluster.used, 0, cluster)
            add(job, course.has[job], 1, cluster.stopped, 0, cluster)
            course.due[job] = np.inf
            course.on[job] = 0
            course.stops[job] += 1
    for i in range(numbers[N_CHOSEN]):
        job = lists.chosen[i]
        if not course.on[job]:
            course.on[job] = 1
            pays = times.switch > 0 and summed(job, course.has[job], cluster.stopped, 0, cluster) > 0
            since = now + times.switch if pays else now
            add(job, uses(job, course), 1, cluster.used, 0, cluster)
            go_on(job, since, jobs, course, times)
            if pays:
                n = uses(job, course)  # the class scheduler gives others the rest meanwhile, too
                note_computers(job, now, since, n, course.has[job], notes.switches, cluster)
                notes.levels.switch_ends[0] = since
                notes.levels.switching[0] += n
                notes.levels.switching[1] += n
        course.slices[job] += 1
        course.last[job] = k
    numbers[DECIDED] = k
    all_run = numbers[N_CHOSEN] == numbers[N_ACTIVE] and counts[PARTIAL] == 0
    numbers[BOUNDARY] = NEVER if all_run else k + 1
