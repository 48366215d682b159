"""Is a schedule possible, and are reservations kept? Knows the schedule only, not how it was made."""

from __future__ import annotations

import numpy as np

from models.jobs.schedule import Schedule


def faults(made: Schedule) -> list[str]:
    """Return what is physically wrong with a schedule: nothing, one hopes."""
    jobs, hosts = made.jobs, made.machine
    found = []
    if not np.isfinite(made.start).all():
        return ["some jobs never start"]
    if (made.start < jobs.submit).any():
        found.append("a job starts before its submission")
    if (made.end != made.start + jobs.runtime).any():
        found.append("a job does not run for its runtime")
    for h in range(len(hosts.names)):
        here = made.host == h
        for instant in np.unique(made.start[here]):
            running = here & (made.start <= instant) & (instant < made.end)
            if jobs.size[running].sum() > hosts.processors[h]:
                found.append(f"processors of host {h} used twice at {instant}")
            if jobs.memory[running].sum() > hosts.memory[h]:
                found.append(f"memory of host {h} used twice at {instant}")
    return found


def delayed_heads(made: Schedule) -> list[int]:
    """Return jobs that started later than promised when they came to the head of the queue of a single pool.

    The promise is recomputed from the schedule: the first instant at which enough processors are free if all
    that runs at that moment uses up its requested time.
    """
    jobs = made.jobs
    late = []
    for job in range(len(jobs)):
        before = made.start[:job]
        head_since = max(jobs.submit[job], before.max() if job else -np.inf)
        if made.start[job] <= head_since:
            continue
        running = (made.start <= head_since) & (made.end > head_since)
        expected = np.maximum(made.start[running] + jobs.requested[running], head_since)
        free = made.machine.total - jobs.size[running].sum()
        promise = head_since
        for at in np.argsort(expected):
            if free >= jobs.size[job]:
                break
            free += jobs.size[running][at]
            promise = expected[at]
        if made.start[job] > promise:
            late.append(job)
    return late
