"""Means and their confidence intervals: pure functions of arrays, independent of studies."""

from sweep.statistics.batch_means import (
    Intervals,
    interval,
    intervals,
    levels,
    precise_enough,
    relative_half_width,
)
from sweep.statistics.capacity import Capacity, capacity, limits_shown
from sweep.statistics.comparison import (
    Comparison,
    Paired,
    compare,
    joint_level,
    paired_difference,
    paired_ratio,
    probability_lowest,
)
from sweep.statistics.confidence import MIN_REPLICATIONS, Interval
from sweep.statistics.control import controlled
from sweep.statistics.correlation import advice, with_data
from sweep.statistics.length import ENOUGH, LEAST_BIAS, Lengths, expected_bias, lengths
from sweep.statistics.weights import mean_of, weighed

__all__ = [
    "ENOUGH", "LEAST_BIAS", "MIN_REPLICATIONS", "Capacity", "Comparison", "Interval", "Intervals",
    "Lengths", "Paired", "advice", "capacity", "compare", "controlled", "expected_bias", "interval",
    "intervals", "joint_level", "lengths", "levels", "limits_shown", "mean_of", "paired_difference",
    "paired_ratio", "precise_enough", "probability_lowest", "relative_half_width", "weighed", "with_data",
]  # fmt: skip
