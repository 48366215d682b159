"""What a run tells of whether the policy keeps up, in the workers' logs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from models.saturation import PARTS, Backlog

DIGITS = 6
"""Significant digits: nobody averages these numbers, they only decide what is saturated."""


def encoded(backlog: Backlog) -> dict[str, Any]:
    """Return a backlog as JSON has it; a share that is not known is null."""
    level, shortfall = backlog.level.tolist(), backlog.shortfall.tolist()
    return {
        "level": [float(f"{value:.{DIGITS}g}") for value in level],
        "shortfall": [None if math.isnan(value) else float(f"{value:.{DIGITS}g}") for value in shortfall],
        "suspected": bool(backlog.suspected),
        "overflowed": bool(backlog.overflowed),
        "length": backlog.length,
    }


def decoded(data: dict[str, Any]) -> Backlog:
    """Return the backlog that was encoded."""
    level, shortfall = (np.array(data[name], dtype=np.float64) for name in ("level", "shortfall"))
    return Backlog(level, shortfall, data["suspected"], data["overflowed"], data["length"])


class Backlogs:
    """Those of many runs, in arrays: a million objects would take most of the memory of a large dataset.

    Parameters
    ----------
    n : int
        Runs.

    Attributes
    ----------
    suspected : ndarray of bool, shape (n,)
    """

    def __init__(self, n: int) -> None:
        self.suspected = np.zeros(n, dtype=bool)
        self._parts: np.ndarray | None = None
        self._others: dict[int, dict[str, Any]] = {}

    def put(self, row: int, data: dict[str, Any] | None) -> None:
        """Keep what `encoded` returned for a run, None for nothing."""
        self._others.pop(row, None)
        if self._parts is not None:
            self._parts[row] = np.nan
        self.suspected[row] = data is not None and data["suspected"]
        if data is None:
            return
        if self._parts is None:
            self._parts = np.full((len(self.suspected), 2, PARTS), np.nan)
        usual = len(data["level"]) == len(data["shortfall"]) == PARTS and not math.isnan(data["level"][0])
        if usual and not data["suspected"] and not data["overflowed"] and data["length"] == 1:
            self._parts[row] = data["level"], data["shortfall"]
        else:
            self._others[row] = data

    def __getitem__(self, row: int) -> Backlog | None:
        if row in self._others:
            return decoded(self._others[row])
        if self._parts is None or np.isnan(self._parts[row, 0, 0]):
            return None
        return Backlog(*self._parts[row])
