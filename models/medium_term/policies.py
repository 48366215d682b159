"""Medium-term policies by name, and what each of them needs. Loads no kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from models import checks, dotted
from models.arrays import Ints
from models.jobs import machine as machines
from models.medium_term import requirements
from models.medium_term.sizes import GROUPS, divisors, group_sizes, jobs_in_groups
from models.point import Parameters, Point

MOST_JOBS = {"powers_of_two": 16, "all": 12}
MOST_PROCESSORS = {"all": 16}
"""How far all schedules can be searched in less than a second and 100 MB, by what jobs may be allocated."""


def _takes_all(policy: Parameters, processors: int, n_jobs: int) -> None:
    """Epoch policies take any number of processors and jobs."""


def _one_group(policy: Parameters, processors: int, n_jobs: int) -> Ints:
    """Return the group of policies that divide jobs into none: all jobs, and so all of T."""
    return np.full(n_jobs, n_jobs, np.int64)


@dataclass(frozen=True)
class Policy:
    """One way to make schedules.

    Parameters
    ----------
    make : str
        Dotted name of its function: with `sizes` a compiled one of the signature `boxes.FILL`, else one of P,
        the jobs' minimum requirements (ascending) and the settings, which returns `boxes.Boxes`.
    sizes : callable, optional
        Called with the YAML, P and the number of jobs; returns the numbers of jobs that may share P.
    groups : callable
        Called as `sizes` is; returns of each job, by ascending minima, how many jobs there are in the group
        with which it takes turns. A group of g jobs lasts for g/J of T.
    settings : tuple of str
        Keys of the YAML that a function without `sizes` receives, in this order.
    check : callable
        Called as `sizes` is; raises ``ValueError`` where the policy cannot schedule these.
    """

    make: str
    sizes: Callable[[Parameters, int, int], Ints] | None = None
    groups: Callable[[Parameters, int, int], Ints] = _one_group
    settings: tuple[str, ...] = ()
    check: Callable[[Parameters, int, int], None] = _takes_all


def check(point: Point) -> Sequence[str]:
    """Look at one combination before anything runs, see `models.family.Family.check`."""
    processors = machines.one_pool(machines.of(point.machine), point.machine, point.policy)
    if point.load is not None:
        raise ValueError(f"load={point.load}: a schedule of given jobs has no load; set grid.load=[null]")
    requirements.check(point.workload, processors)
    check_schedule(point.policy, processors, requirements.n_jobs(point.workload))
    return []


def is_stochastic(point: Point) -> bool:
    """Tell whether replications differ: policies draw no random numbers, workloads do but for lists."""
    return requirements.is_stochastic(point.workload)


def find(policy: Parameters) -> Policy:
    """Return the policy that ``policy.schedule`` names, or one's own by its dotted name."""
    name = policy.get("schedule")
    if name in POLICIES:
        return POLICIES[str(name)]
    dotted.function(name, "policy.schedule", POLICIES, "a function of processors and minima")
    return Policy(str(name))


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
                f"{given} {what} have too many schedules to look at; with policy.allocations={allocations} "
                f"give up to {limits[allocations]}, or leave the point out"
            )


def _group_sizes(policy: Parameters, processors: int, n_jobs: int) -> Ints:
    return group_sizes(n_jobs, policy["groups"])


def _jobs_in_groups(policy: Parameters, processors: int, n_jobs: int) -> Ints:
    return jobs_in_groups(n_jobs, policy["groups"])


def _divisors(policy: Parameters, processors: int, n_jobs: int) -> Ints:
    return divisors(processors)


def _is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0


_HERE = "models.medium_term"

POLICIES = {
    "buddy_schedule": Policy(f"{_HERE}.buddy.buddy", _group_sizes, _jobs_in_groups, check=_buddy),
    "equi_epoch": Policy(f"{_HERE}.epochs.equi_epoch", _divisors),
    "greedy_largest": Policy(f"{_HERE}.epochs.greedy_largest", _divisors),
    "optimal_epoch": Policy(f"{_HERE}.epochs.optimal_epoch", _divisors),
    "optimal_schedule": Policy(f"{_HERE}.tilings.optimum", settings=("allocations",), check=_optimum),
}
