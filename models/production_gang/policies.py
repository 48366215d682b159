"""What is looked at before anything runs; the rules of a system are in its package. Loads no kernel."""

from __future__ import annotations

from collections.abc import Sequence

from models import workloads
from models.point import Point
from models.production_gang.systems import name_of, part_of

ALWAYS = ("models.production_gang.model", "models.jobs.order_statistics")
"""Modules whose kernels every run needs."""


def check(point: Point) -> Sequence[str]:
    """Look at one combination before anything runs, see `models.family.Family.check`."""
    workloads.refuse_feedback(point, known=("feedback",))
    notes: Sequence[str] = part_of(point.policy, "rules").check(point)
    return notes


def is_stochastic(point: Point) -> bool:
    """Tell whether replications differ: the schedulers draw no random numbers, the workload may."""
    return workloads.is_stochastic(point.workload)


def kernels(point: Point) -> set[str]:
    """Return the modules whose kernels a point needs, see `models.family.Family.needed`."""
    return {name_of(point.policy, "simulation"), *ALWAYS}
