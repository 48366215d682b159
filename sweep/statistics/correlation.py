"""Effects of correlated and of skewed batches on an interval.

Batch means x of a run of B batches are taken as a first-order autoregressive series with lag-1 correlation f.
The variance of their mean is then (1 + f) / (1 - f) times as large as of independent batches, as if there
were B (1 - f) / (1 + f) of them: the interval is made from that effective number. The correlation has to be
estimated from the same few batches, and an estimate that is too low makes intervals too narrow just where it
matters. (A test for correlation has the same fault: 30 batches with a correlation of 0.4
pass a test at the level 0.01 three times in five, and their plain 95 % interval then covers 78 %.) So the
correlation used is the estimate in von Neumann's form, plus its bias, plus one standard error.

Batch means of slowdowns and waiting times are skewed to the right: most runs miss the rare long queue, and
their mean and its spread are too low together. Johnson's correction of t moves the interval by
skewness x (1 + 2 t^2) / (6 sqrt(B)) standard errors; this is added on both sides.

References
----------
G. V. Bayley, J. M. Hammersley, "The 'effective' number of independent observations in an autocorrelated time
series", Supplement to the Journal of the Royal Statistical Society 8(2), 1946, 184-197.
F. H. C. Marriott, J. A. Pope, "Bias in the estimation of autocorrelations", Biometrika 41, 1954, 390-402.
F. W. Zwiers, H. von Storch, "Taking serial correlation into account in tests of the mean", Journal of Climate
8(2), 1995, 336-351 (t from an estimated effective number, and what the estimate's error does to it).
A. Tafazzoli, J. R. Wilson, "Skart: A skewness- and autoregression-adjusted batch-means procedure for
simulation analysis", IIE Transactions 43(2), 2011, 110-128 (both adjustments, for batch means).
N. J. Johnson, "Modified t tests and confidence intervals for asymmetrical populations", Journal of the
American Statistical Association 73, 1978, 536-544.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from models.counting import counted
from sweep.statistics.confidence import MIN_REPLICATIONS, Floats, Interval

MIN_BATCHES = 10
"""Minimum batches of the longest replication for an estimate of their correlation."""

MOST_LAG1 = 0.95
"""The strongest correlation that is allowed for: beyond it a run cannot be distinguished from a trend."""

LEAST_FREEDOM = 2.0
"""Minimum degrees of freedom, at the fewest effective batches: t = 4.3 at 95 %."""

TOLERATED_LAG1 = 0.05
"""Lag-1 correlation that a proposed batch size leaves."""


def likely_lag1(lag1: ArrayLike, batches: ArrayLike, replications: ArrayLike) -> Floats:
    """Return the correlation that is allowed for: the estimate, its bias taken off, plus one standard error.

    Parameters
    ----------
    lag1 : array_like, shape (...)
        Von Neumann's estimate, pooled over replications.
    batches : array_like, shape (...)
        Number of batches of all replications together.
    replications : array_like, shape (...)

    Notes
    -----
    The estimate of a correlation f from B batches is too low by about 3 f / B (Marriott and Pope give
    (1 + 3 f) / B for the plain estimator, von Neumann's is right at 0); its standard error is
    sqrt((1 - f^2) / B) (Bartlett).

    Examples
    --------
    >>> print(likely_lag1(0.4, 30, 1).round(2), likely_lag1(0.0, 30, 1).round(2))
    0.6 0.18
    """
    estimate, n = np.asarray(lag1, dtype=np.float64), np.asarray(batches, dtype=np.float64)
    length = n / np.asarray(replications, dtype=np.float64)
    found = estimate + 3 * np.maximum(estimate, 0) / length
    high = found + np.sqrt(np.maximum(1 - found**2, 0) / n)
    return np.asarray(np.minimum(np.maximum(high, 0.0), MOST_LAG1), dtype=np.float64)


def worth(lag1: ArrayLike, batches: ArrayLike, replications: ArrayLike) -> Floats:
    """Return the effective number of batches: the number of independent batches that they are worth at least.

    Parameters
    ----------
    lag1, batches, replications : array_like, shape (...)
        See `likely_lag1`.

    Examples
    --------
    >>> print(worth(0.4, 30, 1).round(1), worth(0.0, 30, 1).round(1))
    7.4 20.7
    """
    high = likely_lag1(lag1, batches, replications)
    return np.asarray(np.asarray(batches) * (1 - high) / (1 + high), dtype=np.float64)


def skewness_allowance(skewness: ArrayLike, quantile: ArrayLike, batches: ArrayLike) -> Floats:
    """Standard errors by which skewed batches may move the interval; added to the quantile of t."""
    t = np.asarray(quantile, dtype=np.float64)
    found: Floats = np.abs(skewness) * (1 + 2 * t**2) / (6 * np.sqrt(batches))
    return found


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


def with_data(values: ArrayLike) -> int:
    """Return how many replications of a sample, shape (n_replications, n_batches), have a batch with data."""
    return int((~np.isnan(np.asarray(values, dtype=np.float64))).any(axis=-1).sum())


def _batches(n: int, replications: int) -> str:
    """Return the number of batches in words, in each replication.

    Examples
    --------
    >>> _batches(10, 2), _batches(1, 1)
    ('5 batches in each of 2 replications are', '1 batch is')
    """
    each, rest = divmod(n, max(replications, 1))
    shown = n if rest else each
    where = f" in {'' if rest else 'each of '}{replications} replications" if replications > 1 else ""
    return f"{counted(shown, 'batch')}{where} {'are' if shown > 1 else 'is'}"


def advice(
    interval: Interval,
    batch_size: int | str | None,
    *,
    replications: int = 1,
    replicable: bool = True,
    one_batch: bool = False,
) -> str:
    """Return one line that explains an interval with its numbers and states what to do next.

    Parameters
    ----------
    batch_size : int or None
        Jobs in a batch; None, or a word, means that the workload determines it, and no other number can be
        proposed.
    replications : int
        Number of replications that the batches come from.
    replicable : bool
        Whether replications differ. Those that replay a log do not, and then more are not advised.
    one_batch : bool
        Whether a run is always one batch, like one that ends at a horizon; then more batches are not advised.
    """
    if not isinstance(batch_size, int):
        batch_size = None
    replicate = f", or run at least {MIN_REPLICATIONS} replications" if replicable else ""
    if interval.n == 0:
        return "no batch holds data, so there is no mean: check the state of this point's tasks"
    if not math.isfinite(interval.mean):
        return f"the mean is {interval.mean}: check for infinite batch values, or a ratio to a mean of 0"
    if interval.method == "exact":
        return "exact: solved, not simulated"
    if interval.method == "replications":
        return f"interval from {interval.n} replication means"
    if interval.withheld and one_batch:
        return (
            f"interval withheld: {counted(interval.n, 'run', 'is')} too few, as each is one sample; run at "
            f"least {MIN_REPLICATIONS} replications"
        )
    if interval.withheld:
        more = f", or replications={MIN_REPLICATIONS}" if replicable else ""
        return (
            f"interval withheld: {_batches(interval.n, replications)} too few to judge their correlation; "
            f"give batches={MIN_BATCHES} (30 is better){more}"
        )
    if math.isnan(interval.lag1):
        return f"interval from {interval.n} batch means, all alike"
    size = "" if batch_size is None else f" of {batch_size}"
    found = f"interval from {interval.n} batches{size} with lag-1 correlation {interval.lag1:.2f}"
    if interval.effective < interval.n:
        found += f", widened: they count as {counted(max(1, round(interval.effective)), 'independent batch')}"
    enough = sufficient_batch_size(interval.lag1, batch_size or 1)
    if enough is not None and enough == (batch_size or 1):
        return found
    longer = f"use batches of about {enough}" if batch_size else "use fewer and longer ones"
    if not batch_size and 2 * interval.n < 3 * MIN_BATCHES:  # too few to merge
        longer = "there are too few to merge them into longer ones: use more jobs"
    if enough is None:
        longer = "check for a trend (warm-up, saturation)"
    return f"{found}; {longer}{replicate}"
