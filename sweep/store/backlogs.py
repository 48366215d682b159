"""What a run tells of whether the policy keeps up, in the workers' logs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from models.saturation import Backlog

DIGITS = 6
"""Significant digits: nobody averages these numbers, they only decide what is saturated."""


def encoded(backlog: Backlog) -> dict[str, Any]:
    """Return a backlog as JSON has it; a share that is not known is null."""
    return {
        "level": [float(f"{value:.{DIGITS}g}") for value in backlog.level],
        "shortfall": [
            None if math.isnan(value) else float(f"{value:.{DIGITS}g}") for value in backlog.shortfall
        ],
        "suspected": bool(backlog.suspected),
        "overflowed": bool(backlog.overflowed),
        "length": backlog.length,
    }


def decoded(data: dict[str, Any]) -> Backlog:
    """Return the backlog that was encoded."""
    level, shortfall = (np.array(data[name], dtype=np.float64) for name in ("level", "shortfall"))
    return Backlog(level, shortfall, data["suspected"], data["overflowed"], data["length"])
