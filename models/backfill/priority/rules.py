"""FCFS and backfilling by priority: the keys of a policy's YAML file, as checked values."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

from models import checks, keys
from models.backfill.priority.immediate import Immediate
from models.backfill.priority.names import ORDERS
from models.backfill.priority.weights import Weights
from models.backfill.rules import Rules, is_one_pool
from models.jobs.machine import Machine
from models.point import Parameters

FCFS, BACKFILL = "fcfs", "backfill"
ALL = "all"
QUEUE = "queue"


@dataclass(frozen=True, kw_only=True)
class Priority(Rules):
    """No job overtakes a waiting one (FCFS), or jobs are backfilled past those with a reservation.

    Parameters
    ----------
    discipline : {"fcfs", "backfill"}
        With ``fcfs`` and a priority, no job overtakes one of a higher priority that waits.
    reservations : int or None
        Waiting jobs with a reservation; None is all of them.
    keep_start : bool
        Whether a job with a reservation precedes all others until it runs.
    weights : Weights
        Of the measures of a job's priority.
    priority : str or compiled function, optional
        Instead of `weights`: a name in `models.backfill.priority.names`, or one's own function, or its
        dotted name, see `models.backfill.priority.order`.
    backfill_order : str or compiled function, optional
        Likewise, for the jobs that are backfilled once all reservations are made; None is the order of
        priority.
    immediate : Immediate, optional
        A quantum of service for each job that cannot start at once.
    """

    discipline: str = field(default=BACKFILL, kw_only=False)
    reservations: int | None = 1
    keep_start: bool = keys.switch(False)
    weights: Weights = field(default_factory=Weights)
    priority: str | Callable[..., float] | None = None
    backfill_order: str | Callable[..., float] | None = None
    immediate: Immediate | None = None

    @classmethod
    def of(cls, policy: Parameters) -> Self:
        """Return the rules of a policy's YAML file, see `Rules.of`."""
        given = policy.get("reservations", cls.reservations)
        reservations = None
        if given != ALL:
            allowed = f"a whole number from 0 on, or {ALL}"
            reservations = checks.whole({"reservations": given}, "policy", "reservations", allowed, least=0)
        weights = _weights(policy.get("weights") or {})
        priority = policy.get("priority")
        if priority is not None and any(weights):
            name = getattr(priority, "__name__", priority)
            raise ValueError(f"policy.priority={name} and policy.weights: give one of them, the other null")
        immediate = policy.get("immediate")
        return cls(
            checks.choice(policy, "policy", "discipline", (FCFS, BACKFILL)),
            **keys.read(cls, policy, "policy"),
            reservations=reservations,
            weights=weights,
            priority=None if priority is None else _found(priority, "policy.priority", "null"),
            backfill_order=_backfill_order(policy, reservations),
            immediate=None if immediate is None else Immediate.of(immediate),
        )

    @property
    def reads_requests(self) -> bool:
        """Whether requested times matter: FCFS depends on processors only."""
        return self.discipline != FCFS or not self.in_order_of_submission

    @property
    def in_order_of_submission(self) -> bool:
        """Whether the queue is in order of submission."""
        return self.priority is None and not any(self.weights)

    @property
    def at_most_one_reservation(self) -> bool:
        """Whether the kernels for that apply: no profile of the future is needed."""
        return self.immediate is None and (self.discipline == FCFS or self.reservations in (0, 1))

    @property
    def change_with_time(self) -> bool:
        """Whether priorities, or the backfill order, change while jobs wait."""
        from models.backfill.priority.order import changes, compiled

        given = (self.priority, "policy.priority"), (self.backfill_order, "policy.backfill_order")
        return self.weights.change_with_time or any(
            order is not None and changes(compiled(order, where)) for order, where in given
        )

    @property
    def kernels(self) -> tuple[str, ...]:
        """Modules of which one simulates these rules, see `Rules.kernels`."""
        package = "models.backfill.priority"
        if not self.at_most_one_reservation:
            return (f"{package}.reservations",)
        return (f"{package}.pool", f"{package}.single_reservation")

    def kernel(self, machine: Machine) -> str:
        """Return the module that simulates a machine, see `Rules.kernel`."""
        return self.kernels[0 if is_one_pool(machine) and not self.change_with_time else -1]


def _backfill_order(policy: Parameters, reservations: int | None) -> Any:
    """Return the checked order in which jobs are backfilled, None where it is the queue's."""
    given = policy.get("backfill_order", QUEUE)
    if given == QUEUE:
        return None
    where = "policy.backfill_order"
    this = f"{where}={getattr(given, '__name__', given)}"
    if policy.get("discipline") == FCFS:
        raise ValueError(f"{this}: no job is backfilled with discipline {FCFS}; set it to {QUEUE}")
    if policy.get("immediate") is not None:
        raise ValueError(
            f"{this} cannot be combined with policy.immediate, whose quanta are in order of priority; set "
            f"this to {QUEUE}, or policy.immediate to null"
        )
    if reservations is None:
        raise ValueError(
            f"{this}: with policy.reservations={ALL} every waiting job has a reservation, and none is left "
            f"to backfill; give a number, or set it to {QUEUE}"
        )
    if reservations == 0:
        raise ValueError(
            f"{this}: with policy.reservations=0 no job has a reservation; give this order as "
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
