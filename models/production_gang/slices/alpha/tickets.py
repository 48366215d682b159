"""Tickets: the slices that a gang has on all its computers, if it spans several."""

from __future__ import annotations

from models.kernels.compiling import part
from models.production_gang.slices.alpha.layout import add, fits, summed
from models.production_gang.slices.alpha.state import CHANGED, ISSUED, N_SPANNING, PARTIAL, REVOKED
from models.production_gang.slices.course import NOBODY


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
def issue_tickets(jobs, course, cluster):
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
            if held < shall and fits(job, has, cluster.full, s * n_hosts, cluster):
                held += 1
                add(job, has, 1, cluster.full, s * n_hosts, cluster)
            else:
                cluster.tickets[at + s] = 0
                counts[REVOKED] += 1
        while held < shall:
            found = NOBODY
            least = 0
            for s in cluster.ranks:
                if cluster.tickets[at + s] or not fits(job, has, cluster.full, s * n_hosts, cluster):
                    continue
                load = summed(job, has, cluster.full, s * n_hosts, cluster)
                if found == NOBODY or load < least:
                    found = s
                    least = load
            if found == NOBODY:
                break
            cluster.tickets[at + found] = 1
            add(job, has, 1, cluster.full, found * n_hosts, cluster)
            held += 1
            counts[ISSUED] += 1
        counts[PARTIAL] += held < frame
    counts[CHANGED] = 0
