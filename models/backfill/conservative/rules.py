"""Conservative backfilling: the keys of a policy's YAML file, as checked values."""

from dataclasses import dataclass

import numpy as np

from models.backfill.rules import LongerThanRequestedError, Rules, is_one_pool
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine


@dataclass(frozen=True, kw_only=True)
class Conservative(Rules):
    """Every waiting job has a reservation."""

    keeps_downtimes = True

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

    def kernel(self, jobs: Jobs, machine: Machine) -> str:
        """Return the module that simulates a machine, see `Rules.kernel`."""
        pool, hosts = self.kernels
        return pool if is_one_pool(machine) else hosts
