"""Conservative backfilling: the keys of a policy's YAML file, as checked values.

References
----------
D. G. Feitelson, A. M. Weil, "Utilization and predictability in scheduling the IBM SP2 with backfilling",
*12th Intl. Parallel Processing Symposium*, 1998.
"""

from dataclasses import dataclass

import numpy as np

from models.backfill.rules import LongerThanRequestedError, Rules
from models.counting import counted
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine


@dataclass(frozen=True, kw_only=True)
class Conservative(Rules):
    """Every waiting job has a reservation."""

    keeps_downtimes = True
    kernels = ("models.backfill.conservative.pool", "models.backfill.conservative.hosts")

    def check(self, jobs: Jobs, machine: Machine) -> None:
        """Refuse jobs that run longer than requested, because then no start could be promised."""
        n_longer = int(np.count_nonzero(jobs.runtime > jobs.requested))
        if n_longer:
            raise LongerThanRequestedError(
                f"{counted(n_longer, 'job', 'runs', of=len(jobs))} longer than requested, so that no start "
                "can be reserved; policy conservative needs policy.kill=true"
            )

    def kernel(self, jobs: Jobs, machine: Machine) -> str:
        """Return the fast path for a machine of one host on which memory does not matter."""
        pool, hosts = self.kernels
        return pool if len(machine.names) == 1 and not machine.limits_memory else hosts
