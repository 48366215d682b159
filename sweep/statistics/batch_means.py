"""Confidence intervals from batch means and replications: pure functions of arrays.

An array of values has the shape (..., replications, batches); NaN marks a batch that was not run or was
dropped. Pairs of policies follow the rule in `comparison`.

- The mean of a replication is the mean of its batches, which count alike or by their `weight` (jobs, time).
  The mean of a point is the mean of its replications, which count alike.
- With at least `MIN_REPLICATIONS` replications that hold data, their means are the sample. They are
  independent by construction, so that their interval can be trusted however short the batches are.
- With fewer, all batches are the sample (method of batch means), the variance pooled within replications.
  Neighbouring batches are seldom independent, so the interval is widened by what their correlation and
  their skewness may hide: see `correlation`. With fewer than `MIN_BATCHES` batches in a run neither
  can be estimated, and the half-width is withheld (NaN).

An exact value, which was solved and not simulated, has half-width 0.
docs/statistics.md has the coverage that was measured.

References
----------
A. M. Law, W. D. Kelton, "Simulation Modeling and Analysis", 3rd ed., 2000, sections 4.5, 9.5 and 10.2.
"""

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sweep.statistics.confidence import MIN_REPLICATIONS, Floats, Interval, Method, student
from sweep.statistics.correlation import LEAST_FREEDOM, MIN_BATCHES, skewness_allowance, worth
from sweep.statistics.weights import mean_of, weighed

ROUNDING = 1e-12
"""Relative spread below which values are one constant, except for rounding."""


Levels: TypeAlias = Callable[[float], Interval]
"""Function from a confidence to the interval of one point; many levels take little more time than one."""


class Intervals(NamedTuple):
    """Intervals of many points at once: three arrays of one shape, `half_width` NaN where withheld."""

    mean: Floats
    half_width: Floats
    lag1: Floats


def interval(
    values: ArrayLike, confidence: float = 0.95, *, weight: ArrayLike | None = None, exact: bool = False
) -> Interval:
    """Confidence interval of the mean of one point.

    Parameters
    ----------
    values : array_like, shape (replications, batches)
        Batch means of one metric, NaN where not run or dropped.
    confidence : float
        Probability that the interval covers the true mean.
    weight : array_like, shape (replications, batches), optional
        What each batch counts for, see `sweep.statistics.weights.weighed`; by default all alike.
    exact : bool
        The values are solved, not simulated.

    Raises
    ------
    ValueError
        If `values` does not have two dimensions, or `confidence` is not between 0 and 1.

    Examples
    --------
    >>> ten = [1.20, 1.50, 1.68, 1.89, 0.95, 1.49, 1.58, 1.55, 0.50, 1.09]  # Law & Kelton, example 4.26
    >>> found = interval([ten], confidence=0.90)
    >>> f"{found.mean:.2f} ± {found.half_width:.2f}, worth {found.effective:.1f} independent batches"
    '1.34 ± 0.55, worth 4.2 independent batches'
    >>> of_replications = interval([[value] for value in ten], confidence=0.90)  # Law & Kelton's
    >>> f"{of_replications.mean:.2f} ± {of_replications.half_width:.2f}"
    '1.34 ± 0.24'
    """
    return levels(values, weight=weight, exact=exact)(confidence)


def levels(values: ArrayLike, *, weight: ArrayLike | None = None, exact: bool = False) -> Levels:
    """Return the intervals of one point at any confidence, see `interval`; the rest is computed once."""
    table = _one_point(np.asarray(values, dtype=np.float64))
    known = _moments(table if weight is None else weighed(table, weight), exact)
    sampled: Method = "replications" if known.by_replications else "batch means"
    mean, lag1, n = float(known.mean), float(known.lag1), int(known.n)
    effective, standard_error = float(known.effective), float(known.standard_error)
    freedom = float(known.freedom)

    def at(confidence: float) -> Interval:
        half_width = float(_half_width(known, confidence))
        withheld = math.isnan(half_width)
        return Interval(
            mean=mean,
            half_width=half_width,
            lag1=lag1,
            n=n,
            method="exact" if exact else sampled,
            withheld=withheld,
            effective=effective,
            standard_error=math.nan if withheld else standard_error,
            freedom=math.nan if withheld else freedom,
        )

    return at


def intervals(
    values: ArrayLike, confidence: float = 0.95, *, weight: ArrayLike | None = None, exact: ArrayLike = False
) -> Intervals:
    """Confidence intervals of many points: `interval` over all leading axes at once.

    Values and weights have the shape (..., replications, batches), `exact` and the results the shape (...).
    """
    table = np.asarray(values, dtype=np.float64)
    known = _moments(table if weight is None else weighed(table, weight), exact)
    return Intervals(known.mean, _half_width(known, confidence), known.lag1)


def relative_half_width(values: ArrayLike, confidence: float = 0.95) -> float:
    """Half-width over the mean's magnitude; NaN where the interval is withheld, infinite around zero."""
    found = interval(values, confidence)
    if found.half_width == 0:
        return 0.0  # a constant is known exactly, even 0
    return found.half_width / abs(found.mean) if found.mean else math.inf


def precise_enough(values: ArrayLike, relative: float, confidence: float = 0.95) -> bool:
    """Whether a sequential experiment may stop: the relative half-width is at most `relative`.

    A withheld interval is never precise. Stopping at a random size costs some coverage, because an interval
    that happens to be narrow stops the run. Checking only at a few declared sizes keeps the loss small: 95 %
    intervals with three or four checkpoints from 10 batches on covered 97 % on normal batches and on M/M/1
    waiting times.
    """
    if not relative > 0:
        raise ValueError(
            f"a relative precision of {relative} is not positive: give e.g. 0.05 for 5 % of the mean"
        )
    return relative_half_width(values, confidence) <= relative


def _one_point(values: Floats) -> Floats:
    """Return the values of one point, or raise."""
    if values.ndim != 2:
        raise ValueError(
            f"values of shape {values.shape} are not one point: pass (replications, batches) "
            "or call intervals"
        )
    return values


class _Moments(NamedTuple):
    """The statistics from which intervals at any level are computed, each of shape (...)."""

    mean: Floats
    lag1: Floats
    effective: Floats
    standard_error: Floats
    freedom: Floats
    n: NDArray[np.int64]
    by_replications: NDArray[np.bool_]
    withheld: NDArray[np.bool_]
    solved: NDArray[np.bool_]
    skewness: Floats
    skewed: NDArray[np.bool_]
    """Where the interval is widened for skewness."""
    total: NDArray[np.int64]


def _moments(values: Floats, exact: ArrayLike) -> _Moments:
    """Apply this module's rule to values of shape (..., replications, batches), except for the level."""
    if values.ndim < 2:
        raise ValueError(f"values of shape {values.shape} lack an axis: pass (..., replications, batches)")
    values = _close_gaps(values)
    ran, batches, held, replications, centres, mean = _means(values)
    total = batches.sum(axis=-1)
    by_replications = replications >= MIN_REPLICATIONS
    judged = batches.max(axis=-1, initial=0) >= MIN_BATCHES

    # Divisions by empty counts, and infinite values, give NaN, as they should.
    with np.errstate(invalid="ignore", divide="ignore"):
        between = (np.where(held, centres - mean[..., None], 0.0) ** 2).sum(axis=-1)
        deviations = np.where(ran, values - centres[..., None], 0.0)
        within = (deviations**2).sum(axis=(-2, -1))
        within = np.where(within <= total * (ROUNDING * mean) ** 2, 0.0, within)

        # 1 - von Neumann's ratio / 2: its mean is 0 under independence, the plain estimator's is not.
        steps = np.where(ran[..., 1:], np.diff(values, axis=-1), 0.0)
        known = judged & (within > 0)
        lag1 = np.where(known, 1 - (steps**2).sum(axis=(-2, -1)) / (2 * within), np.nan)

        effective = np.where(known, worth(lag1, total, replications), total)
        spread = np.where(
            by_replications,
            between / (replications - 1) / replications,
            # The variance of the mean of the replications' means, which may have different numbers of
            # batches.
            within / (total - replications) * (total / effective)
            * np.where(held, 1 / batches, 0.0).sum(axis=-1) / replications**2,
        )  # fmt: skip
        freedom = np.where(
            by_replications, replications - 1, np.maximum(effective - replications, LEAST_FREEDOM)
        )
        skewed = ~(by_replications | (within == 0))
        third = np.abs(_cubes(deviations, skewed).sum(axis=(-2, -1)) / total) / (within / total) ** 1.5
        error = np.sqrt(spread)
    solved = np.asarray(exact) & (total > 0)
    n = np.where(by_replications, replications, total)
    return _Moments(
        mean,
        np.where(solved, np.nan, lag1),
        np.where(by_replications, n, effective),
        np.where(solved, 0.0, error),
        freedom,
        n,
        by_replications,
        ~by_replications & ~judged,
        solved,
        third,
        skewed,
        total,
    )


def _cubes(values: Floats, where: NDArray[np.bool_]) -> Floats:
    """Cube the values of some points, shape (..., replications, batches); all others become 0.

    Cubes of negative numbers take numpy three times as long as all other statistics of a point.
    """
    return np.power(values, 3, out=np.zeros_like(values), where=where[..., None, None])


def _half_width(known: _Moments, confidence: float) -> Floats:
    """Return half-widths at a level, shape (...); NaN where withheld."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence} is not between 0 and 1: give e.g. 0.95")
    with np.errstate(invalid="ignore", divide="ignore"):
        # Without any interval, scipy need not be loaded.
        none = np.all(known.withheld)
        quantile = np.nan if none else student(np.maximum(known.freedom, 1), (1 + confidence) / 2)
        widened = skewness_allowance(known.skewness, quantile, known.total)
        allowance = np.where(known.skewed, widened, 0.0)
        half_width = (quantile + allowance) * known.standard_error
    return np.where(known.solved, 0.0, np.where(known.withheld, np.nan, half_width))


class _Means(NamedTuple):
    """Which batches ran, how many per replication, which replications hold data, and how many per point; the
    means of replications and of points."""

    ran: NDArray[np.bool_]
    batches: NDArray[np.int64]
    held: NDArray[np.bool_]
    replications: NDArray[np.int64]
    centres: Floats
    mean: Floats


def _means(values: Floats) -> _Means:
    """Return the means of replications and of points; NaN (0 / 0) where nothing ran."""
    ran = ~np.isnan(values)
    batches = ran.sum(axis=-1)
    held = batches > 0
    replications = held.sum(axis=-1)
    centres = mean_of(values, ran)
    return _Means(ran, batches, held, replications, centres, mean_of(centres, held))


def _close_gaps(values: Floats) -> Floats:
    """Move each replication's batches to the front, in order, so that neighbours in the array are neighbours.

    Batches on both sides of a dropped one count as neighbours: under independence that is exact.
    """
    missing = np.isnan(values)
    if not (missing[..., :-1] & ~missing[..., 1:]).any():
        return values
    return np.take_along_axis(values, np.argsort(missing, axis=-1, kind="stable"), axis=-1)
