"""A grid that is narrowed to some of an experiment's policies, workloads or machines is a part of that study.

Keys and axes that the experiment sets for the others alone are then left out: none of the remaining files has
such a key. Keys that were typed stay, and are refused where no file has them.
"""

from collections.abc import Callable, Collection, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from sweep.config.nested import get, has, keys_set
from sweep.config.settings import GROUPS, Settings
from sweep.errors import SweepError
from sweep.plan import grid

Files = Mapping[str, dict[str, Any]]


def narrowed(
    settings: Settings, files: Mapping[str, Files], others: Callable[[str], Files], typed: Collection[str]
) -> tuple[Settings, list[str]]:
    """Return the settings of the part that is asked for, and the axes that set nothing in it.

    Parameters
    ----------
    settings : Settings
        Of the experiment, with what was typed.
    files : dict of str to dict
        Group -> label -> file, those of the grid.
    others : callable
        Group -> the same, all that the experiment names itself; empty where the grid has one that it does
        not name.
    typed : collection of str
        Dotted keys, ``policy.slice`` and ``grid.level``.
    """
    axes = []
    for group in GROUPS:
        if not _is_among(f"grid.{group}", typed):
            continue
        of_group = [target for target in grid.targets(settings).items() if target[1].group == group]
        lost = [
            key
            for key in [*(key for key, _ in keys_set(getattr(settings, group), files[group])),
                        *(target.key for _, target in of_group)]
            if not any(has(file, key) for file in files[group].values())
        ]  # fmt: skip
        lost = [key for key in lost if not _is_among(f"{group}.{key}", typed)]
        all_files = others(group) if lost else {}
        if lost and not all_files and has(getattr(settings, group), lost[0]):
            value = get(getattr(settings, group), lost[0])
            raise SweepError(
                f"{group} {', '.join(files[group])} has no key {lost[0]}, and experiment {settings.name} "
                f"sets {group}.{lost[0]}={value} for its own; +experiment=compare takes policies of any "
                "family, on the same jobs"
            )
        if all_files:
            lost = [key for key in lost if any(has(file, key) for file in all_files.values())]
            settings = copy(settings)
            setattr(settings, group, _without(getattr(settings, group), lost))
            axes += [
                axis
                for axis, target in of_group
                if target.key in lost and not {f"grid.{axis}", f"axes.{axis}"} & set(typed)
            ]
    return (_short(settings, axes) if axes else settings), axes


def _is_among(key: str, typed: Collection[str]) -> bool:
    """Whether a key, one above it or one below it was typed."""
    return any(f"{key}.".startswith(f"{one}.") or f"{one}.".startswith(f"{key}.") for one in typed)


def _without(settings: Mapping[str, Any], lost: Collection[str], prefix: str = "") -> dict[str, Any]:
    """Return settings without some dotted keys."""
    kept = {}
    for name, value in settings.items():
        key = f"{prefix}{name}"
        if key in lost:
            continue
        kept[name] = _without(value, lost, f"{key}.") if isinstance(value, Mapping) else value
        if kept[name] == {} != value:
            del kept[name]
    return kept


def _short(settings: Settings, axes: Collection[str]) -> Settings:
    """Return settings in which axes have only those values that some point of the grid has."""
    tied = {axis for entry in settings.zip for axis in entry}
    every = grid.axes(settings)
    where = np.unravel_index(grid.points(every, settings), [len(values) for values in every.values()])
    used = {
        axis: [values[i] for i in np.unique(positions).tolist()]
        for (axis, values), positions in zip(every.items(), where, strict=True)
        if axis in axes and axis not in tied
    }
    return replace(settings, grid={**settings.grid, **used})
