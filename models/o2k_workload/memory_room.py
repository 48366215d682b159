"""The memory that is free when jobs arrive, with the memory of all hosts as one and no job slowed down.

A machine with hosts, and with jobs that share processors and stay for longer, can only have less free memory.
Three measures, from the simplest to the hardest:

- `is_full`: every job has begun when it was submitted; does one more fit? That may overbook memory.
- `must_wait`: a job that does not fit waits, and gets memory as soon as there is enough, in order of
  submission among the jobs that fit: the rule of section 2.5 of Chiang and Vernon (2001).
- `fewest_waiting`: a policy may let any job wait, and waiting jobs never come back. No policy does better.
"""

from heapq import heappop, heappush

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from models.arrays import Floats, Ints
from models.jobs.jobs import Jobs
from models.units import KB_IN_GB


def held(jobs: Jobs) -> Ints:
    """Return the KB that all earlier jobs hold at each submission, if every job begins when it is submitted.

    Ends come before submissions of the same instant. Shape (n_jobs,). O(n_jobs log n_jobs).
    """
    ends = jobs.submit + jobs.runtime
    order = np.argsort(ends)
    given_back = np.concatenate([[0], np.cumsum(jobs.memory[order])])
    ended = np.searchsorted(ends[order], jobs.submit, side="right")
    return np.asarray(np.cumsum(jobs.memory) - jobs.memory - given_back[ended])


def is_full(jobs: Jobs, capacity: int) -> np.ndarray:
    """Return which jobs find too little left of `capacity` KB, if every job begins when it is submitted."""
    return np.asarray(held(jobs) + jobs.memory > capacity)


def must_wait(jobs: Jobs, capacity: int) -> np.ndarray:
    """Return which jobs find too little left, if those wait and get memory as soon as there is enough.

    O(n_jobs (log n_jobs + waiting jobs)).
    """
    submit, runtime, memory = jobs.submit.tolist(), jobs.runtime.tolist(), jobs.memory.tolist()
    waits = np.zeros(len(jobs), bool)
    running: list[tuple[float, int]] = []
    queue: list[int] = []
    free = capacity

    def begin(job: int, now: float) -> None:
        nonlocal free
        free -= memory[job]
        heappush(running, (now + runtime[job], memory[job]))

    for job, now in enumerate(submit):
        while running and running[0][0] <= now:
            end = running[0][0]
            while running and running[0][0] == end:
                free += heappop(running)[1]
            still = []
            for one in queue:
                if memory[one] <= free:
                    begin(one, end)
                else:
                    still.append(one)
            queue = still
        if memory[job] <= free:
            begin(job, now)
        else:
            waits[job] = True
            queue.append(job)
    return waits


def fewest_waiting(jobs: Jobs, capacity: int) -> float:
    """Return a lower bound, for any policy, on the jobs that cannot begin when they are submitted.

    Notes
    -----
    Jobs that begin hold their memory for at least their runtime. So it is a covering problem: at each moment
    enough jobs must be absent. The linear programme, in which parts of a job may be absent, is a lower bound,
    and exact if all jobs request the same memory. Only moments with an end before the next submission count:
    at the others fewer jobs are present.
    """
    ends = jobs.submit + jobs.runtime
    all_ends = np.sort(ends)
    nothing_ends = np.searchsorted(all_ends, jobs.submit[1:], "right") == np.searchsorted(
        all_ends, jobs.submit[:-1], "right"
    )
    too_much = held(jobs) + jobs.memory > capacity
    moments = jobs.submit[too_much & ~np.append(nothing_ends, False)]
    if not moments.size:
        return 0.0
    gb = jobs.memory / KB_IN_GB
    there = (jobs.submit <= moments[:, None]) & (moments[:, None] < ends)
    away: Floats = there @ gb - capacity / KB_IN_GB
    less = sparse.csr_array(-there.astype(np.float64) * gb)
    found = linprog(np.ones(len(jobs)), A_ub=less, b_ub=-away, bounds=(0, 1), method="highs")
    return float(found.fun)
