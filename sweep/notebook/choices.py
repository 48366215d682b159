"""The arguments of a notebook as the plain data of the models.

A policy, a workload and a machine are each a name (of a file of conf), a mapping with a ``name`` and
settings, or the user's own: a log's path, arrays of jobs, a number of processors, a compiled function.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml  # type: ignore[import-untyped] # types only by another package

from sweep.config import chosen, locate
from sweep.errors import SweepError, unknown
from sweep.plan import families

COLUMNS = ("submit", "runtime", "processors", "requested", "memory", "user")
NEEDED = COLUMNS[:3]


def folders(config_dir: str | Path | None = None) -> list[Path]:
    """Return the config folders, see `sweep.config.locate.folders`."""
    try:
        return locate.folders(None if config_dir is None else str(config_dir))
    except SweepError as error:
        raise SweepError(words(str(error))) from None


def policy(given: Any, where: Sequence[Path]) -> dict[str, Any]:
    """Return a policy's parameters.

    Parameters
    ----------
    given : str, mapping or compiled function
        A function is a packing scheme (seven arguments, see `models.packing.schemes.signature`) or an order
        of priority for backfilling (four, or five if it changes while a job waits, see
        `models.backfill.priority.order`). A mapping has functions where a policy's file has their names.
    """
    if callable(given):
        return _of_function(given, where)
    name, settings = _named(
        "policy", given, "a name, a mapping {'name': ..., key: value}, or a compiled function"
    )
    return chosen.parameters("policy", name, settings, where)


def workload(given: Any, where: Sequence[Path]) -> dict[str, Any]:
    """Return a workload's parameters.

    Parameters
    ----------
    given : str, Path, mapping of settings, or mapping of arrays
        Arrays (a dict, a table, a Dataset) have ``submit``, ``runtime`` and ``processors``, perhaps
        ``requested``, ``memory`` (KB of a whole job) and ``user``.
    """
    if isinstance(given, Path) or (isinstance(given, str) and given.endswith((".swf", ".swf.gz"))):
        path = Path(given).expanduser().absolute()
        if not path.is_file():
            fault = "is a folder" if path.is_dir() else "no such file"
            raise SweepError(
                f"workload={given}: {fault}; give the path of one log in the Standard Workload Format"
            )
        return {**chosen.parameters("workload", "swf", {"path": str(path)}, where), "name": path.name}
    if (arrays := _arrays(given)) is not None:
        return {**chosen.parameters("workload", "arrays", {"jobs": {}}, where), "jobs": arrays}
    allowed = (
        "a name, a mapping {'name': ..., key: value}, the path of a log (.swf, .swf.gz), or arrays of jobs"
    )
    name, settings = _named("workload", given, allowed)
    if not settings and os.sep in name and os.path.isdir(os.path.expanduser(name)):
        raise SweepError(f"workload={name}: is a folder; give the path of one log")
    if not settings and os.path.isfile(os.path.expanduser(name)):  # also raised for a name that is too long
        raise SweepError(
            f"workload={name}: the kind of this file is not known; give {{'name': 'swf', 'path': '{name}'}}, "
            "or 'sacct' for the output of Slurm's sacct"
        )
    return chosen.parameters("workload", name, settings, where)


def machine(given: Any, where: Sequence[Path]) -> dict[str, Any]:
    """Return a machine's parameters.

    Parameters
    ----------
    given : int, str, mapping or None
        A number of processors; a name; rows times columns of a mesh, e.g. ``16x16``; keys of conf/machine;
        None is the machine of a log, as its header names it.
    """
    if given is None:
        return chosen.parameters("machine", "log", {}, where)
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        return {
            **chosen.parameters("machine", "log", {"processors": int(given)}, where),
            "name": f"{given} processors",
        }
    if isinstance(given, str) and given.replace("x", "").isdecimal() and given.count("x") == 1:
        return {**chosen.parameters("machine", "log", {"mesh": given}, where), "name": f"mesh of {given}"}
    if isinstance(given, Mapping) and "name" not in given:
        return {**chosen.parameters("machine", "log", _plain(given), where), "name": "own"}
    allowed = "a number of processors, a name, a mesh like '16x16', or a mapping of the keys of conf/machine"
    name, settings = _named("machine", given, allowed)
    return chosen.parameters("machine", name, settings, where)


def in_python(error: SweepError, given: Mapping[str, Any] | None = None) -> SweepError:
    """Return an error with arguments of Python in place of the settings of a command line that it names.

    Parameters
    ----------
    given : mapping, optional
        Policy, workload and machine of `sweep.simulate`; None for a study, which takes the settings
        unchanged.
    """
    keywords: dict[str, Any] = {}
    for key, text in error.added.items():
        group, _, name = key.partition(".")
        value = yaml.safe_load(text)
        if given is not None and group == "grid":
            keywords[name] = value[0]
        elif given is not None and not isinstance(given[group], str | Mapping):  # arrays, a function
            return type(error)(f"{error}; all together: {' '.join(map('='.join, error.added.items()))}")
        elif name:
            base = {} if given is None else given[group]
            keywords.setdefault(group, {"name": base} if isinstance(base, str) else dict(base))[name] = value
        else:
            keywords[group] = value
    together = ", ".join(f"{key}={value!r}" for key, value in keywords.items())
    text = words(str(error)) if given is not None else str(error)
    return type(error)(f"{text}; all together: {together}" if together else text)


SETTING = re.compile(r"\b(policy|workload|machine)\.([\w.]+)=(\[[^\]]*\]|[^\s,;:()]+)")


def words(text: str) -> str:
    """Return a message with its settings as arguments of Python instead of the command line's form.

    Examples
    --------
    >>> words("a mesh of 8 x 16; machine.mesh=ROWSxCOLUMNS sets another; --config-dir mine: no such folder")
    "a mesh of 8 x 16; machine={'mesh': 'ROWSxCOLUMNS'} sets another; config_dir=mine: no such folder"
    """

    def argument(found: re.Match[str]) -> str:
        try:
            value = yaml.safe_load(found[3])
        except yaml.YAMLError:  # a part of a longer one
            return found[0]
        return f"{found[1]}={{{found[2]!r}: {value!r}}}"

    text = SETTING.sub(argument, text)
    return text.replace("--config-dir ", "config_dir=").replace("--config-dir", "config_dir")


def _named(kind: str, given: Any, allowed: str) -> tuple[str, dict[str, Any]]:
    if isinstance(given, str):
        return given, {}
    if isinstance(given, Mapping) and isinstance(given.get("name"), str):
        settings = {key: value for key, value in given.items() if key != "name"}
        return given["name"], {
            key: value if key == "jobs" else _plain(value) for key, value in settings.items()
        }
    if isinstance(given, Mapping):
        raise SweepError(f"{kind}={dict(given)!r}: settings without a name; add 'name' to them: {allowed}")
    raise SweepError(f"{kind}: {type(given).__name__} is not understood; give {allowed}")


def _plain(value: Any) -> Any:
    """Return a setting with lists in place of arrays, as a file has it."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return np.asarray(value).tolist() if hasattr(value, "__array__") else value


def _arrays(given: Any) -> dict[str, Any] | None:
    """Return the columns of jobs, or None if the value is not a table of jobs."""
    if isinstance(given, str | Path) or not hasattr(given, "__getitem__") or not hasattr(given, "keys"):
        return None
    if isinstance(given, Mapping) and isinstance(given.get("name"), str):
        return None
    keys = set(given.keys()) | set(getattr(given, "data_vars", ()))
    if lacking := [name for name in NEEDED if name not in keys]:
        raise SweepError(
            f"workload: jobs without {', '.join(lacking)}; give arrays of submit (s), runtime (s) and "
            "processors, and perhaps requested (s), memory (KB) and user"
        )
    # A table may have further columns; the keys of a mapping were typed.
    if isinstance(given, Mapping) and not hasattr(given, "data_vars"):
        for key in keys.difference(COLUMNS):
            raise SweepError(f"workload: {unknown('column of jobs', key, COLUMNS)}")
    found = {}
    for name in COLUMNS:
        if name in keys:
            column = _seconds(name, given[name])
            try:
                found[name] = np.ma.asanyarray(column) if np.ma.isMaskedArray(column) else np.asarray(column)
            except (ValueError, TypeError, OverflowError, RecursionError):
                raise SweepError(
                    f"workload: {name} cannot be read as a column: give one number for each job"
                ) from None
    return found


def _seconds(name: str, column: Any) -> Any:
    """Return dates as seconds since the first one, durations as seconds, and other columns as they are."""
    kind = getattr(getattr(column, "dtype", None), "kind", "")
    if kind not in ("M", "m"):
        return column
    if (kind == "M") != (name == "submit"):
        wanted = "dates, or seconds" if name == "submit" else "durations (timedelta64), or seconds"
        raise SweepError(f"workload: {name} has {'dates' if kind == 'M' else 'durations'}; give {wanted}")
    if getattr(column.dtype, "tz", None) is not None:  # dates of pandas: instants, whatever the time zone
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    values = np.asarray(column)
    there = values[~np.isnat(values)]
    since = there.min() if kind == "M" and there.size else np.timedelta64(0, "s")
    return (values - since) / np.timedelta64(1, "s")


def _of_function(function: Any, where: Sequence[Path]) -> dict[str, Any]:
    """Return a policy that is built around a compiled function."""
    plain = getattr(function, "py_func", None)
    if plain is None:
        raise SweepError(
            f"policy={getattr(function, '__name__', function)!r}: this function is not compiled; decorate it "
            "with numba.njit"
        )
    arguments = plain.__code__.co_argcount
    kinds = {number: place for family in families.ours() for number, place in family.functions.items()}
    if arguments not in kinds:
        allowed = ", ".join(f"{kinds[number][1]} has {number}" for number in sorted(kinds))
        raise SweepError(
            f"policy={plain.__name__}: a function of {arguments} arguments; a function may replace a policy "
            f"as one of these: {allowed} (see docs/adding_a_policy.md)"
        )
    base, key = kinds[arguments]
    return {**chosen.parameters("policy", base, {}, where), key: function, "name": plain.__name__}
