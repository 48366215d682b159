"""The Alpha cluster's parts of the engine: the hosts of gangs, and the choice of those that run."""

import numpy as np

from models.kernels.compiling import part
from models.kernels.lists import remove
from models.production_gang.slices.alpha.tickets import fits, issue_tickets, sum_over_hosts
from models.production_gang.slices.state import NONE, SPANS
from models.production_gang.slices.steps import add, uses


@part()
def _committed(h, system):
    """Return the CPUs that gangs have on a host. O(priorities)."""
    committed = system.pool.committed
    found = 0
    for at in range(h, committed.shape[0], system.hosts.gang.shape[0]):
        found += committed[at]
    return found


@part()
def _home_for(job, n, system):
    """Return the host with the smallest load for a gang of `n` CPUs, or `NONE`. O(hosts)."""
    hosts, it = system.hosts, system.jobs[job]
    found = NONE
    least = np.inf
    for h in range(hosts.gang.shape[0]):
        if hosts.gang[h] < it.most or hosts.memory[h] < it.memory * it.most:
            continue
        load = (_committed(h, system) + n) / hosts.gang[h]
        if load < least:
            found = h
            least = load
    return found


@part()
def _lay_out(job, system):
    """Spread a gang over hosts, the least loaded first; return whether it fits. O(hosts^2)."""
    hosts, it, n_hosts = system.hosts, system.jobs[job], system.hosts.gang.shape[0]
    at = it.row * n_hosts
    for h in range(n_hosts):
        hosts.layout[at + h] = -1  # not tried yet
    rest = it.most
    for _ in range(n_hosts):
        found = NONE
        least = np.inf
        for h in range(n_hosts):
            if hosts.layout[at + h] < 0 and hosts.gang[h] > 0:
                load = _committed(h, system) / hosts.gang[h]
                if load < least:
                    found = h
                    least = load
        if found == NONE:
            break
        k = min(rest, hosts.gang[found])
        if it.memory > 0:
            k = min(k, hosts.memory[found] // it.memory)
        hosts.layout[at + found] = k
        rest -= k
    for h in range(n_hosts):
        hosts.layout[at + h] = max(hosts.layout[at + h], 0)
    return rest == 0


@part()
def assign_hosts(job, n, system):
    """Set a gang's host, or its layout on several, until its end; return whether it fits. O(hosts^2)."""
    it = system.jobs[job]
    if it.row != NONE:
        return _lay_out(job, system)
    home = _home_for(job, n, system)
    it.home = SPANS if home == NONE else home
    return home != NONE


@part()
def take_memory(job, sign, system):
    """Allocate a gang's memory, or release it."""
    it, hosts, n_hosts = system.jobs[job], system.hosts, system.hosts.gang.shape[0]
    if it.home != SPANS:
        hosts.memory[it.home] -= sign * it.most * it.memory
        return
    for h in range(n_hosts):
        hosts.memory[h] -= sign * hosts.layout[it.row * n_hosts + h] * it.memory


@part()
def resize(job, n, system):
    """Set the number of CPUs of a gang."""
    it, pool = system.jobs[job], system.pool
    at = it.owner * system.hosts.gang.shape[0]
    add(job, it.has, -1, pool.committed, at, system)
    it.has = n
    add(job, n, 1, pool.committed, at, system)
    system.state[0].tickets_stale = 1


@part()
def admit(job, n, system):
    """Give a gang its hosts, if it fits; return whether it did. O(hosts^2 + gangs)."""
    jobs, spanning, state = system.jobs, system.pool.spanning, system.state[0]
    if not assign_hosts(job, n, system):
        return False
    if jobs[job].home == SPANS:
        at = state.n_spanning
        while at > 0:
            other = spanning[at - 1]
            if jobs[other].owner < jobs[job].owner or (jobs[other].owner == jobs[job].owner and other < job):
                break
            spanning[at] = other
            at -= 1
        spanning[at] = job
        state.n_spanning += 1
    take_memory(job, 1, system)
    resize(job, n, system)
    return True


@part()
def release(job, system):
    """Release the CPUs and the memory of a gang that has ended. O(gangs that span hosts)."""
    resize(job, 0, system)
    take_memory(job, -1, system)
    if system.jobs[job].home == SPANS:
        remove(system.pool.spanning, system.state[0].n_spanning, job)
        system.state[0].n_spanning -= 1


@part()
def precedes(job, other, system):
    """Return whether a gang comes before another in the order of a slice."""
    it, its_rival = system.jobs[job], system.jobs[other]
    if it.owner != its_rival.owner:
        return it.owner < its_rival.owner
    if it.last != its_rival.last:
        return it.last < its_rival.last
    return job < other


@part()
def choose_jobs(system):
    """Choose the gangs of a slice: those with a ticket, then those that fit. O(active gangs x hosts)."""
    jobs, pool, state, active = system.jobs, system.pool, system.state[0], system.lists.active
    if state.tickets_stale:
        issue_tickets(system)
    frame = pool.ranks.shape[0]
    pool.load[:] = 0
    pool.stopped[:] = 0
    for i in range(state.n_spanning):
        job = pool.spanning[i]
        it = jobs[job]
        it.is_chosen = pool.tickets[it.row * frame + state.boundary % frame]
        if it.is_chosen:
            add(job, it.has, 1, pool.load, 0, system)
    # CPUs that gangs within a host leave free are given for one slice to gangs that span hosts.
    for spans in (False, True):
        for i in range(state.n_active):
            job = active[i]
            it = jobs[job]
            if (it.home == SPANS) != spans or (spans and it.is_chosen):
                continue
            it.is_chosen = fits(job, it.has, pool.load, 0, system)
            if it.is_chosen:
                add(job, it.has, 1, pool.load, 0, system)


@part()
def mark_stopped(job, system):
    """Add the CPUs of a gang that is stopped to its hosts' stopped CPUs."""
    add(job, system.jobs[job].has, 1, system.pool.stopped, 0, system)


@part()
def meets_stopped(job, system):
    """Return whether a gang has a host on which another one was stopped."""
    return sum_over_hosts(job, system.jobs[job].has, system.pool.stopped, 0, system) > 0


@part()
def lost_in_switch(job, system):
    """Return the processors that wait for a gang's switch: the class scheduler uses the rest."""
    return uses(job, system)


@part()
def charge(job, n_slices, system):
    """Do nothing: gangs take turns by their last slices."""
