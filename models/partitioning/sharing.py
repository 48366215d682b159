"""Policies under which a job's partition depends on its position among J jobs and on nothing else.

These are the Equipartitions, static partitions, and one or all jobs on the whole machine. A newcomer takes
the last position; when a job leaves, the last job takes its position and all others keep theirs (section 4.3
leaves open who gets which partition).
"""

from __future__ import annotations

from models.arrays import Floats, Ints
from models.kernels.compiling import kernel
from models.partitioning.discipline import SIGNATURE
from models.partitioning.progress import begin, reallocate
from models.partitioning.state import N_RUNNING, NOW, RESUME, RUNNING, Settings

# Tables by number of jobs and position: seconds of work done in a second; seconds for which a job stands
# still when one more comes, when the last one leaves, and when it takes that position from the last one.
SHARE, GROW, SHRINK, FILL, N_TABLES = range(5)


@kernel(SIGNATURE)
def arrive(
    job: int, settings: Settings, real: Floats, order: Ints, tables: Floats, cells: Ints,
    counts: Ints, clocks: Floats,
) -> None:  # fmt: skip
    """Give the newcomer the last position; it begins when all have made room for it. O(jobs)."""
    n_jobs = counts[N_RUNNING]
    now = ready = clocks[NOW]
    for i in range(n_jobs):
        other = order[RUNNING, i]
        pause = settings.charged * tables[GROW, n_jobs, i]
        reallocate(other, now, 0.0, pause, tables[SHARE, n_jobs + 1, i], real)
        ready = max(ready, real[other, RESUME])
    order[RUNNING, n_jobs] = job
    counts[N_RUNNING] += 1
    begin(job, now, ready - now, tables[SHARE, n_jobs + 1, n_jobs], real)


@kernel(SIGNATURE)
def depart(
    position: int, settings: Settings, real: Floats, order: Ints, tables: Floats, cells: Ints,
    counts: Ints, clocks: Floats,
) -> None:  # fmt: skip
    """Move the last job to the position that fell free. O(jobs)."""
    n_jobs = counts[N_RUNNING]
    last = n_jobs - 1
    order[RUNNING, position] = order[RUNNING, last]
    counts[N_RUNNING] -= 1
    for i in range(last):
        change = FILL if i == position else SHRINK
        pause = settings.charged * tables[change, n_jobs, i]
        reallocate(order[RUNNING, i], clocks[NOW], 0.0, pause, tables[SHARE, last, i], real)


@kernel(SIGNATURE)
def rotate(
    _: int, settings: Settings, real: Floats, order: Ints, tables: Floats, cells: Ints,
    counts: Ints, clocks: Floats,
) -> None:  # fmt: skip
    """Do nothing: these policies reallocate at arrivals and departures only (section 4.3)."""
