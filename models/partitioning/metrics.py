"""The measures of the family beyond the common ones: by class, as ratios of sums that are made linear.

A class has a different number of jobs in each batch, and a coefficient of variation within a batch omits the
variation between batches (with 250 long jobs in a batch it is some percent too low). So a batch reports the
estimate R from all measured batches plus its own first-order contribution: of a mean, R + (its sum - R times
its jobs) / the mean number of jobs. The mean over the batches is then the estimate from all jobs, and their
spread is the ratio estimator's. For short and long jobs together all batches have the same number of jobs,
and a batch reports its plain mean.

References
----------
W. G. Cochran, "Sampling Techniques", 3rd ed., 1977, sections 2.11 and 6.3 (variance of a ratio estimate).
"""

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


def sums_over(response: Floats, work: Floats, job_class: Ints, batch: Ints, n_batches: int) -> Floats:
    """Sum over the jobs of each class in each batch, one by one in their order.

    Parameters
    ----------
    response, work : ndarray, shape (n_jobs,), seconds
        Time in the system, and time alone on the machine.
    job_class : ndarray of int, shape (n_jobs,)
        Index into `JOB_CLASSES`; one more stands for a job without a class.

    Returns
    -------
    ndarray, shape (n_batches, 4, classes and none of them)
        Jobs, their response times, their blow-ups (the ratio of both times) and the squares of these.
    """
    n_classes = len(JOB_CLASSES)
    cell = batch * n_classes + job_class
    blow_up = response / work
    sums = [np.bincount(cell, each, n_batches * n_classes) for each in (None, response, blow_up, blow_up**2)]
    return np.array(sums, np.float64).reshape(4, n_batches, n_classes).swapaxes(0, 1)


def of_classes(sums: Floats) -> dict[str, Floats]:
    """Return the metrics of classes, shape (n_batches, job class); NaN for a class with no job."""
    # The sums over all jobs take the place of the sums for jobs without a class.
    ended, response, blow_up, squared = (
        np.concatenate([values[:, :-1], values.sum(axis=1, keepdims=True)], axis=1)
        for values in sums.swapaxes(0, 1)
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


def _mean(sums: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Return the mean over all jobs, (job class,), and each batch's contribution, (n_batches, job class)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = sums.sum(axis=0) / counts.sum(axis=0)
        return mean, (sums - mean * counts) * len(counts) / counts.sum(axis=0)
