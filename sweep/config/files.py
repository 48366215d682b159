"""Single files of conf as plain data, merged with the files on which they build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, ListConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import MarkedYAMLError, YAMLError  # type: ignore[import-untyped] # types only by another package

from sweep.config import choices, nested
from sweep.errors import SweepError, one_line, unknown

FORM = "a file of conf is YAML, lines of key: value"


def merged(group: str, name: str, folders: Sequence[Path], above: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a file merged with those in its ``defaults``, in that order; interpolations stay as they are.

    A file's own keys stand where ``_self_`` is, else last.

    Parameters
    ----------
    group, name : str
        The full name within the group, see `sweep.config.choices`.
    folders : sequence of Path
        The project's conf, then a user's own.
    above : tuple of str, optional
        Files that build on this one.

    Raises
    ------
    SweepError
        If one of the files is no YAML of keys and values, is missing, or builds on itself.
    """
    path = choices.path(group, name, folders)
    chain = (*above, f"{group}/{name}")
    if chain[-1] in above:
        raise SweepError(f"{path}: builds on itself, {' -> '.join(chain)}; take it out of its defaults")
    own = _read(path)
    bases = own.pop("defaults", None) or []
    if not isinstance(bases, list):
        raise SweepError(f"{path}: defaults is no list; write defaults: [_base, _self_]")
    found: dict[str, Any] = {}
    for base in bases if "_self_" in bases else [*bases, "_self_"]:
        if base == "_self_":
            _update(found, own)
        elif isinstance(base, str):
            _update(found, merged(*_place_of(base, group, name, folders), folders, chain))
        elif group != "experiment":  # there it is for Hydra, ``override /executor: serial``
            raise SweepError(f"{path}: defaults has {base}; give names of files, [_base, _self_]")
    return found


def _place_of(base: str, group: str, name: str, folders: Sequence[Path]) -> tuple[str, str]:
    """Return group and full name of a base: ``_gang`` of the same group, or ``/policy/gang/_gang@_here_``."""
    folder = f"{group}/{name}".rpartition("/")[0]
    given = base[1:].partition("@")[0] if base.startswith("/") else f"{folder}/{base}"
    of_group, _, rest = given.partition("/")
    found = choices.find_base(of_group, rest, folders)
    if found is None:
        raise SweepError(
            f"{group}/{name} builds on {given}, which is not there; give the name of a file in {of_group}, "
            "or with its folder from the top, /policy/gang/_gang@_here_"
        )
    return of_group, found


def _read(path: Path) -> dict[str, Any]:
    """Return the keys of a YAML file."""
    try:
        text = path.read_bytes().decode()
        data = OmegaConf.load(path)
    except UnicodeDecodeError:
        raise SweepError(f"{path}: is no text; {FORM}") from None
    except MarkedYAMLError as error:
        where = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise SweepError(f"{path}{where}: {error.problem}; no valid YAML") from None
    except YAMLError:
        raise SweepError(f"{path}: is no text; {FORM}") from None
    except OSError as error:
        if error.errno is None:  # raised by OmegaConf
            raise SweepError(f"{path}: is a single value; {FORM}") from None
        raise SweepError(f"{path}: {error.strerror}; give a file that can be read") from None
    if isinstance(data, ListConfig):
        raise SweepError(f"{path}: is a list; {FORM}")
    if not isinstance(data, DictConfig) or (data and ":" not in text):
        raise SweepError(f"{path}: is a single value; {FORM}")
    return dict(OmegaConf.to_container(data))  # type: ignore[arg-type] # of a mapping: a dict


def _update(found: dict[str, Any], keys: Mapping[str, Any]) -> None:
    """Put keys over those that are there; mappings are merged."""
    for key, value in keys.items():
        if isinstance(value, dict) and isinstance(found.get(key), dict):
            _update(found[key], value)
        else:
            found[key] = value


def parameters(
    group: str, name: object, changed: Mapping[str, Any] | None = None, folders: Sequence[Path] = ()
) -> dict[str, Any]:
    """Return a policy, workload, machine or group of jobs as a sweep would get it.

    Parameters
    ----------
    group : {"policy", "workload", "machine", "groups"}
    name : str
        Of a file in that folder of conf, with or without its own folder.
    changed : mapping, optional
        Keys of the file, nested or dotted, and the values that they take instead.
    folders : sequence of Path
        The project's conf, then a user's own.

    Raises
    ------
    SweepError
        If there is no such file or key.
    """
    full = choices.find(group, name, folders)
    own = choices.short(full)
    try:
        data = merged(group, full, folders)
        for key, value in nested.leaves(changed or {}):
            _set(data, key, value, f"key of {group} {own}")
        found: Any = OmegaConf.to_container(
            OmegaConf.create(data, flags={"allow_objects": True}), resolve=True
        )
    except OmegaConfBaseException as error:
        raise SweepError(f"{group} {name}: {one_line(error)}") from None
    for key, value in nested.leaves(found):
        if value == "???":
            raise SweepError(f"{group} {own} needs {key}: give {{'name': '{own}', '{key}': VALUE}}")
    return {**found, "name": own}


def executor(name: str, changed: Mapping[str, Any], folders: Sequence[Path]) -> dict[str, Any]:
    """Return an executor's file with other values of its keys, see `sweep.executors.create`."""
    data = merged("executor", choices.find("executor", name, folders), folders)
    for key, value in changed.items():
        _set(data, key, value, f"key of executor {name}")
    return data


def _set(data: dict[str, Any], key: str, value: Any, kind: str) -> None:
    """Set a dotted key that exists, or raise `SweepError` with the keys that do."""
    if not nested.has(data, key):
        raise SweepError(unknown(kind, key, [name for name, _ in nested.leaves(data)]))
    nested.put(data, key, value)
