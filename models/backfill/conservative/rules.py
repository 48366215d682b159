"""Conservative backfilling: what a policy's YAML file says, as checked values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from models.backfill.rules import LongerThanRequestedError, Rules, shared
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.point import Parameters


@dataclass(frozen=True, kw_only=True)
class Conservative(Rules):
    """Every waiting job holds a start."""

    package: ClassVar[str] = "models.backfill.conservative"

    @classmethod
    def of(cls, policy: Parameters) -> Self:
        """Return the rules of a policy's YAML file, see `Rules.of`."""
        return cls(**shared(policy))

    def check(self, jobs: Jobs, machine: Machine) -> None:
        """Refuse jobs that run longer than requested, because then no start could be promised."""
        n_longer = np.count_nonzero(jobs.runtime > jobs.requested)
        if n_longer:
            raise LongerThanRequestedError(
                f"{n_longer:,} of {len(jobs):,} jobs run longer than requested, so that no start could be "
                "promised; policy conservative needs policy.kill=true"
            )
