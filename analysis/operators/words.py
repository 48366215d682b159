"""Numbers as an operator reads them: times in one unit a table, differences with their sign and interval."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from analysis.operators.pairing import Difference
from sweep.statistics.confidence import Interval


@dataclass(frozen=True)
class Unit:
    """What numbers are told in.

    Parameters
    ----------
    name : str
        With the blank before it; empty for pure numbers.
    size : float
        In the metric's own unit.
    """

    name: str
    size: float


SECONDS, MINUTES, HOURS = Unit(" s", 1.0), Unit(" min", 60.0), Unit(" h", 3600.0)
PURE, PERCENT = Unit("", 1.0), Unit(" %", 0.01)


def time_unit(seconds: Iterable[float]) -> Unit:
    """Return the unit in which the middle one of some times is a number below about 200.

    Examples
    --------
    >>> time_unit([3.0, 60.0, 9e9]).name, time_unit([600.0, math.nan]).name, time_unit([86400.0]).name
    (' s', ' min', ' h')
    """
    known = sorted(abs(one) for one in seconds if not math.isnan(one))
    middle = known[len(known) // 2] if known else 0.0
    return SECONDS if middle < 200 else MINUTES if middle < 12_000 else HOURS


def number(value: float) -> str:
    """Return a number with three digits, but all those before the point.

    Examples
    --------
    >>> number(12345.6), number(123.4), number(1.2345), number(0.0), number(math.nan)
    ('12,346', '123', '1.23', '0', '–')
    """
    if math.isnan(value):
        return "–"
    if abs(value) >= 100 or value == 0:
        return f"{value:,.0f}"
    return f"{value:.{2 - math.floor(math.log10(abs(value)))}f}" if abs(value) >= 0.01 else f"{value:.2g}"


def level(interval: Interval, unit: Unit) -> str:
    """Return a mean with its interval, if it has one."""
    if math.isnan(interval.mean):
        return "–"
    return _with_width(interval.mean / unit.size, interval.half_width / unit.size, "") + unit.name


def change(found: Difference, unit: Unit) -> str:
    """Return a difference with its sign, its interval and what it is relative to the reference.

    Examples
    --------
    >>> change(Difference(Interval(-90.0, 30.0, 0.0, 12, "batch means", False), 360.0), MINUTES)
    '−1.50 ± 0.50 min (−25 %)'
    """
    if math.isnan(found.interval.mean):
        return "–"
    sign = "+" if found.interval.mean > 0 else ""
    text = (
        _with_width(found.interval.mean / unit.size, found.interval.half_width / unit.size, sign) + unit.name
    )
    if unit is PERCENT or not found.reference > 0:
        return text
    return f"{text} ({relative(found)})"


def relative(found: Difference) -> str:
    """Return a difference in percent of the reference's mean; beyond 300 %, the multiple that it makes."""
    ratio = 1 + found.interval.mean / found.reference
    if ratio > 4:
        return f"× {ratio:,.0f}"
    percent = round(100 * (ratio - 1))
    return f"{percent:+d} %".replace("-", "−") if percent else "0 %"


def _with_width(mean: float, half_width: float, sign: str) -> str:
    """Return both with the digits that the width deserves."""
    if math.isnan(half_width) or half_width == 0:
        return f"{sign}{number(mean)}".replace("-", "−")
    digits = max(0, min(4, 1 - math.floor(math.log10(half_width))))
    return f"{sign}{mean:,.{digits}f} ± {half_width:,.{digits}f}".replace("-", "−")
