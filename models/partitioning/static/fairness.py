"""The fairness of the service of a fixed number of jobs (McCann 1994, section 5.2.3).

A job is as slow as its most heavily loaded processor. If all J jobs had the same share, that processor would
have J threads; the measures are the largest and the smallest over the jobs, relative to that.
"""

from collections.abc import Sequence
from math import ceil

import numpy as np

from models.family import Family, Metric, Outcome
from models.partitioning.geometry.allocation import allocate
from models.partitioning.geometry.rotation import cycle_length
from models.partitioning.rules import Partitioning
from models.partitioning.static.efficiency import Spmd, is_stochastic, read, read_jobs, refuse_load
from models.point import Point
from models.topology.mesh import Mesh
from models.workloads.speedup.cycle import loads

ROUNDING = 1e-9


def threads_ratios(policy: Partitioning, mesh: Mesh, jobs: int) -> tuple[float, float]:
    """Return the most and the fewest threads that a job has on its fullest processor, relative to `jobs`."""
    snake = policy.discipline == "equi_plus"
    fullest = [
        max(threads for _, _, threads in loads(mesh, height, width, snake))
        for height, width in allocate(policy, mesh, jobs)
    ]
    return max(fullest) / jobs, min(fullest) / jobs


def unequal_part(jobs: int, interval: float) -> float:
    """Return the largest fraction of a job's work that is not done in complete rotation cycles.

    Parameters
    ----------
    jobs : int
    interval : float
        Time between rotations over the time of a job alone (q).

    Notes
    -----
    A cycle of N(J) intervals does N(J) q / J of the work, for every job. The last cycle is never complete:
    if the work would just come out even, the limit from the side of longer intervals is taken, so that q = 1
    is the same as no rotation.
    """
    intervals = cycle_length(jobs)
    if not intervals:
        return 0.0  # all partitions are equal
    cycle = intervals * interval / jobs
    if cycle >= 1:
        return 1.0
    return 1 - (ceil(1 / cycle - ROUNDING) - 1) * cycle


def fairness(policy: Partitioning, mesh: Mesh, job: Spmd, jobs: int) -> tuple[float, float]:
    """Return the ratios of the most heavily and the most lightly loaded job.

    Returns
    -------
    most, least : float
        1 is ideal. With rotation they are bounds: in the last, incomplete cycle, one job has only small
        partitions, and another only large ones.
    """
    most, least = threads_ratios(policy, mesh, jobs)
    if policy.discipline != "fold":
        return most, least
    part = unequal_part(jobs, policy.interval(jobs, job.isolated_time) / job.isolated_time)
    return 1 + part * (most - 1), 1 + part * (least - 1)


def _read(point: Point) -> tuple[Partitioning, Mesh, Spmd, int]:
    partitioning, mesh, job = read(point)
    if partitioning.discipline not in ("equi", "equi_plus", "fold"):
        raise ValueError(
            f"policy.discipline={partitioning.discipline}: fairness counts threads of jobs that all run at "
            "once; allowed: equi, equi_plus, fold"
        )
    if not isinstance(job, Spmd):
        raise ValueError("workload.model=speedup_curve has no threads to count; allowed: spmd")
    return partitioning, mesh, job, read_jobs(point.workload, mesh)


def simulate(point: Point) -> Outcome:
    """Compute one point, see `models.family.Family.simulate`."""
    partitioning, mesh, job, jobs = _read(point)
    most, least = fairness(partitioning, mesh, job, jobs)
    metrics = {
        "most_loaded_ratio": np.array([most]),
        "least_loaded_ratio": np.array([least]),
    }
    return Outcome(metrics, jobs)


def check(point: Point) -> Sequence[str]:
    """Check one combination before anything runs, see `models.family.Family.check`."""
    _read(point)
    refuse_load(point.load)
    return []


__all__ = ["FAMILY", "check", "is_stochastic", "simulate"]

FAMILY = Family(
    package=__name__,
    name="fairness",
    version=1,
    metrics=(
        Metric("most_loaded_ratio", "1", "threads of the most heavily loaded job, relative to equal shares"),
        Metric("least_loaded_ratio", "1", "threads of the most lightly loaded job, relative to equal shares"),
    ),
    headline="most_loaded_ratio",
    solves=True,
    policies=__name__,
    model=__name__,
    reads=frozenset({"machine.context_switch", "machine.bandwidth"}),
)
