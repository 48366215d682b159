"""Reports everything that the points of a study lack in one message with the command that would run.

A family raises an error at the first setting that a point lacks. Most of its messages name a remedy (``add
policy.unrequested=runtime``), which is tried, until the point can be simulated or a message names none.
"""

import copy
import re
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped] # types only by another package

from models.family import Family
from models.point import Point
from sweep.config import chosen, locate
from sweep.config.nested import get, has, leaves, put
from sweep.errors import SweepError, one_line
from sweep.plan import families
from sweep.plan.sources import dotted_names

KEY = r"(?:policy|workload|machine)\.[a-z][\w.]*=[a-z\d][\w.]*"
SETTING = rf"(?:{KEY}|grid\.(?:load|machine)=\[[^\]]+\]|replications=1)"
REMEDY = re.compile(rf"\b(?:add|give|set)\b(?:(?!\.\.\.).)*?({SETTING}(?: {SETTING})*)")
"""The first settings that a message names: keys with values, a load or a machine."""

ONE = {"replications": "1"}

MOST = 6
"""Remedies that are tried at a point: two that undo each other would otherwise alternate for ever."""


class Lacking:
    """The settings that the points of a study lack, found by `check` one by one.

    Parameters
    ----------
    replications : int
        Replications of each point; more than one of a deterministic point is refused.
    """

    def __init__(self, replications: int = 1) -> None:
        self._replications = replications
        self._lines: list[str] = []
        self._added: dict[str, str] = {}
        self._cured = True

    def check(self, family: Family, point: Point) -> Sequence[str]:
        """Return the family's notes on a point to which all remedies found so far have been added."""
        point, tried = _changed(point, self._added), 0
        while True:
            try:
                notes = families.check(family, point)
                if self._replications == 1 or family.is_stochastic(point):
                    return notes
                line = (
                    f"replications={self._replications}: workload {point.workload['name']} is deterministic, "
                    "and copies of one run are not a sample; add replications=1"
                )
            except Exception as error:
                line = _line(family, point, error)
            found = REMEDY.search(line)
            remedy = dict(text.split("=", 1) for text in found[1].split(" ")) if found else {}
            if line not in self._lines:
                self._lines.append(line)
            # The remedy is tried on the point, to verify that it works and to find the next lack.
            changed, tried = _changed(point, remedy), tried + 1
            if remedy == ONE:
                self._replications = 1
            elif changed is point or tried == MOST:
                self._cured = False
                return []
            self._added |= remedy
            point = changed

    def refuse(self) -> None:
        """Raise `SweepError` if any point lacks a setting."""
        if self._lines:
            raise SweepError("; and ".join(self._lines), self._added if self._cured else {})


def _line(family: Family, point: Point, error: Exception) -> str:
    """Return the line of a refusal, or of any error in a user's own code; raise other errors again."""
    if isinstance(error, ValueError):
        return one_line(error)
    values = [value for group in (point.policy, point.workload) for _, value in leaves(group)]
    own = [name for name in (family.package, *dotted_names(values)) if not name.startswith("models.")]
    own += [getattr(value, "__name__", "") for value in values if callable(value)]
    if not own:
        raise error
    place = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"{own[0]}: {type(error).__name__}: {one_line(error)} ({Path(place.filename).name}, line "
        f"{place.lineno}); correct it, or leave it out"
    )


def _changed(point: Point, settings: Mapping[str, str]) -> Point:
    """Return a point with the settings of a command line whose keys it has; itself if nothing differs."""
    for key, text in settings.items():
        (group, _, name), value = key.partition("."), yaml.safe_load(text)  # as the command line reads it
        if key == "grid.load":
            if (point.load is None) != (value[0] is None):
                point = replace(point, load=value[0])
        elif key == "grid.machine":
            machine = chosen.parameters("machine", value[0], {}, [locate.conf_folder()])
            if machine["name"] != point.machine.get("name"):
                point = replace(point, machine=machine)
        elif has(before := getattr(point, group, {}), name) and str(get(before, name)) != str(value):
            changed = copy.deepcopy(dict(before))
            put(changed, name, value)
            kept: Any = {group: changed}
            point = replace(point, **kept)
    return point
