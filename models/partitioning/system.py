"""What is simulated, read from plain data and checked: a policy on a machine, serving jobs of two classes."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from models.partitioning.allocation import Partitioning
from models.partitioning.folding import Folding
from models.partitioning.reallocation import Transfer
from models.partitioning.step_time import Steps, mean_step
from models.point import Parameters, Point
from models.topology.mesh import Mesh


@dataclass(frozen=True)
class System:
    """A policy on a machine, and what its jobs consist of.

    Parameters
    ----------
    policy : Partitioning
    mesh : Mesh
    steps : Steps
        What a cycle of a job consists of.
    transfer : Transfer
        What it costs to move a thread.
    """

    policy: Partitioning
    mesh: Mesh
    steps: Steps
    transfer: Transfer

    @classmethod
    def of(cls, point: Point) -> System:
        """Read the YAML files; ``ValueError`` with one line for what cannot be simulated."""
        workload = point.workload
        partitioning, mesh = Partitioning.of(point.policy), Mesh.of(point.machine)
        if partitioning.discipline == "ideal_dynamic":
            raise ValueError(
                "policy ideal_dynamic hands out numbers of processors, and a job here needs a rectangle; use "
                "another policy, or the experiment efficiency_preservation"
            )
        if partitioning.unit == "runtime":
            raise ValueError(
                "policy.rotation_unit=runtime: the time alone differs between short and long jobs; "
                "use seconds or jobs, or the experiment fairness"
            )
        partitioning.check(mesh)
        if partitioning.discipline == "fold":
            Folding(mesh.rows, mesh.columns)  # has a walk, or says what machine would have one
        model = workload.get("model")
        if model != "spmd":
            raise ValueError(f"workload.model={model}; allowed in a simulation: spmd (workload short_long)")
        return cls(partitioning, mesh, Steps.of(workload), Transfer.of(mesh, workload))

    @property
    def step(self) -> float:
        """Seconds of one cycle of a job alone on the machine."""
        return mean_step(self.mesh, self.steps, self.mesh.rows, self.mesh.columns)

    def rate(self, height: int, width: int) -> float:
        """Return the seconds alone on the machine that a job works off in a second on a partition."""
        with_snake = self.policy.discipline == "equi_plus"
        return self.step / mean_step(self.mesh, self.steps, height, width, with_snake)

    def limit(self, machine: Parameters) -> int:
        """Return how many jobs can run at once: by memory (L), and by the policy's number of partitions."""
        most = self.mesh.n_processors
        limit = machine.get("memory_limit")
        if limit is None:
            limit = most
        elif isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= most:
            raise ValueError(
                f"machine.memory_limit={limit}; allowed: 1 to {most} jobs, one for each processor, or null"
            )
        return min(limit, self.policy.partitions) if self.has_fixed_partitions else limit

    @property
    def has_fixed_partitions(self) -> bool:
        """Whether jobs wait for partitions of a number that never changes: static ones, or one under FCFS."""
        return self.policy.discipline in ("static", "fcfs")


@dataclass(frozen=True)
class Admission:
    """When waiting jobs get the places of running ones (section 5.4.2).

    Parameters
    ----------
    interval : float, seconds
        Between two looks at the queue (Q).
    overhead : float, seconds
        For which the processors of a swapped job do nothing (O).
    """

    interval: float
    overhead: float

    @classmethod
    def of(cls, policy: Parameters) -> Admission:
        """Read ``admission`` of a policy; ``ValueError`` with one line for values that make no sense."""
        admission = policy.get("admission")
        given = admission if isinstance(admission, dict) else {}
        interval, share = given.get("interval"), given.get("overhead")
        if isinstance(interval, bool) or not isinstance(interval, int | float) or not 0 < interval < inf:
            raise ValueError(f"policy.admission.interval={interval}; allowed: a positive number of seconds")
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share < 1:
            raise ValueError(
                f"policy.admission.overhead={share}; allowed: a fraction of the interval, 0 to below 1"
            )
        return cls(float(interval), share * interval)
