"""Whose processors a newcomer gets for its quantum, and how they get them back (Chiang and Vernon 2001,
section 2.4).

Eligible is a job that has been executing without interruption for long enough. On each host with enough
unallocated memory the eligible jobs with the smallest current slowdown (total time in the system so far,
divided by the total runtime so far) are chosen, until enough processors are free; of equal ones the first
submitted. The host that is left with the fewest idle processors is taken, of equal ones the first.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, void

from models.backfill.expected_ends import insert, remove
from models.backfill.immediate.state import (
    NOBODY,
    QUANTUM,
    RESIDENTS,
    SERVED,
    Quantum,
    Residents,
    Served,
)
from models.backfill.pieces import NOTED, Noted, note
from models.backfill.priority.passing import HOSTS, Hosts
from models.kernels.compiling import part


@part(int64(RESIDENTS, int64, float64, int64))
def next_victim(residents: Residents, h: int, above: float, after: int) -> int:
    """Return the position of the next resident by (slowdown, number), or `NOBODY`. O(residents)."""
    job, slowdown = residents.job, residents.slowdown
    found = NOBODY
    for i in range(h * residents.room, h * residents.room + residents.n[h]):
        if slowdown[i] < above or (slowdown[i] == above and job[i] <= after) or slowdown[i] == np.inf:
            continue
        if (
            found == NOBODY
            or slowdown[i] < slowdown[found]
            or (slowdown[i] == slowdown[found] and job[i] < job[found])
        ):
            found = i
    return found


@part(int64(float64, int64, QUANTUM, SERVED, HOSTS, RESIDENTS))
def host_with_victims(
    now: float, newcomer: int, quantum: Quantum, jobs: Served, hosts: Hosts, residents: Residents
) -> int:
    """Return the host where jobs are to be preempted, or `NOBODY`; sets its residents' `slowdown`.

    O(residents x victims) on each host.
    """
    columns = jobs.columns
    wanted = columns.size[newcomer]
    best = NOBODY
    least_idle = 0
    for h in range(hosts.free.shape[0]):
        if hosts.free_memory[h] < jobs.lent[newcomer]:
            continue
        found = hosts.free[h]
        first = h * residents.room
        for i in range(first, first + residents.n[h]):
            job = residents.job[i]
            # A job that is preempted goes on later than now; one that is over at this instant is left alone.
            eligible = (now - columns.start[job] >= quantum.uninterrupted) & (jobs.end[job] > now)
            residents.slowdown[i] = 0.0 if eligible else np.inf
            found += columns.size[job] if eligible else 0
        if found < wanted:
            continue
        for i in range(first, first + residents.n[h]):
            if residents.slowdown[i] == 0.0:
                job = residents.job[i]
                ran = jobs.ran[job] + (now - columns.start[job])
                residents.slowdown[i] = (now - jobs.submit[job]) / ran
        idle = hosts.free[h] - wanted
        above = -np.inf
        after = NOBODY
        while idle < 0:
            i = next_victim(residents, h, above, after)
            above = residents.slowdown[i]
            after = residents.job[i]
            idle += columns.size[after]
        if best == NOBODY or idle < least_idle:
            best = h
            least_idle = idle
            # No other host leaves fewer.
            if idle == 0:
                break
    return best


@part(void(float64, int64, int64, QUANTUM, SERVED, HOSTS, RESIDENTS, NOTED))
def preempt(
    now: float, newcomer: int, h: int, quantum: Quantum,
    jobs: Served, hosts: Hosts, residents: Residents, pieces: Noted,
) -> None:  # fmt: skip
    """Preempt jobs on the host that `host_with_victims` chose, until a newcomer has its processors.

    The ends of all victims are put off: by how long the quantum will take in fact, and by all of it as far as
    anybody can tell. A victim that runs beyond its request is expected to end as soon as it goes on. What the
    victims do not give is taken of the idle processors.
    """
    columns = jobs.columns
    length = min(quantum.length, columns.runtime[newcomer])
    wanted = columns.size[newcomer]
    above = -np.inf
    victim = NOBODY
    while wanted > hosts.free[h]:
        i = next_victim(residents, h, above, victim)
        above = residents.slowdown[i]
        victim = residents.job[i]
        size, need = columns.size[victim], columns.need[victim]
        note(pieces, victim, h, columns.start[victim], now, size)
        remove(hosts.ends, h, jobs.expected[victim], size, need)
        jobs.expected[victim] = max(jobs.expected[victim], now)
        insert(hosts.ends, h, jobs.expected[victim] + quantum.length, size, need)
        jobs.ran[victim] += now - columns.start[victim]
        columns.start[victim] = now + length
        jobs.end[victim] += length
        jobs.preempted[victim] = 1
        jobs.displaced_by[victim] = newcomer
        wanted -= size
    jobs.taken[newcomer] = max(wanted, 0)


@part(void(float64, int64, int64, QUANTUM, SERVED, HOSTS, RESIDENTS))
def give_back(
    now: float, newcomer: int, h: int, quantum: Quantum, jobs: Served, hosts: Hosts, residents: Residents
) -> None:
    """Let the jobs go on that were preempted for a quantum that is over now. O(residents)."""
    columns = jobs.columns
    for i in range(h * residents.room, h * residents.room + residents.n[h]):
        victim = residents.job[i]
        if jobs.displaced_by[victim] == newcomer:
            jobs.displaced_by[victim] = NOBODY
            size, need = columns.size[victim], columns.need[victim]
            remove(hosts.ends, h, jobs.expected[victim] + quantum.length, size, need)
            jobs.expected[victim] += now - columns.start[newcomer]
            insert(hosts.ends, h, jobs.expected[victim], size, need)
