"""Narrows a study to a part of its grid: some of an experiment's policies, workloads or machines.

Keys and axes that the experiment sets only for the others are then left out: none of the remaining files has
such a key. Keys that the user gave stay, and are refused if no file has them.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sweep.config.nested import get, has, keys_set
from sweep.config.settings import GROUPS, Config, Settings
from sweep.errors import SweepError
from sweep.plan import grid


def narrowed(config: Config) -> Config:
    """Return the config of the requested part, without the settings that only the rest of the study uses.

    Raises
    ------
    SweepError
        If the experiment sets a key for policies that it names itself, and no policy here has it.
    """
    if config.narrowing is None:
        return config
    settings, asked, axes = config.settings, config.narrowing.asked, []
    for group in GROUPS:
        # An experiment that is run unchanged uses all of its keys: then an unknown key is a typing error.
        if not _is_among(f"grid.{group}", asked):
            continue
        files, given = config.files[group], getattr(settings, group)
        of_group = [target for target in grid.targets(settings).items() if target[1].group == group]
        keys = [*(key for key, _ in keys_set(given, files)), *(target.key for _, target in of_group)]
        lost = [
            key
            for key in keys
            if not any(has(file, key) for file in files.values()) and not _is_among(f"{group}.{key}", asked)
        ]
        all_files = config.narrowing.others(group) if lost else {}
        if lost and not all_files and has(given, lost[0]):
            raise SweepError(
                f"{group} {', '.join(files)} has no key {lost[0]}, and experiment {settings.name} sets "
                f"{group}.{lost[0]}={get(given, lost[0])} for its own; +experiment=compare takes policies of "
                "any family, on the same jobs"
            )
        lost = [key for key in lost if any(has(file, key) for file in all_files.values())]
        if lost:
            left: Any = {group: _without(given, lost)}
            settings = replace(settings, **left)
            axes += [
                axis
                for axis, target in of_group
                if target.key in lost and not {f"grid.{axis}", f"axes.{axis}"} & set(asked)
            ]
    settings = _short(settings, axes) if axes else settings
    return replace(config, settings=settings, for_others=axes, narrowing=None)


def _is_among(key: str, asked: Collection[str]) -> bool:
    """Whether a key, one above it or one below it was given."""
    return any(f"{key}.".startswith(f"{one}.") or f"{one}.".startswith(f"{key}.") for one in asked)


def _without(settings: Mapping[str, Any], lost: Collection[str], prefix: str = "") -> dict[str, Any]:
    """Return settings without some dotted keys."""
    kept = {}
    for name, value in settings.items():
        key = f"{prefix}{name}"
        if key in lost:
            continue
        kept[name] = _without(value, lost, f"{key}.") if isinstance(value, Mapping) else value
        if kept[name] == {} != value:  # not one that was given empty
            del kept[name]
    return kept


def _short(settings: Settings, axes: Collection[str]) -> Settings:
    """Return settings in which axes have only the values that occur in some point of the grid."""
    # Tied axes keep all values: zip needs axes of equal length.
    tied = {axis for entry in settings.zip for axis in entry}
    every = grid.Grid.of(settings)
    used = {
        axis: [every.axes[axis][i] for i in np.unique(positions).tolist()]
        for axis, positions in every.where.items()
        if axis in axes and axis not in tied
    }
    return replace(settings, grid={**settings.grid, **used})
