"""The choice of a gang's hosts when it is admitted; it stays there to its end."""

import numpy as np

from models.kernels.compiling import part
from models.production_gang.slices.state import NONE, SPANS


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
    """Set a gang's host, or its layout on several; return whether it fits. O(hosts^2)."""
    it = system.jobs[job]
    if it.row != NONE:
        return _lay_out(job, system)
    home = _home_for(job, n, system)
    it.home = SPANS if home == NONE else home
    return home != NONE


@part()
def take_memory(job, sign, system):
    """Take a gang's memory, or give it back."""
    it, hosts, n_hosts = system.jobs[job], system.hosts, system.hosts.gang.shape[0]
    if it.home != SPANS:
        hosts.memory[it.home] -= sign * it.most * it.memory
        return
    for h in range(n_hosts):
        hosts.memory[h] -= sign * hosts.layout[it.row * n_hosts + h] * it.memory
