"""Repeat a run of a dataset, which has the run's measurements and the seed that reproduces it.

Times of a run are given as ``Tue 13:25`` in some week, or as a time since the beginning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from analysis.drawings import remaking
from analysis.drawings.scene import UNITS, valid
from analysis.errors import AnalysisError
from analysis.jette1997.labels import GANG
from analysis.study import Study
from models.point import Point
from sweep import compiling
from sweep.errors import unknown

if TYPE_CHECKING:
    from models.production_gang.systems import Run

FAMILY, SYSTEM = "models.production_gang", "t3d"
AXES = ("policy", "workload", "load", "machine")
EXAMPLE = "results/llnl_t3d"

WEEK = 7 * 86400.0


@dataclass(frozen=True, eq=False)
class Remade:
    """A repeated run and its name.

    Parameters
    ----------
    name : str
        Scheduler, workload and replication, in words.
    point : Point
        The dataset's point.
    """

    run: Run
    name: str
    point: Point

    def with_commands(self, commands: Sequence[str]) -> Remade:
        """Return the dataset's run with further `policy.commands`; `AnalysisError` for a bad one."""
        policy = self.point.policy
        more = [*policy["commands"], *commands]
        return replace(repeated(replace(self.point, policy={**policy, "commands": more})), point=self.point)

    @property
    def begin(self) -> float:
        """Time of the first submission, seconds."""
        return float(self.run.jobs.submit.min())

    @property
    def end(self) -> float:
        """Time of the last end, seconds."""
        return float(self.run.end.max())

    @property
    def until(self) -> float:
        """End of the measured part, seconds: later the remaining jobs only finish."""
        trace = self.run.trace
        return self.end if trace is None or trace.until is None else min(float(trace.until), self.end)

    def date(self, time: float) -> datetime | None:
        """Return the date and time of the day at a time of the run, None where the workload has no dates."""
        trace = self.run.trace
        origin = None if trace is None else trace.origin
        if origin is None or origin.zero is None:
            return None
        return datetime(1970, 1, 1) + timedelta(seconds=float(origin.zero) + time)


def repeated(point: Point) -> Remade:
    """Repeat the run of a point."""
    from models.production_gang import model

    compiling.ready(point)
    run = valid(model.schedule, point)
    name = f"{point.policy['name']}, {point.workload['name']}, replication {point.seed[-1]}"
    return Remade(run, name, point)


def point_of(study: Study, settings: Mapping[str, str]) -> Point:
    """Return the point and the seed of a dataset's task that settings name.

    Parameters
    ----------
    settings : dict of str to str
        ``policy``, ``workload``, ``load``, ``machine`` and ``replication``; empty is the gang scheduler, and
        else the first value of the grid.
    """
    families = {name: str(file.get("family")) for name, file in study.config.get("policy", {}).items()}
    if FAMILY not in families.values():
        known = " and ".join(sorted(set(families.values()))) or "an unknown family"
        raise AnalysisError(
            f"{study.folder} holds results of {known}: gangster shows results of {FAMILY}, e.g. {EXAMPLE}"
        )
    chosen = {axis: _chosen(study, axis, settings.get(axis, "")) for axis in AXES}
    number = _replication(study, settings.get("replication", "0"))
    _check(study.parameters("policy", chosen["policy"]), families)
    return remaking.point_of(study, chosen, number)


def _chosen(study: Study, axis: str, given: str) -> str:
    known = study.values_of(axis)
    if not given:
        return GANG if axis == "policy" and GANG in known else known[0]
    if given not in known:
        raise AnalysisError(f"{axis}={given}: {unknown('value', given, known)}")
    return given


def _check(policy: Mapping[str, Any], families: Mapping[str, str]) -> None:
    """Refuse a policy without a torus of nodes."""
    name, family, system = policy["name"], policy.get("family"), policy.get("system")
    if (family, system) != (FAMILY, SYSTEM):
        there = [other for other, known in families.items() if known == FAMILY and other != name]
        raise AnalysisError(
            f"policy={name} does not run on nodes (family {family}, system {system}); give "
            f"{', '.join(there) or f'a dataset such as {EXAMPLE}'}"
        )


def _replication(study: Study, given: str) -> int:
    n = study.data.sizes["replication"]
    if not given.isdecimal() or int(given) >= n:
        raise AnalysisError(f"replication={given}: give a whole number from 0 to {n - 1}")
    return int(given)


WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
DAYS = tuple(name[:3] for name in WEEKDAYS)
DAY = 86400.0
ADVICE = "give a weekday and a time, 'Tue 13:25', or a time since the beginning, 9d or 36.5h"


def weekday_time(clock: float) -> str:
    """Return a time since a Monday, 0:00, as weekday and time of the day.

    Examples
    --------
    >>> weekday_time(86400 + 13 * 3600 + 25 * 60)
    'Tue 13:25'
    """
    day, second = divmod(clock, DAY)
    return f"{DAYS[int(day) % 7]} {int(second) // 3600}:{int(second) % 3600 // 60:02}"


def parsed(text: str) -> tuple[bool, float]:
    """Return whether a text is a time of the week, and seconds since Monday, 0:00, or since the beginning.

    Raises
    ------
    AnalysisError
        If it is neither.

    Examples
    --------
    >>> parsed("Tue 13:25"), parsed("tuesday 1:05:30"), parsed("2d")
    ((True, 134700.0), (True, 90330.0), (False, 172800.0))
    """
    if found := re.fullmatch(r"(\d+\.?\d*)([smhd])", text.strip()):
        return False, float(found[1]) * UNITS[found[2]]
    found = re.fullmatch(r"([A-Za-z]{3,9})\s+(\d{1,2}):(\d{2})(?::(\d{2}))?", text.strip())
    if not found:
        raise AnalysisError(f"--at {text!r}: {ADVICE}")
    name, hour, minute, second = found[1].capitalize(), int(found[2]), int(found[3]), int(found[4] or 0)
    day = next((n for n, full in enumerate(WEEKDAYS) if name in (full, DAYS[n])), None)
    if day is None or hour > 23 or minute > 59 or second > 59:
        raise AnalysisError(f"--at {text!r}: {ADVICE}; weekdays are {' '.join(DAYS)}, hours 0:00 to 23:59")
    return True, day * DAY + hour * 3600.0 + minute * 60.0 + second


def time_of(text: str, week: str, made: Remade) -> float:
    """Return the time of a run, in seconds, that a text names.

    Parameters
    ----------
    text : str
        See `parsed`.
    week : str
        Number of the week, from 1 on, which is the week in which the run begins; empty is the last week in
        which the moment lies in the measured part.

    Raises
    ------
    AnalysisError
        If it is outside of the run.
    """
    of_week, seconds = parsed(text)
    clock = made.run.clock
    if of_week:
        if week and not (week.isdecimal() and int(week) > 0):
            raise AnalysisError(f"--week {week}: give a whole number; 1 is the week in which the run begins")
        number = int(week) - 1 if week else int((made.until + clock - seconds) // WEEK)
        time = number * WEEK + seconds - clock
    elif week:
        raise AnalysisError(f"--week {week} needs a weekday, not --at {text}; omit one of them")
    else:
        time = seconds
    if not made.begin <= time <= made.end:
        first, last = (
            f"{weekday_time(one + clock)} of week {int((one + clock) // WEEK) + 1}"
            for one in (made.begin, made.end)
        )
        where = f" of week {int((time + clock) // WEEK) + 1}" if of_week else ""
        raise AnalysisError(
            f"--at {text!r}{where} is outside the run, which lasts from {first} to {last}; give a time "
            "between them, with --week N for another week"
        )
    return time
