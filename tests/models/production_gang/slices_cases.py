"""Random small cases of fixed slices: for the engines, and for their twin."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from family_cases import composed
from slices_twin import Alpha, Job, Tc2000, Twin

from models.jobs.jobs import Jobs
from models.jobs.machine import UNLIMITED_KB, Machine, pool
from models.jobs.trace import Trace
from models.point import Batches, Point
from models.production_gang.slices import simulation
from models.production_gang.systems import Run

PRIORITY = {"express": 2, "interactive": 1, "debug": 1, "production": 1, "benchmark": 1, "standby": 0}
RANK = (2, 1, 1, 1, 1, 0)

PHASES: list[list[dict[str, float]] | None] = [
    None,
    None,
    [{"share": 0.3, "processors": 0.5}, {"share": 0.7, "processors": 1.0}],
    [
        {"share": 0.5, "processors": 1.0},
        {"share": 0.25, "processors": 0.3},
        {"share": 0.25, "processors": 0.7},
    ],
]


@dataclass(frozen=True)
class Case:
    """Jobs, a machine, and what a policy's and a workload's YAML files say."""

    jobs: Jobs
    machine: Machine
    policy: dict[str, Any]
    workload: dict[str, Any]

    def run(self) -> Run:
        point = Point(self.policy, self.workload, {}, batches=Batches(None, 0, (1,)))
        return simulation.run(point, Trace("case", self.jobs, self.machine), self.jobs, self.machine)

    def twin(self) -> Twin:
        phases = self.workload.get("phases")
        phases = [(1.0, 1.0)] if phases is None else [(one["share"], one["processors"]) for one in phases]
        jobs = self.jobs
        mine = [
            Job(
                number,
                float(jobs.submit[number]),
                float(jobs.runtime[number]),
                int(jobs.size[number]),
                int(jobs.user[number]) if jobs.user is not None else number,
                RANK[int(jobs.job_class[number])] if jobs.job_class is not None else 1,
                int(jobs.after[number]) if jobs.after is not None else -1,
                float(jobs.think[number]) if jobs.think is not None else 0.0,
                int(jobs.memory[number]),
            )
            for number in range(len(jobs))
        ]
        if self.policy["system"] == "tc2000":
            return Tc2000(mine, self.policy, phases, self.machine.total).run()
        hosts = self.machine
        return Alpha(mine, self.policy, phases, hosts.processors.tolist(), hosts.memory.tolist()).run()


def jobs_of(rng: np.random.Generator, n: int, largest: int, memory: bool = False) -> Jobs:
    """Draw jobs with users, classes and feedback."""
    size = np.minimum(np.ceil(2 ** rng.uniform(0, np.log2(largest) + 0.3, n)).astype(np.int64), largest)
    after = np.full(n, -1)
    for job in range(1, n):
        if rng.random() < 0.3:
            after[job] = rng.integers(0, job)
    return Jobs(
        np.sort(rng.uniform(0, 40 * n, n)),
        rng.lognormal(4, 1.2, n),
        np.full(n, np.nan),
        size,
        size * rng.integers(0, 1200, n) if memory else np.zeros(n, np.int64),
        user=rng.integers(0, 4, n),
        job_class=rng.integers(0, 6, n),
        after=after if rng.random() < 0.6 else None,
        think=np.where(rng.random(n) < 0.2, 0.0, rng.exponential(60, n)),
    )


def tc2000(seed: int) -> Case:
    """Return a case of the TC2000."""
    rng = np.random.default_rng(seed)
    processors = int(rng.choice([1, 5, 8, 20, 70]))
    policy = {
        "system": "tc2000",
        "slice": float(rng.choice([10.0, 7.3])),
        "switch": float(rng.choice([0.0, 0.005, 2.0])),
        "adapts": bool(rng.random() < 0.6),
        "fair_share": str(rng.choice(["user", "job", "none"])),
        "newcomer_slices": int(rng.choice([0, 1, 3])),
        "placement": str(rng.choice(["blocks", "least_crowded"])),
        "unclassified": "production",
    }
    jobs = jobs_of(rng, int(rng.integers(1, 40)), processors)
    return Case(
        jobs,
        pool(processors),
        composed("policy", "tc2000_gang", **policy),
        {"phases": PHASES[rng.integers(len(PHASES))]},
    )


def alpha(seed: int) -> Case:
    """Return a case of the Alpha cluster."""
    rng = np.random.default_rng(seed)
    n_hosts = int(rng.integers(1, 5))
    processors = rng.integers(3, 9, n_hosts)
    limited = rng.random() < 0.5
    memory = rng.integers(8000, 12000, n_hosts) if limited else np.full(n_hosts, UNLIMITED_KB)
    machine = Machine(tuple(f"alpha{h}" for h in range(n_hosts)), processors, memory, spans=True)
    policy = {
        "system": "alpha",
        "slice": float(rng.choice([10.0, 7.3])),
        "switch": float(rng.choice([0.0, 0.005, 2.0])),
        "adapts": bool(rng.random() < 0.6),
        "reserved": int(rng.integers(0, 3)),
        "gang_from": int(rng.choice([1, 2, 3])),
        "frame": int(rng.choice([1, 4, 6])),
        "delivered": float(rng.choice([1.0, 0.97])),
        "memory_room": float(rng.choice([1.0, 2.0])),
        "oversized": "cut",
        "priority": PRIORITY,
        "unclassified": "production",
    }
    jobs = jobs_of(rng, int(rng.integers(1, 40)), machine.total, limited)
    if (
        limited
    ):  # no job needs more than an empty cluster has, as an independent count of its processors shows
        jobs.memory[:] = np.minimum(jobs.memory, jobs.size * 900)
    return Case(
        jobs,
        machine,
        composed("policy", "alpha_gang", **policy),
        {"phases": PHASES[rng.integers(len(PHASES))]},
    )
