"""Single files of conf as plain data, with what they build on, where there is no experiment to compose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped] # types only by another package

from sweep.config import choices, renamed
from sweep.errors import SweepError, one_line, unknown


def parameters(
    group: str, name: object, changed: Mapping[str, Any] | None = None, folders: Sequence[Path] = ()
) -> dict[str, Any]:
    """Return a policy, workload, machine or group of jobs as a sweep would get it.

    Parameters
    ----------
    group : {"policy", "workload", "machine", "groups"}
    name : str
        Of a file in that folder of conf, for a policy with or without its family's folder.
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
    choices.check(group, full, folders)
    folder, _, own = f"{group}/{full}".rpartition("/")
    try:
        merged = _merged(folders, folder, own)
        for key, value in _leaves(changed or {}):
            _set(merged, key, value, f"key of {group} {own}", group)
        found: Any = OmegaConf.to_container(
            OmegaConf.create(merged, flags={"allow_objects": True}), resolve=True
        )
    except (OmegaConfBaseException, YAMLError) as error:
        raise SweepError(f"{group} {name}: {one_line(error)}") from None
    for key, value in _leaves(found):
        if value == "???":
            raise SweepError(f"{group} {own} needs {key}: give {{'name': '{own}', '{key}': VALUE}}")
    return {**found, "name": own}


def executor(name: str, changed: Mapping[str, Any], folders: Sequence[Path]) -> dict[str, Any]:
    """Return an executor's file with other values of its keys, see `sweep.executors.create`."""
    full = choices.find("executor", name, folders)
    choices.check("executor", full, folders)
    merged = _merged(folders, "executor", full)
    for key, value in changed.items():
        _set(merged, key, value, f"key of executor {name}", "executor")
    return merged


def _merged(folders: Sequence[Path], place: str, name: str) -> dict[str, Any]:
    """Merge the files of ``defaults`` in order; a file's own keys stand where ``_self_`` is, else last."""
    path = next((file for top in reversed(folders) if (file := top / place / f"{name}.yaml").is_file()), None)
    if path is None:
        raise SweepError(f"a file in {place} builds on {name}, which is not in conf/{place}")
    own: Any = OmegaConf.to_container(OmegaConf.load(path))
    defaults = own.pop("defaults", [])
    parts = [
        own if base == "_self_" else _merged(folders, *_based_on(str(base), place))
        for base in (defaults if "_self_" in defaults else [*defaults, "_self_"])
    ]
    found: Any = OmegaConf.to_container(OmegaConf.merge(*parts))
    return dict(found)


def _based_on(base: str, place: str) -> tuple[str, str]:
    """Return place and name of a base: one of the same place, or ``/policy/gang/_gang@_here_``."""
    if not base.startswith("/"):
        return place, base
    folder, _, name = base.partition("@")[0][1:].rpartition("/")
    return folder, name


def _leaves(data: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    found = []
    for key, value in data.items():
        if isinstance(value, Mapping) and value:
            found += _leaves(value, f"{prefix}{key}.")
        else:
            found.append((f"{prefix}{key}", value))
    return found


def _set(data: dict[str, Any], key: str, value: Any, kind: str, group: str) -> None:
    """Set a dotted key that exists, or say which keys there are."""
    at: Any = data
    *parents, last = key.split(".")
    for part in [*parents, last]:
        if not isinstance(at, dict) or part not in at:
            if (line := renamed.key(f"{group}.{key}")) is not None:
                raise SweepError(line)
            raise SweepError(unknown(kind, key, [name for name, _ in _leaves(data)]))
        if part is not last:
            at = at[part]
    at[last] = value
