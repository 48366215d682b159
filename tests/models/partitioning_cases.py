"""Random small cases of partitioned machines, and the kernel and its twin set up for the same one."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

import numpy as np
from models.partitioning.equipartition import partition
from models.partitioning.mapping import contraction, snake
from models.partitioning.step_time import isolated_step_time, step_time
from models.partitioning.system import System
from models.partitioning.tables import tables
from models.partitioning.workload import Arrivals
from partitioning_twin import Fold, Policy, Shares, Twin

from models.partitioning import model
from models.partitioning.simulation import Simulation
from models.topology.mesh import Rectangle

Jobs = tuple[tuple[float, int, float], ...]  # gap, class, work

BASE: dict[str, Any] = {
    "family": "models.partitioning",
    "reallocation_cost": True,
    "admission": {"interval": 10.0, "overhead": 0.01},
}
EQUI = BASE | {"leftover": "smallest"}
FOLD = BASE | {"discipline": "fold", "rotation": None, "rotation_unit": "seconds", "overhead": "printed"}

POLICIES: dict[str, dict[str, Any]] = {
    "equi": EQUI | {"discipline": "equi"},
    "equi_plus": EQUI | {"discipline": "equi_plus"},
    "fold_never": FOLD,
    "fold_7": FOLD | {"rotation": 7.03},
    "fold_2j": FOLD | {"rotation": 2.017, "rotation_unit": "jobs"},
    "static_4": BASE | {"discipline": "static", "partitions": 4},
    "fcfs": BASE | {"discipline": "fcfs"},
    "processor_sharing": BASE | {"discipline": "processor_sharing"},
}
MACHINE: dict[str, Any] = {
    "name": "mesh", "rows": 16, "columns": 16, "context_switch": 0.0005, "bandwidth": 200e6,
    "memory_limit": None,
}  # fmt: skip
WORKLOAD: dict[str, Any] = {
    "name": "short_long", "model": "spmd", "jobs": 1, "compute_time": 0.1, "delta": 5.0,
    "communication_time": 0.001, "code_bytes": 524288, "data_bytes": 4194304, "isolated_time": 30.0,
    "short_time": 30.0, "long_time": 900.0, "short_fraction": 0.9,
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """What to simulate, by both."""

    policy: str
    jobs: Jobs
    rows: int = 16
    columns: int = 16
    limit: int = 256
    charged: bool = True
    interval: float = inf
    overhead: float = 0.0
    batch_size: int = 5

    @property
    def system(self) -> System:
        machine = MACHINE | {"rows": self.rows, "columns": self.columns}
        return System.of(POLICIES[self.policy], WORKLOAD | {"delta": 0.0}, machine)

    @property
    def options(self) -> dict[str, Any]:
        policy = self.system.policy
        return {
            "limit": self.system.limit({"memory_limit": min(self.limit, self.rows * self.columns)}),
            "interval": self.interval,
            "overhead": self.overhead,
            "rotation": policy.rotation,
            "batch_size": self.batch_size,
        }

    def kernel(self, chunks: Iterable[int] = (), **changes: Any) -> Simulation:
        """Return the real simulation; `chunks` are the indices at which the stream of jobs is cut."""
        settings: dict[str, Any] = {
            "charged": self.charged,
            "rotation_per_job": self.system.policy.unit == "jobs",
            "draining": True,
            "batch_limit": len(self.jobs) // self.batch_size + 1,
            "job_limit": len(self.jobs) + 1,
            "record": len(self.jobs),
        }
        kind = self.system.policy.discipline
        return Simulation(
            model.FOLDING if kind == "fold" else model.SHARING,
            partial(tables, self.system),
            as_chunks(self.jobs, [*chunks, len(self.jobs)]),
            **(settings | self.options | changes),
        )

    def twin(self) -> Twin:
        return Twin(self.twin_policy(), self.jobs, per_job=self.system.policy.unit == "jobs", **self.options)

    def twin_policy(self) -> Policy:
        """Return the policy from plain geometry: nothing of `models.partitioning.tables` is used."""
        kind, mesh = self.system.policy.discipline, self.system.mesh
        alone = isolated_step_time(mesh, WORKLOAD | {"delta": 0.0})

        def rate(height: int, width: int) -> float:
            return alone / step_time(mesh, WORKLOAD | {"delta": 0.0}, height, width, kind == "equi_plus")

        if kind == "fold":
            return Fold(self.rows, self.columns, rate, self.charged)
        if kind in ("equi", "equi_plus"):

            def place(jobs: int, position: int) -> Rectangle:
                return partition(self.rows, self.columns, jobs, "smallest")[position]

            def seconds(before: int, i: int, after: int, j: int) -> float:
                return self.charged * self.move(kind, place(before, i), place(after, j))

            return Shares(lambda jobs, i: rate(*place(jobs, i)[2:]), seconds)
        if kind == "static":
            return Shares(lambda jobs, i: rate(self.rows // 2, self.columns // 2), free)
        return Shares(lambda jobs, i: 1 / jobs, free)

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
                seconds += (4194304 if known else 4194304 + 524288) / 200e6
        larger = before if before.n_processors >= after.n_processors else after
        return seconds / min(larger.height, larger.width)


def free(before: int, i: int, after: int, j: int) -> float:
    return 0.0


def as_chunks(jobs: Jobs, ends: list[int]) -> Iterator[Arrivals]:
    begin = 0
    for end in ends:
        gap, job_class, work = zip(*jobs[begin:end], strict=True) if end > begin else ((), (), ())
        yield Arrivals(np.array(gap, float), np.array(job_class, np.int64), np.array(work, float))
        begin = end


def random_jobs(draw: random.Random, n_jobs: int, gap: float, work: float) -> Jobs:
    """Draw jobs whose times are continuous, so that no two events coincide."""
    return tuple(
        (draw.expovariate(1 / gap), draw.randrange(2), draw.expovariate(1 / work)) for _ in range(n_jobs)
    )


def random_case(policy: str, seed: int) -> Case:
    draw = random.Random(f"{policy} {seed}")
    rows, columns = draw.choice([(2, 2), (2, 4), (4, 4), (4, 4), (8, 4), (16, 16)])
    jobs = random_jobs(draw, draw.randrange(1, 25), draw.choice([1.0, 5.0, 20.0]), draw.choice([3.0, 30.0]))
    limit = draw.choice([1, 2, 3, 5, rows * columns, rows * columns])
    interval = inf if policy in ("static_4", "fcfs") else draw.choice([inf, 3.3331, 17.1])
    overhead, charged = draw.choice([0.0, 0.4]), draw.random() < 0.7
    return Case(policy, jobs, rows, columns, limit, charged, interval, overhead, draw.randrange(1, 8))
