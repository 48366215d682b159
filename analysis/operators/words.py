"""Numbers as text: times in one unit per table, differences with their sign and interval."""

from __future__ import annotations

import math

from analysis.operators.pairing import Difference
from analysis.report.numbers import PERCENT, Unit, number
from sweep.statistics.confidence import Interval


def level(interval: Interval, unit: Unit) -> str:
    """Return a mean with its half-width, if it has one."""
    if math.isnan(interval.mean):
        return "–"
    return _with_width(interval.mean / unit.size, interval.half_width / unit.size, "") + unit.name


def change(found: Difference, unit: Unit) -> str:
    """Return a difference with its sign, its half-width and its ratio to the reference.

    Examples
    --------
    >>> change(Difference(Interval(-90.0, 30.0, 0.0, 12, "batch means", False), 360.0), Unit(" min", 60.0))
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
    """Return a difference in percent of the reference's mean; beyond 300 %, the ratio."""
    ratio = 1 + found.interval.mean / found.reference
    if ratio > 4:
        return f"× {ratio:,.0f}"
    percent = round(100 * (ratio - 1))
    return f"{percent:+d} %".replace("-", "−") if percent else "0 %"


def _with_width(mean: float, half_width: float, sign: str) -> str:
    """Return both to the second digit of the half-width."""
    if math.isnan(half_width) or half_width == 0:
        return f"{sign}{number(mean)}".replace("-", "−")
    digits = max(0, min(4, 1 - math.floor(math.log10(half_width))))
    return f"{sign}{mean:,.{digits}f} ± {half_width:,.{digits}f}".replace("-", "−")
