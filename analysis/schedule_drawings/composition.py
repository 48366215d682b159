"""Files of conf as plain data, with what they build on: for a drawing there is no experiment to compose."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from analysis.errors import AnalysisError
from sweep.config import choices, locate
from sweep.errors import SweepError


def parameters(
    group: str, name: str, changed: Mapping[str, Any] | None = None, user: str = ""
) -> dict[str, Any]:
    """Return a policy, workload or machine as a sweep would get it.

    Parameters
    ----------
    group : {"policy", "workload", "machine"}
    name : str
        Of a file in that folder of conf, for a policy with or without its family's folder.
    changed : dict, optional
        Keys of the file and the values that they take instead.
    user : str
        A user's own conf folder, searched too.

    Raises
    ------
    AnalysisError
        If there is no such file or key.
    """
    try:
        folders = [locate.conf_folder(), *([locate.user_folder(user)] if user else [])]
        full = choices.find(group, name, folders)
    except SweepError as error:
        raise AnalysisError(str(error)) from None
    folder, _, own = f"{group}/{full}".rpartition("/")
    try:
        found = _composed(folders, folder, own)
    except OmegaConfBaseException as error:
        raise AnalysisError(f"{group}={name}: {str(error).partition(chr(10))[0]}") from None
    for key, value in (changed or {}).items():
        if key not in found:
            raise AnalysisError(f"{key}={value}: {group} {name} has no key {key}; leave it out")
        found[key] = value
    return {**found, "name": own}


def _file(folder: Path, place: str, name: str) -> Path:
    return folder / place / f"{name}.yaml"


def _composed(folders: list[Path], place: str, name: str) -> dict[str, Any]:
    """Merge the files of ``defaults`` in order; a file's own keys stand where ``_self_`` is, else last."""
    path = next(
        (file for folder in reversed(folders) if (file := _file(folder, place, name)).is_file()), None
    )
    if path is None:
        raise AnalysisError(f"a file in {place} builds on {name}, which is not in conf/{place}")
    own: Any = OmegaConf.to_container(OmegaConf.load(path))
    defaults = own.pop("defaults", [])
    parts = [
        own if base == "_self_" else _composed(folders, place, str(base))
        for base in (defaults if "_self_" in defaults else [*defaults, "_self_"])
    ]
    found: Any = OmegaConf.to_container(OmegaConf.merge(*parts), resolve=True)
    return dict(found)
