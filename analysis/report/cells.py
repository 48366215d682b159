"""Cells of tables that compare: means, differences with their sign, interval and verdict, groups in words."""

import math
from collections.abc import Callable, Iterable

from analysis.report.table import Cell
from analysis.study.axes import Group
from sweep.numbers import PERCENT, Unit, estimate, number
from sweep.statistics import Comparison

BETTER, WORSE = ("better", "mostly better"), ("worse", "mostly worse")
TONES = dict.fromkeys(BETTER, "better") | dict.fromkeys(WORSE, "worse")
MARKS = dict(zip((*BETTER, *WORSE), ("▼ ", "▽ ", "▲ ", "△ "), strict=True))
"""Verdicts of less and of more; their colours, and their marks in tables."""


def level(mean: float, half_width: float, unit: Unit) -> str:
    """Return a mean with its half-width, if it has one."""
    if math.isnan(mean):
        return "–"
    return estimate(mean / unit.size, half_width / unit.size).replace("-", "−") + unit.name


def change(found: Comparison, unit: Unit) -> str:
    """Return a difference with its sign, and in percent of the reference's mean.

    Examples
    --------
    >>> change(Comparison(-90.0, 360.0, 11, 1, 0.95), Unit(" min", 60.0))
    '−1.50 min (−25 %)'
    """
    if math.isnan(found.mean):
        return "–"
    sign = "+" if found.mean > 0 else ""
    text = f"{sign}{number(found.mean / unit.size)}{unit.name}".replace("-", "−")
    return text if unit is PERCENT or not found.reference > 0 else f"{text} ({relative(found, found.mean)})"


def bounds(found: Comparison, unit: Unit) -> str:
    """Return the interval of a difference, in percent of the reference's mean where that is known.

    Examples
    --------
    >>> bounds(Comparison(-90.0, 360.0, 11, 1, 0.95, -150.0, -18.0), Unit(" min", 60.0))
    '−42 to −5 %'
    """
    ends = found.low, found.high
    if math.isnan(found.low) or found.low == found.high == 0:
        return ""
    if unit is PERCENT or not found.reference > 0:
        low, high = (f"{end / unit.size:+,.2g}".replace("-", "−") for end in ends)
        return f"{low} to {high}{unit.name}"
    low, high = (relative(found, end) for end in ends)
    return f"{low.removesuffix(' %')} to {high}" if "%" in high else f"{low} to {high}"


def marked(found: Comparison, unit: Unit) -> Cell:
    """Return a difference with the mark and the tone of its verdict, and its interval below."""
    text = f"{MARKS.get(found.verdict, '')}{change(found, unit)}"
    return Cell(text, TONES.get(found.verdict, "open"), bounds(found, unit))


def relative(found: Comparison, difference: float) -> str:
    """Return a difference in percent of the reference's mean; beyond 300 %, the ratio."""
    ratio = 1 + difference / found.reference
    if ratio > 4:
        return f"× {ratio:,.0f}"
    percent = round(100 * (ratio - 1))
    return f"{percent:+d} %".replace("-", "−") if percent else "0 %"


def probability(value: float) -> str:
    """Return a probability in percent, never certain.

    Examples
    --------
    >>> probability(0.123), probability(0.0), probability(0.9999), probability(float("nan"))
    ('12 %', 'under 1 %', 'over 99 %', '–')
    """
    if math.isnan(value):
        return "–"
    if value < 0.01:
        return "under 1 %"
    return "over 99 %" if value > 0.99 else f"{100 * value:.0f} %"


def judged(found: Comparison, unit: Unit) -> Cell:
    """Return a difference with the tone of its verdict, and below it its interval and the verdict."""
    note = ", ".join(filter(None, [bounds(found, unit), found.verdict]))
    return Cell(change(found, unit), TONES.get(found.verdict, "open"), note)


def by_kind(groups: Iterable[Group], word: Callable[[Group], str], otherwise: str) -> str:
    """Return groups of jobs kind by kind, each in a word; other words, if there are none.

    Examples
    --------
    >>> from analysis.study.axes import RUNTIME
    >>> by_kind([RUNTIME.of("under 1 min"), RUNTIME.of("1 to 10 min")], lambda one: one.value, "none")
    'runtime: under 1 min, 1 to 10 min'
    """
    kinds: dict[str, list[str]] = {}
    for one in groups:
        kinds.setdefault(one.grouping.title if one.grouping else "", []).append(word(one))
    return "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items()) or otherwise
