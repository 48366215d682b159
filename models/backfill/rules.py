"""A policy's YAML file as checked values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from models.backfill.eq_spatial.rules import EqSpatial
from models.backfill.immediate.rules import Immediate
from models.backfill.ncsa_lsf.rules import NcsaLsf
from models.backfill.priority.weights import Weights
from models.point import Parameters

DISCIPLINES = ("fcfs", "backfill", "conservative", "ncsa_lsf", "eq_spatial")
TIES = ("instant", "event")
UNREQUESTED = ("error", "runtime")
ALL = "all"


@dataclass(frozen=True)
class Rules:
    """What a scheduler does.

    Parameters
    ----------
    discipline : {"fcfs", "backfill", "conservative", "ncsa_lsf", "eq_spatial"}
        Nobody passes a job that waits; jobs in order of priority pass those that hold a start; everybody
        holds one; classes of jobs with limits on each host; everybody runs at once on a part of a host.
    ties : {"instant", "event"}
        All ends of an instant, then all its submissions, then one pass; or a pass after each event,
        submissions first (and ends in order of submission).
    kill : bool
        Whether jobs are ended when they have run for their requested time.
    unrequested : {"error", "runtime"}
        A job without a requested time is refused, or judged by its actual one.
    reservations : int or None
        Waiting jobs that hold a start (``backfill`` only); None is all of them.
    keep_start : bool
        Whether who holds a start goes before everybody else until it runs (``backfill`` only).
    weights : Weights
        Of the measures of priority (``backfill`` only).
    immediate : Immediate or None
        A quantum of service on arrival (``backfill`` only).
    ncsa_lsf : NcsaLsf or None
    eq_spatial : EqSpatial or None
        What the discipline of this name needs.
    """

    discipline: str
    ties: str = "instant"
    kill: bool = True
    unrequested: str = "error"
    reservations: int | None = 1
    keep_start: bool = False
    weights: Weights = field(default_factory=Weights)
    immediate: Immediate | None = None
    ncsa_lsf: NcsaLsf | None = None
    eq_spatial: EqSpatial | None = None

    @property
    def is_easy(self) -> bool:
        """Whether this is FCFS-backfill with one start."""
        plain = self.discipline == "backfill" and self.immediate is None
        return plain and self.reservations == 1 and not any(self.weights)

    @property
    def judges(self) -> bool:
        """Whether jobs are judged by what they ask for."""
        return self.discipline not in ("fcfs", "eq_spatial")

    @classmethod
    def of(cls, policy: Parameters) -> Rules:
        """Return the rules of a policy's YAML file; keys that it does not have keep their defaults.

        Raises
        ------
        ValueError
            With one line that says what is allowed.
        """
        discipline = policy.get("discipline", "(none)")
        if discipline not in DISCIPLINES:
            raise ValueError(
                f"policy {policy.get('name', '')} has discipline {discipline}, which models.backfill does "
                f"not know; allowed: {', '.join(DISCIPLINES)} (see conf/policy/backfill/_backfill.yaml)"
            )
        for key, allowed in (("ties", TIES), ("unrequested", UNREQUESTED)):
            if policy.get(key, allowed[0]) not in allowed:
                raise ValueError(f"policy.{key}={policy[key]}; allowed: {', '.join(allowed)}")
        for key in ("kill", "keep_start"):
            if not isinstance(policy.get(key, False), bool):
                raise ValueError(f"policy.{key}={policy[key]}; allowed: true, false")
        return cls(
            discipline,
            policy.get("ties", cls.ties),
            policy.get("kill", cls.kill),
            policy.get("unrequested", cls.unrequested),
            _reservations(policy.get("reservations", cls.reservations)),
            policy.get("keep_start", cls.keep_start),
            _weights(policy.get("weights") or {}),
            _immediate(policy, discipline),
            NcsaLsf.of(policy) if discipline == "ncsa_lsf" else None,
            EqSpatial.of(policy) if discipline == "eq_spatial" else None,
        )


def _immediate(policy: Parameters, discipline: str) -> Immediate | None:
    given = policy.get("immediate")
    if given is None:
        return None
    if discipline != "backfill":
        raise ValueError(
            f"policy.immediate goes with discipline backfill, and this is {discipline}; set it to null"
        )
    return Immediate.of(given)


def _reservations(given: object) -> int | None:
    if given == ALL:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise ValueError(f"policy.reservations={given}; allowed: a whole number from 0 on, or {ALL}")
    return given


def _weights(given: object) -> Weights:
    if not isinstance(given, Mapping) or set(given) - set(Weights._fields):
        raise ValueError(f"policy.weights={given}; allowed: numbers for {', '.join(Weights._fields)}")
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e12:
            raise ValueError(f"policy.weights.{name}={value}; allowed: a number")
    return Weights(**{name: float(value) for name, value in given.items()})
