"""Compares two policies on the same jobs: the difference and its interval. All pairs follow this rule.

The sample is the replications, if there are `MIN_REPLICATIONS`, and else the batches of all runs (weeks of a
log). Where both means are positive and nothing is negative, the estimate is the logarithm of the ratio of the
two means: weeks differ by factors, so a ratio is steadier than a difference, and no bound implies a wait
below 0. Each week contributes a / mean(a) - b / mean(b) to it (delta method). The change in a `Comparison` is
that ratio at the reference's mean. Elsewhere the sample is the plain differences, and ratios are linearised.

There is one margin: weeks resemble their neighbours, and 12 to 50 weeks do not show how much. So the lag-1
correlation is not estimated and then raised, but integrated out: a first-order autoregressive series of
normal noise has, for each correlation, Student's t for its mean, and the interval is the mixture of these t
by the probability of each correlation given the series (flat priors of mean and log variance, `PRIOR` of the
correlation); runs are independent of each other. Skewed weeks move the bound on the side of the long tail
(Johnson's correction of t). docs/statistics.md has the coverage.

References
----------
W. G. Cochran, "Sampling Techniques", 3rd ed., 1977, section 6.3 (variance of a ratio).
N. J. Johnson, "Modified t tests and confidence intervals for asymmetrical populations", Journal of the
American Statistical Association 73, 1978, 536-544.
A. M. Law, W. D. Kelton, "Simulation Modeling and Analysis", 3rd ed., 2000, section 10.2.1 (common random
numbers).
A. Zellner, "An Introduction to Bayesian Inference in Econometrics", 1971, section 4.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sweep.statistics.confidence import MIN_REPLICATIONS, Floats, Interval, Method, student
from sweep.statistics.correlation import MIN_BATCHES, skewness_allowance
from sweep.statistics.weights import weighed

Verdict = Literal[
    "better", "worse", "mostly better", "mostly worse", "mixed", "no difference shown", "identical",
    "no interval",
]  # fmt: skip

LAGS = np.linspace(-0.3, 0.95, 20)
"""Lag-1 correlations over which the mixture runs."""

PRIOR = np.sqrt(1 - LAGS)
"""Their prior weights: strong correlations are less likely."""

LEAST_DIFFERENT = 5
"""With fewer periods in which two policies differ, no interval is made: its width would be near 0."""

POWER = 0.8
"""Probability with which a longer log, or a pilot, is to show the difference."""

DRAWS = 10_000
"""Number of draws: enough for a probability in percent."""

SEED = 20_140_815
"""Seed of the draws: the same data give the same probabilities."""

ROUNDING = 1e-12


@dataclass(frozen=True)
class Comparison:
    """A metric under a policy minus that under the reference, under the same jobs; less is better.

    Parameters
    ----------
    mean, low, high : float
        The mean difference and the bounds of its interval, NaN without one.
    reference : float
        Mean under the reference.
    lower, higher : int
        Periods (or replications) in which the policy has less, and more.
    chance : float
        Probability of numbers at least as uneven if both were equally likely (sign test, with the effective
        number of independent periods).
    needed : float
        Multiple of the sample size that would show this difference with probability `POWER`.
    pilot : float
        Periods that a pilot needs for the same power if it alternates both policies on the real machine,
        where no two periods have the same jobs.
    level : float
        Confidence.
    """

    mean: float
    reference: float
    lower: int
    higher: int
    level: float
    low: float = math.nan
    high: float = math.nan
    chance: float = math.nan
    needed: float = math.nan
    pilot: float = math.nan

    @property
    def verdict(self) -> Verdict:
        """The verdict of the interval and of the sign test together.

        *Mostly*: the interval holds 0, but the signs are significantly uneven and point the same way.
        *Mixed*: the interval is on one side of 0, and the signs are significantly on the other.
        """
        if self.mean == 0 == self.lower + self.higher:
            return "identical"
        if math.isnan(self.low):
            return "no interval"
        by_sign = 0
        if self.chance < 1 - self.level:
            by_sign = -1 if self.lower > self.higher else 1
        by_mean = -1 if self.high < 0 else 1 if self.low > 0 else 0
        if by_mean:
            return "mixed" if by_sign == -by_mean else "better" if by_mean < 0 else "worse"
        if by_sign and by_sign * self.mean > 0:
            return "mostly better" if by_sign < 0 else "mostly worse"
        return "mixed" if by_sign else "no difference shown"


What = Literal["change", "ratio", "difference"]


@dataclass(frozen=True)
class Paired:
    """Two alternatives under the same jobs: their differences, with intervals at any level.

    Parameters
    ----------
    sample : _Sample or None
        Sample of both, where both have values; None if there is none.
    exact : bool
        Both are solved, not simulated: intervals have width 0.
    """

    sample: _Sample | None
    exact: bool = False

    @classmethod
    def of(
        cls, a: ArrayLike, b: ArrayLike, weights: tuple[ArrayLike, ArrayLike] | None = None,
        exact: bool = False,
    ) -> Paired:  # fmt: skip
        """Return the pair of two samples, see `compare`."""
        return cls(_sample([a, b], weights), exact)

    def ratio(self, confidence: float = 0.95) -> Interval:
        """Return the interval of the ratio of the two means, see `paired_ratio`."""
        return self._interval("ratio", confidence)

    def difference(self, confidence: float = 0.95) -> Interval:
        """Return the interval of the difference of the two means, see `paired_difference`."""
        return self._interval("difference", confidence)

    def comparison(self, confidence: float = 0.95) -> Comparison:
        """Return the first alternative minus the second, see `compare`."""
        if self.sample is None:
            return Comparison(math.nan, math.nan, 0, 0, confidence)
        first, second = self.sample.series
        lower, higher = self._signs
        mean, reference = float(first.mean() - second.mean()), float(second.mean())
        if lower + higher == 0:
            return Comparison(0.0, reference, 0, 0, confidence, 0.0, 0.0)
        if self.exact:
            return Comparison(mean, reference, lower, higher, confidence, mean, mean)
        if not self._is_judged:
            return Comparison(mean, reference, lower, higher, confidence)
        pair, quantile = self._estimated("change"), _normal((1 + confidence) / 2)
        down, up = pair.spread.reach((1 + confidence) / 2)
        towards_0 = down if pair.estimate > 0 else up
        # Alternating periods have different jobs: the variances of both policies add up.
        alone = [one.var(ddof=1) * Spread.of(one, self.sample.runs).inflation for one in (first, second)]
        return Comparison(
            mean=mean,
            low=float(pair.back(pair.estimate - down)),
            high=float(pair.back(pair.estimate + up)),
            reference=reference,
            lower=lower,
            higher=higher,
            chance=_sign_test(lower, higher, pair.spread.inflation),
            needed=_ratio(towards_0 * (quantile + _normal(POWER)) / quantile, pair.estimate) ** 2,
            pilot=2 * float(sum(alone)) * _ratio(quantile + _normal(POWER), mean) ** 2,
            level=confidence,
        )

    def _interval(self, what: What, confidence: float) -> Interval:
        if not 0 < confidence < 1:
            raise ValueError(f"confidence {confidence} is not between 0 and 1: give e.g. 0.95")
        sample = self.sample
        if sample is None:
            return Interval(math.nan, math.nan, math.nan, 0, "batch means", True)
        pair, n = self._estimated(what), len(sample.series[0])
        mean = float(pair.back(pair.estimate))
        if self.exact:
            return Interval(mean, 0.0, math.nan, n, "exact", False)
        method: Method = "batch means" if sample.runs else "replications"
        if not self._is_judged or not math.isfinite(mean):
            few = min(n, sum(self._signs) or n)
            return Interval(mean, math.nan, math.nan, few, method, True)
        down, up = pair.spread.reach((1 + confidence) / 2)
        low, high = (float(pair.back(pair.estimate + by)) for by in (-down, up))
        worth, ends = n / pair.spread.inflation, (low, high) if pair.scale or down != up else None
        return Interval(mean, (high - low) / 2, math.nan, n, method, False, worth, ends=ends)

    @cached_property
    def _signs(self) -> tuple[int, int]:
        """Return in how many periods the first alternative has less, and in how many it has more."""
        assert self.sample is not None
        gap, size = self.sample.plain[0] - self.sample.plain[1], np.abs(self.sample.plain[1])
        signs = np.sign(np.where(np.abs(gap) > ROUNDING * size, gap, 0))
        return int((signs < 0).sum()), int((signs > 0).sum())

    @property
    def _is_judged(self) -> bool:
        assert self.sample is not None
        few = bool(self.sample.runs) and 0 < sum(self._signs) < LEAST_DIFFERENT
        return self.sample.is_judged and not few

    def _estimated(self, what: What) -> _Pair:
        if what not in self._made:
            assert self.sample is not None
            first, second = self.sample.series
            self._made[what] = _Pair.of(first, second, self.sample, what)
        return self._made[what]

    @cached_property
    def _made(self) -> dict[What, _Pair]:
        """Cached, because claims need many levels, which differ only in their quantiles."""
        return {}


def compare(
    a: ArrayLike,
    b: ArrayLike,
    confidence: float = 0.95,
    *,
    weights: tuple[ArrayLike, ArrayLike] | None = None,
    exact: bool = False,
) -> Comparison:
    """Return the comparison of a policy with the reference.

    Parameters
    ----------
    a, b : array_like, shape (replications, batches)
        Values of the policy and of the reference; batches are periods in order of time. A period that is
        missing in either is dropped from both.
    weights : two array_like, shape (replications, batches), optional
        Weights of the batches of a and of b (their jobs, their time); by default all are equal.
    exact : bool
        Both are solved, not simulated.

    Examples
    --------
    >>> quick, usual = np.array([[5.0, 7, 6, 9] * 5]), np.array([[6.0, 9, 6, 10] * 5])
    >>> found = compare(quick, usual)
    >>> found.verdict, found.mean, round(found.low, 1), round(found.high, 1), found.lower, found.higher
    ('better', -1.0, -1.3, -0.7, 15, 0)
    """
    return Paired.of(a, b, weights, exact).comparison(confidence)


def paired_ratio(a: ArrayLike, b: ArrayLike, confidence: float = 0.95, *, exact: bool = False) -> Interval:
    """Interval of the ratio of the means of a and b under common random numbers.

    A mean of ratios would be another number, which depends on the batch size. The mean of b has to be well
    known itself: if its own interval comes near 0, the ratio is meaningless. See `compare` for the
    parameters.
    """
    return Paired.of(a, b, exact=exact).ratio(confidence)


def paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    confidence: float = 0.95,
    *,
    weights: tuple[ArrayLike, ArrayLike] | None = None,
    exact: bool = False,
) -> Interval:
    """Interval of the mean of a - b under common random numbers.

    Batches with the same jobs are subtracted before anything is averaged, so common variation cancels. See
    `compare` for the parameters; its change refers to the reference's mean in this sample, whereas this
    interval includes the error of that mean.
    """
    return Paired.of(a, b, weights, exact).difference(confidence)


def _ratio(above: float, below: float) -> float:
    return above / abs(below) if below else math.inf


def probability_lowest(values: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Probability of each of several alternatives that its mean is the lowest, from the same jobs.

    Parameters
    ----------
    values : array_like, shape (alternatives, replications, batches)
        Values that are missing for one alternative are left out for all.
    weights : array_like, shape (alternatives, replications, batches), optional

    Returns
    -------
    ndarray, shape (alternatives,)
        Adds up to 1; equal alternatives share. NaN if the sample is too small for an interval.

    Notes
    -----
    Each alternative is drawn by its comparison with the one of the lowest mean: its draws have the
    distribution behind the interval of `compare`, so probabilities and intervals agree. All are drawn
    together, with the correlation that their weeks have (a normal copula).
    """
    table = np.asarray(values, dtype=np.float64)
    sample = _sample(list(table), None if weights is None else list(np.asarray(weights)))
    if sample is None or not sample.is_judged:
        return np.full(len(table), np.nan)
    series = sample.series
    best = series[int(np.argmin([one.mean() for one in series]))]
    pairs = [_Pair.of(one, best, sample) for one in series]
    random = np.array([pair.values for pair in pairs])
    means = np.tile(np.array([[pair.back(pair.estimate)] for pair in pairs]), DRAWS)
    varied = _varied(random, best)
    if varied.size:
        levels = _levels(random[varied])
        for place, level in zip(varied, levels, strict=True):
            moved = pairs[place].spread.draws(level)
            means[place] = pairs[place].back(pairs[place].estimate + moved)
    lowest = means <= means.min(axis=0) + ROUNDING * float(np.abs(best).max())
    shares: Floats = (lowest / lowest.sum(axis=0)).mean(axis=1)
    return shares


def joint_level(
    values: ArrayLike, reference: int, confidence: float = 0.95, weights: ArrayLike | None = None
) -> float:
    """Return the level of each of several comparisons at which all of them together have the confidence.

    Similar policies have their errors in the same weeks, so this level is below Bonferroni's. It is computed
    from the draws of `probability_lowest`, here of the errors against the reference.

    Parameters
    ----------
    values, weights : array_like, shape (alternatives, replications, batches)
    reference : int
        The alternative that all others are compared with.

    References
    ----------
    P. H. Westfall, S. S. Young, "Resampling-Based Multiple Testing", 1993, section 2.3 (single-step minP).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> usual, noise = np.exp(rng.normal(size=(1, 30))), np.exp(0.1 * rng.normal(size=(4, 1, 30)))
    >>> alike, unlike = noise[:1] + np.zeros((4, 1, 1)), noise
    >>> [round(joint_level(np.array([usual, *(usual * f)]), 0), 2) for f in (alike, unlike)]
    [0.95, 0.99]
    """
    table = np.asarray(values, dtype=np.float64)
    sample = _sample(list(table), None if weights is None else list(np.asarray(weights)))
    if sample is None or len(table) < 2:
        return confidence
    series = sample.series
    usual = series[reference]
    others = [one for number, one in enumerate(series) if number != reference]
    random = np.array([_Pair.of(one, usual, sample).values for one in others])
    varied = _varied(random, usual)
    if not varied.size:
        return confidence
    levels = _levels(random[varied])
    tails = 2 * np.minimum(levels, 1 - levels).min(axis=0)
    return 1 - float(np.quantile(tails, 1 - confidence))


class _Sample(NamedTuple):
    """Series whose plain means are the weighted ones.

    Parameters
    ----------
    plain : list of ndarray
        The means of the periods or replications themselves.
    runs : tuple of int
        Periods of each run, which are neighbours; empty where each value belongs to a replication.
    positive : bool
        Whether no unweighted value is negative.
    """

    series: list[Floats]
    plain: list[Floats]
    runs: tuple[int, ...]
    positive: bool

    @property
    def is_judged(self) -> bool:
        """Whether it is large enough for an interval."""
        return len(self.series[0]) >= (MIN_BATCHES if self.runs else MIN_REPLICATIONS)


def _sample(values: Sequence[ArrayLike], weights: Sequence[ArrayLike] | None) -> _Sample | None:
    """Return the sample of alternatives where all of them have values; None if there is none."""
    tables = [np.asarray(one, dtype=np.float64) for one in values]
    if any(one.shape != tables[0].shape for one in tables):
        shapes = " and ".join(str(one.shape) for one in tables)
        raise ValueError(f"shapes {shapes} cannot be paired: fill what was not run with NaN")
    each = [np.ones_like(one) for one in tables]
    if weights is not None:
        each = [np.asarray(one, dtype=np.float64) for one in weights]
        # As in `weighed`: batches without a known weight count equally.
        each = [np.where((one > 0).any(axis=-1, keepdims=True), one, 1.0) for one in each]
    there = np.all([~np.isnan(one) & (weight > 0) for one, weight in zip(tables, each, strict=True)], axis=0)
    runs = there.any(axis=1)
    if not runs.any():
        return None
    made = [weighed(np.where(there, one, np.nan), w)[runs] for one, w in zip(tables, each, strict=True)]
    positive = all(bool((one[there] >= 0).all()) for one in tables)
    if runs.sum() >= MIN_REPLICATIONS:
        means = [np.nanmean(one, axis=1) for one in made]
        return _Sample(means, means, (), positive)
    lengths, series = there[runs].sum(axis=1), [one[there[runs]] for one in made]
    if np.ptp(lengths):  # runs count equally, as in the mean of a point
        series = [weighed(one, np.repeat(1 / lengths, lengths)) for one in series]
    return _Sample(series, [one[there] for one in tables], tuple(lengths.tolist()), positive)


@dataclass(frozen=True)
class _Pair:
    """An estimate from two series: the log ratio of their means, their ratio, or their difference.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Each period's contribution to the error of the estimate; their mean is 0.
    spread : Spread
        Of these.
    scale, shift : float
        A log ratio e corresponds to shift + scale (exp(e) - 1); with scale 0 the estimate is the result.
    """

    estimate: float
    values: Floats
    spread: Spread
    scale: float = 0.0
    shift: float = 0.0

    @classmethod
    def of(cls, first: Floats, second: Floats, sample: _Sample, what: What = "change") -> _Pair:
        """Return the estimate from two series of a sample."""
        mean, below = float(first.mean()), float(second.mean())
        scale, shift = 0.0, 0.0
        if sample.positive and mean > 0 and below > 0 and what != "difference":
            estimate, values, size = math.log(mean / below), first / mean - second / below, 1.0
            scale, shift = (1.0, 1.0) if what == "ratio" else (below, 0.0)
        elif what == "ratio":
            estimate = mean / below if below else math.nan
            values, size = (first - estimate * second) / (below or math.nan), abs(estimate)
        else:
            estimate, values, size = mean - below, first - second - (mean - below), abs(mean) + abs(below)
        if not np.abs(values).max() > ROUNDING * size:
            values = np.zeros_like(values)
        return cls(estimate, values, Spread.of(values, sample.runs), scale, shift)

    def back(self, estimate):  # type: ignore[no-untyped-def] # floats or arrays of them
        """Return the change, ratio or difference that corresponds to an estimate."""
        return self.shift + self.scale * np.expm1(np.minimum(estimate, 700)) if self.scale else estimate


@dataclass(frozen=True)
class Spread:
    """The distribution of the error of a mean: a mixture of Student's t over the lag-1 correlations.

    Parameters
    ----------
    errors, shares : ndarray, shape (n_lags,)
        Standard error under each correlation, and the probability of that.
    n : int
    skewness : float
    inflation : float
        Variance of the mean over the variance that independent values would give.
    """

    errors: Floats
    shares: Floats
    n: int
    skewness: float
    inflation: float

    @classmethod
    def of(cls, series: Floats, runs: tuple[int, ...]) -> Spread:
        """Return the spread of a series, shape (n,): of runs in order of time, or of independent values."""
        n, d = len(series), series - series.mean()
        total = float((d**2).sum())
        if not runs or not total > 0:
            error = math.sqrt(total / max(n - 1, 1) / n)
            return cls(np.array([error]), np.ones(1), n, 0.0, 1.0)
        stretch, ones = _of_runs(runs)
        last = np.cumsum(runs) - 1
        first = last - runs + 1
        ends, edge = float(d[first].sum() + d[last].sum()), float((d[first] ** 2 + d[last] ** 2).sum())
        # The last value of a run and the first of the next one are not neighbours.
        neighbours = float((d[1:] * d[:-1]).sum() - (d[first[1:]] * d[last[:-1]]).sum())
        squares = total + LAGS**2 * (total - edge) - 2 * LAGS * neighbours
        # Minus the part that its mean, fitted by generalised least squares, explains.
        squares = (squares - ((1 - LAGS) * LAGS * ends) ** 2 / (ones * (1 - LAGS**2))) / (1 - LAGS**2)
        likelihood = np.log(PRIOR) - 0.5 * (
            (n - len(runs)) * np.log(1 - LAGS**2) + np.log(ones) + (n - 1) * np.log(squares)
        )
        shares = np.exp(likelihood - likelihood.max())
        shares /= shares.sum()
        return cls(
            np.sqrt(squares / (n - 1) * stretch / n), shares, n,
            float((d**3).mean() / (total / n) ** 1.5), float((shares * stretch).sum()),
        )  # fmt: skip

    @cached_property
    def error(self) -> float:
        """The mean standard error."""
        return float((self.shares * self.errors).sum())

    def below(self, values: Floats) -> Floats:
        """Return the probability that the error is at most this large, without skewness."""
        from scipy.special import stdtr

        found: Floats = (self.shares * stdtr(self.n - 1, values[..., None] / self.errors)).sum(axis=-1)
        return found

    def reach(self, level: float) -> tuple[float, float]:
        """Return how far the bounds are from the estimate, each exceeded with probability 1 - level."""
        # The quantile of the mixture is between the quantiles of its parts.
        quantile = float(student(self.n - 1, level))
        low, high = quantile * float(self.errors.min()), quantile * float(self.errors.max())
        while high - low > 1e-6 * self.error:
            middle = (low + high) / 2
            low, high = (middle, high) if self.below(np.array(middle)) < level else (low, middle)
        skewed = high + self._allowance(high)
        return (skewed, high) if self.skewness < 0 else (high, skewed)

    def draws(self, levels: Floats) -> Floats:
        """Return the errors at some levels, shape (n,)."""
        grid = 10 * self.errors.max() * np.sinh(np.linspace(-5, 5, 801)) / math.sinh(5)
        found = np.interp(levels, self.below(grid), grid)
        return np.where(found * self.skewness > 0, found + np.sign(found) * self._allowance(found), found)

    def _allowance(self, reach):  # type: ignore[no-untyped-def] # floats or arrays of them
        """Return by how much skewness moves a bound."""
        if not self.error > 0:
            return 0.0
        return self.error * skewness_allowance(self.skewness, reach / self.error, self.n)


@lru_cache(maxsize=256)
def _of_runs(runs: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Return, for each correlation, n times the variance of the mean of n values, and 1' R^-1 1."""
    stretch, ones = np.zeros_like(LAGS), np.zeros_like(LAGS)
    for n in runs:
        distance = np.arange(1, n)[:, None]
        stretch += n / sum(runs) * (1 + 2 * ((1 - distance / n) * LAGS**distance).sum(axis=0))
        ones += (2 * (1 - LAGS) + (n - 2) * (1 - LAGS) ** 2) / (1 - LAGS**2)
    return stretch, ones


def _varied(random: Floats, series: Floats) -> NDArray[np.intp]:
    """Return which rows of errors vary by more than rounding."""
    return np.flatnonzero(np.ptp(random, axis=1) > ROUNDING * max(float(np.abs(series).max()), 1.0))


def _levels(random: Floats) -> Floats:
    """Return uniform draws with a normal copula, shape (n, DRAWS): errors of shape (n, periods) correlate."""
    from scipy.special import ndtr

    values, vectors = np.linalg.eigh(np.corrcoef(random).reshape(len(random), len(random)))
    half = vectors * np.sqrt(np.maximum(values, 0))
    drawn: Floats = ndtr(half @ np.random.default_rng(SEED).standard_normal((len(half), DRAWS)))
    return drawn


def _sign_test(lower: int, higher: int, inflation: float) -> float:
    """Return the two-sided probability of a sign test for the effective number of independent periods.

    Examples
    --------
    >>> round(_sign_test(19, 3, 1.0), 5), round(_sign_test(3, 19, 2.0), 3)  # 2 P(at most 3 of 22 heads)
    (0.00086, 0.03)
    """
    from scipy.special import betainc

    worth = max(inflation, 1.0)
    few, many = min(lower, higher) / worth, max(lower, higher) / worth
    return min(1.0, 2 * float(betainc(many, few + 1, 0.5)))


def _normal(probability: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(probability))
