"""Batches too short to be independent: how that is told, and what to do about it.

The test is one-sided, at the level `SIGNIFICANCE`, on the lag-1 correlation in von Neumann's form, as
Fishman proposed for batch means. Its power is what the number of batches allows: in 30 batches it finds a
lag-1 correlation of 0.4 two times in five, and one of 0.2 that it misses makes a 95 % interval cover 89 %.

References
----------
G. S. Fishman, "Grouping observations in digital simulation", Management Science 24(5), 1978, 510-521.
N. R. Adam, S. W. Klein, "On coverage probability, independence and normality in batch means algorithms",
European Journal of Operational Research 43, 1989, 206-215 (what undetected correlation costs).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from sweep.statistics.confidence import MIN_REPLICATIONS, Floats, Interval, student

MIN_BATCHES = 5
"""Batches that the longest replication needs before independence can be judged at all (see `lag1_limit`)."""

SIGNIFICANCE = 0.01
"""Share of sound experiments that the test of independence withholds by mistake."""

TOLERATED_LAG1 = 0.05
"""Lag-1 correlation that a proposed batch size leaves: a 95 % interval then covers about 94 %."""


def lag1_limit(batches: ArrayLike) -> Floats:
    """Lag-1 correlation that independent batches exceed with probability `SIGNIFICANCE`.

    For independent normal batches von Neumann's correlation, pooled over replications with their variances,
    has mean 0, variance sum(B - 2) / (v (v + 2)) with v = sum(B - 1), and lies within ±cos(pi / max B). The
    symmetric beta distribution of that range and variance (Young's choice) gives the quantile; its true
    level is 1.6 % at 5 batches and within 0.1 of 1 % from 8 on (the normal quantile's is 0.6 % at 10).

    Parameters
    ----------
    batches : array_like of int, shape (..., replications)
        Batches of each replication, 0 where it holds no data.

    Returns
    -------
    ndarray, shape (...)
        NaN where no replication has `MIN_BATCHES`.

    References
    ----------
    L. C. Young, "On randomness in ordered sequences", Annals of Mathematical Statistics 12, 1941, 293-300.
    """
    count = np.asarray(batches)
    longest = count.max(axis=-1, initial=0)
    freedom = np.maximum(count - 1, 0).sum(axis=-1)
    steps = np.maximum(count - 2, 0).sum(axis=-1)
    judged = longest >= MIN_BATCHES
    reach = np.cos(np.pi / np.where(judged, longest, MIN_BATCHES))
    # A symmetric beta variable is t / sqrt(d + t^2), its variance 1 / (d + 1), for a t of d degrees.
    shape = reach**2 * freedom * (freedom + 2) / np.where(judged, steps, 1) - 1
    quantile = student(np.where(judged, shape, 1), 1 - SIGNIFICANCE)
    return np.where(judged, reach * quantile / np.sqrt(np.where(judged, shape, 1) + quantile**2), np.nan)


def sufficient_batch_size(lag1: float, batch_size: int) -> int | None:
    """Batch size at which the lag-1 correlation falls to `TOLERATED_LAG1`, by an AR(1) extrapolation.

    Batch means taken as an AR(1) process with coefficient f have, merged by k, the lag-1 correlation
    f (1 - f^k)^2 / (k (1 - f^2) - 2 f (1 - f^k)), which f / (k (1 - f^2) - 2 f) bounds from above.

    Returns
    -------
    int or None
        A multiple of `batch_size`; None where nothing can be extrapolated (`lag1` unknown, or 1: a trend).
    """
    if not lag1 < 1:
        return None
    if lag1 <= TOLERATED_LAG1:
        return batch_size
    return batch_size * math.ceil((lag1 / TOLERATED_LAG1 + 2 * lag1) / (1 - lag1**2))


def advice(interval: Interval, batch_size: int | None, *, replicable: bool = True) -> str:
    """One line, with the numbers, on what to make of an interval and what to do next.

    Parameters
    ----------
    interval : Interval
    batch_size : int or None
        Jobs in a batch; None is however many the workload has, and no other number can be proposed.
    replicable : bool
        Whether replications differ; those of a log do not, and more than one is then no advice.
    """
    replicate = f", or run at least {MIN_REPLICATIONS} replications" if replicable else ""
    if interval.n == 0:
        return "no batch holds data, so there is no mean: look at the state of this point's tasks"
    if not math.isfinite(interval.mean):
        return f"the mean is {interval.mean}: look for infinite batch values, or a ratio to a mean of 0"
    if interval.method == "exact":
        return "exact: there is no chance in it"
    if not interval.withheld:
        sample = "replication" if interval.method == "replications" else "batch"
        judged = "not judged" if math.isnan(interval.lag1) else f"{interval.lag1:.2f}"
        return f"interval from {interval.n} {sample} means, lag-1 correlation of batches {judged}"
    if math.isnan(interval.lag1):
        return (
            f"interval withheld: {interval.n} batches are too few to judge; "
            f"run at least {MIN_BATCHES} (better 30) batches a replication{replicate}"
        )
    size = "" if batch_size is None else f" of {batch_size}"
    found = (
        f"interval withheld: lag-1 correlation {interval.lag1:.2f} of {interval.n} batches{size} "
        f"(independent ones stay below {interval.lag1_limit:.2f}); "
    )
    enough = sufficient_batch_size(interval.lag1, batch_size or 1)
    longer = f"use batches of about {enough}" if batch_size else "use fewer and longer ones"
    if enough is None:
        longer = "look for a trend (warm-up, saturation)"
    return f"{found}{longer}{replicate}"
