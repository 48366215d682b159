"""Names of metrics and groups of jobs, and numbers as text: differences with their sign and interval."""

import math

from analysis.figures.style import VERDICT_COLORS, SchemeStyle
from analysis.report.table import Cell
from sweep.numbers import PERCENT, Unit, number
from sweep.statistics import Comparison

WAIT, WAIT_P95, WAIT_MAX = "delay", "delay_p95", "delay_max"
"""Operators call a wait the time in the system beyond the runtime: the wait of a preempted job does not end
with its first start."""

SLOWDOWN, RESPONSE = "bounded_slowdown", "response_time"
PERIOD = "period"
UTILIZATION, LOSS = "utilization", "loss_of_capacity"

MEASURES = {
    WAIT: "Mean wait",
    WAIT_P95: "95th percentile of wait",
    WAIT_MAX: "Longest wait",
    SLOWDOWN: "Mean bounded slowdown",
    UTILIZATION: "Utilization",
    LOSS: "Loss of capacity",
}
"""Measures of a policy, in the order of tables and pictures."""

AS_IT_WAS = "as it was"
"""Row and line of the values that the log recorded, beside the policies."""

BETTER, WORSE, OPEN = (VERDICT_COLORS[name] for name in ("holds", "fails", "inconclusive"))

VERDICTS = {
    name: SchemeStyle(name, color, marker, "")
    for name, color, marker in (
        ("better", BETTER, "v"), ("mostly better", BETTER, "v"), ("worse", WORSE, "^"),
        ("mostly worse", WORSE, "^"), ("mixed", OPEN, "X"), ("no difference shown", OPEN, "o"),
        ("identical", OPEN, "o"), ("no interval", OPEN, "D"),
    )
}  # fmt: skip
"""Verdict -> its colour and marker."""


TONES = {"better": "better", "mostly better": "better", "worse": "worse", "mostly worse": "worse"}
MARKS = {"better": "▼ ", "mostly better": "▽ ", "worse": "▲ ", "mostly worse": "△ "}
"""Verdict -> its colour, and its mark in tables."""


def level(mean: float, half_width: float, unit: Unit) -> str:
    """Return a mean with its half-width, if it has one."""
    return "–" if math.isnan(mean) else _with_width(mean / unit.size, half_width / unit.size) + unit.name


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


def _with_width(mean: float, half_width: float) -> str:
    """Return both to the second digit of the half-width."""
    if math.isnan(half_width) or half_width == 0:
        return number(mean).replace("-", "−")
    digits = max(0, min(4, 1 - math.floor(math.log10(half_width))))
    return f"{mean:,.{digits}f} ± {half_width:,.{digits}f}".replace("-", "−")
