"""Numbers as text: three digits, and times in a unit that suits them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Unit:
    """A unit of numbers in text.

    Parameters
    ----------
    name : str
        With a leading blank; empty for pure numbers.
    """

    name: str
    size: float


SECONDS, MINUTES, HOURS = Unit(" s", 1.0), Unit(" min", 60.0), Unit(" h", 3600.0)
PURE, PERCENT = Unit("", 1.0), Unit(" %", 0.01)


def time_unit(seconds: Iterable[float]) -> Unit:
    """Return the unit in which the median of some times is below about 200.

    Examples
    --------
    >>> time_unit([3.0, 60.0, 9e9]).name, time_unit([600.0, math.nan]).name, time_unit([86400.0]).name
    (' s', ' min', ' h')
    """
    known = sorted(abs(one) for one in seconds if not math.isnan(one))
    middle = known[len(known) // 2] if known else 0.0
    return SECONDS if middle < 200 else MINUTES if middle < 12_000 else HOURS


def unit_of(units: str, values: Iterable[float]) -> Unit:
    """Return the unit in which values of a metric are read best.

    Parameters
    ----------
    units : str
        Units of the metric in its dataset; not shown for a rate, whose name already has them.
    """
    if units == "s":
        return time_unit(values)
    return PURE if units in ("1", "h-1") else Unit(f" {units}", 1.0)


def number(value: float) -> str:
    """Return a number with three significant digits, and all digits before the point.

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


def estimate(mean: float, width: float) -> str:
    """Return a mean with its half-width, both rounded to the second digit of the half-width.

    Examples
    --------
    >>> estimate(1.23456, 0.0217), estimate(12345.6, 789.0), estimate(1.23456, float("nan"))
    ('1.235 ± 0.022', '12,346 ± 789', '1.23')
    """
    if math.isnan(mean) or not width > 0:
        return number(mean)
    digits = min(6, max(0, 1 - math.floor(math.log10(width))))
    return f"{mean:,.{digits}f} ± {width:,.{digits}f}"
