"""The systems of the family, by a policy's ``system``, and the checks of a point. Loads no kernel."""

from collections.abc import Sequence
from typing import Any

from models import checks, workloads
from models.point import Parameters, Point
from models.production_gang.slices import rules as slices_rules
from models.production_gang.t3d import rules as t3d_rules

RULES = {"t3d": t3d_rules, "tc2000": slices_rules, "alpha": slices_rules}
"""``policy.system`` -> module whose ``check(point)`` returns notes, or raises ``ValueError``."""

ALWAYS = ("models.production_gang.model",)
"""Modules whose kernels every run needs."""


def check(point: Point) -> Sequence[str]:
    """Check one combination before anything runs, see `models.family.Family.check`."""
    workloads.refuse_feedback(point, known=("feedback",))
    return RULES[checks.choice(point.policy, "policy", "system", RULES)].check(point)


def simulation_of(policy: Parameters) -> Any:
    """Return the module whose ``run(point, opened, jobs, machine, pieces)`` runs all jobs to their ends."""
    if policy["system"] == "t3d":
        from models.production_gang.t3d import simulation as t3d

        return t3d
    from models.production_gang.slices import simulation as slices

    return slices


def is_stochastic(point: Point) -> bool:
    """Return whether replications differ: the schedulers draw no random numbers, the workload may."""
    return workloads.is_stochastic(point.workload)


def kernels(point: Point) -> set[str]:
    """Return the modules whose kernels a point needs, see `models.family.Family.needed`."""
    kind = "t3d" if point.policy["system"] == "t3d" else "slices"
    return {f"models.production_gang.{kind}.simulation", *ALWAYS}
