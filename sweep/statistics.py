"""Confidence intervals from batch means and replications: pure functions of arrays.

An array of values has the shape (..., replications, batches); NaN marks a batch that was not run or was
dropped. One rule serves means, paired differences and ratios:

- With at least `MIN_REPLICATIONS` replications that hold data, the replication means are the sample. They
  are independent by construction, so their interval can be trusted however long the batches are.
- With fewer, all batches are the sample (method of batch means), the variance pooled within replications.
  That holds only where batches are long enough to be nearly independent, which is tested; where the test
  says no, the half-width is withheld (NaN) rather than reported too narrow.

The test is one-sided, at the level `SIGNIFICANCE`, on the lag-1 correlation in von Neumann's form, as
Fishman proposed for batch means. Its power is what the number of batches allows: in 30 batches it finds a
lag-1 correlation of 0.4 two times in five, and one of 0.2 that it misses makes a 95 % interval cover 89 %.

References
----------
G. S. Fishman, "Grouping observations in digital simulation", Management Science 24(5), 1978, 510-521.
A. M. Law, W. D. Kelton, "Simulation Modeling and Analysis", 3rd ed., 2000, sections 4.5, 9.5 and 10.2.
N. R. Adam, S. W. Klein, "On coverage probability, independence and normality in batch means algorithms",
European Journal of Operational Research 43, 1989, 206-215 (what undetected correlation costs).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Method = Literal["batch means", "replications"]

MIN_REPLICATIONS = 5
"""Replications from which their means alone make the interval: 4 degrees of freedom, t = 2.8."""

MIN_BATCHES = 5
"""Batches that the longest replication needs before independence can be judged at all (see `lag1_limit`)."""

SIGNIFICANCE = 0.01
"""Share of sound experiments that the test of independence withholds by mistake."""

TOLERATED_LAG1 = 0.05
"""Lag-1 correlation that a proposed batch size leaves: a 95 % interval then covers about 94 %."""

ROUNDING = 1e-12
"""Relative spread below which values are one constant, told apart by floating-point rounding only."""


@dataclass(frozen=True)
class Interval:
    """A mean and how well it is known.

    Parameters
    ----------
    mean : float
        Point estimate, given wherever there are data; NaN where there are none.
    half_width : float
        Half of the confidence interval's width; NaN where `withheld`.
    lag1 : float
        Lag-1 correlation of the batches; NaN if no replication has `MIN_BATCHES` or all values are equal.
    n : int
        Number of means in the sample: replications or batches, by `method`.
    method : {"replications", "batch means"}
    withheld : bool
        The data do not support an interval; `advice` says why and what to do.
    lag1_limit : float
        What independent batches stay below with probability 1 - `SIGNIFICANCE`.
    """

    mean: float
    half_width: float
    lag1: float
    n: int
    method: Method
    withheld: bool
    lag1_limit: float = math.nan


class Intervals(NamedTuple):
    """Intervals of many points at once: three arrays of one shape, `half_width` NaN where withheld."""

    mean: Floats
    half_width: Floats
    lag1: Floats


class BatchesTooShort(UserWarning):
    """Warns that an interval was withheld; carries the estimate and a batch size that would suffice.

    Parameters
    ----------
    interval : Interval
    batch_size : int
        Jobs in a batch when the estimate was made.
    """

    def __init__(self, interval: Interval, batch_size: int) -> None:
        super().__init__(interval, batch_size)
        self.interval = interval
        self.batch_size = batch_size
        self.sufficient_batch_size = sufficient_batch_size(interval.lag1, batch_size)

    def __str__(self) -> str:
        return advice(self.interval, self.batch_size)


def interval(values: ArrayLike, confidence: float = 0.95) -> Interval:
    """Confidence interval of the mean of one point.

    Parameters
    ----------
    values : array_like, shape (replications, batches)
        Batch means of one metric, NaN where not run or dropped.
    confidence : float
        Probability that the interval covers the true mean.

    Returns
    -------
    Interval
        With replications as the sample, replications count alike, however many batches each has; with
        batches as the sample, batches do.

    Raises
    ------
    ValueError
        If `values` has not two dimensions or `confidence` does not lie between 0 and 1.

    Examples
    --------
    >>> ten = [1.20, 1.50, 1.68, 1.89, 0.95, 1.49, 1.58, 1.55, 0.50, 1.09]  # Law & Kelton, example 4.26
    >>> found = interval([ten], confidence=0.90)
    >>> f"{found.mean:.2f} ± {found.half_width:.2f}"
    '1.34 ± 0.24'
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(
            f"values of shape {table.shape} are not one point: pass (replications, batches) or call intervals"
        )
    found = _estimate(table, confidence)
    return Interval(
        mean=float(found.mean),
        half_width=float(found.half_width),
        lag1=float(found.lag1),
        n=int(found.n),
        method="replications" if found.by_replications else "batch means",
        withheld=bool(np.isnan(found.half_width)),
        lag1_limit=float(found.lag1_limit),
    )


def intervals(values: ArrayLike, confidence: float = 0.95) -> Intervals:
    """Confidence intervals of many points: `interval` over all leading axes at once.

    Parameters
    ----------
    values : array_like, shape (..., replications, batches)
    confidence : float

    Returns
    -------
    Intervals
        Arrays of shape (...).
    """
    found = _estimate(np.asarray(values, dtype=np.float64), confidence)
    return Intervals(found.mean, found.half_width, found.lag1)


def paired_difference(a: ArrayLike, b: ArrayLike, confidence: float = 0.95) -> Interval:
    """Interval of the mean of a - b under common random numbers.

    Batches that met the same jobs are subtracted before anything is averaged, so what both have in common
    cancels; the differences then follow the rule of `interval`. A batch missing in either drops the pair.

    Parameters
    ----------
    a, b : array_like, shape (replications, batches)

    References
    ----------
    Law and Kelton (2000), section 10.2.1 (paired-t interval).
    """
    first, second = _pairs(a, b)
    return interval(first - second, confidence)


def paired_ratio(a: ArrayLike, b: ArrayLike, confidence: float = 0.95) -> Interval:
    """Interval of the ratio of the means of a and b under common random numbers.

    The ratio r of the two means is linearised: each pair contributes r + (a - r b) / mean(b), and these
    follow the rule of `interval`. A mean of logarithms would estimate a ratio of geometric means, which for
    skewed batch means is another number and moves with the batch size; nor could it take a zero. The linear
    form needs mean(b) to be well known itself: where b's own interval nears 0, no ratio means anything.

    Parameters
    ----------
    a, b : array_like, shape (replications, batches)

    References
    ----------
    W. G. Cochran, "Sampling Techniques", 3rd ed., 1977, sections 2.11 and 6.3 (variance of a ratio estimate).
    """
    first, second = _pairs(a, b)
    below = interval(second, confidence).mean
    if below == 0:
        return replace(interval(second, confidence), mean=math.nan, half_width=math.nan, withheld=True)
    ratio = interval(first, confidence).mean / below
    return interval(ratio + (first - ratio * second) / below, confidence)


def relative_half_width(values: ArrayLike, confidence: float = 0.95) -> float:
    """Half-width over the mean's magnitude; NaN where the interval is withheld, infinite around zero.

    Parameters
    ----------
    values : array_like, shape (replications, batches)
    confidence : float
    """
    found = interval(values, confidence)
    if found.half_width == 0:
        return 0.0  # a constant is known exactly, even the constant 0
    return found.half_width / abs(found.mean) if found.mean else math.inf


def precise_enough(values: ArrayLike, relative: float, confidence: float = 0.95) -> bool:
    """Whether a sequential experiment may stop: the relative half-width is at most `relative`.

    A withheld interval is never precise. Stopping at a random size costs some coverage, because an interval
    that happens to be narrow stops the run. Looking only at a few declared sizes keeps the loss small: 95 %
    became 94 on normal batches and 93 on M/M/1 waiting times, with three or four looks from 10 batches on.

    Parameters
    ----------
    values : array_like, shape (replications, batches)
    relative : float
        E.g. 0.05 for a half-width of 5 % of the mean.
    confidence : float
    """
    if not relative > 0:
        raise ValueError(
            f"a relative precision of {relative} is not positive: give e.g. 0.05 for 5 % of the mean"
        )
    return relative_half_width(values, confidence) <= relative


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


def advice(interval: Interval, batch_size: int) -> str:
    """One line, with the numbers, on what to make of an interval and what to do next.

    Parameters
    ----------
    interval : Interval
    batch_size : int
        Jobs in a batch.
    """
    replicate = f"run at least {MIN_REPLICATIONS} replications"
    if interval.n == 0:
        return "no batch holds data, so there is no mean: look at the state of this point's tasks"
    if not math.isfinite(interval.mean):
        return f"the mean is {interval.mean}: look for infinite batch values, or a ratio to a mean of 0"
    if not interval.withheld:
        sample = "replication" if interval.method == "replications" else "batch"
        judged = "not judged" if math.isnan(interval.lag1) else f"{interval.lag1:.2f}"
        return f"interval from {interval.n} {sample} means, lag-1 correlation of batches {judged}"
    if math.isnan(interval.lag1):
        return (
            f"interval withheld: {interval.n} batches are too few to judge; "
            f"run at least {MIN_BATCHES} (better 30) batches a replication, or {replicate}"
        )
    found = (
        f"interval withheld: lag-1 correlation {interval.lag1:.2f} of {interval.n} batches of {batch_size} "
        f"(independent ones stay below {interval.lag1_limit:.2f}); "
    )
    enough = sufficient_batch_size(interval.lag1, batch_size)
    longer = "look for a trend (warm-up, saturation)" if enough is None else f"use batches of about {enough}"
    return f"{found}{longer}, or {replicate}"


def mser(series: ArrayLike, group: int = 5) -> int:
    """Warm-up to cut by the MSER rule: the truncation that minimises the standard error of what is left.

    Parameters
    ----------
    series : array_like, shape (n,)
        Observations in order of time, without gaps.
    group : int
        Neighbours averaged first; 5 makes it MSER-5, 1 the original rule.

    Returns
    -------
    int
        Leading values to cut, a multiple of `group` and at most half of the series. A result at that limit
        says that the series is too short for its transient.

    Raises
    ------
    ValueError
        If fewer than 10 groups are given, where the rule only chases noise, or a value is not finite.

    References
    ----------
    K. P. White, "An effective truncation heuristic for bias reduction in simulation output", Simulation
    69(6), 1997, 323-334. K. P. White, M. J. Cobb, S. C. Spratt, "A comparison of five steady-state truncation
    heuristics for simulation", Proc. Winter Simulation Conference, 2000, 755-760 (groups of 5; half).
    """
    observed = np.asarray(series, dtype=np.float64)
    if observed.ndim != 1 or not np.isfinite(observed).all():
        raise ValueError(
            f"MSER needs one series of finite values, not shape {observed.shape} with gaps: drop them"
        )
    if group < 1 or len(observed) < 10 * group:
        raise ValueError(
            f"{len(observed)} values in groups of {group} are too few for MSER: give at least 10 groups, "
            "or set the warm-up by count"
        )
    n = len(observed) // group
    means = observed[: n * group].reshape(n, group).mean(axis=1)
    # Summed from the end and relative to the last mean, so that a huge transient costs the tail no digits.
    tail = (means - means[-1])[::-1]
    left = np.arange(n, 0, -1)
    sums, squares = np.cumsum(tail)[::-1], np.cumsum(tail**2)[::-1]
    spread = np.maximum(squares - sums**2 / left, 0)
    return int(np.argmin((spread / left**2)[: n // 2 + 1])) * group


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
    quantile = _student(np.where(judged, shape, 1), 1 - SIGNIFICANCE)
    return np.where(judged, reach * quantile / np.sqrt(np.where(judged, shape, 1) + quantile**2), np.nan)


class _Estimates(NamedTuple):
    """What `interval` and `intervals` both report, each of shape (...)."""

    mean: Floats
    half_width: Floats
    lag1: Floats
    lag1_limit: Floats
    n: NDArray[np.int64]
    by_replications: NDArray[np.bool_]


def _estimate(values: Floats, confidence: float) -> _Estimates:
    """Apply the rule of this module to values of shape (..., replications, batches)."""
    if values.ndim < 2:
        raise ValueError(f"values of shape {values.shape} lack an axis: pass (..., replications, batches)")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence} is not between 0 and 1: give e.g. 0.95")
    values = _close_gaps(values)
    ran = ~np.isnan(values)
    batches = ran.sum(axis=-1)
    replications = (batches > 0).sum(axis=-1)
    total = batches.sum(axis=-1)
    by_replications = replications >= MIN_REPLICATIONS

    # Divisions by empty counts and infinite values end as NaN, which is what they shall be.
    with np.errstate(invalid="ignore", divide="ignore"):
        sums = np.where(ran, values, 0.0).sum(axis=-1)
        centres = sums / batches
        held = batches > 0
        mean_of_means = np.where(held, centres, 0.0).sum(axis=-1) / replications
        mean = np.where(by_replications, mean_of_means, sums.sum(axis=-1) / total)

        within = (np.where(ran, values - centres[..., None], 0.0) ** 2).sum(axis=(-2, -1))
        within = np.where(within <= total * (ROUNDING * mean) ** 2, 0.0, within)
        between = (np.where(held, centres - mean[..., None], 0.0) ** 2).sum(axis=-1)

        # 1 - von Neumann's ratio / 2: its mean is 0 under independence, the plain estimator's is not.
        steps = np.where(ran[..., 1:], np.diff(values, axis=-1), 0.0)
        limit = lag1_limit(batches)
        judged = ~np.isnan(limit) & (within > 0)
        lag1 = np.where(judged, 1 - (steps**2).sum(axis=(-2, -1)) / (2 * within), np.nan)

        n = np.where(by_replications, replications, total)
        freedom = np.where(by_replications, replications - 1, total - replications)
        variance = np.where(by_replications, between, within) / freedom / n
        half_width = _student(np.maximum(freedom, 1), (1 + confidence) / 2) * np.sqrt(variance)
    withheld = ~by_replications & (np.isnan(limit) | (lag1 > limit))
    return _Estimates(mean, np.where(withheld, np.nan, half_width), lag1, limit, n, by_replications)


def _close_gaps(values: Floats) -> Floats:
    """Move each replication's batches to the front, in order, so that neighbours in the array are neighbours.

    Batches on both sides of a dropped one count as neighbours: under independence that is exact.
    """
    missing = np.isnan(values)
    if not (missing[..., :-1] & ~missing[..., 1:]).any():
        return values
    return np.take_along_axis(values, np.argsort(missing, axis=-1, kind="stable"), axis=-1)


def _pairs(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    """Both samples, a batch NaN in both where it is NaN in either."""
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape:
        raise ValueError(
            f"shapes {first.shape} and {second.shape} cannot be paired: fill what was not run with NaN"
        )
    missing = np.isnan(first) | np.isnan(second)
    return np.where(missing, np.nan, first), np.where(missing, np.nan, second)


def _student(freedom: ArrayLike, probability: float) -> Floats:
    """Quantile of Student's t, also for a fractional number of degrees of freedom."""
    # Imported here: scipy.special takes longer to load than all else that `--help` and `status` need.
    from scipy.special import stdtrit

    return np.asarray(stdtrit(freedom, probability), dtype=np.float64)
