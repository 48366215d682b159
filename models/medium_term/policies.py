"""Medium-term policies by name, their settings and checks. Loads no kernel."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from models import checks, dotted
from models.jobs import machine as machines
from models.medium_term import requirements
from models.medium_term.sizes import GROUPS, divisors, group_sizes, jobs_in_groups
from models.point import Parameters, Point

MOST_JOBS = {"powers_of_two": 16, "all": 12}
MOST_PROCESSORS = {"all": 16}
"""The most for which all schedules are searched in less than a second and 100 MB, by allocations."""


Settings = Callable[[Parameters, int, int], Any]
"""Called with a policy's YAML, P and the number of jobs."""


@dataclass(frozen=True)
class Policy:
    """The settings of one policy, whose function is in `models.medium_term.engine.FUNCTIONS`.

    Parameters
    ----------
    sizes : callable, optional
        Returns the numbers of jobs that may share P; its function is compiled then, with the signature
        `boxes.FILL`. Another function takes P, the jobs' minimum requirements (ascending) and the settings,
        and returns `boxes.Boxes`.
    groups : callable
        Returns for each job, by ascending minima, how many jobs there are in the group with which it takes
        turns. A group of g jobs lasts for g/J of T; without groups that is all of T.
    settings : tuple of str
        Keys of the YAML that a function without `sizes` receives, in this order.
    check : callable
        Raises ``ValueError`` where the policy cannot schedule these.
    """

    sizes: Settings | None = None
    groups: Settings = lambda policy, processors, n_jobs: np.full(n_jobs, n_jobs, np.int64)
    settings: tuple[str, ...] = ()
    check: Settings = lambda policy, processors, n_jobs: None


def check(point: Point) -> Sequence[str]:
    """Check one combination before anything runs, see `models.family.Family.check`."""
    processors = machines.one_pool(machines.of(point.machine), point.machine, point.policy)
    if point.load is not None:
        raise ValueError(f"load={point.load}: a schedule of given jobs has no load; set grid.load=[null]")
    requirements.check(point.workload, processors)
    check_schedule(point.policy, processors, requirements.n_jobs(point.workload))
    return []


def is_stochastic(point: Point) -> bool:
    """Return whether replications differ: policies draw no random numbers, all workloads but lists do."""
    return requirements.is_stochastic(point.workload)


def find(policy: Parameters) -> Policy:
    """Return the policy that ``policy.schedule`` names, a user's own function by its dotted name."""
    name = str(policy.get("schedule"))
    if name in POLICIES:
        return POLICIES[name]
    dotted.function(name, "policy.schedule", POLICIES, "a function of processors and minima")
    return Policy()


def check_schedule(policy: Parameters, processors: int, n_jobs: int) -> None:
    """Raise ``ValueError`` with one clear line where a policy cannot schedule these numbers."""
    find(policy).check(policy, processors, n_jobs)


def _buddy(policy: Parameters, processors: int, n_jobs: int) -> None:
    groups = checks.choice(policy, "policy", "groups", GROUPS)
    if not _is_power_of_two(processors):
        raise ValueError(
            f"machine.processors={processors} is no power of two, as buddy_schedule needs; "
            "take equi_epoch, or another number of processors"
        )
    if groups == "none" and not _is_power_of_two(n_jobs):
        raise ValueError(
            f"{n_jobs} jobs are no power of two, as buddy_schedule needs with groups=none; "
            "set policy.groups=smallest_first"
        )


def _optimum(policy: Parameters, processors: int, n_jobs: int) -> None:
    allocations = checks.choice(policy, "policy", "allocations", MOST_JOBS)
    if allocations == "powers_of_two" and not _is_power_of_two(processors):
        raise ValueError(
            f"machine.processors={processors} is no power of two, as policy.allocations=powers_of_two needs; "
            "set policy.allocations=all, or another number of processors"
        )
    for what, given, limits in (("jobs", n_jobs, MOST_JOBS), ("processors", processors, MOST_PROCESSORS)):
        if given > limits.get(allocations, given):
            raise ValueError(
                f"{given} {what} have too many schedules to search; with policy.allocations={allocations} "
                f"give up to {limits[allocations]}, or leave the point out"
            )


def _is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0


BUDDY = Policy(
    lambda policy, processors, n_jobs: group_sizes(n_jobs, policy["groups"]),
    lambda policy, processors, n_jobs: jobs_in_groups(n_jobs, policy["groups"]),
    check=_buddy,
)
EPOCHS = Policy(lambda policy, processors, n_jobs: divisors(processors))
OPTIMUM = Policy(settings=("allocations",), check=_optimum)

POLICIES = {
    "buddy_schedule": BUDDY,
    "equi_epoch": EPOCHS,
    "greedy_largest": EPOCHS,
    "optimal_epoch": EPOCHS,
    "optimal_schedule": OPTIMUM,
}
"""``policy.schedule`` -> settings."""
