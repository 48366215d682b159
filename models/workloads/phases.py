"""Jobs that change their number of processors while they run: ``workload.phases``, for any rigid workload."""

from __future__ import annotations

from dataclasses import dataclass

from models import checks
from models.point import Parameters

ALLOWED = (
    "null, or a list of {share, processors}: shares of the work that add up to 1, each on a share above 0 "
    "and up to 1 of the processors"
)


@dataclass(frozen=True)
class Phases:
    """The parts of a job's work, and the processors of each.

    Parameters
    ----------
    share : tuple of float
        Share of a job's work (requested processors times runtime) in each phase.
    processors : tuple of float
        Share of its requested processors in each phase.
    """

    share: tuple[float, ...] = (1.0,)
    processors: tuple[float, ...] = (1.0,)

    @classmethod
    def of(cls, workload: Parameters) -> Phases:
        """Return the phases of a workload's jobs; ``ValueError`` with one line for values not allowed."""
        given = workload.get("phases")
        if given is None:
            return cls()
        if not isinstance(given, list) or not given:
            checks.refuse("workload.phases", given, ALLOWED)
        shares, processors = [], []
        for number, phase in enumerate(given):
            where = f"workload.phases[{number}]"
            keys = checks.mapping(phase, where, ("share", "processors"))
            part = "a number above 0 and up to 1"
            shares.append(float(checks.number(keys, where, "share", part, above=0, most=1)))
            processors.append(float(checks.number(keys, where, "processors", part, above=0, most=1)))
        if abs(sum(shares) - 1) > 1e-9:
            checks.refuse("workload.phases", given, ALLOWED)
        return cls(tuple(shares), tuple(processors))

    @property
    def changes(self) -> bool:
        """Whether jobs change their number of processors, or have fewer than requested."""
        return self != Phases()
