"""``model=FUNCTION`` and ``command=[...]``: a study of a program, planned and run like one of a policy.

The arguments are keys of that policy, below `ARGUMENTS`, and each axis of the grid sets one of them. The axes
that every plan has are hidden unless they are arguments: they have one value, and the dataset omits them.
"""

import hashlib
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import FunctionType
from typing import Any

from models import dotted
from models.metric import Metric
from schedsweep import packages
from sweep.config.settings import GROUPS, Config, Settings, as_list, shown
from sweep.errors import SweepError, unknown
from sweep.plan import families
from sweep.plan.grid import ALWAYS
from sweep.programs import DECLARED, Declared
from sweep.programs.family import COMMAND, PLACE, SEED, Command, Function, Program
from sweep.programs.types import RNG, fitted, parameters

ARGUMENTS = "arguments"

ONLY = (ARGUMENTS, "metrics", "seed_by", "time_limit", "results")
"""Settings of programs alone."""

WITHOUT = ("policy", "workload", "machine", "axes")
"""Settings that do not apply to a study of a program."""

TAKEN = (
    "state", "saturated", "too_short", "bias", "control", "capacity", "capacity_se", "capacity_upper",
    "seconds", "exact", "dropped",
)  # fmt: skip
"""Variables of datasets, whose names no metric may have."""

HERE = ("serial", "dask")
"""Executors whose workers receive functions directly from this session."""

SESSION: dict[str, Callable[..., Any]] = {}
"""Functions that a notebook gave, by dotted name."""


def given(function: Callable[..., Any]) -> str:
    """Return the name by which a study refers to a function of this session."""
    name = f"{getattr(function, '__module__', None)}.{getattr(function, '__qualname__', None)}"
    if not isinstance(function, FunctionType):
        raise SweepError(f"model={function!r:.80}: give a function (def, lambda); wrap anything else in one")
    SESSION[name] = function
    return name


def expanded(config: Config) -> tuple[Config, tuple[str, ...]]:
    """Return the config of an equivalent study of policies, and the axes that its dataset omits."""
    settings = config.settings
    if not settings.is_program:
        for key in ONLY:
            if getattr(settings, key):
                raise SweepError(
                    f"{key}={shown(getattr(settings, key))} goes with model=FUNCTION or command=[...]"
                )
        return config, ()
    for key in WITHOUT:
        if getattr(settings, key):
            raise SweepError(
                f"{key} is for policies: arguments are axes, grid.NAME=[...], or arguments.NAME=VALUE"
            )
    # Policies name their family by a string, by which tasks in this process find the program again.
    program = _command(settings) if settings.command is not None else _function(settings)
    families.PROGRAMS[program.key] = program
    return _planned(config, program)


def _planned(config: Config, program: Program) -> tuple[Config, tuple[str, ...]]:
    settings, name = config.settings, program.name
    taken = program.parameters
    axes = {axis: as_list(values) for axis, values in settings.grid.items()}
    if "load" not in taken and axes.get("load") == [None]:  # by default, not by the user
        del axes["load"]
    axes |= {axis: list(values) for axis, values in settings.values.items() if axis not in axes}
    for where, names in (("grid", axes), (ARGUMENTS, settings.arguments), ("seed_by", settings.seed_by)):
        valid = axes if where == "seed_by" else taken
        for key in names:
            if key not in valid:
                kind = "axis" if where == "seed_by" else f"argument of {name}"
                raise SweepError(f"{where}: {unknown(kind, str(key), valid)}")
    for key, one in taken.items():
        if key in axes and key in settings.arguments:
            raise SweepError(f"{key} is both in grid and in arguments: give it once")
        if key not in axes and key not in settings.arguments and one.default is one.empty:
            raise SweepError(f"{name} needs {key}: give grid.{key}=[VALUE,...] or arguments.{key}=VALUE")
        named = settings.values.get(key) or {}
        for value in [settings.arguments[key]] if key in settings.arguments else axes.get(key, []):
            try:
                fitted(named.get(value, value) if isinstance(value, str) else value, one.annotation)
            except TypeError:
                kind = inspect.formatannotation(one.annotation)
                raise SweepError(f"{key}={shown(value)}: {name} takes {kind} there") from None
    own = [axis for axis in ALWAYS if axis in axes]
    policy = {
        "family": program.key,
        ARGUMENTS: {
            key: settings.arguments.get(key, one.default if _is_plain(one.default) else None)
            for key, one in taken.items()
            if key not in own and (key in axes or key in settings.arguments or _is_plain(one.default))
        },
        "axes": own,
        "seed_by": list(settings.seed_by),
        "time_limit": settings.time_limit,
        "metrics": settings.metrics,
    }
    if isinstance(program, Command):
        policy |= {"command": list(program.arguments), "results": program.results}
    files: dict[str, dict[str, dict[str, Any]]] = {
        group: {str(value): {"value": value} for value in axes.get(group, [name])} for group in GROUPS
    }
    files["policy"] = {label: {**policy, **file} for label, file in files["policy"].items()}
    is_many = isinstance(program, Function) and inspect.isgeneratorfunction(inspect.unwrap(program.function))
    length: dict[str, Any] = {} if is_many else {"batches": 1, "warmup": 0}
    if not is_many and settings.precision.relative is not None:
        raise SweepError(
            f"precision.relative: {name} returns once; yield the metrics of each batch, or give replications"
        )
    if not program.draws and settings.replications not in (None, 1):
        what = f"its arguments, {{{SEED}}}," if isinstance(program, Command) else f"its arguments, {RNG},"
        raise SweepError(
            f"replications={settings.replications}: {name} draws no random numbers, so replications would be "
            f"copies; add to {what} or give replications=1"
        )
    # A batch is one return or yield, and a program has no capacity that overload runs could measure.
    settings = replace(
        settings,
        grid={**{group: [name] for group in GROUPS}, **axes},
        axes={axis: f"policy.{ARGUMENTS}.{axis}" for axis in axes if axis not in ALWAYS},
        replications=settings.replications if program.draws else 1,
        batch_size=1, capacity=0, **length,
    )  # fmt: skip
    hidden = tuple(axis for axis in ALWAYS if axis not in axes)
    return replace(config, settings=settings, files=files, typed=()), hidden


def _is_plain(value: Any) -> bool:
    """Whether a default can be written as a setting; others are left to the function."""
    return value is None or isinstance(value, bool | int | float | str)


def _function(settings: Settings) -> Program:
    name = str(settings.model)
    if settings.results:
        raise SweepError("results is the file of a command; a function returns its metrics")
    if name.partition(".")[0] in {*packages.NAMES, "schedsweep"}:
        raise SweepError(f"model={name}: code of this project cannot be a model; give a function of your own")
    if (function := SESSION.get(name)) is None:
        try:
            function = dotted.imported(name)
        except ImportError as error:
            raise SweepError(f"model={name}: {error}; give MODULE.FUNCTION") from None
    if not callable(function):
        raise SweepError(f"model={name} is {type(function).__name__}, not a function; give MODULE.FUNCTION")
    declared = _metrics(settings.metrics or getattr(function, DECLARED, {}), name)
    draws = RNG in parameters(function)
    module, _, last = name.rpartition(".")
    value, code = b"", ""
    if (
        name in SESSION and getattr(sys.modules.get(module), last, None) is not function
    ) or module == "__main__":
        executor = str(settings.executor.get("name"))
        if executor not in HERE:
            raise SweepError(
                f"{last} is defined in this session ({module}), and workers of executor={executor} cannot "
                f"import it: put it into a module, or use executor={' or '.join(HERE)}"
            )
        from sweep.plan import session

        (value, code), module = session.pickled(function, last), "__main__"
    return Function(
        package=module, model=module, name=last.strip("<>"), version=1, headline=next(iter(declared[0])).name,
        metrics=declared[0], coords=declared[1], draws=draws, origin=name, value=value, code=code,
    )  # fmt: skip


def _command(settings: Settings) -> Program:
    line = settings.command
    if settings.model is not None:
        raise SweepError("model= and command=: give one of them")
    if not line or not all(isinstance(part, str) and part for part in line):
        raise SweepError(
            f"command={shown(line)}: give the program and its arguments, [./simulate, --n, '{{points}}']"
        )
    name = Path(line[0]).stem
    declared = _metrics(settings.metrics, name)
    whole = hashlib.sha256()
    for part in filter(lambda part: len(part) < 4096 and "\0" not in part and Path(part).is_file(), line):
        whole.update(Path(part).read_bytes())
    draws = any(SEED in PLACE.findall(part) for part in line)
    return Command(
        package=f"{COMMAND}{name}", name=name, version=1, headline=declared[0][0].name, metrics=declared[0],
        coords=declared[1], draws=draws, arguments=tuple(line), results=settings.results or "",
        code=whole.hexdigest(),
    )  # fmt: skip


def _metrics(given: Mapping[str, Any], name: str) -> tuple[tuple[Metric, ...], dict[str, list[Any]]]:
    """Return declared metrics, and the coordinates of their dimensions."""
    found, coords = [], dict[str, list[Any]]()
    for key, one in given.items():
        try:
            if isinstance(one, Mapping):
                one = Declared(**one)
            # YAML and shells turn the unit "1" into a number.
            parts = ["1"] if one == 1 else [one] if isinstance(one, str) else one
            unit, long_name, dims = Declared(*parts)
            values = {dim: list(places) for dim, places in dims.items()}
            is_sound = all(isinstance(text, str) for text in (unit, long_name))
        except (TypeError, AttributeError):
            is_sound = False
        if not is_sound or not str(key).isidentifier() or key in TAKEN:
            raise SweepError(
                f"metrics.{key}: give a free name with its unit, metrics.{key}=s, or with unit, "
                "long_name and dims {DIM: [COORDINATES]}"
            )
        found.append(Metric(str(key), unit, long_name or str(key).replace("_", " "), tuple(values)))
        for dim, places in values.items():
            if coords.setdefault(dim, places) != places:
                raise SweepError(
                    f"metrics.{key}: the dimension {dim} has other coordinates in another metric"
                )
    if not found:
        raise SweepError(
            f"{name} declares no metrics: give metrics.NAME=UNIT, or decorate it, @model(NAME=metric(UNIT))"
        )
    return tuple(found), coords
