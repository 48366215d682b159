"""A control variate: the work that arrives in a run, whose mean over all runs is known.

Replications of a workload differ most by the work that was offered in them. Its mean over all possible runs
is the load, so the excess of the replications that were run, times the metric's dependence on it (linear
regression over replications), is subtracted from their mean. Where more is offered, the metric varies more:
so the error is estimated from each replication's own distance from the line (HC3, nearly the jackknife), and
the interval is widened for its skewness (Johnson): docs/statistics.md has the coverage.

References
----------
A. M. Law, W. D. Kelton, "Simulation Modeling and Analysis", 3rd ed., 2000, section 11.4. J. G. MacKinnon,
H. White, "Some heteroskedasticity-consistent covariance matrix estimators", Journal of Econometrics 29, 1985,
305-325 (HC3). N. J. Johnson, "Modified t tests and confidence intervals for asymmetrical populations", JASA
73, 1978, 536-544.
"""

import numpy as np

from sweep.statistics.confidence import MIN_REPLICATIONS, Floats, student
from sweep.statistics.weights import mean_of

AT_MOST = 2.0
"""Maximum widening of an interval: if all runs lack work, the line is used far from its points."""


def controlled(values: Floats, deviations: Floats, confidence: float) -> Floats:
    """Return values whose plain mean, and its plain interval, are those with the control variate.

    Parameters
    ----------
    values : ndarray, shape (..., replications, batches)
        NaN where not run.
    deviations : ndarray, shape (..., replications)
        Deviation of the control from its mean, in each replication; NaN if unknown.
    confidence : float
        Confidence level of the interval that will be made.

    Returns
    -------
    ndarray, shape (..., replications, batches)
        As given, where fewer than `MIN_REPLICATIONS` hold data, all deviations are alike, or the line is
        spurious: the interval would be `AT_MOST` times as wide as without, or the mean negative.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        means = mean_of(values, ~np.isnan(values))
        known = np.isfinite(means) & np.isfinite(deviations)
        n = known.sum(axis=-1, keepdims=True)
        x, y = (np.where(known, each, 0.0) for each in (deviations, means))
        x_mean, y_mean = (each.sum(axis=-1, keepdims=True) / n for each in (x, y))
        x, y = (np.where(known, each - mean, 0.0) for each, mean in ((x, x_mean), (y, y_mean)))
        spread = (x * x).sum(axis=-1, keepdims=True)
        slope = (x * y).sum(axis=-1, keepdims=True) / spread
        centre, left = y_mean - slope * x_mean, y - slope * x
        # Each replication's contribution to the error of the centre, without its own leverage on the line.
        adds = np.where(known, (1 / n - x_mean * x / spread) * left / (1 - 1 / n - x * x / spread), 0.0)
        error = np.sqrt((adds**2).sum(axis=-1, keepdims=True))
        plain, quantile = (student(np.maximum(n - k, 1), (1 + confidence) / 2) for k in (1, 2))
        skewed = np.abs((adds**3).sum(axis=-1, keepdims=True)) / error**3 * (1 + 2 * quantile**2) / 6
        of_plain = plain * np.sqrt((left**2).sum(axis=-1, keepdims=True) / (n - 1) / n)
        wider = np.where(error > 0, (quantile + skewed) * error / of_plain, 1.0)
        moved = centre + left * wider
        alone = plain * np.sqrt((y**2).sum(axis=-1, keepdims=True) / (n - 1) / n)
        is_chance = ((quantile + skewed) * error > AT_MOST * alone) | (centre < np.minimum(means, 0.0))
    usable = (n >= MIN_REPLICATIONS) & (spread > 0) & known.all(axis=-1, keepdims=True)
    usable = usable & ~is_chance.any(axis=-1, keepdims=True)
    shift = np.where(usable, moved - means, 0.0)
    found: Floats = values + shift[..., None]
    return found
