"""All that a point lacks, in one message: the remedy that each refusal names is tried."""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from typing import Any

from models.family import Family
from models.point import Point
from sweep.config.nested import has, put
from sweep.errors import one_line

REMEDY = re.compile(r"\b(policy|workload|machine)\.([\w.]+)=([\w.]+)|\bgrid\.load=\[([\w.]+)")
"""The first one in a message: a key with its value, or a load."""

MOST = 6
"""Refusals in one message."""


def refusal(family: Family, point: Point, error: ValueError) -> str:
    """Return why a point cannot be simulated: all reasons, and what to add to the command.

    Parameters
    ----------
    error : ValueError
        Raised by `Family.check` for this point.
    """
    lines, added = [one_line(error)], []
    while len(lines) <= MOST and (remedy := _remedy(lines[-1], point)) is not None:
        point, text = remedy
        added.append(text)
        try:
            family.check(point)
        except ValueError as another:
            if (line := one_line(another)) in lines:
                break
            lines.append(line)
        else:
            break
    else:
        added = added[: len(lines) - 1]
    if len(lines) == 1:
        return lines[0]
    return f"{'; and '.join(lines)}; all together: {' '.join(added)}"


def _remedy(line: str, point: Point) -> tuple[Point, str] | None:
    """Return the point with the first remedy that a message names, and its text."""
    for found in REMEDY.finditer(line.partition(";")[2] or line):
        group, key, value, load = found.groups()
        if load is not None:
            return replace(point, load=None if load == "null" else float(load)), f"grid.load=[{load}]"
        changed = copy.deepcopy(dict(getattr(point, group)))
        if not has(changed, key) or str(changed[key.partition(".")[0]]) == value:
            continue
        put(changed, key, _value(value))
        kept: Any = {group: changed}
        return replace(point, **kept), found[0]
    return None


def _value(text: str) -> Any:
    """Return a value as the command line reads it."""
    if text in ("null", "true", "false"):
        return {"null": None, "true": True, "false": False}[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
