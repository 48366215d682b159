"""The CPUs that a gang has on each computer: one of them, or those of its layout if it spans several."""

from __future__ import annotations

from models.kernels.compiling import part
from models.production_gang.slices.alpha.state import SPANS


@part()
def add(job, n, sign, cpus, at, cluster):
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
def fits(job, n, cpus, at, cluster):
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
def summed(job, n, cpus, at, cluster):
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
