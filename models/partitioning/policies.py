"""Partitioning policies for the simulation of section 5.4, read from their YAML files and checked."""

from __future__ import annotations

from collections.abc import Sequence

from models import checks
from models.partitioning import birth_death
from models.partitioning.system import Admission, System
from models.partitioning.workload import check as check_workload
from models.point import Point


def check(point: Point) -> Sequence[str]:
    """Look at one combination before anything runs, see `models.family.Family.check`."""
    system = System.of(point)
    limit = system.limit(point.machine)
    Admission.of(point.policy)
    checks.switch(point.policy, "policy", "reallocation_cost")
    check_workload(point.workload, system.step, point.load)
    if point.batches.size is None:
        raise ValueError(
            "batch_size=null: jobs arrive without end; give a number of jobs, e.g. batch_size=1000"
        )
    # The chain of the same rates says beforehand at which load a policy gives way; not where it has a state
    # in which nothing moves (rotations all the time), which a simulation may never see.
    if limit > birth_death.MOST_STATES or birth_death.stuck(point):
        return []
    return birth_death.check(point)


def has_chance(point: Point) -> bool:
    """Tell whether replications differ: jobs arrive at random."""
    return True
