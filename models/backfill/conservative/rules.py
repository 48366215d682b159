"""Conservative backfilling: the keys of a policy's YAML file, as checked values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from models.backfill.rules import LongerThanRequestedError, Rules, is_one_pool, shared
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule
from models.point import Parameters


@dataclass(frozen=True, kw_only=True)
class Conservative(Rules):
    """Every waiting job has a reservation."""

    @classmethod
    def of(cls, policy: Parameters) -> Self:
        """Return the rules of a policy's YAML file, see `Rules.of`."""
        return cls(**shared(policy))

    def check(self, jobs: Jobs, machine: Machine) -> None:
        """Refuse jobs that run longer than requested, because then no start could be promised."""
        n_longer = np.count_nonzero(jobs.runtime > jobs.requested)
        if n_longer:
            raise LongerThanRequestedError(
                f"{n_longer:,} of {len(jobs):,} jobs run longer than requested, so that no start can be "
                "reserved; policy conservative needs policy.kill=true"
            )

    @property
    def kernels(self) -> tuple[str, ...]:
        """Modules of which one simulates these rules, see `Rules.kernels`."""
        return ("models.backfill.conservative.pool", "models.backfill.conservative.hosts")

    def simulate(self, jobs: Jobs, machine: Machine) -> Schedule:
        """Run all jobs to their ends, see `Rules.simulate`."""
        if is_one_pool(machine):
            from models.backfill.conservative import pool

            return pool.simulate(jobs, machine, self)
        from models.backfill.conservative import hosts

        return hosts.simulate(jobs, machine, self)
