"""Packing schemes and what goes with them, read from a policy's YAML file and checked. Loads no kernel."""

from __future__ import annotations

from collections.abc import Sequence

from models import checks, workloads
from models.gang import schemes
from models.jobs.machine import one_pool
from models.point import Point

ALTERNATION = ("none", "exclusive", "shared")
PRECEDENCE = ("arrival", "largest", "smallest")


def check(point: Point) -> Sequence[str]:
    """Look at one combination before anything runs, see `models.family.Family.check`."""
    policy = point.policy
    checks.choice(policy, "policy", "alternation", ALTERNATION)
    checks.choice(policy, "policy", "precedence", PRECEDENCE)
    checks.switch(policy, "policy", "unification")
    checks.whole(policy, "policy", "job_limit", "a positive whole number of jobs")
    scheme = schemes.find(policy.get("scheme", "(none)"))
    scheme.arguments(policy)
    notes, machine = workloads.check(point)
    scheme.check(one_pool(machine, point.machine, policy))
    return notes


def has_chance(point: Point) -> bool:
    """Tell whether replications differ: the schedulers draw no random numbers, the workload may."""
    return workloads.has_chance(point.workload, judged=False)
