"""The measures of the family beyond the common ones: by class, as ratios of sums that are made linear.

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
from typing import NamedTuple

import numpy as np

from models.arrays import Floats, Ints
from models.family import Metric

JOB_CLASSES = ("short", "long", "all")
OF_CLASSES = (
    Metric("class_response_time", "s", "mean response time", ("job_class",)),
    Metric("blow_up", "1", "mean blow-up factor", ("job_class",)),
    Metric("blow_up_cv", "1", "coefficient of variation of the blow-up factor", ("job_class",)),
)
ALLOCATED = Metric("allocated", "1", "share of processor time that jobs hold", weight="period")
"""Not all of it is delivered: jobs wait for each other's threads, or are folded, or use a part of it."""


class Sums(NamedTuple):
    """Sums over the jobs of a class in a batch, arrays of shape (n_batches, classes and none of them).

    ended : number of jobs
    response : seconds
    blow_up, blow_up_squared : of the response time over the time alone on the machine
    """

    ended: Floats
    response: Floats
    blow_up: Floats
    blow_up_squared: Floats

    @classmethod
    def over(cls, response: Floats, work: Floats, job_class: Ints, batch: Ints, n_batches: int) -> Sums:
        """Add up jobs one by one in their order.

        Parameters
        ----------
        response : ndarray, shape (n_jobs,), seconds
        work : ndarray, shape (n_jobs,), seconds alone on the machine
        job_class : ndarray of int, shape (n_jobs,)
            Index into `JOB_CLASSES`, where the last is that of a job of no class.
        batch : ndarray of int, shape (n_jobs,)
        n_batches : int
        """
        n_classes = len(JOB_CLASSES)
        cell = batch * n_classes + job_class
        blow_up = response / work

        def added(values: Floats | None = None) -> Floats:
            sums = np.bincount(cell, values, n_batches * n_classes)
            return sums.reshape(n_batches, n_classes).astype(np.float64)

        return cls(added(), added(response), added(blow_up), added(blow_up * blow_up))


def of_classes(sums: Sums) -> dict[str, Floats]:
    """Return the metrics of classes, shape (n_batches, job class); NaN for a class with no job."""
    # The sums over all jobs take the place of those of no class.
    ended, response, blow_up, squared = (
        np.concatenate([values[:, :-1], values.sum(axis=1, keepdims=True)], axis=1) for values in sums
    )
    first, first_changes = _mean(blow_up, ended)
    second, second_changes = _mean(squared, ended)
    mean, changes = _mean(response, ended)
    with np.errstate(invalid="ignore", divide="ignore"):
        variation = np.sqrt(np.maximum(second / first**2 - 1, 0.0))
        varied = (second_changes - 2 * second / first * first_changes) / (2 * variation * first**2)
    return {
        "class_response_time": mean + changes,
        "blow_up": first + first_changes,
        "blow_up_cv": variation + np.where(variation > 0, varied, 0.0),
    }


def known(metrics: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the metrics without the classes, and the groups, that have no job in any batch."""
    found = {}
    for name, values in metrics.items():
        if values.ndim == 2:
            values = values[:, ~np.isnan(values).all(axis=0)]
        found[name] = values
    return found


def _mean(sums: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Return the mean over all jobs, shape (job class,), and what each batch adds, (n_batches, job class)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = sums.sum(axis=0) / counts.sum(axis=0)
        return mean, (sums - mean * counts) * len(counts) / counts.sum(axis=0)
