"""The files that a study names: checked against the schema of their kind, and as a notebook receives them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from sweep.config import choices, files, nested, schema
from sweep.config.nested import keys_set
from sweep.errors import SweepError, one_line, unknown


def checked(group: str, name: str, folders: Sequence[Path]) -> dict[str, Any]:
    """Return a file merged with those on which it builds, see `sweep.config.files.merged`.

    Raises
    ------
    SweepError
        If the file is a user's own and has a key that no file of its kind has.
    """
    found = files.merged(group, name, folders)
    path = choices.path(group, name, folders)
    if path.is_relative_to(folders[0]):  # the project's own files declare the keys
        return found
    schema.check(group, choices.short(name), found, str(path))
    base = files.merged("machine", "_machine", folders[:1]) if group == "machine" else {}
    # A file without any such key is for a family of the user's own.
    return base | found if set(base) & set(found) else found


def parameters(
    group: str, name: object, changed: Mapping[str, Any] | None = None, folders: Sequence[Path] = ()
) -> dict[str, Any]:
    """Return a policy, workload, machine or group of jobs as a sweep would receive it.

    Parameters
    ----------
    group : {"policy", "workload", "machine", "groups"}
    name : str
        Name of a file in that folder of conf, with or without its own folder.
    changed : mapping, optional
        Keys of the file, nested or dotted, and the values that replace theirs.
    folders : sequence of Path
        The project's conf, then a user's own.

    Raises
    ------
    SweepError
        If the file or a key does not exist.
    """
    full = choices.find(group, name, folders)
    own = choices.short(full)
    try:
        data = checked(group, full, folders)
        for key, value in keys_set(changed or {}, {own: data}):
            _set(data, key, value.item() if isinstance(value, np.generic) else value, f"key of {group} {own}")
        found: Any = OmegaConf.to_container(
            OmegaConf.create(data, flags={"allow_objects": True}), resolve=True
        )
    except OmegaConfBaseException as error:
        raise SweepError(f"{group} {name}: {one_line(error)}") from None
    for key, value in nested.leaves(found):
        if isinstance(value, str) and value == "???":
            raise SweepError(f"{group} {own} needs {key}: give {{'name': '{own}', '{key}': VALUE}}")
    return {**found, "name": own}


def executor(name: str, changed: Mapping[str, Any], folders: Sequence[Path]) -> dict[str, Any]:
    """Return an executor's file with other values of its keys, see `sweep.executors.create`."""
    data = checked("executor", choices.find("executor", name, folders), folders)
    for key, value in changed.items():
        _set(data, key, value, f"key of executor {name}")
    return data


def _set(data: dict[str, Any], key: str, value: Any, kind: str) -> None:
    """Set a dotted key that exists, or raise `SweepError` with the valid keys."""
    if not nested.has(data, key):
        raise SweepError(unknown(kind, key, [name for name, _ in nested.leaves(data)]))
    nested.put(data, key, value)
