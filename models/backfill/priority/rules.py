"""FCFS and backfilling by priority: what a policy's YAML file says, as checked values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from models import checks
from models.backfill.priority.orders.names import ORDERS
from models.backfill.priority.weights import Weights
from models.backfill.rules import Rules, shared
from models.point import Parameters

FCFS, BACKFILL = "fcfs", "backfill"
ALL = "all"
QUEUE = "queue"


@dataclass(frozen=True, kw_only=True)
class Priority(Rules):
    """Nobody passes a job that waits (FCFS), or jobs in order of priority pass those that hold a start.

    Parameters
    ----------
    discipline : {"fcfs", "backfill"}
        With ``fcfs`` and a priority, nobody passes a job of a higher one that waits.
    reservations : int or None
        Waiting jobs that hold a start; None is all of them.
    keep_start : bool
        Whether a job that holds a start goes before all others until it runs.
    weights : Weights
        Of the measures of a job's priority.
    priority : str or compiled function, optional
        Instead of `weights`: a name in `models.backfill.priority.orders.names`, or one's own function, or its
        dotted name, see `models.backfill.priority.order`.
    backfill_order : str or compiled function, optional
        Likewise, for the jobs that are gone through once all starts are given; None is the order of priority.
    """

    discipline: str = field(default=BACKFILL, kw_only=False)
    reservations: int | None = 1
    keep_start: bool = False
    weights: Weights = field(default_factory=Weights)
    priority: str | Callable[..., float] | None = None
    backfill_order: str | Callable[..., float] | None = None

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
        return self.discipline != FCFS or not self.in_order_of_submission

    @property
    def in_order_of_submission(self) -> bool:
        """Whether nothing but the submission decides who goes first."""
        return self.priority is None and not any(self.weights)


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
        "priority": None if priority is None else _found(priority, "policy.priority", "null"),
        "backfill_order": _backfill_order(policy, reservations),
    }


def _backfill_order(policy: Parameters, reservations: int | None) -> Any:
    """Return the checked order in which jobs are backfilled, None where it is the queue's."""
    given = policy.get("backfill_order", QUEUE)
    if given == QUEUE:
        return None
    where = "policy.backfill_order"
    told = f"{where}={getattr(given, '__name__', given)}"
    if policy.get("discipline") == FCFS:
        raise ValueError(f"{told}: nobody is backfilled with discipline {FCFS}; set it to {QUEUE}")
    if policy.get("immediate") is not None:
        raise ValueError(
            f"{told} does not go with policy.immediate, whose quanta go by priority; set one to {QUEUE}, or "
            "the other to null"
        )
    if reservations is None:
        raise ValueError(
            f"{told}: with policy.reservations={ALL} every waiting job holds a start, and none is left to "
            f"backfill; give a number of reservations, or set it to {QUEUE}"
        )
    if reservations == 0:
        raise ValueError(
            f"{told}: with policy.reservations=0 there is no queue to pass; give this order as "
            f"policy.priority, and set policy.backfill_order to {QUEUE}"
        )
    return _found(given, where, QUEUE)


def _weights(given: object) -> Weights:
    names = Weights._fields
    checked = checks.mapping(given, "policy.weights", names, f"numbers for {', '.join(names)}")
    return Weights(**{name: _weight(checked, name) for name in checked})


def _weight(weights: Parameters, name: str) -> float:
    return float(checks.number(weights, "policy.weights", name, "a number", above=-1e12, below=1e12))


def _found(given: object, where: str, otherwise: str) -> Any:
    """Return an order once it is known to be one; only one of a user's own loads numba here."""
    if given is None or (isinstance(given, str) and "." not in given):
        if given not in ORDERS:
            names = ", ".join(ORDERS)
            checks.refuse(where, given, f"{otherwise}, {names}, or the dotted name of a compiled function")
        return given
    from models.backfill.priority.order import compiled

    compiled(given, where)
    return given
