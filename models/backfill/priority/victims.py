"""Which jobs are preempted for a quantum, and how they continue (Chiang and Vernon 2001, section 2.4).

A job is eligible if it has been executing without interruption for long enough. On each host with enough
unallocated memory, the eligible jobs with the smallest current slowdown (total time in the system so far,
divided by the total runtime so far) are chosen, until enough processors are free; ties go to the first
submitted. The host that is left with the fewest idle processors is taken; ties go to the first.
"""

import numpy as np
from numba import float64, int64

from models.backfill.expected_ends import insert, remove
from models.backfill.job_table import NO_HOST, NO_JOB
from models.backfill.pieces import add_piece
from models.backfill.priority.quanta import RESIDENTS, Residents
from models.kernels.compiling import part


@part(int64(RESIDENTS, int64, float64, int64))
def next_victim(residents: Residents, h: int, above: float, after: int) -> int:
    """Return the position of the next resident by (slowdown, number), or `NO_JOB`. O(residents)."""
    job, slowdown = residents.job, residents.slowdown
    found = NO_JOB
    for i in range(h * residents.places, h * residents.places + residents.n[h]):
        if slowdown[i] < above or (slowdown[i] == above and job[i] <= after) or slowdown[i] == np.inf:
            continue
        if (
            found == NO_JOB
            or slowdown[i] < slowdown[found]
            or (slowdown[i] == slowdown[found] and job[i] < job[found])
        ):
            found = i
    return found


@part()
def host_with_victims(system, new_job):
    """Return the host where jobs are to be preempted, or `NO_HOST`; sets its residents' `slowdown`.

    O(residents x victims) on each host.
    """
    jobs, quanta, hosts, residents = system.jobs, system.quanta, system.hosts, system.residents
    now = system.state[0].now
    wanted = jobs.size[new_job]
    best = NO_HOST
    least_idle = 0
    for h in range(hosts.free.shape[0]):
        if hosts.free_memory[h] < quanta.lent[new_job]:
            continue
        found = hosts.free[h]
        first = h * residents.places
        for i in range(first, first + residents.n[h]):
            job = residents.job[i]
            # A preempted job continues later than now, so a job that ends at this instant is not preempted.
            eligible = (now - jobs.start[job] >= system.quantum.uninterrupted) & (quanta.end[job] > now)
            residents.slowdown[i] = 0.0 if eligible else np.inf
            found += jobs.size[job] if eligible else 0
        if found < wanted:
            continue
        for i in range(first, first + residents.n[h]):
            if residents.slowdown[i] == 0.0:
                job = residents.job[i]
                ran = quanta.ran[job] + (now - jobs.start[job])
                residents.slowdown[i] = (now - jobs.submit[job]) / ran
        idle = hosts.free[h] - wanted
        above = -np.inf
        after = NO_JOB
        while idle < 0:
            i = next_victim(residents, h, above, after)
            above = residents.slowdown[i]
            after = residents.job[i]
            idle += jobs.size[after]
        if best == NO_HOST or idle < least_idle:
            best = h
            least_idle = idle
            # No other host can leave fewer.
            if idle == 0:
                break
    return best


@part()
def preempt(system, new_job, h):
    """Preempt jobs on the host that `host_with_victims` returned, until a new job has its processors.

    The ends of all victims are postponed by the duration of the quantum, and their expected ends by its full
    length. A victim that outlives its request is expected to end as soon as it continues. Processors that the
    victims do not yield are taken from the idle ones.
    """
    jobs, quanta, hosts, residents = system.jobs, system.quanta, system.hosts, system.residents
    now = system.state[0].now
    length = min(system.quantum.length, quanta.runtime[new_job])
    wanted = jobs.size[new_job]
    above = -np.inf
    victim = NO_JOB
    while wanted > hosts.free[h]:
        i = next_victim(residents, h, above, victim)
        above = residents.slowdown[i]
        victim = residents.job[i]
        size, need = jobs.size[victim], jobs.need[victim]
        add_piece(system.pieces, victim, h, jobs.start[victim], now, size)
        remove(hosts.ends, h, quanta.expected[victim], size, need)
        quanta.expected[victim] = max(quanta.expected[victim], now)
        insert(hosts.ends, h, quanta.expected[victim] + system.quantum.length, size, need)
        quanta.ran[victim] += now - jobs.start[victim]
        jobs.start[victim] = now + length
        quanta.end[victim] += length
        quanta.preempted[victim] = 1
        quanta.displaced_by[victim] = new_job
        wanted -= size
    quanta.taken[new_job] = max(wanted, 0)


@part()
def resume_victims(system, job, h):
    """Let the jobs that were preempted for a quantum continue, as it is over now. O(residents)."""
    jobs, quanta, hosts, residents = system.jobs, system.quanta, system.hosts, system.residents
    for i in range(h * residents.places, h * residents.places + residents.n[h]):
        victim = residents.job[i]
        if quanta.displaced_by[victim] == job:
            quanta.displaced_by[victim] = NO_JOB
            size, need = jobs.size[victim], jobs.need[victim]
            remove(hosts.ends, h, quanta.expected[victim] + system.quantum.length, size, need)
            quanta.expected[victim] += system.state[0].now - jobs.start[job]
            insert(hosts.ends, h, quanta.expected[victim], size, need)
