"""Means of the known batches, and weighted means."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sweep.statistics.confidence import Floats


def mean_of(values: Floats, known: NDArray[np.bool_], axis: int | tuple[int, ...] = -1) -> Floats:
    """Return the mean of the known values along axes, or NaN if none is known."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = np.where(known, values, 0.0).sum(axis=axis) / known.sum(axis=axis)
    return found


def weighed(values: ArrayLike, weight: ArrayLike) -> Floats:
    """Return values whose plain mean over a run's batches is the weighted mean.

    The weighted mean m = sum(w x) / sum(w) is a ratio of two sums. Each batch is given
    m + w (x - m) / mean(w): the mean of these is m, and their spread is, in first order, the ratio's. So all
    methods for plain batch means apply to them.

    Parameters
    ----------
    values : array_like, shape (..., batches)
        NaN where there is none.
    weight : array_like, shape (..., batches)
        Weight of each batch, e.g. its jobs; a batch with weight 0 is ignored. In a run without known weights
        (all NaN, or 0), batches count equally.

    Returns
    -------
    ndarray, shape (..., batches)

    References
    ----------
    W. G. Cochran, "Sampling Techniques", 3rd ed., 1977, sections 2.11 and 6.3 (variance of a ratio estimate).

    Examples
    --------
    >>> weighed([1.0, 4.0], [2, 1]).tolist()  # (2 x 1 + 1 x 4) / 3 = 2
    [0.6666666666666667, 3.333333333333333]
    """
    x, w = np.broadcast_arrays(np.asarray(values, dtype=np.float64), np.asarray(weight, dtype=np.float64))
    unknown = ~(w > 0).any(axis=-1, keepdims=True)
    w = np.where(unknown, 1.0, w)
    w = np.where(np.isnan(x) | ~(w > 0), 0.0, w)
    known = w > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        total = w.sum(axis=-1, keepdims=True)
        mean = (w * np.where(known, x, 0.0)).sum(axis=-1, keepdims=True) / total
        relative = w * known.sum(axis=-1, keepdims=True) / total
        found: Floats = np.where(known, mean + relative * (x - mean), np.nan)
    return found
