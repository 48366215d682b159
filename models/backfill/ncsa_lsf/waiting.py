"""Who waits under NCSA-LSF, and who of them concerns a host (Chiang and Vernon 2001, section 2.1)."""

from __future__ import annotations

from numba import boolean, float64, int64, void

from models.backfill.ncsa_lsf.state import (
    HOSTS,
    JOBS,
    LIMITS,
    NOBODY,
    QUEUE,
    RUNNING,
    Hosts,
    JobTable,
    Limits,
    Queue,
    Running,
)
from models.kernels.compiling import part


@part(void(int64, int64, QUEUE))
def append(job: int, c: int, queue: Queue) -> None:
    """Put a job at the end of the list of class `c`. O(1)."""
    queue.before[job] = queue.last[c]
    queue.after[job] = NOBODY
    if queue.last[c] == NOBODY:
        queue.first[c] = job
    else:
        queue.after[queue.last[c]] = job
    queue.last[c] = job
    queue.n[0] += 1


@part(void(int64, int64, QUEUE))
def take_out(job: int, c: int, queue: Queue) -> None:
    """Take a job out of the list of class `c`. O(1)."""
    if queue.before[job] == NOBODY:
        queue.first[c] = queue.after[job]
    else:
        queue.after[queue.before[job]] = queue.after[job]
    if queue.after[job] == NOBODY:
        queue.last[c] = queue.before[job]
    else:
        queue.before[queue.after[job]] = queue.before[job]
    queue.n[0] -= 1


@part(boolean(int64, int64, JOBS, HOSTS))
def has_room(h: int, job: int, jobs: JobTable, hosts: Hosts) -> bool:
    """Tell whether a job fits into what is free on host `h`."""
    return hosts.free[h] >= jobs.size[job] and hosts.free_memory[h] >= jobs.memory[job]


@part(boolean(int64, int64, JOBS, HOSTS))
def is_large_enough(h: int, job: int, jobs: JobTable, hosts: Hosts) -> bool:
    """Tell whether a job would fit on host `h` if nothing ran there."""
    return jobs.size[job] <= hosts.processors[h] and jobs.memory[job] <= hosts.memory[h]


@part(int64(float64, int64, JOBS, HOSTS, LIMITS, QUEUE, RUNNING))
def overdue(
    now: float, h: int, jobs: JobTable, hosts: Hosts, limits: Limits, queue: Queue, running: Running
) -> int:
    """Return the job with the highest priority on host `h` of those that wait for too long, or `NOBODY`.

    O(classes), and O(1) for each overdue job that may not run on this host or is barred by its user's limit.
    """
    n_times = limits.level.shape[0]
    n_sizes = queue.first.shape[0] // n_times
    found = NOBODY
    for rank in range(n_sizes):
        s = hosts.classes[h * n_sizes + rank]
        if s == NOBODY:
            break
        if hosts.executing[h * n_sizes + s] >= hosts.most[h * n_sizes + s]:
            continue
        for level in range(limits.n_levels):
            for t in range(n_times):
                if limits.level[t] != level or running.of_time[t] >= limits.of_time[t]:
                    continue
                job = queue.first[s * n_times + t]
                # The first submitted has waited for longest: behind one that is not overdue nobody is.
                while job != NOBODY and now - jobs.submit[job] > limits.reserve_wait[t]:
                    is_barred = running.of_user[jobs.user[job]] >= limits.of_user
                    if is_large_enough(h, job, jobs, hosts) and not is_barred:
                        if found == NOBODY or job < found:
                            found = job
                        break
                    job = queue.after[job]
            if found != NOBODY:
                return found
    return found


@part(boolean(int64, int64, JOBS, HOSTS, LIMITS, QUEUE, RUNNING))
def holds_back(
    h: int, s: int, jobs: JobTable, hosts: Hosts, limits: Limits, queue: Queue, running: Running
) -> bool:
    """Tell whether a job of size class `s` waits for which host `h` takes no smaller ones.

    O(time classes), and O(1) for each job at the front that does not count.
    """
    n_times = limits.level.shape[0]
    for t in range(n_times):
        if running.of_time[t] >= limits.of_time[t] and not limits.barred_hold_back:
            continue
        job = queue.first[s * n_times + t]
        while job != NOBODY:
            counts = limits.barred_hold_back or running.of_user[jobs.user[job]] < limits.of_user
            if counts and is_large_enough(h, job, jobs, hosts):
                return True
            job = queue.after[job]
    return False
