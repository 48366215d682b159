"""Tickets: the slices that a gang has on all its hosts, if it spans several."""

from models.kernels.compiling import part
from models.production_gang.slices.state import NONE, SPANS
from models.production_gang.slices.steps import add


@part()
def fits(job, n, cpus, at, system):
    """Return whether the first `n` CPUs of a gang are free beside the given ones. O(1), or O(hosts)."""
    it, hosts = system.jobs[job], system.hosts
    if it.home != SPANS:
        return cpus[at + it.home] + n <= hosts.gang[it.home]
    n_hosts = hosts.gang.shape[0]
    for h in range(n_hosts):
        k = min(n, hosts.layout[it.row * n_hosts + h])
        if k > 0 and cpus[at + h] + k > hosts.gang[h]:
            return False
        n -= k
    return True


@part()
def sum_over_hosts(job, n, cpus, at, system):
    """Return the sum of given values over the hosts of a gang's first `n` CPUs. O(1), or O(hosts)."""
    it, hosts = system.jobs[job], system.hosts
    if it.home != SPANS:
        return cpus[at + it.home]
    n_hosts = hosts.gang.shape[0]
    found = 0
    for h in range(n_hosts):
        k = min(n, hosts.layout[it.row * n_hosts + h])
        if k > 0:
            found += cpus[at + h]
        n -= k
    return found


@part()
def _tickets_for(job, system):
    """Return how many tickets a gang is to have. O(hosts x priorities)."""
    it, hosts, committed = system.jobs[job], system.hosts, system.pool.committed
    n_hosts, frame = hosts.gang.shape[0], system.pool.ranks.shape[0]
    shall = frame
    rest = it.has
    for h in range(n_hosts):
        k = min(rest, hosts.layout[it.row * n_hosts + h])
        rest -= k
        if k == 0:
            continue
        above = 0
        for rank in range(it.owner):
            above += committed[rank * n_hosts + h]
        equal = committed[it.owner * n_hosts + h]
        gang = hosts.gang[h]
        if above >= gang:
            shall = 0
        elif above + equal > gang:
            shall = min(shall, max(frame * (gang - above) // equal, 1))
    return shall


@part()
def issue_tickets(system):
    """Revoke tickets and issue others. O(gangs that span hosts x frame x (frame + hosts))."""
    pool, state = system.pool, system.state[0]
    n_hosts, frame = system.hosts.gang.shape[0], pool.ranks.shape[0]
    pool.full[:] = 0
    state.n_partial = 0
    for i in range(state.n_spanning):
        job = pool.spanning[i]
        has, at = system.jobs[job].has, system.jobs[job].row * frame
        shall = _tickets_for(job, system)
        held = 0
        for s in pool.ranks:
            if not pool.tickets[at + s]:
                continue
            if held < shall and fits(job, has, pool.full, s * n_hosts, system):
                held += 1
                add(job, has, 1, pool.full, s * n_hosts, system)
            else:
                pool.tickets[at + s] = 0
                state.revoked += 1
        while held < shall:
            found = NONE
            least = 0
            for s in pool.ranks:
                if pool.tickets[at + s] or not fits(job, has, pool.full, s * n_hosts, system):
                    continue
                load = sum_over_hosts(job, has, pool.full, s * n_hosts, system)
                if found == NONE or load < least:
                    found = s
                    least = load
            if found == NONE:
                break
            pool.tickets[at + found] = 1
            add(job, has, 1, pool.full, found * n_hosts, system)
            held += 1
            state.issued += 1
        state.n_partial += held < frame
    state.tickets_stale = 0
