"""Policies under which a job's partition depends on its position among J jobs and on nothing else.

These are the Equipartitions, static partitions, and one or all jobs on the whole machine. A newcomer takes
the last position; when a job leaves, the last job takes its position and all others keep theirs (section 4.3
leaves open who gets which partition). The share of position i among J jobs has the number J (J - 1) / 2 + i.
"""

from __future__ import annotations

from typing import Any

from models.kernels.compiling import kernel
from models.partitioning.simulation.discipline import SIGNATURE
from models.partitioning.simulation.progress import begin, reallocate
from models.partitioning.simulation.state import N_RUNNING, NOW, RESUME, RUNNING, Plan, State

# Kinds of moves, by the share that a job has before: seconds for which it stands still when one more job
# comes, when the last one leaves, and when it leaves the last position for the one of the share.
GROW, SHRINK, FILL, N_MOVES = range(4)


@kernel(SIGNATURE)
def arrive(job: int, state: State, plan: Plan, curve: Any) -> None:
    """Give the newcomer the last position; it begins when all have made room for it. O(jobs)."""
    n_jobs = state.counts[N_RUNNING]
    now = ready = state.clocks[NOW]
    before = n_jobs * (n_jobs - 1) // 2
    after = before + n_jobs
    for i in range(n_jobs):
        other = state.order[RUNNING, i]
        pause = plan.settings.charged * plan.moves[GROW, before + i]
        reallocate(other, 0.0, pause, after + i, state, plan, curve)
        ready = max(ready, state.real[other, RESUME])
    state.order[RUNNING, n_jobs] = job
    state.counts[N_RUNNING] += 1
    begin(job, ready - now, after + n_jobs, state, plan, curve)


@kernel(SIGNATURE)
def depart(position: int, state: State, plan: Plan, curve: Any) -> None:
    """Move the last job to the position that fell free. O(jobs)."""
    order = state.order
    n_jobs = state.counts[N_RUNNING]
    last = n_jobs - 1
    before = n_jobs * last // 2
    after = before - last
    order[RUNNING, position] = order[RUNNING, last]
    state.counts[N_RUNNING] -= 1
    for i in range(last):
        change = FILL if i == position else SHRINK
        pause = plan.settings.charged * plan.moves[change, before + i]
        reallocate(order[RUNNING, i], 0.0, pause, after + i, state, plan, curve)


@kernel(SIGNATURE)
def rotate(_: int, state: State, plan: Plan, curve: Any) -> None:
    """Do nothing: these policies reallocate at arrivals and departures only (section 4.3)."""
