"""What all policies of the family have in common, as checked values of a YAML file.

Each part of the family (`priority`, `conservative`, `immediate`, `ncsa_lsf`, `eq_spatial`) is a package with
the same three files: ``rules`` (a subclass of `Rules`, loads no kernel), ``kernel`` (the event loop) and
``schedules``, whose ``simulate(jobs, machine, rules)`` is the one way in. `models.backfill.policies` knows
which discipline is whose.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from models import checks
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.ties import INSTANT, ties_of
from models.point import Parameters

UNREQUESTED = ("error", "runtime")


class LongerThanRequestedError(ValueError):
    """Jobs run longer than requested, under rules that cannot have that; other requests help as well."""


@dataclass(frozen=True, kw_only=True)
class Rules(ABC):
    """What a scheduler does with jobs whatever its discipline.

    Parameters
    ----------
    ties : {"instant", "event"}
        All ends of an instant, then all its submissions, then one pass; or a pass after each event,
        submissions first (and ends in order of submission), see `models.jobs.ties`.
    kill : bool
        Whether jobs are ended when they have run for their requested time.
    unrequested : {"error", "runtime"}
        A job without a requested time is refused, or judged by its actual one.
    """

    ties: str = INSTANT
    kill: bool = True
    unrequested: str = UNREQUESTED[0]

    package: ClassVar[str]
    """Dotted name of the part of the family that these are the rules of."""

    @classmethod
    @abstractmethod
    def of(cls, policy: Parameters) -> Self:
        """Return the rules of a policy's YAML file; keys that it does not have keep their defaults.

        Raises
        ------
        ValueError
            With one line that says what is allowed.
        """

    @property
    def instant(self) -> bool:
        """Whether all events of an instant come before one pass."""
        return self.ties == INSTANT

    @property
    def judges(self) -> bool:
        """Whether jobs are judged by what they ask for."""
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
