"""The amount of data at which an observed difference would be significant."""

from __future__ import annotations

import math

from sweep.statistics.confidence import Interval, student

CHANCE = 0.8
"""Probability with which the longer experiment shall show the difference."""

MOST = 1e6
"""The largest multiple of the data that is reported."""


def needed(found: Interval, confidence: float = 0.95, chance: float = CHANCE) -> float:
    """Return how many times as much data would show a difference of the size seen, with some chance.

    An interval from m times as much is narrower by sqrt(m), and has more degrees of freedom. It is to lie on
    one side of 0 not only if the new estimate is right on the difference, which is a matter of half the
    cases, but with probability `chance`.

    Parameters
    ----------
    found : Interval
        Of a difference.
    confidence : float
        Of that interval.

    Returns
    -------
    float
        Below 1 where less would have done; infinite if no difference was seen, or beyond `MOST`; NaN where
        there is no interval.

    Notes
    -----
    It holds if the difference seen is the true one and what comes is like what was. The first is never quite
    so.

    References
    ----------
    A. M. Law, W. D. Kelton, "Simulation Modeling and Analysis", 3rd ed., 2000, section 9.4.1 (for the idea).

    Examples
    --------
    >>> found = Interval(-2.0, 4.0, 0.0, 30, "block bootstrap", False, 30.0, 1.956, 29.0)
    >>> round(needed(found), 1)  # (1.96 + 0.84)^2 / 1.96^2 = 2.04, on 3.84 for half the cases
    7.6
    """
    if math.isnan(found.mean) or math.isnan(found.half_width):
        return math.nan
    if found.half_width == 0:
        return 0.0 if found.mean else math.inf
    error, units, level = found.standard_error, found.freedom + 1, (1 + confidence) / 2
    skewed = found.half_width / (error * float(student(found.freedom, level)))

    def shows(multiple: float) -> bool:
        freedom = max(multiple * units - 1, 1.0)
        reach = skewed * float(student(freedom, level)) + float(student(freedom, chance))
        return abs(found.mean) >= reach * error / math.sqrt(multiple)

    low, high = 1 / units, MOST
    if not shows(high):
        return math.inf
    while high > low * 1.001:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high
