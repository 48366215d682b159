"""The BBN TC2000: jobs keep their PEs, users share slices fairly (Jette 1997, section "BBN TC2000")."""

from models.kernels.compiling import part
from models.production_gang.slices.state import NONE

BITS = 64


@part()
def _owns(job, pe, pool):
    return (pool.pes[job * pool.words + pe // BITS] >> (pe % BITS)) & 1


@part()
def _assign_pe(job, pe, pool):
    pool.pes[job * pool.words + pe // BITS] |= 1 << (pe % BITS)
    pool.crowd[pe] += 1


@part()
def resize(job, n, system):
    """Give a job the least crowded other PEs, or take its most crowded ones, until it has `n`.

    O(PEs x different crowds), or O(PEs x PEs that are taken).
    """
    it, pool = system.jobs[job], system.pool
    n_pes = pool.crowd.shape[0]
    crowd = -1
    while it.has < n:
        least = -1
        for pe in range(n_pes):
            found = pool.crowd[pe]
            if found > crowd and (least < 0 or found < least) and not _owns(job, pe, pool):
                least = found
        for pe in range(n_pes):
            if it.has < n and pool.crowd[pe] == least and not _owns(job, pe, pool):
                _assign_pe(job, pe, pool)
                it.has += 1
        crowd = least
    while it.has > n:
        most = NONE
        for pe in range(n_pes):
            if _owns(job, pe, pool) and (most == NONE or pool.crowd[pe] >= pool.crowd[most]):
                most = pe
        pool.pes[job * pool.words + most // BITS] &= ~(1 << (most % BITS))
        pool.crowd[most] -= 1
        it.has -= 1


@part()
def _take_block(job, n, system):
    """Give a job that has no PEs the aligned block of `n` PEs that is least crowded. O(PEs)."""
    pool = system.pool
    step = 1
    while step < n:
        step *= 2
    found = 0
    least = NONE
    for begin in range(0, pool.crowd.shape[0] - n + 1, step):
        crowd = 0
        for pe in range(begin, begin + n):
            crowd += pool.crowd[pe]
        if least == NONE or crowd < least:
            found = begin
            least = crowd
    for pe in range(found, found + n):
        _assign_pe(job, pe, pool)
    system.jobs[job].has = n


@part()
def admit(job, n, system):
    """Give a job its PEs; its user gets no credit for time without jobs. O(active jobs + PEs x crowds)."""
    jobs, pool, active, n_active = system.jobs, system.pool, system.lists.active, system.state[0].n_active
    owner = jobs[job].owner
    if pool.jobs_of[owner] == 0 and n_active > 0:
        least = pool.had[jobs[active[0]].owner]
        for i in range(1, n_active):
            least = min(least, pool.had[jobs[active[i]].owner])
        pool.had[owner] = max(pool.had[owner], least)
    pool.jobs_of[owner] += 1
    if pool.blocks:
        _take_block(job, n, system)
    else:
        resize(job, n, system)
    return True


@part()
def release(job, system):
    """Release the PEs of a job that has ended. O(PEs)."""
    pool = system.pool
    for pe in range(pool.crowd.shape[0]):
        pool.crowd[pe] -= _owns(job, pe, pool)
    pool.jobs_of[system.jobs[job].owner] -= 1


@part()
def precedes(job, other, system):
    """Return whether a job comes before another in the order of a slice."""
    pool, it, its_rival = system.pool, system.jobs[job], system.jobs[other]
    new = it.slices < pool.newcomer_slices
    if new != (its_rival.slices < pool.newcomer_slices):
        return new
    if pool.fair and not new:
        had, rival_had = pool.had[it.owner], pool.had[its_rival.owner]
        if had != rival_had:
            return had < rival_had
    if it.last != its_rival.last:
        return it.last < its_rival.last
    return job < other


@part()
def choose_jobs(system):
    """Choose a slice's jobs, in order: every job whose PEs are all still free. O(active jobs x words)."""
    pool = system.pool
    pool.taken[:] = 0
    pool.stopped[:] = 0
    for i in range(system.state[0].n_active):
        job = system.lists.active[i]
        at = job * pool.words
        free = True
        for w in range(pool.words):
            if pool.pes[at + w] & pool.taken[w]:
                free = False
                break
        system.jobs[job].is_chosen = free
        if free:
            for w in range(pool.words):
                pool.taken[w] |= pool.pes[at + w]


@part()
def mark_stopped(job, system):
    """Mark the PEs of a job that is stopped. O(words)."""
    pool = system.pool
    for w in range(pool.words):
        pool.stopped[w] |= pool.pes[job * pool.words + w]


@part()
def meets_stopped(job, system):
    """Return whether a job has a PE of a job that was stopped. O(words)."""
    pool = system.pool
    found = False
    for w in range(pool.words):
        found |= (pool.pes[job * pool.words + w] & pool.stopped[w]) != 0
    return found


@part()
def lost_in_switch(job, system):
    """Return the processors that wait for a job's switch: all of its processors."""
    return system.jobs[job].has


@part()
def charge(job, n_slices, system):
    """Charge a job's user for slices."""
    system.pool.had[system.jobs[job].owner] += n_slices * system.jobs[job].charged
