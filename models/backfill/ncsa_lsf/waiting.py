"""Who waits under the NCSA-LSF policy: a list for each job class, in order of submission.

The kernels take their arrays as `models.backfill.ncsa_lsf.engine.run` explains them.
"""

from __future__ import annotations

from numba import boolean, float64, int64, void

from models.arrays import Floats, Ints
from models.kernels.compiling import kernel
from models.kernels.types import FLOATS, INTS

NOBODY = -1


@kernel(void(INTS, INTS, INTS, INTS, int64, int64), inline=True)
def append(first: Ints, last: Ints, before: Ints, after: Ints, c: int, job: int) -> None:
    """Put a job at the end of the list of class `c`. O(1)."""
    before[job] = last[c]
    after[job] = NOBODY
    if last[c] == NOBODY:
        first[c] = job
    else:
        after[last[c]] = job
    last[c] = job


@kernel(void(INTS, INTS, INTS, INTS, int64, int64), inline=True)
def take_out(first: Ints, last: Ints, before: Ints, after: Ints, c: int, job: int) -> None:
    """Take a job out of the list of class `c`. O(1)."""
    if before[job] == NOBODY:
        first[c] = after[job]
    else:
        after[before[job]] = after[job]
    if after[job] == NOBODY:
        last[c] = before[job]
    else:
        before[after[job]] = before[job]


@kernel(
    int64(
        float64, int64, FLOATS, INTS, INTS, INTS, INTS, INTS,
        FLOATS, INTS, int64, INTS, int64, INTS, INTS, INTS, INTS, INTS, INTS, INTS,
    ),
    inline=True,
)  # fmt: skip
def overdue(
    now: float, h: int, submit: Floats, size: Ints, need: Ints, user: Ints, processors: Ints, memory: Ints,
    reserve_wait: Floats, level: Ints, n_levels: int, system_limit: Ints, user_limit: int,
    order: Ints, limit: Ints, after: Ints, n_here: Ints, n_system: Ints, first: Ints, n_user: Ints,
) -> int:  # fmt: skip
    """Return who of those that wait too long has the highest priority on host `h`, or `NOBODY`.

    O(classes), and O(1) for each overdue job that may not run on this host or is barred by its user's limit.
    """
    n_times = level.shape[0]
    n_sizes = first.shape[0] // n_times
    found = NOBODY
    for rank in range(n_sizes):
        s = order[h * n_sizes + rank]
        if s == NOBODY:
            break
        if n_here[h * n_sizes + s] >= limit[h * n_sizes + s]:
            continue
        for at_level in range(n_levels):
            for t in range(n_times):
                if level[t] != at_level or n_system[t] >= system_limit[t]:
                    continue
                job = first[s * n_times + t]
                while job != NOBODY and now - submit[job] > reserve_wait[t]:
                    able = size[job] <= processors[h] and need[job] <= memory[h]
                    if able and n_user[user[job]] < user_limit:
                        if found == NOBODY or job < found:
                            found = job
                        break
                    job = after[job]
            if found != NOBODY:
                return found
    return found


@kernel(
    boolean(
        int64, int64, INTS, INTS, INTS, INTS, INTS, INTS, int64, boolean, INTS, INTS, INTS, INTS,
    ),
    inline=True,
)  # fmt: skip
def holds_back(
    h: int, s: int, size: Ints, need: Ints, user: Ints, processors: Ints, memory: Ints,
    system_limit: Ints, user_limit: int, hold_back: bool,
    after: Ints, n_system: Ints, first: Ints, n_user: Ints,
) -> bool:  # fmt: skip
    """Tell whether somebody of size class `s` waits for whom host `h` takes no smaller ones.

    O(time classes), and O(1) for each job at the front that does not count.
    """
    n_times = system_limit.shape[0]
    for t in range(n_times):
        if n_system[t] >= system_limit[t] and not hold_back:
            continue
        job = first[s * n_times + t]
        while job != NOBODY:
            able = size[job] <= processors[h] and need[job] <= memory[h]
            if able and (hold_back or n_user[user[job]] < user_limit):
                return True
            job = after[job]
    return False
