"""The event loop of the DEC Alpha cluster."""

from __future__ import annotations

import numpy as np
from numba import boolean

from models.kernels.compiling import kernel, part
from models.production_gang.slices.alpha.deciding import decide
from models.production_gang.slices.alpha.gangs import finish_phase
from models.production_gang.slices.alpha.shares import end_free, place_free, share
from models.production_gang.slices.alpha.state import (
    ALPHA_CLUSTER,
    ALPHA_FREE,
    FREE_FROM,
    FREE_TO,
    N_FREE,
    WAITING_FROM,
    AlphaCluster,
    AlphaFree,
)
from models.production_gang.slices.course import (
    BOUNDARY,
    N_ACTIVE,
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
    decide_next,
    first_due,
    next_instant,
    next_submission,
    running,
    take_submission,
)
from models.production_gang.slices.noted import SLICE_NOTES, SliceNotes, end_switches, has_room, note_levels


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
                end_free(h, now, jobs, course, lists, free, cluster, notes)
                if cluster.counts[WAITING_FROM] < numbers[N_WAITING]:
                    decide_next(now, times.slice, numbers)
        job = first_due(now, course, lists)
        while job != NOBODY:
            finish_phase(job, now, jobs, phases, times, course, lists, cluster, notes)
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
        place_free(now, jobs, course, free, cluster)
        if numbers[BOUNDARY] != NEVER and numbers[BOUNDARY] * times.slice <= now:
            decide(now, jobs, phases, times, course, lists, cluster, notes)
        share(now, jobs, course, free, cluster, notes)
        note_levels(
            notes.levels, now, _idle(free, cluster), _idle_reserve(free, cluster),
            _waits(course, lists, free, cluster),
        )  # fmt: skip
    return False
