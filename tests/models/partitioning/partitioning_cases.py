"""Random small cases of partitioned machines, and the kernel and its twin set up for the same one."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

import numpy as np
from family_cases import composed
from partitioning_twin import Fold, Job, Policy, Share, Shares, Twin

from models.partitioning.engine import Status
from models.partitioning.geometry.equipartition import partition
from models.partitioning.geometry.mapping import contraction, snake
from models.partitioning.model import discipline_of
from models.partitioning.rules import Partitioning
from models.partitioning.simulation.run import Curve, Simulation
from models.partitioning.simulation.shares import shares
from models.partitioning.simulation.state import Arrivals, Settings
from models.partitioning.simulation.system import System
from models.topology.mesh import Mesh, Rectangle
from models.workloads.speedup import Speedup, curves
from models.workloads.speedup.cycle import Cycle, Steps, mean_step


def step_time(mesh: Mesh, workload: dict[str, Any], height: int, width: int, snake: bool = False) -> float:
    return mean_step(mesh, Steps.of(workload), height, width, snake)


Jobs = tuple[tuple[float, int, float, int], ...]  # gap, class, work or runtime, size

POLICIES: dict[str, dict[str, Any]] = {
    name: composed("policy", name)
    for name in ("equi", "equi_plus", "fold_never", "static_4", "one_at_a_time", "processor_sharing")
} | {
    "fold_7": composed("policy", "fold", rotation=7.03),
    "fold_2j": composed("policy", "fold", rotation=2.017, rotation_unit="jobs"),
}
MACHINE, WORKLOAD = composed("machine", "mesh16x16"), composed("workload", "short_long")
STEADY = WORKLOAD | {"delta": 0.0}

SPEEDUPS: dict[str, dict[str, Any]] = {
    "linear": {"speedup": "linear"},
    "downey": {"speedup": "downey", "downey": {"average_parallelism": None, "sigma": 0.7}},
    "downey_of_3": {"speedup": "downey", "downey": {"average_parallelism": 3.0, "sigma": 2.0}},
}
"""Of rigid jobs, by the number of processors."""


def speed(name: str, processors: float, size: int) -> float:
    """Return the speed-up in plain Python, from the formulas as Downey's report has them."""
    if name == "linear":
        return min(processors, size)
    given = SPEEDUPS[name]["downey"]
    average, sigma = given["average_parallelism"] or size, given["sigma"]
    if sigma > 1:
        rising = processors * average * (sigma + 1) / (sigma * (processors + average - 1) + average)
        return rising if processors <= average + average * sigma - sigma else average
    if processors <= average:
        return average * processors / (average + sigma / 2 * (processors - 1))
    if processors <= 2 * average - 1:
        return average * processors / (sigma * (average - 1 / 2) + processors * (1 - sigma / 2))
    return average


@dataclass(frozen=True)
class Case:
    """A case for the kernel and for its twin.

    With a `speedup` the jobs are rigid, and the third number of each is its runtime on its processors.
    """

    policy: str
    jobs: Jobs
    rows: int = 16
    columns: int = 16
    limit: int = 256
    charged: bool = True
    interval: float = inf
    overhead: float = 0.0
    batch_size: int = 5
    speedup: str = ""

    @property
    def system(self) -> System:
        mesh = Mesh.of(MACHINE | {"mesh": f"{self.rows}x{self.columns}"})
        return System.of(
            Partitioning.of(POLICIES[self.policy]), mesh, None if self.speedup else Cycle.of(STEADY)
        )

    @property
    def options(self) -> dict[str, Any]:
        policy = self.system.policy
        return {
            "limit": self.system.limit({"memory_limit": min(self.limit, self.rows * self.columns)}),
            "interval": self.interval,
            "overhead": self.overhead,
            "rotation": policy.period,
            "batch_size": self.batch_size,
        }

    def alone(self, size: int) -> float:
        """Return the speed of a job on the whole machine."""
        return speed(self.speedup, self.rows * self.columns, size) if self.speedup else 1.0

    def work(self, runtime: float, size: int) -> float:
        """Return the seconds of a job alone on the machine."""
        return runtime * speed(self.speedup, size, size) / self.alone(size) if self.speedup else runtime

    def kernel(self, **changes: Any) -> Simulation:
        """Return the real simulation."""
        settings: dict[str, Any] = {
            "charged": self.charged,
            "rotation_per_job": self.system.policy.per_job,
            "draining": True,
            "by_shape": self.system.goes_by_shape,
            "recording": False,
        }
        curve = Curve()
        if self.speedup:
            read = Speedup.of(SPEEDUPS[self.speedup])
            curve = Curve(getattr(curves, read.curve.rpartition(".")[2]), np.array(read.parameters))
        return Simulation(
            discipline_of(self.system.policy.discipline),
            partial(shares, self.system),
            iter([self.arrivals()]),
            Settings(**(settings | self.options | changes)),
            len(self.jobs) + 1,
            curve,
        )

    def arrivals(self) -> Arrivals:
        gap, job_class, runtime, size = zip(*self.jobs, strict=True)
        return Arrivals(
            np.cumsum(gap),
            np.array([self.work(*job[2:]) for job in self.jobs], float),
            np.array(runtime, float),
            np.array([self.alone(each) for each in size], float),
            np.array(size, np.int64),
            np.array(job_class, np.int64),
            True,
        )

    def twin(self) -> Twin:
        jobs = [(gap, kind, self.work(time, size), size, time) for gap, kind, time, size in self.jobs]
        return Twin(self.twin_policy(), jobs, per_job=self.system.policy.per_job, **self.options)

    def twin_policy(self) -> Policy:
        """Return the policy from plain geometry: nothing of `models.partitioning.simulation` is used."""
        kind = POLICIES[self.policy]["discipline"]
        if kind == "fold":
            share = self.share(kind)
            if self.speedup:  # known by it alone: nothing moves
                return Fold(self.rows, self.columns, share, self.charged, data=0, code=0)
            return Fold(self.rows, self.columns, share, self.charged)
        if kind in ("equi", "equi_plus"):

            def place(jobs: int, position: int) -> Rectangle:
                return partition(self.rows, self.columns, jobs, "smallest")[position]

            def seconds(before: int, i: int, after: int, j: int) -> float:
                return self.charged * self.move(kind, place(before, i), place(after, j))

            share = self.share(kind)
            return Shares(lambda jobs, i: share(*place(jobs, i)[2:]), free if self.speedup else seconds)
        if kind == "static":
            return Shares(lambda jobs, i: self.share(kind)(self.rows // 2, self.columns // 2), free)
        whole = self.rows * self.columns
        return Shares(lambda jobs, i: Share(whole / jobs, lambda job: 1 / jobs), free)

    def share(self, kind: str) -> Callable[[int, int], Share]:
        """Return what a rectangle is to a job."""
        if self.speedup:

            def rate(processors: int, job: Job) -> float:
                return speed(self.speedup, processors, job.size) / self.alone(job.size)

            return lambda height, width: Share(height * width, partial(rate, height * width))
        mesh = Mesh(self.rows, self.columns, context_switch=0.0005, bandwidth=200 * 2**20)
        alone = step_time(mesh, STEADY, mesh.rows, mesh.columns)

        def of_shape(height: int, width: int) -> Share:
            found = alone / step_time(mesh, STEADY, height, width, kind == "equi_plus")
            return Share(height * width, lambda job: found)

        return of_shape

    def move(self, kind: str, before: Rectangle, after: Rectangle) -> float:
        """Count the threads that change processors, one by one."""
        mapping = snake if kind == "equi_plus" else contraction
        seconds = 0.0
        places = []
        for rectangle in (before, after):
            processor = mapping(self.rows, self.columns, rectangle.height, rectangle.width)
            row, column = np.divmod(processor.ravel(), rectangle.width)
            places.append([*zip(row + rectangle.top, column + rectangle.left, strict=True)])
        for old, (row, column) in zip(*places, strict=True):
            known = (
                before.top <= row < before.top + before.height
                and before.left <= column < before.left + before.width
            )
            if old != (row, column):
                seconds += (4194304 if known else 4194304 + 524288) / (200 * 2**20)
        larger = before if before.n_processors >= after.n_processors else after
        return seconds / min(larger.height, larger.width)


def free(before: int, i: int, after: int, j: int) -> float:
    return 0.0


@dataclass(frozen=True)
class Outcome:
    """All that a simulation recorded; jobs by number."""

    ended: np.recarray
    closed: np.recarray
    held: np.recarray

    @property
    def responses(self) -> np.ndarray:
        return self.ended.end - self.ended.submit


def run_out(simulation: Simulation, n_batches: int = 2**40) -> Outcome:
    """Simulate until all jobs have ended, or for `n_batches` batches."""
    taken: tuple[list[Any], ...] = ([], [], [])
    status = Status.RECORD_FULL
    while status == Status.RECORD_FULL:
        status = simulation.run(n_batches)
        record = simulation.take()
        for parts, found in zip(taken, (record.ended, record.closed, record.pieces), strict=True):
            parts.append(found.copy())
    assert status == (Status.NO_MORE_JOBS if n_batches == 2**40 else Status.BATCHES_DONE)
    ended, closed, held = (np.concatenate(parts).view(np.recarray) for parts in taken)
    return Outcome(ended[np.argsort(ended.number)], closed, held)


def random_jobs(draw: random.Random, n_jobs: int, gap: float, work: float, largest: int = 1) -> Jobs:
    """Draw jobs whose times are continuous, so that no two events coincide."""
    return tuple(
        (draw.expovariate(1 / gap), draw.randrange(2), draw.expovariate(1 / work), draw.randint(1, largest))
        for _ in range(n_jobs)
    )


def random_case(policy: str, seed: int, speedup: str = "") -> Case:
    draw = random.Random(f"{policy} {seed}")
    rows, columns = draw.choice([(2, 2), (2, 4), (4, 4), (4, 4), (8, 4), (16, 16)])
    gap, work = draw.choice([1.0, 5.0, 20.0]), draw.choice([3.0, 30.0])
    jobs = random_jobs(draw, draw.randrange(1, 25), gap, work, rows * columns)
    limit = draw.choice([1, 2, 3, 5, rows * columns, rows * columns])
    interval = inf if policy in ("static_4", "one_at_a_time") else draw.choice([inf, 3.3331, 17.1])
    overhead, charged = draw.choice([0.0, 0.4]), draw.random() < 0.7
    return Case(
        policy, jobs, rows, columns, limit, charged, interval, overhead, draw.randrange(1, 8), speedup
    )
