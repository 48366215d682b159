"""FCFS and backfilling by priority: the keys of a policy's YAML file, as checked values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from models import checks, keys
from models.backfill.priority.declared import NO_WEIGHTS, ORDERS, Weights
from models.backfill.rules import Rules
from models.jobs.jobs import Jobs
from models.jobs.machine import KB_IN_GB, UNLIMITED_KB, Machine
from models.point import Parameters

FCFS, BACKFILL = "fcfs", "backfill"
ALL = "all"
WITHOUT_PROFILE = "models.backfill.priority.single_reservation"
WITH_PROFILE = "models.backfill.priority.reservations"
"""The kernel with a profile of the future, which supports downtimes and corrects predictions."""
QUEUE = "queue"
LONGEST = 1e12
NOTHING_BACKFILLED: Mapping[str, Any] = {
    "reservations": 0, "keep_start": False, "backfill_order": None, "immediate": None,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Immediate:
    """A short quantum for each job that cannot start at once (Chiang and Vernon 2001, sections 2.4 and 4.3).

    Parameters
    ----------
    kind : {"preempt", "soon"}
        Whether it begins at the submission, on idle processors or on processors of preempted jobs; or as soon
        as there are idle processors.
    quantum : float, seconds
        Section 3.
    memory_gb : float or None
        Memory for the quantum, at most the job's request; None gives the whole request.
    uninterrupted : float, seconds
        Time for which a job must have been executing without interruption before it can be preempted.
    keep_promises : bool
        Whether a quantum does not use reserved processors, as a backfilled job does not (``soon`` only: a
        preemption postpones all expected ends in any case).
    beyond_memory : {"stays", "leaves"}
        Whether a job that uses more memory than it was given is stopped at the end of its quantum (or when it
        would finish, if that is earlier), or at its very beginning, so that it has no quantum.
    keep_quantum : bool
        Whether work done in the quantum counts later (never if the job used more memory than it was
        given). The quantum's memory is returned at its end, so by default a job starts again.
    """

    BASE = "_immediate"

    kind: str = keys.choice("preempt", "soon")
    quantum: float = keys.number(checks.SECONDS, above=0, below=LONGEST)
    memory_gb: float | None = keys.number(
        "a positive number, or null (all that a job asks for)", null=True, above=0, below=LONGEST
    )
    uninterrupted: float = keys.number(checks.SECONDS, above=0, below=LONGEST)
    keep_promises: bool = keys.switch()
    beyond_memory: str = keys.choice("stays", "leaves")
    keep_quantum: bool = keys.switch()

    @property
    def memory(self) -> int:
        """Memory for the quantum in KB."""
        return UNLIMITED_KB if self.memory_gb is None else round(self.memory_gb * KB_IN_GB)


def _reservations(given: Parameters, where: str, key: str) -> int | None:
    return (
        None
        if given[key] == ALL
        else checks.whole(given, where, key, f"a whole number from 0 on, or {ALL}", least=0)
    )


def _backfill_order(policy: Parameters, where: str, key: str) -> Any:
    """Return the checked order in which jobs are backfilled, None if it is the queue's."""
    given, where = policy[key], f"{where}.{key}"
    if given == QUEUE:
        return None
    this = f"{where}={getattr(given, '__name__', given)}"
    if policy.get("immediate") is not None:
        raise ValueError(
            f"{this} cannot be combined with policy.immediate, whose quanta are in order of priority; set "
            f"this to {QUEUE}, or policy.immediate to null"
        )
    if policy["reservations"] == ALL:
        raise ValueError(
            f"{this}: with policy.reservations={ALL} every waiting job has a reservation, and none is left "
            f"to backfill; give a number, or set it to {QUEUE}"
        )
    if policy["reservations"] == 0:
        raise ValueError(
            f"{this}: with policy.reservations=0 no job has a reservation; give this order as "
            f"policy.priority, and set policy.backfill_order to {QUEUE}"
        )
    return _found(given, where, QUEUE)


def _weights(given: Parameters, where: str, key: str) -> Weights:
    names = Weights._fields
    where = f"{where}.{key}"
    checked = checks.mapping(given[key], where, names, f"numbers for {', '.join(names)}")
    numbers = (checks.number(checked, where, name, "a number", above=-1e12, below=1e12) for name in names)
    return Weights(*map(float, numbers))


def _priority(given: Parameters, where: str, key: str) -> Any:
    return _found(given[key], f"{where}.{key}", "null")


def _found(given: object, where: str, otherwise: str) -> Any:
    """Return an order after a check that it is one; only a user's own order loads numba here."""
    if given is None or (isinstance(given, str) and "." not in given):
        if given not in ORDERS:
            names = ", ".join(ORDERS)
            checks.refuse(where, given, f"{otherwise}, {names}, or the dotted name of a compiled function")
        return given
    from models.backfill.priority.order import compiled

    compiled(given, where)
    return given


@dataclass(frozen=True, kw_only=True)
class Priority(Rules):
    """No job overtakes a waiting job of a higher priority (FCFS), except as `Backfill` declares.

    Parameters
    ----------
    discipline : {"fcfs", "backfill"}
    weights : Weights
        Weights of the measures of a job's priority; None means FCFS.
    priority : str or compiled function, optional
        Instead of `weights`: a name in `ORDERS`, a user's own function, or its dotted name, see
        `models.backfill.priority.order`.
    reservations : int or None
        Number of waiting jobs with a reservation; None means all of them.
    keep_start : bool
        Whether a job with a reservation precedes all others until it runs.
    backfill_order : str or compiled function, optional
        Like `priority`, for the jobs that are backfilled once all reservations are made; None means the order
        of priority.
    immediate : Immediate, optional
        A quantum of service for each job that cannot start at once.
    """

    BASE = "_priority"

    discipline: str
    weights: Weights = keys.checked(_weights)
    priority: str | Callable[..., float] | None = keys.checked(_priority, null=True)
    reservations: int | None
    keep_start: bool
    backfill_order: str | Callable[..., float] | None
    immediate: Immediate | None

    @classmethod
    def of(cls, policy: Parameters) -> Priority:
        """Return the rules of a policy's YAML file, see `Rules.of`."""
        discipline = checks.choice(policy, "policy", "discipline", (FCFS, BACKFILL))
        if policy.get("weights", ...) is None:
            policy = {**policy, "weights": NO_WEIGHTS}
        if discipline == FCFS:
            rules = Priority(
                discipline=discipline, **NOTHING_BACKFILLED, **keys.read(Priority, policy, "policy")
            )
        else:
            rules = Backfill(discipline=discipline, **keys.read(Backfill, policy, "policy"))
        if rules.priority is not None and any(rules.weights):
            name = getattr(rules.priority, "__name__", rules.priority)
            raise ValueError(f"policy.priority={name} and policy.weights: give one of them, the other null")
        return rules

    @property
    def reads_requests(self) -> bool:
        """Whether requested times matter: FCFS depends on processors only."""
        return self.discipline != FCFS or not self.in_order_of_submission

    @property
    def keeps_downtimes(self) -> bool:
        """Whether `Machine.down` is respected; quanta of service ignore it."""
        return self.immediate is None

    takes_predictions = keeps_downtimes

    @property
    def in_order_of_submission(self) -> bool:
        """Whether the queue is in order of submission."""
        return self.priority is None and not any(self.weights)

    @property
    def kernels(self) -> tuple[str, ...]:
        """The modules one of which simulates these rules, see `Rules.kernels`."""
        single = self.immediate is None and self.reservations in (0, 1)
        return (WITHOUT_PROFILE if single else WITH_PROFILE,)

    def kernel(self, jobs: Jobs, machine: Machine) -> str:
        """Return the module that simulates these jobs on a machine, see `Rules.kernel`."""
        return WITH_PROFILE if len(machine.down) or jobs.predicted is not None else self.kernels[0]


@dataclass(frozen=True, kw_only=True)
class Backfill(Priority):
    """Jobs are backfilled past those with a reservation."""

    BASE = "_backfill"

    reservations: int | None = keys.checked(_reservations)
    keep_start: bool = keys.switch()
    backfill_order: str | Callable[..., float] | None = keys.checked(_backfill_order)
    immediate: Immediate | None = keys.mapping(Immediate, null=True)
