"""Efficiency preservation of processor partitioning policies (McCann 1994, chapter 3 and section 5.2).

It is the work that a machine completes with J equal jobs on it, relative to the same machine with one. It may
exceed 1, because jobs run more efficiently on fewer processors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, inf

import numpy as np

from models import checks
from models.family import Family, Metric, Outcome
from models.partitioning.geometry.allocation import allocate
from models.partitioning.geometry.rotation import share_of_time
from models.partitioning.rules import Partitioning
from models.point import Parameters, Point
from models.topology.mesh import Mesh
from models.workloads.speedup.cycle import Cycle, Steps, mean_step

THREADED = ("spmd", "short_long")
"""Models whose jobs are threads: equal ones, or short and long ones that repeat the same cycle."""


@dataclass(frozen=True)
class Spmd:
    """Jobs of communicate-compute steps, one thread for each processor of the machine (section 5.1).

    Parameters
    ----------
    steps : Steps
    moved_bytes : float
        To fold a thread and unfold another: its data twice and its code once.
    isolated_time : float, seconds
        Time of a job alone on the whole machine (E).
    """

    steps: Steps
    moved_bytes: float
    isolated_time: float

    def speed(self, mesh: Mesh, height: int, width: int, snake: bool) -> float:
        """Return the progress of a job on a partition relative to that on the whole machine."""
        alone = mean_step(mesh, self.steps, mesh.rows, mesh.columns)
        return alone / mean_step(mesh, self.steps, height, width, snake)


@dataclass(frozen=True)
class SpeedupCurve:
    """Jobs known only by their speedup (section 3.2): 1 - exp(-x / knee) on a fraction x of the machine."""

    knee: float

    def speed(self, mesh: Mesh, height: int, width: int, snake: bool) -> float:
        """Return the progress of a job on a partition relative to that on the whole machine."""
        return self._speedup(height * width / mesh.n_processors) / self._speedup(1.0)

    def _speedup(self, fraction: float) -> float:
        return 1 - exp(-fraction / self.knee)


Job = Spmd | SpeedupCurve


def read_job(workload: Parameters, policy: Partitioning) -> Job:
    """Read a workload's YAML file; ``ValueError`` with one line, also where the policy does not match it."""
    model = workload.get("model")
    if model == "speedup_curve":
        if policy.period < inf:
            raise ValueError(
                "workload speedup_curve has no threads that rotation could move; use a policy without "
                "rotation or workload spmd"
            )
        allowed = "a positive fraction of the machine"
        return SpeedupCurve(float(checks.number(workload, "workload", "knee", allowed, above=0)))
    if model not in THREADED:
        checks.refuse("workload.model", model, "spmd, speedup_curve")
    if policy.discipline == "ideal_dynamic":
        raise ValueError(
            "policy ideal_dynamic hands out numbers of processors, and a job of workload spmd needs a "
            "rectangle; use workload speedup_curve"
        )
    cycle = Cycle.of(workload)
    isolated_time = checks.number(workload, "workload", "isolated_time", "a positive number of s", above=0)
    return Spmd(cycle.steps, 2 * cycle.data_bytes + cycle.code_bytes, float(isolated_time))


def read_jobs(workload: Parameters, mesh: Mesh) -> int:
    """Return the constant number of jobs of a workload (J), or refuse it with one line."""
    most = mesh.n_processors
    allowed = f"1 to {most}, one for each processor of {mesh.rows} × {mesh.columns}"
    return checks.whole(workload, "workload", "jobs", allowed, most=most)


@lru_cache(maxsize=1 << 16)
def efficiency_preservation(policy: Partitioning, mesh: Mesh, job: Job, jobs: int) -> float:
    """Return EP(J, P) of equations 3.2 and 5.1: the sum of all jobs' speeds relative to one job's alone.

    Notes
    -----
    A_j * AE(A_j) / (P * AE(P)) is the ratio of the elapsed times, whatever the total computation time is: the
    number of processors in equation 5.2 falls out. FCFS and processor sharing have 1 by definition.
    """
    snake = policy.discipline == "equi_plus"
    speeds = sum(
        count * job.speed(mesh, height, width, snake)
        for (height, width), count in allocate(policy, mesh, jobs).items()
    )
    if isinstance(job, SpeedupCurve):
        return speeds
    interval = policy.interval(jobs, job.isolated_time)
    return speeds * (1 - share_of_time(policy, mesh, jobs, interval, job.moved_bytes))


def read(point: Point) -> tuple[Partitioning, Mesh, Job]:
    """Read and check the input of the static analyses, see `models.family.Family.check`."""
    partitioning, mesh = Partitioning.of(point.policy), Mesh.of(point.machine)
    partitioning.check(mesh)
    return partitioning, mesh, read_job(point.workload, partitioning)


def simulate(point: Point) -> Outcome:
    """Compute one point, see `models.family.Family.simulate`."""
    partitioning, mesh, job = read(point)
    jobs = read_jobs(point.workload, mesh)
    found = efficiency_preservation(partitioning, mesh, job, jobs)
    return Outcome({"efficiency_preservation": np.array([found])}, jobs)


def check(point: Point) -> Sequence[str]:
    """Check one combination before anything runs, see `models.family.Family.check`."""
    _, mesh, _ = read(point)
    read_jobs(point.workload, mesh)
    refuse_load(point.load)
    return []


def refuse_load(load: float | None) -> None:
    """Refuse a load if no jobs arrive."""
    if load is not None:
        raise ValueError(f"load={load:g}: the number of jobs is fixed, nothing arrives; use grid.load=[null]")


def is_stochastic(point: Point) -> bool:
    """Return false: the results are exact, and replications do not differ."""
    return False


FAMILY = Family(
    package=__name__,
    name="efficiency preservation",
    version=2,
    metrics=(Metric("efficiency_preservation", "1", "efficiency preservation"),),
    headline="efficiency_preservation",
    solves=True,
    policies=__name__,
    model=__name__,
    reads=frozenset({"machine.context_switch", "machine.bandwidth"}),
)
