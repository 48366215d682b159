"""Jobs that are not gang scheduled: the class scheduler gives them equal shares of what gangs leave."""

from __future__ import annotations

import numpy as np

from models.kernels.compiling import part
from models.production_gang.slices.alpha.state import FREE_FROM, FREE_TO, N_FREE
from models.production_gang.slices.course import NOBODY, answer
from models.production_gang.slices.noted import note


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
def end_free(h, now, jobs, course, lists, free, cluster, notes):
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
def place_free(now, jobs, course, free, cluster):
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
def share(now, jobs, course, free, cluster, notes):
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
