"""The rules of a gang scheduler, read from a policy's YAML file and checked.

Nothing is compiled here, so that a plan can be checked without loading a kernel; only a scheme of the user's
own is imported. Packing schemes have their names in `models.packing.scheme`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from models import checks, workloads
from models.jobs.machine import one_pool
from models.jobs.ties import INSTANT, ties_of
from models.packing.scheme import Scheme, find
from models.point import Parameters, Point

ALTERNATION = ("none", "exclusive", "shared")
"""In the order of the numbers in `models.gang.alternation`."""

PRECEDENCE = {"arrival": 0, "largest": 1, "smallest": -1}
"""Name -> the sign with which sizes are sorted in descending order."""

JOB_LIMIT = 10_000


@dataclass(frozen=True)
class Rules:
    """What a policy's YAML file says, checked.

    Parameters
    ----------
    scheme : Scheme
    name : str
        What the scheme is called.
    parameters : tuple of int
        What the scheme is told, see `Scheme.arguments`.
    alternation : {"exclusive", "shared", "none"}
        See `models.gang.alternation`.
    precedence : {"arrival", "largest", "smallest"}
        Who takes free PEs first under ``exclusive``.
    unification : bool
        Whether slots whose PEs have become disjoint are united.
    job_limit : int
        With more jobs in the system the run ends, as one that does not keep up; that of a trace goes on.
    ties : {"instant", "event"}
        Of an end and an arrival at one instant the end comes first, or the arrival, see `models.jobs.ties`.
        A repetition is submitted as its job ends, before anything else happens.
    """

    scheme: Scheme
    name: str = ""
    parameters: tuple[int, ...] = ()
    alternation: str = "exclusive"
    precedence: str = "arrival"
    unification: bool = True
    job_limit: int = JOB_LIMIT
    ties: str = INSTANT

    @classmethod
    def of(cls, policy: Parameters) -> Rules:
        """Return the rules of a policy; ``ValueError`` with one line for a value not allowed."""
        alternation = checks.choice(policy, "policy", "alternation", ALTERNATION, "exclusive")
        precedence = checks.choice(policy, "policy", "precedence", PRECEDENCE, "arrival")
        unification = checks.switch(policy, "policy", "unification", True)
        job_limit = checks.whole(
            policy, "policy", "job_limit", "a positive whole number of jobs", default=JOB_LIMIT
        )
        given = policy.get("scheme")
        scheme = find(given)
        name = str(getattr(given, "__name__", given))
        return cls(
            scheme,
            name,
            scheme.arguments(policy),
            alternation,
            precedence,
            unification,
            job_limit,
            ties_of(policy),
        )

    def __str__(self) -> str:
        precedence = f", precedence {self.precedence}" if self.alternation == "exclusive" else ""
        return (
            f"gang scheduling, packing scheme {self.name}, alternation {self.alternation}{precedence}"
            f"{'' if self.unification else ', no unification'}, ties {self.ties}"
        )


def check(point: Point) -> Sequence[str]:
    """Look at one combination before anything runs, see `models.family.Family.check`."""
    workloads.refuse_weeks(point)
    workloads.refuse_feedback(point, known=("repetition",))
    rules = Rules.of(point.policy)
    notes, machine = workloads.check(point)
    rules.scheme.check(one_pool(machine, point.machine, point.policy))
    return notes


def has_chance(point: Point) -> bool:
    """Tell whether replications differ: the schedulers draw no random numbers, the workload may."""
    return workloads.has_chance(point.workload, judged=False)
