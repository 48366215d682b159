"""Processor partitioning on a mesh (McCann 1994, chapters 3 to 5).

The family declared here is the simulation of section 5.4; the static analyses are families of their own
(`efficiency`, `fairness`, `birth_death`). The declaration loads no kernel, so that a plan can be made and
checked at once.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from models.family import Family, Metric, Parameters, simulated_by
from models.kernels import cache as kernel_cache

simulate = simulated_by("models.partitioning.model")


def check(policy: Parameters, workload: Parameters, machine: Parameters, load: float | None) -> Sequence[str]:
    """Look at one combination before anything runs, see `models.family.Check`."""
    from models.partitioning import birth_death
    from models.partitioning.system import Admission, System
    from models.partitioning.workload import check as check_workload

    system = System.of(policy, workload, machine)
    limit = system.limit(machine)
    Admission.of(policy)
    if not isinstance(policy.get("reallocation_cost"), bool):
        raise ValueError(f"policy.reallocation_cost={policy.get('reallocation_cost')}; allowed: true, false")
    check_workload(workload, system.step, load)
    # The chain of the same rates says beforehand at which load a policy gives way; not where it has a state
    # in which nothing moves (rotations all the time), which a simulation may never see.
    if limit > birth_death.MOST_STATES or birth_death.stuck(policy, workload, machine):
        return []
    return birth_death.check(policy, workload, machine, load)


def warm_up() -> None:
    """Compile every kernel; where all are in the cache, none is loaded."""
    kernel_cache.complete(__name__, load)


def load() -> None:
    """Load every kernel; those that are not in the cache are compiled."""
    importlib.import_module("models.partitioning.model")


FAMILY = Family(
    name="processor partitioning",
    version=1,
    metrics=(
        Metric("response_time", "s", "mean response time", ("job_class",)),
        Metric("blow_up", "1", "mean blow-up factor", ("job_class",)),
        Metric("blow_up_cv", "1", "coefficient of variation of the blow-up factor", ("job_class",)),
        Metric("jobs_in_system", "1", "average number of jobs in the system"),
    ),
    simulate=simulate,
    check=check,
    warm_up=warm_up,
    coords={"job_class": ("short", "long", "all")},
    preload="models.partitioning.preload",
)
