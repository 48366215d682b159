"""Policies under which a job's partition depends only on its position among J jobs.

These are the Equipartitions, static partitions, and one or all jobs on the whole machine. A newcomer takes
the last position; when a job leaves, the last job takes its position and all others keep theirs (section 4.3
leaves open which job gets which partition). The share of position i among J jobs is number
J (J - 1) / 2 + i.
"""

from models.kernels.compiling import kernel
from models.partitioning.simulation.progress import SIGNATURE, begin, reallocate

# Kinds of moves, by the share that a job has before: seconds for which it stands still when one more job
# comes, when the last one leaves, and when it leaves the last position for the one of the share.
GROW, SHRINK, FILL, N_MOVES = range(4)


@kernel(SIGNATURE)
def arrive(job, tables, curve):
    """Give the newcomer the last position; it begins when all others have moved. O(jobs)."""
    jobs, lists, state = tables.jobs, tables.lists, tables.state[0]
    n_jobs = state.n_running
    now = ready = state.now
    before = n_jobs * (n_jobs - 1) // 2
    after = before + n_jobs
    for i in range(n_jobs):
        other = lists.running[i]
        pause = tables.settings.charged * tables.shares.moves[GROW, before + i]
        reallocate(other, 0.0, pause, after + i, tables, curve)
        ready = max(ready, jobs[other].resume)
    lists.running[n_jobs] = job
    state.n_running += 1
    begin(job, ready - now, after + n_jobs, tables, curve)


@kernel(SIGNATURE)
def depart(position, tables, curve):
    """Move the last job to the vacated position. O(jobs)."""
    lists, state = tables.lists, tables.state[0]
    n_jobs = state.n_running
    last = n_jobs - 1
    before = n_jobs * last // 2
    after = before - last
    lists.running[position] = lists.running[last]
    state.n_running -= 1
    for i in range(last):
        change = FILL if i == position else SHRINK
        pause = tables.settings.charged * tables.shares.moves[change, before + i]
        reallocate(lists.running[i], 0.0, pause, after + i, tables, curve)


@kernel(SIGNATURE)
def rotate(_, tables, curve):
    """Do nothing: these policies reallocate at arrivals and departures only (section 4.3)."""
