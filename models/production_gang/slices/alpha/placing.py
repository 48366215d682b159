"""Which computers a gang gets when it is admitted; it stays there to its end."""

from __future__ import annotations

import numpy as np

from models.kernels.compiling import part
from models.production_gang.slices.alpha.gangs import set_has, take_memory
from models.production_gang.slices.alpha.state import N_SPANNING
from models.production_gang.slices.course import N_ACTIVE, NOBODY, begin_phase, wish


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
def admit(job, now, jobs, phases, course, lists, cluster):
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
    take_memory(job, 1, jobs, cluster)
    set_has(job, n, jobs, course, cluster)
    course.admitted[job] = now
    lists.active[lists.numbers[N_ACTIVE]] = job
    lists.numbers[N_ACTIVE] += 1
    return True
