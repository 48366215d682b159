"""FCFS and backfilling by priority: what a policy's YAML file says, as checked values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from models import checks
from models.backfill.priority.weights import Weights
from models.backfill.rules import Rules, shared
from models.point import Parameters

FCFS, BACKFILL = "fcfs", "backfill"
ALL = "all"


@dataclass(frozen=True, kw_only=True)
class Priority(Rules):
    """Nobody passes a job that waits (FCFS), or jobs in order of priority pass those that hold a start.

    Parameters
    ----------
    discipline : {"fcfs", "backfill"}
        All parameters below are for ``backfill``.
    reservations : int or None
        Waiting jobs that hold a start; None is all of them.
    keep_start : bool
        Whether a job that holds a start goes before all others until it runs.
    weights : Weights
        Of the measures of a job's priority.
    priority : str or compiled function, optional
        A user's own order of priority instead of `weights`, or its dotted name, see
        `models.backfill.priority.order`.
    """

    discipline: str = field(default=BACKFILL, kw_only=False)
    reservations: int | None = 1
    keep_start: bool = False
    weights: Weights = field(default_factory=Weights)
    priority: str | Callable[..., float] | None = None

    package: ClassVar[str] = "models.backfill.priority"

    @classmethod
    def of(cls, policy: Parameters) -> Self:
        """Return the rules of a policy's YAML file, see `Rules.of`."""
        return cls(
            checks.choice(policy, "policy", "discipline", (FCFS, BACKFILL)), **shared(policy), **order(policy)
        )

    @property
    def judges(self) -> bool:
        """Whether jobs are judged by what they ask for: FCFS looks at nothing but processors."""
        return self.discipline != FCFS

    @property
    def in_order_of_submission(self) -> bool:
        """Whether nothing but the submission decides who goes first."""
        return self.priority is None and not any(self.weights)

    @property
    def changes_with_time(self) -> bool:
        """Whether priorities have to be computed at every pass."""
        return self.priority is not None or self.weights.change_with_time


def order(policy: Parameters) -> dict[str, Any]:
    """Return the checked arguments of `Priority` that say who goes first and who holds a start."""
    given = policy.get("reservations", Priority.reservations)
    reservations = None
    if given != ALL:
        allowed = f"a whole number from 0 on, or {ALL}"
        reservations = checks.whole({"reservations": given}, "policy", "reservations", allowed, least=0)
    weights = _weights(policy.get("weights") or {})
    priority = policy.get("priority")
    if priority is not None and any(weights):
        told = getattr(priority, "__name__", priority)
        raise ValueError(f"policy.priority={told} and policy.weights: give one of them, the other null")
    return {
        "reservations": reservations,
        "keep_start": checks.switch(policy, "policy", "keep_start", default=Priority.keep_start),
        "weights": weights,
        "priority": None if priority is None else _found(priority),
    }


def _weights(given: object) -> Weights:
    names = Weights._fields
    checked = checks.mapping(given, "policy.weights", names, f"numbers for {', '.join(names)}")
    return Weights(**{name: _weight(checked, name) for name in checked})


def _weight(weights: Parameters, name: str) -> float:
    return float(checks.number(weights, "policy.weights", name, "a number", above=-1e12, below=1e12))


def _found(priority: object) -> Any:
    """Return a user's own order of priority once it is known to be one; only this loads numba."""
    from models.backfill.priority.order import compiled

    compiled(priority)
    return priority
