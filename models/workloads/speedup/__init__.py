"""The speed of a rigid job on other numbers of processors than it requests: ``workload.speedup``.

A job that takes t seconds on the p processors that it asks for is p · t of work to a policy that gives it
more or fewer of them. Its speed is given by its speed-up for the number of processors (`curves`), or for the
shape of the partition if the job repeats communicate-compute steps (`cycle`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from models import checks, dotted, keys
from models.point import Parameters
from models.workloads.speedup import cycle
from models.workloads.speedup.cycle import Cycle

CURVES = "models.workloads.speedup.curves"


@dataclass(frozen=True)
class Speedup:
    """A speed-up, read and checked. Loads no kernel.

    Parameters
    ----------
    curve : str
        Dotted name of a compiled function, see `models.workloads.speedup.curves`.
    cycle : Cycle, optional
        If speed depends on the shape of the partition; `curve` is then not used.
    """

    note: str
    curve: str = f"{CURVES}.linear"
    parameters: tuple[float, ...] = (0.0,)
    cycle: Cycle | None = None

    @classmethod
    def of(cls, workload: Parameters) -> Speedup:
        """Return the speed-up of a rigid workload; ``ValueError`` with one line for a mistake."""
        name = str(workload.get("speedup", "linear"))
        if name in SPEEDUPS:
            return SPEEDUPS[name](workload)
        what = "a compiled function, see models.workloads.speedup.curves"
        dotted.function(name, "workload.speedup", SPEEDUPS, what)
        return cls(f"{name}: as fast as this function returns, and a job moves at no cost", name)


@dataclass(frozen=True, kw_only=True)
class Downey:
    """Keys of ``workload.downey``; a parallelism of None is the job's processors."""

    BASE = "_rigid"

    average_parallelism: float | None = keys.number(
        "a number from 1 on, or null for the job's processors", null=True, least=1
    )
    sigma: float = keys.number("a number, 0 or more", least=0)


def _downey(workload: Parameters) -> Speedup:
    given = Downey(**keys.below(Downey, workload.get("downey"), "workload.downey"))
    average, sigma = given.average_parallelism or 0.0, given.sigma
    parallelism = f"{average:g}" if average else "the job's processors"
    return Speedup(
        f"downey: average parallelism {parallelism}, sigma {sigma:g}, and a job moves at no cost",
        f"{CURVES}.downey",
        (average, sigma),
    )


def _mccann(workload: Parameters) -> Speedup:
    where = "workload.mccann"
    given = checks.mapping(workload.get("mccann"), where, cycle.KEYS)
    return Speedup(
        "mccann: a job has a thread for each processor of the machine, computes and communicates in turns, "
        "and takes its runtime on the best rectangle of its processors",
        cycle=Cycle.of(given, where),
    )


SPEEDUPS: dict[str, Callable[[Parameters], Speedup]] = {
    "linear": lambda workload: Speedup(
        "linear: a job of p processors is as fast as min(n, p) on n of them, and moves at no cost"
    ),
    "downey": _downey,
    "mccann": _mccann,
}
"""By the value of ``workload.speedup``; a dotted name is a compiled function of the user's own."""


def check_values(workload: Parameters) -> None:
    """Raise ``ValueError`` with one line for a value of any speed-up that is not allowed, chosen or not."""
    if str(workload["speedup"]) not in SPEEDUPS:
        Speedup.of(workload)
    for key, read in (("downey", _downey), ("mccann", _mccann)):
        if workload.get(key) is not None:
            read(workload)
