"""Differences from one run by block bootstrap: weeks of a log as they came, in blocks drawn with replacement.

A run of n periods (weeks) is cut at every place into blocks of l neighbours, the last ones going on at the
beginning (circular blocks), and n / l of them drawn again and again: within a block, what hangs together
stays together. l is the length that is best for a series of this lag-1 correlation (Politis and White), where
the correlation is not the estimate but one standard error above it, as in `sweep.statistics.correlation`.

A bootstrap has n / l blocks only, and its standard error is too small: it is that of so many
values whose mean is known. So an interval takes it times sqrt(k / (k - 1)), k = n / l, with Student's t of
k - 1 degrees of freedom, and Johnson's allowance for skewness. It needs no drawing: the variance of the mean
of infinitely many draws is a sum over all blocks. With fewer than `LEAST_BLOCKS` blocks even that covers too
little, and the interval is that of `sweep.statistics.batch_means`. docs/statistics.md has the coverage.

References
----------
D. N. Politis, J. P. Romano, "A circular block-resampling procedure for stationary data", in *Exploring the
Limits of Bootstrap*, 1992, 263-270.
D. N. Politis, H. White, "Automatic block-length selection for the dependent bootstrap", Econometric Reviews
23(1), 2004, 53-70; correction with A. Patton, 28(4), 2009, 372-375.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sweep.statistics.batch_means import interval, paired_values
from sweep.statistics.confidence import MIN_REPLICATIONS, Floats, Interval, student
from sweep.statistics.correlation import MIN_BATCHES, likely_lag1, skewness_allowance
from sweep.statistics.weights import weighed

LEAST_BLOCKS = 5
"""With fewer blocks their spread is too poor an estimate of the error of the mean."""

TENTHS = 10
"""Parts of a run whose means span the range in which a mean is drawn."""

DRAWS = 10_000
"""Enough for a probability in percent."""

SEED = 20_140_815
"""Of the draws: the same data give the same probabilities."""

ROUNDING = 1e-12


def bootstrapped_difference(
    a: ArrayLike,
    b: ArrayLike,
    confidence: float = 0.95,
    *,
    weights: tuple[ArrayLike, ArrayLike] | None = None,
) -> Interval:
    """Interval of the mean of a - b under common random numbers; by block bootstrap if there is one run.

    Parameters
    ----------
    a, b : array_like, shape (replications, batches)
        Batches are periods in order of time; one that is missing in either drops the pair.
    weights : two array_like, shape (replications, batches), optional
        What the batches of a and those of b count for, by default all alike.

    Examples
    --------
    >>> wait, other = np.array([[5.0, 7, 6, 9] * 5]), np.array([[6.0, 9, 6, 10] * 5])
    >>> found = bootstrapped_difference(wait, other)
    >>> found.method, found.mean, round(found.half_width, 2)
    ('block bootstrap', -1.0, 0.34)
    """
    return block_interval(paired_values(a, b, weights), confidence)


def block_interval(values: ArrayLike, confidence: float = 0.95) -> Interval:
    """Interval of a mean by block bootstrap if that can be, else `interval`.

    Parameters
    ----------
    values : array_like, shape (replications, batches)
        Values whose plain mean is asked for, NaN where there are none.
    """
    table = np.asarray(values, dtype=np.float64)
    otherwise = interval(table, confidence)
    held = table[~np.isnan(table).all(axis=1)]
    if len(held) != 1:
        return otherwise
    series = held[0][~np.isnan(held[0])]
    n = len(series)
    if n < MIN_BATCHES or np.ptp(series) <= ROUNDING * np.abs(series).max():
        return otherwise
    length = block_length(series)
    blocks = n / length
    if blocks < LEAST_BLOCKS:
        return otherwise
    quantile = float(student(blocks - 1, (1 + confidence) / 2))
    deviations = series - series.mean()
    skewness = (deviations**3).mean() / (deviations**2).mean() ** 1.5
    stretched = quantile + float(skewness_allowance(skewness, quantile, n))
    error = block_error(series, length)
    return Interval(
        mean=otherwise.mean,
        half_width=stretched * error,
        lag1=otherwise.lag1,
        n=n,
        method="block bootstrap",
        withheld=False,
        effective=blocks,
        standard_error=error,
        freedom=blocks - 1,
    )


def block_length(series: Floats) -> int:
    """Return the length of a block that suits a series, shape (n,), at least 1 and at most n // 2.

    Notes
    -----
    Politis and White's (2 G^2 / D)^(1/3) n^(1/3), D = 4/3 of the squared long-run variance, is
    (3/2 (2 f / (1 - f^2))^2 n)^(1/3) for a first-order autoregressive series of correlation f.
    """
    n = len(series)
    deviations = series - series.mean()
    lag1 = 1 - (np.diff(series) ** 2).sum() / (2 * (deviations**2).sum())
    f = float(likely_lag1(lag1, n, 1))
    best = (1.5 * (2 * f / (1 - f**2)) ** 2 * n) ** (1 / 3)
    return max(1, min(math.ceil(best), n // 2))


def block_error(series: Floats, length: int) -> float:
    """Return the standard error of a mean from all circular blocks of a series, shape (n,)."""
    n = len(series)
    deviations = series - series.mean()
    sums = np.concatenate([[0.0], np.cumsum(np.concatenate([deviations, deviations[: length - 1]]))])
    of_blocks = sums[length:] - sums[:-length]
    blocks = n / length
    return math.sqrt(float((of_blocks**2).mean()) / (length * n) * blocks / (blocks - 1))


def probability_lowest(values: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Probability of each of several alternatives that its mean is the lowest, from the same jobs.

    Parameters
    ----------
    values : array_like, shape (alternatives, replications, batches)
        What is missing for one is left out for all.
    weights : array_like, shape (alternatives, replications, batches), optional

    Returns
    -------
    ndarray, shape (alternatives,)
        Adds up to 1; alternatives that are equal share. NaN where neither replications nor batches are
        enough for an interval.

    Notes
    -----
    Replications are drawn with replacement if there are `MIN_REPLICATIONS`, else blocks of batches. What is
    drawn are the differences to the alternative of the lowest mean, all in the same draw; each is moved away
    from the difference seen as far as its interval is wider than the draws, with Student's t in place of the
    normal distribution. So no alternative is more probable than the intervals allow, with one exception: no
    mean that is drawn leaves the range of the means of a tenth of the run. (Where one alternative is higher
    all the time, and ever more so, as where a queue grows for months, the interval of the difference may
    still hold 0.)
    """
    table = np.asarray(values, dtype=np.float64)
    weight = np.ones_like(table) if weights is None else np.asarray(weights, dtype=np.float64)
    there: NDArray[np.bool_] = np.all(~np.isnan(table) & (weight > 0), axis=0)
    runs = np.flatnonzero(there.any(axis=1))
    by_runs = len(runs) >= MIN_REPLICATIONS
    if not by_runs and there.sum() < MIN_BATCHES:
        return np.full(len(table), np.nan)
    found = np.array(
        [weighed(np.where(there, one, np.nan), mine) for one, mine in zip(table, weight, strict=True)]
    )
    series = np.nanmean(found[:, runs], axis=2) if by_runs else found[:, there]
    best = int(np.argmin(series.mean(axis=1)))
    pairs = [_Pair.of(one - series[best]) for one in series]
    length = max(pair.length for pair in pairs) if not by_runs else 1
    counts, _ = _draws(series.shape[1], length)
    means = np.zeros((len(table), DRAWS))
    for place, pair in enumerate(pairs):
        moved = pair.mean + counts @ (pair.values - pair.mean) * pair.stretch(length, by_runs)
        if not by_runs:
            tenth = max(len(pair.values) // TENTHS, 1)
            seen = np.subtract(*(_of_blocks(table[i][there], weight[i][there], tenth) for i in (place, best)))
            moved = np.clip(moved, seen.min(), seen.max())
        means[place] = moved
    near = ROUNDING * np.abs(series).max()
    lowest = means <= means.min(axis=0) + near
    shares: Floats = (lowest / lowest.sum(axis=0)).mean(axis=1)
    return shares


@dataclass(frozen=True)
class _Pair:
    """The differences of an alternative to the best one.

    Parameters
    ----------
    values : ndarray, shape (n,)
    length : int
        Of the blocks that suit it; 1 where there would be too few of them.
    """

    values: Floats
    length: int
    own: Interval

    @classmethod
    def of(cls, values: Floats) -> _Pair:
        """Return the differences with their interval."""
        own = block_interval(values[None])
        return cls(values, block_length(values) if own.method == "block bootstrap" else 1, own)

    @property
    def mean(self) -> float:
        """The difference seen."""
        return float(self.values.mean())

    def stretch(self, length: int, by_runs: bool) -> Floats:
        """Return how far each draw is moved away from the difference seen, shape (n_draws,).

        Parameters
        ----------
        length : int
            Of the blocks that are drawn.
        """
        n = len(self.values)
        error = block_error(self.values, length)
        if not error > 0:
            return np.ones(DRAWS)
        freedom, wider = (n - 1.0, 1.0) if by_runs else (self.own.freedom, self.own.standard_error / error)
        blocks = n / length
        drawn = _chi_squared(n, length, freedom)
        stretched: Floats = max(wider, 1.0) * np.sqrt(blocks / (blocks - 1) * freedom / drawn)
        return stretched


def _of_blocks(values: Floats, weights: Floats, length: int) -> Floats:
    """Return the weighted means of all circular blocks of values, shape (n,)."""
    pairs = np.stack([values * weights, weights])
    sums = np.cumsum(np.concatenate([np.zeros((2, 1)), pairs, pairs[:, : length - 1]], axis=1), axis=1)
    total, weight = sums[:, length:] - sums[:, :-length]
    found: Floats = total / weight
    return found


@lru_cache(maxsize=2)
def _draws(n: int, length: int) -> tuple[Floats, Floats]:
    """Return what is drawn, the same for all that is compared, and kept as a report asks for it often.

    Returns
    -------
    shares : ndarray, shape (DRAWS, n)
        Of each of `n` values in each draw of circular blocks.
    uniform : ndarray, shape (DRAWS,)
    """
    random = np.random.default_rng(SEED)
    drawn = random.integers(0, n, (DRAWS, math.ceil(n / length)))
    taken = (drawn[:, :, None] + np.arange(length)) % n + n * np.arange(DRAWS)[:, None, None]
    counts = np.bincount(taken.ravel(), minlength=DRAWS * n).reshape(DRAWS, n)
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares, random.random(DRAWS)


@lru_cache(maxsize=32)
def _chi_squared(n: int, length: int, freedom: float) -> Floats:
    """Return draws of that distribution, shape (DRAWS,), kept as each quantile takes long."""
    from scipy.special import gammaincinv

    _, uniform = _draws(n, length)
    found: Floats = 2 * gammaincinv(freedom / 2, uniform)
    return found
