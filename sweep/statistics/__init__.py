"""Means and how well they are known: pure functions of arrays, which know nothing of studies."""

from sweep.statistics.batch_means import (
    Intervals,
    interval,
    intervals,
    paired_difference,
    paired_ratio,
    precise_enough,
    relative_half_width,
)
from sweep.statistics.confidence import MIN_REPLICATIONS, Interval
from sweep.statistics.correlation import advice
from sweep.statistics.saturation import Verdict, judge
from sweep.statistics.weights import weighed

__all__ = [
    "MIN_REPLICATIONS", "Interval", "Intervals", "Verdict",
    "advice", "interval", "intervals", "judge",
    "paired_difference", "paired_ratio", "precise_enough", "relative_half_width",
    "weighed",
]  # fmt: skip
