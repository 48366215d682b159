"""The keys that a file of conf may have: the keys in the project's own files of its kind.

The files that a family (a model of workloads, an executor) has in ``conf`` declare its keys, with defaults
and comments, mostly in the one on which the others build. The same check serves a user's own files and those
that a dataset carries; on the command line and in notebooks a key has to be in the file that it changes.
"""

import difflib
from collections.abc import Mapping
from functools import cache
from typing import Any

from models.jobs.groups import Grouping
from sweep.config import choices, files, locate
from sweep.errors import ALIKE, SweepError, one_line, unknown

KINDS = {
    "policy": ("family", "discipline", "system", "schedule"),
    "workload": ("model",),
    "machine": (),
    "executor": ("name",),
}
"""Group -> the keys by which its files differ in kind."""

CODE = ("scheme", "discipline", "schedule")
"""Keys of a policy that may be the dotted name of a user's own code, which may read keys of its own."""

FREE = ("jobs", "phases", "exclude", "classes", "priority")
"""Mappings whose keys are names."""

Keys = Mapping[str, Any]
"""Key -> the keys below it; None where the value is not a mapping, or may have any keys."""


def check(group: str, name: str, file: Mapping[str, Any], where: str = "") -> None:
    """Raise `SweepError` with one line if a file has a key that no file of its kind has.

    Parameters
    ----------
    name : str
        Name without its folder, for the message.
    """
    shown = where or f"{group} {name}"
    if (odd := next((key for key in file if not isinstance(key, str)), None)) is not None:
        raise SweepError(f"{shown}: {odd!r} cannot be a key, as keys are strings; write name: value")
    if group == "groups":
        try:
            Grouping.of(name, file)
        except ValueError as error:
            raise SweepError(one_line(error)) from None
        return
    kind = tuple(str(file.get(key)) for key in KINDS[group])
    if group == "executor" and not isinstance(file.get("name"), str):
        raise SweepError(
            f"{shown} does not name an executor: add name: dask (or serial, mpi, slurm.executor)"
        )
    known = declared(group, kind) or declared(group, kind[:1])  # of another discipline, all of the family
    if known is None or (group == "machine" and not set(file) & set(known)):  # a user's own family
        return
    own = group == "policy" and any("." in str(file.get(key, "")) for key in CODE)
    _check(file, known, "", f"key of {group} {name}", where, own)


def _check(
    given: Mapping[str, Any], known: Keys, prefix: str, kind: str, where: str, has_own_code: bool
) -> None:
    for key, value in given.items():
        if key not in known:
            close = difflib.get_close_matches(str(key), [*known], n=1, cutoff=ALIKE)
            if has_own_code and not close:
                continue
            valid = [f"{prefix}{one}" for one in known]
            raise SweepError((f"{where}: " if where else "") + unknown(kind, f"{prefix}{key}", valid))
        if known[key] and isinstance(value, Mapping):
            _check(value, known[key], f"{prefix}{key}.", kind, where, has_own_code)


@cache
def declared(group: str, kind: tuple[str, ...]) -> Keys | None:
    """Return the keys of a kind of file, or None if the project has no file of this kind.

    A policy whose discipline or schedule is dotted (a user's own code) may have the keys of its whole family;
    so may a file that gives only its family.
    """
    found: dict[str, Any] = {}
    for file in files_of(group):
        its = tuple(str(file.get(key)) for key in KINDS[group])
        others = zip(kind[1:], its[1:], strict=False)
        if kind[:1] == its[:1] and all(mine == theirs or "." in mine for mine, theirs in others):
            _add(found, file)
    return found or None


@cache
def files_of(group: str) -> list[dict[str, Any]]:
    """Return the project's files of a group; reading them takes a second or two."""
    folders = [locate.conf_folder()]
    return [files.merged(group, name, folders) for name in choices.names(group, folders)]


def _add(found: dict[str, Any], file: Mapping[str, Any]) -> None:
    for key, value in file.items():
        below = found.setdefault(key, {})
        if isinstance(value, Mapping) and key not in FREE:
            _add(below, value)
