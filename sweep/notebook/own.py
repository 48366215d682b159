"""Values of a study's grid other than names of files: settings, logs, arrays of jobs, sizes of machines."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sweep.config.nested import leaves
from sweep.errors import SweepError
from sweep.notebook import choices

READERS: Mapping[str, Callable[[Any, Sequence[Path]], dict[str, Any]]] = {
    "policy": choices.policy,
    "workload": choices.workload,
    "machine": choices.machine,
}

Own = dict[str, dict[str, dict[str, Any]]]
"""Group -> label -> parameters."""


def taken_out(settings: Mapping[str, Any], where: Sequence[Path]) -> tuple[dict[str, Any], Own]:
    """Return the settings of a study with a label for each value of the user's own, and these values.

    Parameters
    ----------
    settings : mapping
        Of `sweep.Study`; a value of ``grid.policy``, ``grid.workload`` or ``grid.machine`` is anything that
        `sweep.simulate` takes except functions, which other processes do not know.

    Notes
    -----
    A name with settings is labelled by its name if no other value of the grid has that name, and otherwise by
    its settings as well: ``easy ties=event``.
    """
    settings = dict(settings)
    for group in READERS:  # ``machine=64``: as on the command line, a value of the grid
        given = settings.get(group)
        if given is not None and not (isinstance(given, Mapping) and "name" not in given):
            settings["grid"] = {**(settings.get("grid") or {}), group: settings.pop(group)}
    grid = settings.get("grid")
    if not isinstance(grid, Mapping):
        return settings, {}
    plain = dict(grid)
    own: Own = {}
    for group, read in READERS.items():
        if group not in grid:
            continue
        given = grid[group]
        if isinstance(given, np.ndarray):
            given = np.atleast_1d(given)
        given = list(given) if isinstance(given, list | tuple | np.ndarray) else [given]
        names = Counter(value if isinstance(value, str) else _name(value) for value in given)
        labels: list[Any] = []
        for value in given:
            if _is_name(group, value):
                labels.append(value)
                continue
            found = read(value, where)
            _check(f"grid.{group}", found)
            name = str(found.pop("name")).replace("/", " ")
            if isinstance(value, Mapping) and names[_name(value)] > 1 and _name(value):
                name = " ".join([name, *(f"{key}={item}" for key, item in leaves(value) if key != "name")])
            label = _unused(name, {*map(str, labels), *(v for v in given if isinstance(v, str))})
            own.setdefault(group, {})[label] = _listed(found)
            labels.append(label)
        plain[group] = labels
    return {**settings, "grid": plain}, own


def _is_name(group: str, value: Any) -> bool:
    """Whether a value names a file of conf, or is for the command line's checks to refuse."""
    if not isinstance(value, str):
        return False
    is_mesh = group == "machine" and value.replace("x", "").isdecimal()
    return not (is_mesh or (group == "workload" and Path(value).suffix in (".swf", ".gz")))


def _name(value: Any) -> str:
    name = value.get("name") if isinstance(value, Mapping) else None
    return name if isinstance(name, str) else ""


def _unused(name: str, taken: set[str]) -> str:
    """Return the name, followed by a number if it is taken."""
    numbered = (f"{name} {number}" for number in range(2, len(taken) + 3))
    return next(label for label in (name, *numbered) if label not in taken)


def _check(key: str, found: Mapping[str, Any]) -> None:
    for name, value in leaves(found):
        if callable(value):
            raise SweepError(
                f"{key}: {name} is a function of this notebook, which other processes do not know; put it "
                "into a module and give its dotted name, or use sweep.simulate"
            )


def _listed(value: Any) -> Any:
    """Return a value as a YAML file would have it."""
    if isinstance(value, Mapping):
        return {str(key): _listed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_listed(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
