"""The systems of the family: a policy's ``system`` says which one schedules.

Each is a package that has

- ``rules.check(point)``, which returns what is worth saying aloud or refuses a combination with one line;
- ``simulation.run(point, opened, jobs, machine)``, which runs all jobs to their ends and returns a `Run`.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from models import checks
from models.arrays import Floats, Ints
from models.jobs.calendar import monday
from models.jobs.schedule import Schedule
from models.jobs.stream import Stream
from models.jobs.trace import Trace
from models.point import Parameters

SYSTEMS = {
    "t3d": "models.production_gang.t3d",
    "tc2000": "models.production_gang.slices",
    "alpha": "models.production_gang.slices",
}
"""``policy.system`` -> package."""


@dataclass(frozen=True, eq=False)
class Levels:
    """What the processors of a machine do, from each time on; shape (n_times,).

    Parameters
    ----------
    time : ndarray of float, seconds
        Ascending.
    switching, packing, limits : ndarray of float
        Processors that are lost to switching; idle while some job that the scheduler knows finds no place;
        idle because limits keep all jobs that wait from it.
    """

    time: Floats
    switching: Floats
    packing: Floats
    limits: Floats


@dataclass(frozen=True, eq=False)
class Run:
    """What a system makes of its jobs.

    Parameters
    ----------
    schedule : Schedule
        Its jobs have a class each, and are in order of their submission.
    levels : Levels
    preemptions : ndarray of int, shape (n_jobs,)
    clock : float, seconds
        Time since Monday, 0:00, at the schedule's time 0.
    detail : object
        What only this system can tell, for displays.
    """

    schedule: Schedule
    levels: Levels
    preemptions: Ints
    clock: float = 0.0
    detail: Any = field(default=None, repr=False)


def name_of(policy: Parameters, module: str) -> str:
    """Return the dotted name of a module of the package of a policy's system.

    Raises
    ------
    ValueError
        If there is no such system.
    """
    system = checks.choice(policy, "policy", "system", SYSTEMS)
    return f"{SYSTEMS[system]}.{module}"


def part_of(policy: Parameters, module: str) -> Any:
    """Return that module."""
    return importlib.import_module(name_of(policy, module))


def first_of(chosen: np.ndarray) -> int | None:
    """Return the first job that is chosen, if there is one."""
    return int(np.argmax(chosen)) if chosen.any() else None


def order_of_submission(submit: Floats) -> tuple[Ints, Ints]:
    """Return the jobs in the order of their submission, and the position of each job in that order."""
    order = np.lexsort((np.arange(len(submit)), submit))
    position = np.empty(len(submit), np.int64)
    position[order] = np.arange(len(submit))
    return order, position


def clock_of(opened: Stream | Trace) -> float:
    """Return the seconds since Monday, 0:00, at time 0: as a log says, else 0."""
    origin = opened.origin if isinstance(opened, Trace) else None
    return 0.0 if origin is None or origin.zero is None else monday(origin.zero)
