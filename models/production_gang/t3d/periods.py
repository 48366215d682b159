"""The periods of parameters: prime time, all other hours, weekends."""

from __future__ import annotations

from dataclasses import dataclass

from models import checks
from models.point import Parameters

PRIME, NIGHT, N_PERIODS = 0, 1, 2

HOUR = 3600.0


@dataclass(frozen=True)
class PrimeTime:
    """Hours of the day that are prime time.

    Parameters
    ----------
    begin, end : float, seconds
        Since midnight.
    weekends : bool
        Whether Saturdays and Sundays have them.
    """

    begin: float
    end: float
    weekends: bool

    @classmethod
    def of(cls, policy: Parameters, above: str, key: str) -> PrimeTime:
        """Return the checked hours; ``ValueError`` with one line for hours that are not allowed."""
        where, allowed = f"{above}.{key}", "hours of the day, 0 to 24"
        given = checks.mapping(policy[key], where, ("from", "until", "weekends"))
        begin, end = (
            float(checks.number(given, where, key, allowed, least=0, most=24)) for key in ("from", "until")
        )
        if begin >= end:
            raise ValueError(
                f"{where}: from={begin:g} is not before until={end:g}; prime time is within a day, "
                "and all other hours are night: give for instance {from: 7.5, until: 22}"
            )
        return cls(begin * HOUR, end * HOUR, checks.switch(given, where, "weekends"))

    def __str__(self) -> str:
        return f"prime time {_clock(self.begin)} to {_clock(self.end)}"


def _clock(seconds: float) -> str:
    return f"{int(seconds // HOUR)}:{int(seconds % HOUR // 60):02d}"
