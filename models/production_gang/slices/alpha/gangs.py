"""What gangs have and use, and how their phases end."""

from __future__ import annotations

from models.kernels.compiling import part
from models.production_gang.slices.alpha.layout import add
from models.production_gang.slices.alpha.state import CHANGED, N_SPANNING, SPANS
from models.production_gang.slices.course import answer, begin_phase, go_on, remove_active, uses
from models.production_gang.slices.noted import note


@part()
def note_computers(job, begin, end, used, has, pieces, cluster):
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
def note_gang(job, now, course, cluster, notes):
    if now > course.since[job]:
        if course.start[job] != course.start[job]:
            course.start[job] = course.since[job]
        note_computers(job, course.since[job], now, uses(job, course), course.has[job], notes.pieces, cluster)


@part()
def set_has(job, n, jobs, course, cluster):
    """A gang has so many CPUs from now on."""
    at = jobs.owner[job] * cluster.gang.shape[0]
    add(job, course.has[job], -1, cluster.committed, at, cluster)
    course.has[job] = n
    add(job, n, 1, cluster.committed, at, cluster)
    cluster.counts[CHANGED] = 1


@part()
def take_memory(job, sign, jobs, cluster):
    """Take a gang's memory, or give it back."""
    home = cluster.home[job]
    if home != SPANS:
        cluster.room[home] -= sign * jobs.most[job] * cluster.memory[job]
        return
    n_hosts = cluster.gang.shape[0]
    for h in range(n_hosts):
        cluster.room[h] -= sign * cluster.layout[cluster.row[job] * n_hosts + h] * cluster.memory[job]


@part()
def finish_phase(job, now, jobs, phases, times, course, lists, cluster, notes):
    """A gang's phase is over, and perhaps the gang."""
    note_gang(job, now, course, cluster, notes)
    add(job, uses(job, course), -1, cluster.used, 0, cluster)
    course.phase[job] += 1
    if course.phase[job] == phases.share.shape[0]:
        course.end[job] = now
        course.due[job] = float("inf")
        course.on[job] = 0
        set_has(job, 0, jobs, course, cluster)
        take_memory(job, -1, jobs, cluster)
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
        set_has(job, course.wants[job], jobs, course, cluster)
    add(job, uses(job, course), 1, cluster.used, 0, cluster)
    go_on(job, now, jobs, course, times)
