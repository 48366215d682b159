"""A drawing's settings, parsed from text, and the schedule that the models compute for them.

The models are imported inside the functions: help and errors do not wait for them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from analysis.drawings.composition import checked, given, in_words_of_drawings, parameters
from analysis.errors import AnalysisError
from models.point import Batches, Point
from sweep.config.settings import too_high
from sweep.plan import families
from sweep.plan.task import seed
from sweep.policy_names import label

if TYPE_CHECKING:
    from models.jobs.schedule import Schedule

SOURCE = {
    "policy": "",
    "workload": "",
    "path": "",
    "month": "",
    "machine": "",
    "load": "",
    "ties": "",
    "unrequested": "",
    "seed": "1",
    "replication": "0",
    "jobs": "1000",
    "conf": "",
}
"""Settings of a schedule; empty means the value in the files of conf. Papers name policy and workload."""

SHORT = ("policy.alternation", "policy.ties", "policy.unrequested", "workload.path", "workload.month")
"""Keys that these drawings accept without their group."""

MACHINES = {"o2k": "o2k", "swf": "log", "sacct": "log"}
"""``workload.model`` -> its default machine."""

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
NAMES = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


@dataclass(frozen=True, eq=False)
class Scene:
    """A schedule to be drawn.

    Parameters
    ----------
    measured : slice
        Jobs that experiments measure; earlier jobs fill the machine.
    begin, until : float, seconds
        Period of the measured jobs.
    """

    schedule: Schedule
    measured: slice
    begin: float
    until: float
    title: str = ""


def scene(settings: Mapping[str, str]) -> Scene:
    """Compute the schedule for some settings; errors as for `asked`."""
    point = asked(settings)
    try:
        found = run(point)
    except ValueError as error:  # a model's one-line reason for refusing parameters
        raise AnalysisError(in_words_of_drawings(str(error), SHORT)) from None
    title = f"{label(point.policy['name'])}, {point.workload['name']}"
    if settings["month"]:
        title += f" {settings['month']}"
    if point.load is not None:
        title += f", load {point.load:g}"
    return replace(found, title=title)


def asked(settings: Mapping[str, str], of_policy: Mapping[str, Any] | None = None) -> Point:
    """Return the point for some settings, with the same jobs as an experiment with that seed.

    Parameters
    ----------
    settings : dict of str to str
        With the keys of `SOURCE`, except keys that a drawing does not have.
    of_policy : dict, optional
        Further keys of its file, and the values that they take.

    Raises
    ------
    AnalysisError
        If they cannot be understood, or the models refuse them.
    """
    user = settings["conf"]
    policy_keys = {**(of_policy or {}), **_given(settings, "ties", "unrequested", "alternation")}
    workload_keys = _given(settings, "path", "month")
    policy = parameters("policy", settings["policy"], policy_keys | given(settings, "policy"), user)
    workload = parameters("workload", settings["workload"], workload_keys | given(settings, "workload"), user)
    named = settings["machine"] or MACHINES.get(str(workload.get("model")), "pe128")
    if named.isdecimal() and int(named):
        machine = parameters("machine", "log", {"processors": int(named), **given(settings, "machine")}, user)
    else:
        machine = parameters("machine", named, given(settings, "machine"), user)
    load = None
    if settings["load"] not in ("", "null"):
        load = positive(settings, "load", "a positive number, or null for the workload's own")
    root = seed(whole(settings, "seed", 0), workload["name"], whole(settings, "replication", 0))
    jobs = whole(settings, "jobs") if "jobs" in settings else int(SOURCE["jobs"])
    point = Point(policy, workload, machine, load, Batches(jobs, 0, (1,)), root)
    checked(point, SHORT)
    return point


def run(point: Point) -> Scene:
    """Return a policy's schedule of a workload; of an endless one, the jobs of its batches are measured.

    Raises
    ------
    ValueError
        If the models refuse the point.
    """
    made = families.find(point.policy["family"]).schedule(point)
    if made.trace is None:
        measured, until = slice(point.batches.jobs(point.batches.most)), None
    else:
        measured, until = made.trace.measured, made.trace.until
    begin = float(made.jobs.submit[measured][0])
    return Scene(made, measured, begin, float(made.end[measured].max()) if until is None else until)


def window(settings: Mapping[str, str], shown: Scene, longest: float = math.inf) -> tuple[float, float]:
    """Return the first and the last time of a drawing, seconds.

    Parameters
    ----------
    settings : dict
        ``from`` and ``to``: a number of hours, or with a unit: 90m, 36h, 2.5d.
    shown : Scene
        Gives the default, its measured period.
    longest : float, seconds
        Of the default.
    """
    last = float(shown.schedule.end.max())
    first = instant(settings["from"], "from") if settings["from"] else shown.begin
    if first >= last:
        raise AnalysisError(
            f"from={settings['from']}: the schedule ends after {last / 3600:.4g} hours; give an earlier time"
        )
    ends = shown.until if shown.until > first else last
    end = instant(settings["to"], "to") if settings["to"] else min(ends, first + longest)
    if end <= first:
        raise AnalysisError(
            f"to={settings['to']}: the drawing begins at {first / 3600:.4g} hours; give a time after that, "
            "e.g. from=7d to=9d"
        )
    return first, end


def unit_of(seconds: float) -> tuple[str, float]:
    """Return the name and the length of the unit that suits a span of time.

    Examples
    --------
    >>> unit_of(3 * 86400)
    ('days', 86400.0)
    """
    unit = next((unit for unit in "dhm" if seconds >= 3 * UNITS[unit]), "s")
    return NAMES[unit], UNITS[unit]


def _given(settings: Mapping[str, str], *keys: str) -> dict[str, Any]:
    return {key: settings[key] for key in keys if settings.get(key)}


def instant(text: str, key: str) -> float:
    """Return a time in seconds: a number of hours, or with a unit: 90m, 36h, 2.5d."""
    found = re.fullmatch(r"(\d+\.?\d*)([smhd]?)", text)
    if not found:
        raise AnalysisError(f"{key}={text}: give hours, or a number with a unit: 90m, 36h, 2.5d")
    return float(found[1]) * UNITS[found[2] or "h"]


def steps(begin: np.ndarray, end: np.ndarray, height: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ascending instants at which a sum of heights changes, and its value from each of them on."""
    times, which = np.unique(np.concatenate([begin, end]), return_inverse=True)
    return times, np.cumsum(np.bincount(which, np.concatenate([height, -height]), times.size))


P = ParamSpec("P")
T = TypeVar("T")

MOST = 4096
"""Most processors of a picture, which would otherwise take minutes and be illegible."""


def mesh_of(settings: Mapping[str, str], key: str = "processors") -> tuple[int, int]:
    """Return rows and columns of ``processors=16x32``, or of another setting.

    Raises
    ------
    AnalysisError
        If it is something else.
    """
    parts = settings[key].lower().replace("×", "x").split("x")
    if len(parts) != 2 or not all(part.isdecimal() and int(part) for part in parts):
        raise AnalysisError(f"{key}={settings[key]}: give rows and columns, e.g. 16x32")
    rows, columns = map(int, parts)
    if rows * columns > MOST:
        raise AnalysisError(f"{key}={settings[key]}: too many to draw; give at most {MOST}")
    return rows, columns


def whole(settings: Mapping[str, str], key: str, least: int = 1) -> int:
    """Return a whole number, or raise `AnalysisError`."""
    text = settings[key]
    if not text.isdecimal() or int(text) < least:
        raise AnalysisError(f"{key}={text}: give a {'positive ' * (least > 0)}whole number")
    return int(text)


def positive(
    settings: Mapping[str, str], key: str, advice: str = "a positive number", most: float = math.inf
) -> float:
    """Return a finite number above 0, up to `most`; otherwise raise `AnalysisError` with advice."""
    try:
        value = float(settings[key])
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and 0 < value <= most):
        raise AnalysisError(f"{key}={settings[key]}: give {advice}")
    if key == "load" and (why := too_high(value)) is not None:
        raise AnalysisError(f"load={value:g} is {why}")
    return value


def numbers(settings: Mapping[str, str], key: str) -> list[int]:
    """Return the whole numbers of ``requirements=2,2,4``, or raise `AnalysisError`."""
    parts = settings[key].replace(" ", "").strip("[]").split(",")
    if not all(part.isdecimal() and int(part) for part in parts):
        raise AnalysisError(f"{key}={settings[key]}: give positive whole numbers, e.g. {key}=2,2,4,8")
    return [int(part) for part in parts]


def valid(model: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
    """Call a model; raise its one-line reason for refusing parameters as an `AnalysisError`."""
    try:
        return model(*arguments, **keywords)
    except ValueError as error:
        raise AnalysisError(str(error)) from None
