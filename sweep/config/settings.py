"""The keys of an experiment, and checks of their values."""

import math
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, make_dataclass
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple, get_type_hints

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from models import checks
from sweep.errors import SweepError, unknown

LONGEST_NAME, LONGEST_PART = 200, 255
"""Limits: characters of a study's name, and bytes of each part of a path."""

MSER = "mser"
"""Value of ``warmup``: MSER determines it from the data, see `sweep.statistics.warmup`."""

AUTO = "auto"
"""Value of ``batches`` and ``warmup``: a pilot determines the necessary length, see `sweep.pilot`."""

WEEK = "week"
"""Value of ``batch_size``: a batch is a calendar week, see `models.jobs.calendar`."""

GROUPS = ("policy", "workload", "machine")
"""The config groups whose files are values of grid axes of the same name."""

OF_THE_RUN = ("output", "action", "executor", "fresh", "replace", "slurm", "schedule")
"""Settings of how and where a study is run, which change none of its numbers."""

OPEN = (*GROUPS, "executor", "grid", "axes", "values", "arguments", "metrics", "tune", "searched")
"""Mappings whose keys are checked after composing, against the files and axes that they belong to."""

BY_LOAD = ("batches", "warmup")
"""Keys whose values may be numbers by load, ``{0:30,0.85:60}``."""

REPLICATIONS = "replications"
KEEP = ("batches", REPLICATIONS, "all")
"""What a dataset keeps of each run: its batches, its mean alone, or everything."""

ACTIONS = ("run", "plan", "status", "gather", "cancel")

MOST_VALUES, MOST_BATCHES, MOST_JOBS, MOST_OVERLOAD_RUNS = 10_000, 10_000_000, 1_000_000_000, 1000
"""Limits: values of an axis, batches of a run, jobs of a batch, and overload runs of a curve."""

MOST_LOAD = 5
"""The highest plausible load: loads are fractions of capacity; a higher one is probably a percentage."""

SWITCHES = ("fresh", "replace")
"""Keys that must be true or false, where Hydra would also accept numbers."""

FRACTION = "give a fraction, 0.05 for 5 %"
RATIO = "give a ratio of 1 or more, or null for no limit"
GIVE = {
    "name": "give a name without spaces, which also names the dataset",
    "grid": "give values by axis, grid.AXIS=[VALUE,...]",
    "axes": "give the key that the axis sets, +axes.AXIS=policy.KEY",
    "values": "give named values of an axis, values.AXIS={NAME: VALUE}",
    "zip": "give lists of axes that vary together, zip=[[AXIS,AXIS]]",
    "exclude": "give a list of the points to leave out, exclude=[{AXIS: VALUE}]",
    "policy": "give its keys, policy={KEY: VALUE}; policies are named by grid.policy=[NAME]",
    "workload": "give its keys, workload={KEY: VALUE}; workloads are named by grid.workload=[NAME]",
    "machine": "give its keys, machine={KEY: VALUE}; machines are named by grid.machine=[NAME]",
    "executor": "give its name on the command line, executor=NAME, and its keys, executor={KEY: VALUE}",
    "batches": "give a number, or numbers by load, {0:30,0.85:60}, or auto",
    "batch_size": "give a number of jobs, null or week",
    "warmup": "give a number of batches, mser or auto",
    "action": "give run, plan, status, gather or cancel",
    "model": "give the dotted name of a function, model=MODULE.FUNCTION",
    "command": "give a program and its arguments, command=[./simulate,...]",
    "arguments": "give values of arguments, arguments={NAME: VALUE}",
    "metrics": "give units of metrics, metrics={NAME: UNIT}",
    "seed_by": "give the axes whose values get their own random numbers, seed_by=[AXIS]",
    "time_limit": "give the longest time of a task in seconds, time_limit=60",
    "results": "give the name of the file that the command writes, results=out.json",
    "replications": "give a whole number from 1 to 10,000,000",
    "budget": "give a time, e.g. budget=10min",
    "seed": "give a whole number, 0 or more",
    "capacity": "give the overload runs of each curve, from 0 (none) to 1000",
    "confidence": "give a level between 0 and 1, e.g. 0.95",
    "precision": "its keys are relative, metric and checkpoints, e.g. precision.relative=0.05",
    "precision.relative": FRACTION,
    "precision.metric": "give the name of one metric",
    "precision.checkpoints": "give ascending numbers of batches, e.g. [30,60,120]",
    "measures": "its keys are bound, groups and of_jobs, e.g. measures.bound=10",
    "measures.bound": "give a positive number of seconds, e.g. 10",
    "measures.groups": "give a list of names, e.g. measures.groups=[size,runtime]",
    "measures.of_jobs": "give a list of dotted names, e.g. measures.of_jobs=[mine.metrics.stretch]",
    "accept": "its keys are longest_wait, group_wait and least_gain, e.g. accept.longest_wait=1.5",
    "accept.longest_wait": f"{RATIO}, e.g. 1.5",
    "accept.group_wait": f"{RATIO}, e.g. 1.25",
    "accept.least_gain": "give a time, e.g. 10min, 90s or 2h, or null for no least gain",
    "tune": "give the keys that a search may set, tune={KEY: [LOW, HIGH]} (docs/tune.md)",
    "search": "its keys are at_once, settings and held_back, e.g. search.settings=100",
    "search.at_once": "give the number of settings to try at once, from 1 to 1000",
    "search.settings": "give the largest number of settings to try, or null (as many as the budget allows)",
    "search.held_back": "give the share of the log to hold back, from 0.25 to 0.7",
    "searched": "a search writes it; omit it",
    "output": "give a folder for the results, output=FOLDER",
    "fresh": "give true or false",
    "replace": "give true or false",
    "keep": "give batches, replications or all",
    "slurm": "give the name of a profile",
    "schedule": "give the name of a file, e.g. schedule=jobs.csv",
}
"""Allowed values of each key, for the messages that refuse any other."""


@dataclass
class Precision:
    """Sequential stopping; see conf/config.yaml."""

    relative: float | None = None
    metric: str | None = None
    checkpoints: list[int] | None = None


@dataclass
class Measures:
    """The measures of jobs under any policy; see conf/config.yaml."""

    bound: float = 10.0
    groups: list[str] = field(default_factory=list)
    of_jobs: list[str] = field(default_factory=list)


@dataclass
class Accept:
    """What a site would accept of another policy; see conf/config.yaml."""

    longest_wait: float | None = 1.5
    group_wait: float | None = 1.25
    least_gain: str | None = "10min"


@dataclass
class Search:
    """How the search for the best settings proceeds; see conf/config.yaml."""

    at_once: int = 16
    settings: int | None = None
    held_back: float = 0.5


@dataclass
class Settings:
    """The keys of an experiment, which conf/config.yaml explains and gives their defaults."""

    name: str
    grid: dict[str, Any] = field(default_factory=dict)
    axes: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    zip: list[list[str]] = field(default_factory=list)
    exclude: list[dict[str, Any]] = field(default_factory=list)
    policy: dict[str, Any] = field(default_factory=dict)
    workload: dict[str, Any] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)
    model: str | None = None
    command: list[str] | None = None
    arguments: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, Any] = field(default_factory=dict)
    seed_by: list[str] = field(default_factory=list)
    time_limit: float | None = None
    results: str | None = None
    replications: int | None = None
    batches: Any = 30
    batch_size: Any = 1000
    warmup: Any = 1
    budget: str | None = None
    seed: int = 1
    capacity: int = 2
    confidence: float = 0.95
    precision: Precision = field(default_factory=Precision)
    keep: str = "batches"
    measures: Measures = field(default_factory=Measures)
    accept: Accept = field(default_factory=Accept)
    tune: dict[str, Any] = field(default_factory=dict)
    search: Search = field(default_factory=Search)
    searched: dict[str, Any] = field(default_factory=dict)
    output: str = ""
    action: str = "run"
    executor: dict[str, Any] = field(default_factory=dict)
    fresh: bool = False
    replace: bool = False
    slurm: str | None = None
    schedule: str | None = None

    @property
    def is_program(self) -> bool:
        """Whether the model is a function or a command rather than the families of policies."""
        return self.model is not None or self.command is not None

    def checkpoints(self, load: float | None = None) -> tuple[int, ...]:
        """Return the numbers of measured batches at which a run at a load may end."""
        batches = at_load(self.batches, load)
        if self.precision.relative is None:
            return (batches,)
        if self.precision.checkpoints is not None:
            return tuple(self.precision.checkpoints)
        return tuple(batches * factor for factor in (1, 2, 4, 8))


BELOW = {
    key: tuple(one.name for one in fields(kind))
    for key, kind in (
        ("precision", Precision),
        ("measures", Measures),
        ("accept", Accept),
        ("search", Search),
    )
}
"""Valid keys below the settings that are mappings."""


def at_load(value: Any, load: float | None) -> Any:
    """Return a number that may depend on the load, ``{0: 30, 0.85: 60}``: 60 from 0.85 on, 30 below.

    Examples
    --------
    >>> at_load(30, 0.9), at_load({0: 30, 0.85: 60}, 0.85), at_load({0: 30, 0.85: 60}, None)
    (30, 60, 30)
    """
    if not isinstance(value, Mapping):
        return value
    return value[max(low for low in value if low <= (load or 0.0))]


class Narrowing(NamedTuple):
    """What `sweep.plan.narrowed` needs to find the keys and axes that a part of a grid does not use.

    asked : dotted keys that were given, ``policy.slice`` and ``grid.level``
    others : group -> name -> file, all files that the experiment itself names; empty where the grid has
        another one
    """

    asked: Collection[str]
    others: Callable[[str], Mapping[str, dict[str, Any]]]


@dataclass(frozen=True)
class Config:
    """The config of a study, composed and checked as far as possible without the models.

    Parameters
    ----------
    files : dict of str to dict
        Group (policy, workload, machine) -> name -> the composed file, interpolations not yet resolved.
    groups : dict of str to dict
        The files that ``measures.groups`` names.
    described : dict of str to dict
        Group (policy, workload, machine) -> name -> description in its file, for reports; no part of any
        task's identity.
    logs : dict of str to str
        Path of a log as another machine had it -> where it is here, for a study that is rerun.
    for_others : sequence of str
        Axes that set nothing here, because only policies (workloads, machines) outside the grid have their
        keys.
    narrowing : Narrowing, optional
        None once the grid is narrowed.
    typed : sequence of str
        Dotted keys of policies, workloads and machines that were typed, including the axes of the grid.
    """

    settings: Settings
    files: Mapping[str, Mapping[str, dict[str, Any]]]
    groups: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    described: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    logs: Mapping[str, str] = field(default_factory=dict)
    for_others: Sequence[str] = ()
    narrowing: Narrowing | None = field(default=None, repr=False)
    typed: Sequence[str] = ()


def check(settings: Settings) -> None:
    """Refuse invalid values, each with one line."""
    for key in OPEN:  # the type of a mapping given by one interpolation is known only now
        if not isinstance(value := getattr(settings, key), Mapping):
            raise SweepError(refused(key, value))
    if not all(isinstance(entry, Mapping) for entry in settings.exclude):
        raise SweepError(refused("exclude", settings.exclude))
    if not re.fullmatch(r"[\w.-]*[\w-][\w.-]*", settings.name):  # dots alone are not a name
        raise SweepError(f"name={settings.name!r} becomes a file name: use letters, digits, '.', '_' and '-'")
    if len(settings.name) > LONGEST_NAME:
        raise SweepError(
            f"name={settings.name[:40]}... has {len(settings.name)} characters and becomes a file name: give "
            f"{LONGEST_NAME} or less"
        )
    if settings.action not in ACTIONS:
        raise SweepError(unknown("action", settings.action, ACTIONS))
    if settings.keep not in KEEP:
        raise SweepError(unknown("keep", settings.keep, KEEP))
    if settings.fresh and settings.action not in ("run", "plan"):
        raise SweepError(f"fresh=true goes with action=run, not with action={settings.action}")
    if settings.batches != AUTO:
        _check_by_load("batches", settings.batches, 1, f", or numbers by load, {{0:30,0.85:60}}, or {AUTO}")
    for axis, values in settings.grid.items():
        if isinstance(values, list) and len(values) > MOST_VALUES:
            raise SweepError(f"grid.{axis} has {len(values):,} values: give {MOST_VALUES:,} or less")
    size = settings.batch_size
    is_number = isinstance(size, int) and not isinstance(size, bool)
    if size not in (None, WEEK) and not (is_number and 1 <= size <= MOST_JOBS):
        raise SweepError(
            f"batch_size={size}: give 1 to {MOST_JOBS:,}; for a workload that ends also null, which divides "
            f"all of its jobs into batches, or {WEEK}"
        )
    for key in ("output", "schedule"):
        if (given := getattr(settings, key) or "").encode(errors="ignore").decode() != given:
            raise SweepError(f"{key}={given!a}: the name has to be UTF-8, as a dataset requires; {GIVE[key]}")
        if max(map(len, given.encode().split(b"/"))) > LONGEST_PART:
            raise SweepError(f"{key}={given[:40]}...: File name too long; give a shorter one")
        if "\0" in given:
            raise SweepError(f"{key}={given!a}: the name of a file cannot have a null byte; {GIVE[key]}")
    if not settings.output.strip():
        raise SweepError(f"output= is empty: {GIVE['output']}")
    for key, allows in ALLOWED.items():
        if (value := attrgetter(key)(settings)) is not None and not allows(value):
            raise SweepError(refused(key, value))
    if settings.warmup not in (MSER, AUTO):
        _check_by_load("warmup", settings.warmup, 0, f" batches, {MSER} or {AUTO}")
    _check_precision(settings)


ALLOWED: Mapping[str, Callable[[Any], bool]] = {
    "replications": lambda n: 1 <= n <= MOST_BATCHES,
    "measures.bound": lambda seconds: 0 < seconds < math.inf,
    "accept.longest_wait": lambda ratio: 1 <= ratio < math.inf,
    "accept.group_wait": lambda ratio: 1 <= ratio < math.inf,
    "accept.least_gain": lambda text: seconds_of(text) is not None,
    "search.at_once": lambda n: 1 <= n <= 1000,
    "search.settings": lambda n: 1 <= n <= MOST_VALUES,
    "search.held_back": lambda share: 0.25 <= share <= 0.7,
    "capacity": lambda n: 0 <= n <= MOST_OVERLOAD_RUNS,
    "time_limit": lambda seconds: 0 < seconds < math.inf,
    "seed": lambda n: n >= 0,
    "confidence": lambda level: 0 < level < 1,
}
"""Whether a key takes a value; null is left to its type."""


def seconds_of(text: str) -> float | None:
    """Return a time such as ``10min`` in seconds; None if the string is not a time.

    Examples
    --------
    >>> seconds_of("90s"), seconds_of("10min"), seconds_of("1.5h"), seconds_of("10")
    (90.0, 600.0, 5400.0, None)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|min|h)", text.strip())
    seconds = float(found[1]) * {"s": 1, "min": 60, "h": 3600}[found[2]] if found else 0.0
    return seconds or None


@cache
def typed_settings() -> Any:
    """Return all settings with types and defaults; a merge of values over them makes a copy."""
    return OmegaConf.structured(Settings)


@cache
def _typed_setting(name: str) -> Any:
    """Return one of the settings with its type: a merge copies all that there is."""
    own = copy(Settings.__dataclass_fields__[name])
    return OmegaConf.structured(make_dataclass("Setting", [(name, get_type_hints(Settings)[name], own)]))


def check_key(key: str, value: Any, valid: Collection[str]) -> None:
    """Refuse an unknown setting, or a value of the wrong type.

    Parameters
    ----------
    key : str
        Dotted, ``precision.relative``; keys below `OPEN` belong to files and axes, and are not checked here.
    valid : collection of str
        The settings.
    """
    top, _, rest = key.partition(".")
    if key in BELOW and isinstance(value, Mapping):
        for name, one in value.items():
            check_key(f"{key}.{name}", one, valid)
    elif rest and top in BELOW and rest not in BELOW[top]:
        raise SweepError(unknown(f"key below {top}", rest, BELOW[top]))
    elif (not rest and key not in valid) or (rest and top not in (*OPEN, *BELOW)):
        raise SweepError(unknown("key", key, valid))
    elif not rest or top in BELOW:
        try:
            OmegaConf.merge(_typed_setting(top), {top: {rest: value} if rest else value})
        except (OmegaConfBaseException, TypeError, OverflowError):  # a list, or an integer of 400 digits
            raise SweepError(refused(key, value)) from None
        if key in SWITCHES and not isinstance(value, bool):
            raise SweepError(refused(key, value))


def refused(key: str, value: Any) -> str:
    """Return the line that refuses a key's value and states which values are allowed.

    Examples
    --------
    >>> refused("replications", 2.5)
    'replications=2.5: give a whole number from 1 to 10,000,000'
    """
    text = f"{value:g}" if isinstance(value, float) else shown(value)[:99] or "nothing"
    return f"{key}={text}: {GIVE[key]}"


def too_high(load: float) -> str | None:
    """Return why a load must be a mistake, or None for a plausible load.

    Examples
    --------
    >>> too_high(50)
    "50 times the machine's capacity; loads are fractions: did you mean 0.5?"
    """
    if load <= MOST_LOAD:
        return None
    shown = min(load, sys.float_info.max)  # an integer may be too large for a float
    return f"{shown:g} times the machine's capacity; loads are fractions: did you mean {shown / 100:g}?"


def _check_by_load(key: str, value: Any, least: int, others: str = "") -> None:
    """Refuse a value that is neither a number nor numbers by load, the first from load 0 on."""
    numbers = list(value.values()) if isinstance(value, Mapping) else [value]
    allowed = range(least, MOST_BATCHES + 1)
    if any(isinstance(n, bool) or not isinstance(n, int) or n not in allowed for n in numbers) or not numbers:
        raise SweepError(f"{key}={shown(value)[:99]}: give {least} to {MOST_BATCHES:,}{others}")
    if isinstance(value, Mapping):
        numbers = [low for low in value if not isinstance(low, bool) and isinstance(low, int | float)]
        loads = [low for low in numbers if 0 <= low <= MOST_LOAD]
        if len(loads) < len(value) or min(loads, default=1) != 0:
            raise SweepError(
                f"{key}={shown(value)}: give a number for each load from which it applies, the first from 0, "
                "e.g. {0:30,0.85:60}"
            )


def shown(value: Any) -> str:
    """Return a setting as it is typed.

    Examples
    --------
    >>> shown({0: 30, 0.85: 60}), shown(["load", None])
    ('{0:30,0.85:60}', '[load,null]')
    """
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{shown(key)}:{shown(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(shown, value))}]"
    return checks.shown(value)


def _check_precision(settings: Settings) -> None:
    relative, checkpoints = settings.precision.relative, settings.precision.checkpoints
    if relative is None:
        if checkpoints is not None:
            raise SweepError("precision.checkpoints needs precision.relative, e.g. 0.05")
        return
    if not 0 < relative < 1:
        raise SweepError(refused("precision.relative", relative))
    if checkpoints is not None and (
        not checkpoints or checkpoints[0] < 1 or sorted(set(checkpoints)) != checkpoints
    ):
        raise SweepError(refused("precision.checkpoints", checkpoints))


def as_list(value: object) -> list[Any]:
    """Return a list as it is, an empty string as an empty list, and anything else as a list of one item."""
    if value == "":
        return []
    return list(value) if isinstance(value, list) else [value]
