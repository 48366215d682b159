"""What a run tells of whether the policy keeps up, in the workers' logs."""

from __future__ import annotations

import json
from functools import cache

import numpy as np

from models.saturation import Backlog

DIGITS = 6
"""Significant digits: nobody averages these numbers, they only decide what is saturated."""


_OF = '"suspected":%s,"overflowed":%s,"length":%s}'

_SHORTFALL = '],"shortfall":['

MOST = 1 << 18
"""Backlogs that are held at a time: each takes about 200 bytes."""


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


_NOT_SUSPECTED = _OF % ("false", "false", 1)
"""How the usual text ends: that of a run that was not made anew."""


class Backlogs:
    """Those of many runs, as text: of most nobody asks more than whether the run is suspected.

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
        self._texts: list[str | None] = [None] * n

    def put(self, row: int, text: str | None) -> None:
        """Keep what `encoded` returned for a run, None for nothing."""
        self._texts[row] = text
        self.suspected[row] = not (text is None or text.endswith(_NOT_SUSPECTED)) and decoded(text).suspected

    def __getitem__(self, row: int) -> Backlog | None:
        text = self._texts[row]
        return None if text is None else decoded(text)
