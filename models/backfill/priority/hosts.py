"""Where a job fits now, and the earliest start that requested times allow.

A reservation is the earliest start that all requested times allow, on the host where that is possible (among
equal hosts the one with the fewest free processors). All other jobs may start only where they disturb no
reservation made before them in this pass (Chiang and Vernon 2001, section 2.2). Reservations are renewed in
each pass. A job that outlives its request is expected to end at any moment.
"""

import numpy as np
from numba import boolean, float64, int64, types, void

from models.arrays import Ints
from models.backfill.expected_ends import when_free
from models.backfill.job_table import JOBS, NO_HOST, JobTable
from models.backfill.priority.tables import HOSTS, Hosts
from models.backfill.profile import begin, earliest, fits_now, occupy
from models.kernels.compiling import part
from models.kernels.types import INTS


@part(int64(HOSTS, int64, int64, int64))
def fullest_host(hosts: Hosts, size: int, need: int, excluded: int) -> int:
    """Return the fullest host on which a job fits now (ties go to the first), or `NO_HOST`.

    O(hosts), without branches.

    Parameters
    ----------
    size, need : processors, and memory in KB
    excluded : a host on which it must not start, or `NO_HOST`
    """
    best, least = NO_HOST, 2**62
    for i in range(hosts.free.shape[0]):
        h = np.uint64(i)
        free = hosts.free[h]
        better = (size <= free) & (free < least) & (need <= hosts.free_memory[h]) & (i != excluded)
        best = i if better else best
        least = free if better else least
    return best


@part(int64(HOSTS, int64, int64, float64))
def fullest_beside(hosts: Hosts, size: int, need: int, until: float) -> int:
    """Return the fullest host where a job that ends at `until` disturbs no reservation, or `NO_HOST`.

    O(hosts), and O(steps) of each host on which it would run into a reservation.
    """
    best = NO_HOST
    for h in range(hosts.free.shape[0]):
        if hosts.free[h] < size or hosts.free_memory[h] < need:
            continue
        if best >= 0 and hosts.free[h] >= hosts.free[best]:
            continue
        if hosts.first_reserved[h] >= until or fits_now(hosts.profile, h, size, need, until):
            best = h
    return best


@part(int64(INTS))
def most(numbers: Ints) -> int:
    """Return the largest of some non-negative numbers. O(n)."""
    found = 0
    for i in range(numbers.shape[0]):
        found = max(found, numbers[i])
    return found


@part(void(HOSTS, int64, float64))
def build_profile(hosts: Hosts, h: int, now: float) -> None:
    """Make a host's profile from its expected ends. O(running).

    Resources of jobs that should have ended by now count as free in the profile, although they may not be.
    """
    ends, profile = hosts.ends, hosts.profile
    base = h * profile.places
    begin(profile, h, now, hosts.free[h], hosts.free_memory[h])
    n = 1
    for at in range(h * ends.places + ends.n_steps[h] - 1, h * ends.places - 1, -1):
        if ends.step[at].time > profile.step[base + n - 1].time:
            profile.step[base + n] = profile.step[base + n - 1]
            profile.step[base + n].time = ends.step[at].time
            n += 1
        profile.step[base + n - 1].processors += ends.step[at].processors
        profile.step[base + n - 1].memory += ends.step[at].memory
    profile.n_steps[h] = n


@part(types.Tuple((float64, int64, boolean))(float64, int64, int64, float64, HOSTS))
def first_start(now: float, size: int, need: int, requested: float, hosts: Hosts) -> tuple[float, int, bool]:
    """Return the earliest start of a job that does not fit now, its host, and whether the host is unique.

    O(running) on each host.
    """
    reserved, best, is_alone = np.inf, NO_HOST, True
    for h in range(hosts.free.shape[0]):
        if hosts.profile.n_steps[h] > 0:
            when = earliest(hosts.profile, h, size, need, requested)
        else:
            when = when_free(hosts.ends, h, hosts.free[h], hosts.free_memory[h], now, size, need, reserved)
        if when < reserved:
            reserved, best, is_alone = when, h, True
        elif when == reserved and best >= 0:
            is_alone = False
            if hosts.free[h] < hosts.free[best]:
                best = h
    return reserved, best, is_alone


@part(void(float64, int64, float64, JOBS, HOSTS))
def make_reservation(now: float, job: int, requested: float, jobs: JobTable, hosts: Hosts) -> None:
    """Reserve the earliest start for a job that does not fit now. O(running) on each host."""
    size, need = jobs.size[job], jobs.need[job]
    reserved, best, _ = first_start(now, size, need, requested, hosts)
    if hosts.profile.n_steps[best] == 0:
        build_profile(hosts, best, now)
    occupy(hosts.profile, best, reserved, reserved + requested, size, need)
    hosts.first_reserved[best] = min(hosts.first_reserved[best], reserved)
    if np.isnan(jobs.promised[job]):
        jobs.promised[job] = reserved
