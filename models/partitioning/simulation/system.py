"""A policy on a mesh, the speed of jobs on its partitions, and the cost of moving them.

A job stands still from the beginning to the end of its own moves (McCann 1994, sections 5.1 and 5.2.1). As
many threads move at once as the larger of the two partitions has processors on its narrower side. If a study
leaves out the cost of arrivals and departures, as section 5.3 does, rotations still have theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

from models.partitioning.geometry.walk import require_closed
from models.partitioning.rules import Fold, Partitioning, memory_limit
from models.point import Parameters
from models.topology.mesh import Mesh
from models.workloads.speedup.cycle import Cycle, Steps, mean_step


@dataclass(frozen=True)
class Transfer:
    """Seconds to move one thread to a processor with its code (`folded`) or without it (`unfolded`).

    With its data D, its code C and the bandwidth X of a link, these are D / X and (D + C) / X. Jobs that are
    known only by their speed-up have no known threads.
    """

    folded: float = 0.0
    unfolded: float = 0.0

    @property
    def is_free(self) -> bool:
        """Whether moves take no time."""
        return self.unfolded == 0


@dataclass(frozen=True)
class System:
    """A policy on a machine, and the structure of its jobs.

    Parameters
    ----------
    policy : Partitioning
    mesh : Mesh
    steps : Steps, optional
        The parts of a job's cycle; None if jobs are known only by their speed-up.
    transfer : Transfer
        The cost of moving a thread.
    """

    policy: Partitioning
    mesh: Mesh
    steps: Steps | None
    transfer: Transfer

    @classmethod
    def of(cls, policy: Partitioning, mesh: Mesh, cycle: Cycle | None) -> System:
        """Combine them; ``ValueError`` with one line for a combination that cannot be simulated."""
        if policy.discipline == "ideal_dynamic":
            raise ValueError(
                "policy ideal_dynamic hands out numbers of processors, and a job here needs a rectangle; use "
                "another policy, or the experiment efficiency_preservation"
            )
        if isinstance(policy, Fold) and policy.rotation_unit == "runtime":
            raise ValueError(
                "policy.rotation_unit=runtime: the time alone differs between jobs; use seconds or jobs, or "
                "the experiment fairness"
            )
        policy.check(mesh)
        if isinstance(policy, Fold):
            require_closed(mesh.rows, mesh.columns)
        if cycle is None:
            return cls(policy, mesh, None, Transfer())
        data, code = cycle.data_bytes, cycle.code_bytes
        return cls(policy, mesh, cycle.steps, Transfer(data / mesh.bandwidth, (data + code) / mesh.bandwidth))

    @property
    def goes_by_shape(self) -> bool:
        """Whether a partition is equally fast, relative to the whole machine, for every job.

        This holds under processor sharing, whatever the speed-up: a job has the whole machine for a part of
        the time.
        """
        return self.steps is not None or self.policy.discipline == "processor_sharing"

    def rate(self, height: int, width: int) -> float:
        """Return the seconds alone on the machine that a job completes in a second on a partition.

        NaN if that differs between jobs.
        """
        if self.steps is None:
            return nan
        with_snake = self.policy.discipline == "equi_plus"
        alone = mean_step(self.mesh, self.steps, self.mesh.rows, self.mesh.columns)
        return alone / mean_step(self.mesh, self.steps, height, width, with_snake)

    def limit(self, machine: Parameters) -> int:
        """Return how many jobs can run at once: by memory (L), and by the policy's number of partitions."""
        limit = memory_limit(machine, self.mesh)
        return min(limit, self.policy.n_partitions) if self.policy.has_fixed_partitions else limit
