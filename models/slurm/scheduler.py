"""The phases of the timers of Slurm's scheduler."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from models import checks

SLEEPS_S = 1.0017
"""Seconds between two wake-ups of the background thread before Slurm 23.11, on an idle machine: ten sleeps of
0.1 s, and its work."""

POWER_S = 1.0
"""Seconds between two wake-ups of the thread that powers nodes down: it sleeps a second, and works."""


@dataclass(frozen=True)
class Phases:
    """When Slurm's timers run, seconds from the beginning of the log.

    Two runs of one workload on one machine differ in their phases, by up to half a minute in single starts.

    Parameters
    ----------
    clock : float
        What the controller's clock shows at the beginning, seconds after midnight (UTC): plans begin at
        multiples of bf_resolution of it, and Slurm compares its whole seconds.
    tick, backfill, calculation, slice : float
        First wake-up of the background thread, of the backfill thread, first calculation of priorities, first
        time slice of gang scheduling.
    full, passed, limits : float
        Last full pass, last pass at a wake-up, and last test of time limits, before the beginning.
    period : float
        Seconds between two wake-ups of the background thread; None: `SLEEPS_S` before Slurm 23.11, then 1.
    completing : float
        Seconds from the end of a job until its nodes are free and a pass may be called.
    killing : float
        The same from a kill on; the message of the epilog then calls a pass at once.
    cycle_time : float
        Seconds that a backfill cycle takes: the next one comes bf_interval after its end.
    job_time : float
        Further seconds of a cycle for each job that it tests; it ends once it has taken bf_max_time.
    wake_ups : tuple of float
        The first wake-ups of the background thread, if they are known; later ones follow one period apart.
    cycles : tuple of float
        Instants at which the backfill thread is known to have woken; a wake-up that is due within `NEAR_S`
        of one coincides with it.
    uptime : float
        What the monotonic clock of the controller's machine shows at the beginning: SuspendRate and
        ResumeRate count its periods since Slurm 24.05.
    idle : float
        The time since which nodes have had no job.
    power_wake_ups : tuple of float
        Known wake-ups of the thread that powers nodes down: it checks all nodes at the first one, shortly
        before the beginning.
    slices : tuple of float
        Beginnings of the first time slices of gang scheduling, if they are known.
    pings : tuple of float
        When the controller pinged nodes, where that is known: an answer is a change, after which a backfill
        cycle is due.
    """

    clock: float = 0.0
    tick: float = 0.0
    backfill: float = 0.0
    calculation: float = 0.0
    slice: float = 0.0
    full: float = 0.0
    passed: float = 0.0
    limits: float = 0.0
    period: float | None = None
    completing: float = 0.02
    killing: float = 0.1
    cycle_time: float = 0.003
    job_time: float = 0.0
    wake_ups: tuple[float, ...] = ()
    idle: float = 0.0
    uptime: float = 0.0
    cycles: tuple[float, ...] = ()
    slices: tuple[float, ...] = ()
    pings: tuple[float, ...] = ()
    power_wake_ups: tuple[float, ...] = (0.0,)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Return the checked values of ``policy.phases``."""
        of_logs = ("wake_ups", "cycles", "slices", "pings", "power_wake_ups")
        known = [each.name for each in fields(cls) if each.name not in of_logs]
        mapping = checks.mapping(given, "policy.phases", known)
        found: dict[str, Any] = {}
        for key in mapping:
            least, most = LIMITS.get(key, (-86_400, 86_400))
            allowed = f"seconds from {least:,} to {most:,}"
            found[key] = checks.number(mapping, "policy.phases", key, allowed, least=least, most=most)
        return cls(**found)


LIMITS = {
    "clock": (0, 1e10),
    "uptime": (0, 1e10),
    "period": (0.01, 60),
    "completing": (0, 86_400),
    "killing": (0, 86_400),
    "cycle_time": (0, 3600),
    "job_time": (0, 60),
}
"""Bounds of phases that are not a day before and after the beginning."""
