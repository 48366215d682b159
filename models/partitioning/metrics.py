"""From the sums of each batch to its metrics: ratios of sums, made linear.

A class has another number of jobs in each batch, and a coefficient of variation within a batch leaves out
what the batches differ by (with 250 long jobs in a batch it is some percent too low). So a batch reports the
estimate R from all measured batches plus what it adds to it in first order: of a mean, R + (its sum - R times
its jobs) / the mean number of jobs. The mean over the batches is then the estimate from all jobs, and their
spread that of the ratio estimator. For short and long jobs together all batches have the same number of jobs,
and a batch reports its plain mean.

References
----------
W. G. Cochran, "Sampling Techniques", 3rd ed., 1977, sections 2.11 and 6.3 (variance of a ratio estimate).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from models.arrays import Floats
from models.partitioning.state import BLOW_UP_SQUARES, BLOW_UPS, ENDED, N_CLASSES, N_SUMS, RESPONSES


def measure(batches: Floats) -> dict[str, Floats]:
    """Return the metrics of the family.

    Parameters
    ----------
    batches : ndarray, shape (n_batches, N_COLUMNS)
        As the engine writes them.

    Returns
    -------
    dict of str to ndarray, shape (n_batches, job class) or (n_batches,)
        NaN for a class with no job.
    """
    sums = batches[:, :-1].reshape(len(batches), N_CLASSES, N_SUMS)
    sums = np.concatenate([sums, sums.sum(axis=1, keepdims=True)], axis=1)
    ended = sums[..., ENDED]
    first, first_changes = _mean(sums[..., BLOW_UPS], ended)
    second, second_changes = _mean(sums[..., BLOW_UP_SQUARES], ended)
    response, response_changes = _mean(sums[..., RESPONSES], ended)
    with np.errstate(invalid="ignore", divide="ignore"):
        variation = np.sqrt(np.maximum(second / first**2 - 1, 0.0))
        changes = (second_changes - 2 * second / first * first_changes) / (2 * variation * first**2)
    return {
        "response_time": response + response_changes,
        "blow_up": first + first_changes,
        "blow_up_cv": variation + np.where(variation > 0, changes, 0.0),
        "jobs_in_system": batches[:, -1].copy(),
    }


def known(metrics: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the metrics without the classes that have no job."""
    exist = ~np.isnan(metrics["response_time"]).all(axis=0)
    return {name: values[:, exist] if values.ndim == 2 else values for name, values in metrics.items()}


def _mean(sums: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Return the mean over all jobs, shape (job class,), and what each batch adds, (n_batches, job class)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = sums.sum(axis=0) / counts.sum(axis=0)
        return mean, (sums - mean * counts) * len(counts) / counts.sum(axis=0)
