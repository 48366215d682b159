"""Medium-term policies by name, their settings and checks. Loads no kernel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from models import dotted, keys
from models.arrays import Ints
from models.jobs import machine as machines
from models.medium_term import requirements
from models.point import Parameters, Point
from models.topology.mesh import is_power_of_two

GROUPS = ("smallest_first", "largest_first", "none")
"""How BUDDY divides any number of jobs into groups of powers of two, see `Buddy`."""

MOST_JOBS = {"powers_of_two": 16, "all": 12}
MOST_PROCESSORS = {"all": 16}
"""Largest sizes for which all schedules are searched in less than a second and 100 MB, by allocations."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """A policy's YAML file, checked; its function is in `models.medium_term.engine.FUNCTIONS`.

    A user's own function takes P, the jobs' minimum requirements (ascending) and the `settings`, and returns
    `boxes.Boxes`.
    """

    BASE = "_medium_term"

    schedule: str

    @property
    def settings(self) -> tuple[Any, ...]:
        """The settings that a function receives."""
        return ()

    def sizes(self, processors: int, n_jobs: int) -> Ints | None:
        """Return the numbers of jobs that may share P; the function is compiled then, of `boxes.FILL`."""
        return None

    def jobs_in_groups(self, n_jobs: int) -> Ints:
        """Return for each job, by ascending minima, the size of its group; groups take turns.

        A group of g jobs lasts for g/J of T; without groups that is all of T.
        """
        return np.full(n_jobs, n_jobs, np.int64)

    def check(self, processors: int, n_jobs: int) -> None:
        """Raise ``ValueError`` with one line where the policy cannot schedule these numbers."""


@dataclass(frozen=True, kw_only=True)
class Epochs(Rules):
    """Schedules of boxes with equal widths."""

    def sizes(self, processors: int, n_jobs: int) -> Ints:
        """Return the divisors of P, the largest first: the possible numbers of jobs of an epoch."""
        return _divisors(processors)


@cache
def _divisors(processors: int) -> Ints:
    small = [n for n in range(1, int(processors**0.5) + 1) if processors % n == 0]
    return np.array(sorted({*small, *(processors // n for n in small)}, reverse=True), np.int64)


@dataclass(frozen=True, kw_only=True)
class Buddy(Rules):
    """The buddy schedule, of all jobs or of groups of a power of two.

    Section 6.4.2 ends with a division into groups of powers of two and leaves open which powers. Here they
    are the binary digits of J: the fewest groups. ``smallest_first`` is the order that the text proposes,
    ``largest_first`` the opposite; with ``none`` J must be a power of two.
    """

    BASE = "buddy_schedule"

    groups: str = keys.choice(*GROUPS)

    def sizes(self, processors: int, n_jobs: int) -> Ints:
        """Return the sizes of groups in the order in which they are filled, with the largest minima first.

        Examples
        --------
        >>> Buddy(schedule="buddy_schedule", groups="smallest_first").sizes(16, 11).tolist()
        [1, 2, 8]
        """
        sizes = [1 << bit for bit in range(n_jobs.bit_length()) if n_jobs >> bit & 1]
        return np.array(sizes[::-1] if self.groups == "largest_first" else sizes, np.int64)

    def jobs_in_groups(self, n_jobs: int) -> Ints:
        """Return the size of each job's group, see `Rules.jobs_in_groups`.

        Examples
        --------
        >>> Buddy(schedule="buddy_schedule", groups="smallest_first").jobs_in_groups(5).tolist()
        [4, 4, 4, 4, 1]
        """
        sizes = self.sizes(0, n_jobs)
        return np.repeat(sizes, sizes)[::-1].copy()

    def check(self, processors: int, n_jobs: int) -> None:
        """Refuse numbers that cannot be halved."""
        if not is_power_of_two(processors):
            raise ValueError(
                f"machine.processors={processors} is not a power of two, as buddy_schedule needs; "
                "take equi_epoch, or another number of processors"
            )
        if self.groups == "none" and not is_power_of_two(n_jobs):
            raise ValueError(
                f"{n_jobs} jobs are not a power of two, as buddy_schedule needs with groups=none; "
                "set policy.groups=smallest_first"
            )


@dataclass(frozen=True, kw_only=True)
class Optimum(Rules):
    """The best of all schedules."""

    BASE = "optimal_schedule"

    allocations: str = keys.choice(*MOST_JOBS)

    @property
    def settings(self) -> tuple[Any, ...]:
        """The allocations that are searched."""
        return (self.allocations,)

    def check(self, processors: int, n_jobs: int) -> None:
        """Refuse numbers with too many schedules."""
        if self.allocations == "powers_of_two" and not is_power_of_two(processors):
            raise ValueError(
                f"machine.processors={processors} is not a power of two, as policy.allocations=powers_of_two "
                "needs; set policy.allocations=all, or another number of processors"
            )
        for what, given, limits in (
            ("jobs", n_jobs, MOST_JOBS),
            ("processors", processors, MOST_PROCESSORS),
        ):
            if given > limits.get(self.allocations, given):
                raise ValueError(
                    f"{given} {what} have too many schedules to search; with policy.allocations="
                    f"{self.allocations} give up to {limits[self.allocations]}, or leave the point out"
                )


SCHEDULES: Mapping[str, type[Rules]] = {
    "buddy_schedule": Buddy,
    "equi_epoch": Epochs,
    "greedy_largest": Epochs,
    "optimal_epoch": Epochs,
    "optimal_schedule": Optimum,
}
"""``policy.schedule`` -> the rules."""


def check(point: Point) -> Sequence[str]:
    """Check one combination before anything runs, see `models.family.Family.check`."""
    processors = machines.one_pool(machines.of(point.machine), point.machine, point.policy)
    if point.load is not None:
        raise ValueError(f"load={point.load}: a schedule of given jobs has no load; set grid.load=[null]")
    requirements.check(point.workload, processors)
    rules_of(point.policy).check(processors, requirements.n_jobs(point.workload))
    return []


def is_stochastic(point: Point) -> bool:
    """Return whether replications differ: policies draw no random numbers, all workloads but lists do."""
    return requirements.is_stochastic(point.workload)


def rules_of(policy: Parameters) -> Rules:
    """Return the rules of a policy, whose ``schedule`` may be the dotted name of a user's own function.

    ``ValueError`` with one line that states the given and the allowed values.
    """
    name = str(policy.get("schedule"))
    if name not in SCHEDULES:
        dotted.function(name, "policy.schedule", SCHEDULES, "a function of processors and minima")
    declared = SCHEDULES.get(name, Rules)
    return declared(schedule=name, **keys.read(declared, policy, "policy"))
