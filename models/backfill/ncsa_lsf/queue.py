"""The waiting jobs of NCSA-LSF by class, and which of them matter to a host (Chiang and Vernon 2001, 2.1)."""

from models.backfill.job_table import NO_JOB
from models.backfill.ncsa_lsf.tables import N_SIZES, N_TIMES, NO_CLASS
from models.kernels.compiling import part


@part()
def append(system, job):
    """Add a job to the end of the list of its class. O(1)."""
    queue, c = system.queue, system.job_class[job]
    queue.before[job] = queue.last[c]
    queue.after[job] = NO_JOB
    if queue.last[c] == NO_JOB:
        queue.first[c] = job
    else:
        queue.after[queue.last[c]] = job
    queue.last[c] = job
    system.state[0].n_waiting += 1


@part()
def remove(system, job):
    """Remove a job from the list of its class. O(1)."""
    queue, c = system.queue, system.job_class[job]
    if queue.before[job] == NO_JOB:
        queue.first[c] = queue.after[job]
    else:
        queue.after[queue.before[job]] = queue.after[job]
    if queue.after[job] == NO_JOB:
        queue.last[c] = queue.before[job]
    else:
        queue.before[queue.after[job]] = queue.before[job]
    system.state[0].n_waiting -= 1


@part()
def fits_now(system, h, job):
    """Return whether a job fits in the free resources of host `h`."""
    jobs, hosts = system.jobs, system.hosts
    return hosts.free[h] >= jobs.size[job] and hosts.free_memory[h] >= jobs.need[job]


@part()
def fits_empty(system, h, job):
    """Return whether a job would fit on host `h` if nothing ran there."""
    jobs, hosts = system.jobs, system.hosts
    return jobs.size[job] <= hosts.processors[h] and jobs.need[job] <= hosts.memory[h]


@part()
def user_is_barred(system, job):
    """Return whether the user of a job has as many executing jobs as allowed."""
    return system.of_user[system.user[job]] >= system.limits.of_user


@part()
def is_barred(system, t):
    """Return whether as many jobs of time class `t` are executing as allowed."""
    return system.of_time[t] >= system.limits.of_time[t]


@part()
def is_bounded(system, h, s):
    """Return whether as many jobs of size class `s` are executing on host `h` as allowed."""
    return system.hosts.executing[h * N_SIZES + s] >= system.hosts.most[h * N_SIZES + s]


@part()
def overdue(system, h):
    """Return the job with the highest priority on host `h` among the overdue ones, or `NO_JOB`.

    O(classes), and O(1) for each overdue job that may not run on this host or is barred by its user's limit.
    """
    jobs, limits, queue = system.jobs, system.limits, system.queue
    found = NO_JOB
    for rank in range(N_SIZES):
        s = system.hosts.classes[h * N_SIZES + rank]
        if s == NO_CLASS:
            break
        if is_bounded(system, h, s):
            continue
        for level in range(limits.n_levels):
            for t in range(N_TIMES):
                if limits.level[t] != level or is_barred(system, t):
                    continue
                job = queue.first[s * N_TIMES + t]
                # The first submitted job has waited longest: behind a job that is not overdue, none is.
                while job != NO_JOB and system.state[0].now - jobs.submit[job] > limits.reserve_wait[t]:
                    if fits_empty(system, h, job) and not user_is_barred(system, job):
                        if found == NO_JOB or job < found:
                            found = job
                        break
                    job = queue.after[job]
            if found != NO_JOB:
                return found
    return found


@part()
def holds_back(system, h, s):
    """Return whether a job of size class `s` waits for which host `h` takes no smaller ones.

    O(time classes), and O(1) for each job at the front that does not count.
    """
    barred_count = system.limits.barred_hold_back
    for t in range(N_TIMES):
        if is_barred(system, t) and not barred_count:
            continue
        job = system.queue.first[s * N_TIMES + t]
        while job != NO_JOB:
            if (barred_count or not user_is_barred(system, job)) and fits_empty(system, h, job):
                return True
            job = system.queue.after[job]
    return False


@part()
def has_new(system, h, s):
    """Return whether a job of size class `s` waits that host `h` has not examined. O(time classes)."""
    found = False
    for c in range(s * N_TIMES, (s + 1) * N_TIMES):
        found |= system.queue.last[c] > system.queue.examined[h * N_SIZES * N_TIMES + c]
    return found
