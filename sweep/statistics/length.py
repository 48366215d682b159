"""Whether a run is long enough for its mean to be the long-run mean.

A system forgets its initial state within a few relaxation times. A run starts from an empty machine, and its
mean falls short of the long-run mean unless the run is many relaxation times long; more replications do not
help, as all of them start empty. The relaxation time is the sum of a series' autocorrelations. Taken around
the mean of one short run, these are far too small. Taken around the mean of all replications, they are right
once a run lasts several relaxation times; in shorter runs they are too small, but large enough to show that
the run is too short. See docs/statistics.md for measurements.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sweep.statistics.confidence import MIN_REPLICATIONS, Floats, student
from sweep.statistics.weights import mean_of

ENOUGH = 10
"""Relaxation times of a run that is long enough; a rise in a run twice as long counts as random."""

LEAST_BIAS = 0.005
"""Smallest bias that is reported: 1 % after rounding."""

WINDOW = 5
"""Relaxation times up to which autocorrelations are summed: beyond, they are noise (Sokal)."""

CONFIDENCE = 0.95
"""Significance level of the one-sided test whether the second half of the runs exceeds the first."""


class Lengths(NamedTuple):
    """Lengths of runs as estimated from the batches of points; arrays of shape (...).

    relaxation : relaxation time in batches; NaN where nothing varies
    kept : batches of a run whose mean is taken
    rise : second half minus first half, as a share of the mean
    rises : that is significant over the replications
    """

    relaxation: Floats
    kept: Floats
    rise: Floats
    rises: NDArray[np.bool_]


def lengths(values: Floats, dropped: NDArray[np.int32] | None = None) -> Lengths:
    """Return estimates of the lengths of runs.

    Parameters
    ----------
    values : ndarray, shape (..., replications, batches)
        NaN where not run; the other values are consecutive.
    dropped : ndarray of int, shape (...), optional
        Leading batches that are excluded from means. They count for the relaxation time.

    References
    ----------
    A. D. Sokal, "Monte Carlo methods in statistical mechanics: foundations and new algorithms", in
    *Functional Integration*, 1997, section 3 (the window).
    """
    relaxation = relaxation_time(values)
    ran = ~np.isnan(values)
    if dropped is not None:
        ran &= np.arange(values.shape[-1]) >= dropped[..., None, None]
    counts = ran.sum(axis=-1)
    kept = counts.max(axis=-1, initial=0).astype(np.float64)
    place = np.cumsum(ran, axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = mean_of(values, ran, (-2, -1))
        first = ran & (2 * place <= counts[..., None])
        changes = mean_of(values, ran & ~first) - mean_of(values, first)
        known = np.isfinite(changes)
        n = known.sum(axis=-1)
        change = mean_of(changes, known)
        spread = np.where(known, changes - change[..., None], 0.0)
        error = np.sqrt((spread**2).sum(axis=-1) / (n - 1) / n)
        rises = (n >= MIN_REPLICATIONS) & (change > student(np.maximum(n - 1, 1), CONFIDENCE) * error)
        return Lengths(relaxation, kept, change / np.abs(mean), rises)


def relaxation_time(values: Floats) -> Floats:
    """Return the sum of autocorrelations, half of that at lag 0, up to `WINDOW` times itself.

    Parameters
    ----------
    values : ndarray, shape (..., series, batches)
        NaN where not run.

    Notes
    -----
    The sample mean follows the values, which reduces all correlations by its variance: this is added back.
    """
    ran = ~np.isnan(values)
    n = ran.sum(axis=(-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = mean_of(values, ran, (-2, -1))
        deviations = np.where(ran, values - mean[..., None, None], 0.0)
        variance = (deviations**2).sum(axis=(-2, -1)) / n
        time = np.where(variance > 0, 0.5, np.nan)
        last = np.zeros(n.shape)
        growing = variance > 0
        for lag in range(1, values.shape[-1] // 2 + 1):
            growing = growing & (lag <= WINDOW * time)
            if not growing.any():
                break
            pairs = (ran[..., lag:] & ran[..., :-lag]).sum(axis=(-2, -1))
            product = (deviations[..., lag:] * deviations[..., :-lag]).sum(axis=(-2, -1))
            time = np.where(growing, time + product / pairs / variance, time)
            last += growing
        lacking = 2 * np.maximum(time, 0.5) / n
        found: Floats = 0.5 + (time - 0.5 + last * lacking) / (1 + lacking)
    return np.maximum(found, 0.5)


def expected_bias(relaxation: Floats, warmup: Floats, kept: Floats, rise: Floats | float = 0.0) -> Floats:
    """Return the relative bias of the mean of runs from an empty machine (negative: too low).

    The deficit decays exponentially, as it finally does in the M/M/1 queue. At the beginning of the warm-up
    it is the whole mean, or more if the `rise` from the first half to the second shows it.

    Examples
    --------
    >>> expected_bias(np.array(10.0), np.array([0.0, 40.0]), np.array(100.0)).round(3).tolist()
    [-0.1, -0.002]
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        share = relaxation / kept
        from_empty = share * np.exp(-warmup / relaxation) * (1 - np.exp(-1 / share))
        left = np.exp(-0.5 / share)
        seen = rise * (1 + left) / (2 * (1 - left))
    return -np.maximum(from_empty, seen)
