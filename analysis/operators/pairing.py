"""Paired differences between two policies for a group of jobs, from batches of the same jobs.

The jobs of a log come in batches of equal number, but a group (a user, the large jobs) has many jobs in one
batch and none in the next. So means are over jobs, not over batches: a batch is weighted by its jobs of the
group, and the interval is that of a ratio of two sums.

Intervals of means are those of `sweep.statistics`, as in the dataset and on the terminal. For a difference
within one log, batches are resampled in blocks (`sweep.statistics.blocks`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sweep import statistics
from sweep.statistics.confidence import Floats, Interval

Verdict = Literal["better", "worse", "no significant difference", "identical", "no interval"]

NOTHING = Interval(math.nan, math.nan, math.nan, 0, "batch means", True)


@dataclass(frozen=True)
class Difference:
    """A policy's mean minus the reference's.

    Parameters
    ----------
    reference : float
        Mean under the reference, over the same jobs.
    jobs : float
        Jobs of the group; NaN for a metric that is no mean over jobs.
    """

    interval: Interval
    reference: float
    jobs: float = math.nan

    @property
    def low(self) -> float:
        """Lower end of the interval; NaN without an interval."""
        return self.interval.mean - self.interval.half_width

    @property
    def high(self) -> float:
        """Upper end of the interval; NaN without an interval."""
        return self.interval.mean + self.interval.half_width

    @property
    def verdict(self) -> Verdict:
        """The verdict by the interval, for a metric for which less is better."""
        if self.interval.mean == 0 and not self.interval.half_width > 0:
            return "identical"
        if math.isnan(self.interval.half_width):
            return "no interval"
        if self.high < 0:
            return "better"
        return "worse" if self.low > 0 else "no significant difference"


def difference(
    policy: Floats,
    reference: Floats,
    weights: tuple[Floats, Floats] | None = None,
    confidence: float = 0.95,
) -> Difference:
    """Return the paired difference of two means.

    Parameters
    ----------
    policy, reference : ndarray, shape (replications, batches)
        Batch means; a batch that one of the two lacks is excluded for both.
    weights : two ndarray, shape (replications, batches), optional
        Weights of the batches of each, such as their jobs; equal by default.

    Examples
    --------
    >>> found = difference(np.full((1, 12), 5.0), np.full((1, 12), 7.0))
    >>> found.interval.mean, found.verdict
    (-2.0, 'better')
    """
    weight = np.ones_like(reference) if weights is None else weights[1]
    both = ~np.isnan(policy) & ~np.isnan(reference) & (weight > 0)
    if not both.any():
        return Difference(NOTHING, math.nan, 0.0)
    below = statistics.interval(np.where(both, reference, np.nan), confidence, weight=weight).mean
    found = statistics.bootstrapped_difference(policy, reference, confidence, weights=weights)
    return Difference(found, below, math.nan if weights is None else float(weight[both].sum()))
