"""The rules that all policies of the family share, as checked values of a YAML file.

Each part of the family is a package whose ``rules`` has a subclass of `Rules` and loads no kernel. Its
`Rules.simulate` imports the module of its kernel, which has a function ``simulate(jobs, machine, rules)``.
`models.backfill.policies` has the disciplines by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

from models import checks
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule
from models.jobs.ties import INSTANT, ties_of
from models.point import Parameters

UNREQUESTED = ("error", "runtime")


class LongerThanRequestedError(ValueError):
    """Jobs run longer than requested, under rules that exclude that; other requests help as well."""


@dataclass(frozen=True, kw_only=True)
class Rules(ABC):
    """The rules of a scheduler, whatever its discipline.

    Parameters
    ----------
    ties : {"instant", "event"}
        All ends of an instant, then all its submissions, then one pass; or a pass after each event,
        submissions first (and ends in order of submission), see `models.jobs.ties`.
    kill : bool
        Whether jobs are ended when they have run for their requested time.
    unrequested : {"error", "runtime"}
        A job without a requested time is refused, or has its actual one as its request.
    """

    ties: str = INSTANT
    kill: bool = True
    unrequested: str = UNREQUESTED[0]

    @classmethod
    @abstractmethod
    def of(cls, policy: Parameters) -> Self:
        """Return the rules of a policy's YAML file; keys that it does not have keep their defaults.

        Raises
        ------
        ValueError
            With one line that names the value and those allowed.
        """

    @abstractmethod
    def simulate(self, jobs: Jobs, machine: Machine) -> Schedule:
        """Run all jobs to their ends.

        Parameters
        ----------
        jobs : Jobs
            As they run under the rules, see `models.backfill.requests.under`, and checked.
        machine : Machine
            With a host for each of them.
        """

    @property
    def kernels(self) -> tuple[str, ...]:
        """Dotted names of the modules with kernels that `simulate` may import, to be compiled beforehand."""
        return ()

    @property
    def instant(self) -> bool:
        """Whether all events of an instant come before one pass."""
        return self.ties == INSTANT

    @property
    def reads_requests(self) -> bool:
        """Whether requested times matter."""
        return True

    def check(self, jobs: Jobs, machine: Machine) -> None:  # noqa: B027 (most rules take any jobs)
        """Raise ``ValueError`` with one line for jobs, as they run, that these rules cannot be applied to."""


def shared(policy: Parameters) -> dict[str, Any]:
    """Return the checked arguments of `Rules` that every policy's YAML file has."""
    return {
        "ties": ties_of(policy),
        "kill": checks.switch(policy, "policy", "kill", default=Rules.kill),
        "unrequested": checks.choice(policy, "policy", "unrequested", UNREQUESTED, default=Rules.unrequested),
    }


def is_one_pool(machine: Machine) -> bool:
    """Return whether a machine is one host on which memory does not matter."""
    return len(machine.names) == 1 and not machine.limits_memory
