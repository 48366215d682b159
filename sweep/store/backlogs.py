"""What a run tells of whether the policy keeps up, in the workers' logs."""

from __future__ import annotations

import json
import re
from functools import cache

import numpy as np

from models.saturation import PARTS, Backlog

DIGITS = 6
"""Significant digits: nobody averages these numbers, they only decide what is saturated."""


_OF = '"suspected":%s,"overflowed":%s,"length":%s}'

_SHORTFALL = '],"shortfall":['

_USUAL = re.compile(
    r'\{"level":\[([0-9.e+-]+(?:,[0-9.e+-]+)*)\],"shortfall":\[([^]]+)\],'
    + re.escape(_OF % ("false", "false", 1))
)
"""Of a run that was not made anew, with a level that is known."""


def encoded(backlog: Backlog) -> str:
    """Return a backlog as a line of JSON; a share that is not known is null."""
    level, shortfall = backlog.level.tolist(), backlog.shortfall.tolist()
    flags = ("true" if flag else "false" for flag in (backlog.suspected, backlog.overflowed))
    text = _format(len(level), len(shortfall)) % (*level, *shortfall, *flags, backlog.length)
    if "nan" in text or "inf" in text:  # as Python's JSON has them
        level_text, of, rest = text.replace("inf", "Infinity").partition(_SHORTFALL)
        text = level_text.replace("nan", "NaN") + of + rest.replace("nan", "null")
    return text


@cache
def _format(n_level: int, n_shortfall: int) -> str:
    level, shortfall = (",".join([f"%.{DIGITS}g"] * n) for n in (n_level, n_shortfall))
    return f'{{"level":[{level}{_SHORTFALL}{shortfall}],' + _OF


def decoded(text: str) -> Backlog:
    """Return the backlog that was encoded."""
    data = json.loads(text, parse_int=float)
    level, shortfall = (np.array(data[name], dtype=np.float64) for name in ("level", "shortfall"))
    return Backlog(level, shortfall, data["suspected"], data["overflowed"], int(data["length"]))


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
        self._others: dict[int, str] = {}

    def put(self, row: int, text: str | None) -> None:
        """Keep what `encoded` returned for a run, None for nothing."""
        if self._others:
            self._others.pop(row, None)
        if text is None:
            self.suspected[row] = False
            if self._parts is not None:
                self._parts[row] = np.nan
            return
        if self._parts is None:
            self._parts = np.full((len(self.suspected), 2, PARTS), np.nan)
        if (usual := _USUAL.fullmatch(text)) is not None:
            level, shortfall = usual[1].split(","), usual[2].replace("null", "nan").split(",")
            if len(level) == len(shortfall) == PARTS:
                self.suspected[row] = False
                self._parts[row] = [[float(each) for each in level], [float(each) for each in shortfall]]
                return
        self._parts[row] = np.nan
        self._others[row] = text
        self.suspected[row] = decoded(text).suspected

    def __getitem__(self, row: int) -> Backlog | None:
        if row in self._others:
            return decoded(self._others[row])
        if self._parts is None or np.isnan(self._parts[row, 0, 0]):
            return None
        return Backlog(*self._parts[row])
