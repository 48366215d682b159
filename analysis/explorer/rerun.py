"""The command that runs a point again, with the same jobs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from analysis.study import Study
from analysis.study.study import text

GROUPS = ("policy", "workload", "machine")

DROPPED = ("output", "action", "executor", "fresh", "replace", "zip", "exclude", "schedule", "slurm")
"""Keys of the first command that do not decide on a point's numbers, or that one point has no use for."""


def command(study: Study, place: Mapping[str, str]) -> str:
    """Return what runs a point again: the dataset's own command, for that point and into another folder.

    All replications of the point have the same seeds as before: those do not depend on the rest of the grid.

    Parameters
    ----------
    study : Study
    place : dict of str to str
        Axes and their values.

    Returns
    -------
    str
        Empty where the dataset does not say how it was made, or where no command does: a grid with a
        notebook's own values.
    """
    typed = shlex.split(str(study.data.attrs.get("command", "")))
    if typed[:3] != ["python", "-m", "sweep"] or _has_own(study, place):
        return ""
    grid = list(map(str, study.status.dims))
    kept = [argument for argument in typed[3:] if not _is_dropped(argument, grid)]
    found = [f"grid.{axis}=[{_value(study, axis, place[axis])}]" for axis in grid]
    freed = [f"{key}=[]" for key in ("zip", "exclude") if study.settings.get(key)]
    return shlex.join([*typed[:3], *kept, *found, *freed, f"output=results/{study.name}-again"])


def seeds(study: Study, place: Mapping[str, str]) -> str:
    """Return in words which random numbers a point has."""
    n = int(study.data.sizes["replication"])
    numbers = "replication 0" if n == 1 else f"replications 0 to {n - 1}"
    return f"seed {study.settings.get('seed', '?')}, workload {place['workload']}, {numbers}"


def _has_own(study: Study, place: Mapping[str, str]) -> bool:
    """Whether a point has values that are in no file, as those of a notebook's grid."""
    described = study.facts.get("described") or {}
    return any(group in described and place[group] not in described[group] for group in GROUPS)


def _is_dropped(argument: str, grid: list[str]) -> bool:
    key = argument.partition("=")[0].lstrip("+~")
    return key in (*DROPPED, *grid, *(f"grid.{axis}" for axis in grid)) or key.startswith("executor.")


def _value(study: Study, axis: str, value: str) -> str:
    """Return a value of an axis as it is typed, numbers with all their digits."""
    known = study.data[axis].values[study.values_of(axis).index(value)]
    if isinstance(known, float):  # numpy's are, too
        return "null" if known != known else repr(float(known))
    written = text(known)
    if re.fullmatch(r"[\w./+-]+", written):
        return written
    escaped = written.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
