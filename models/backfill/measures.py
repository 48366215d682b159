"""From a schedule to the metrics of the family, for batches of jobs in order of submission.

Whatever the policy, a batch holds the same jobs, so that differences between policies are paired job by job.
What concerns the machine is measured from the first submission of a batch to that of the next one, or to the
end of the schedule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from models.backfill.arrays import Floats
from models.family import Metric

if TYPE_CHECKING:
    from models.backfill.schedule import Schedule

EDGES = (60.0, 600.0, 6000.0, 60000.0, 600000.0)
"""Seconds of actual runtime between the ranges: equal on a logarithmic axis, as in Fig. 5 of Chiang and
Vernon (2001)."""

RANGES = (
    "all", "under 1 min", "1 to 10 min", "10 to 100 min", "100 to 1,000 min", "1,000 to 10,000 min",
    "10,000 min and more",
)  # fmt: skip

OF_JOBS = {
    "wait": ("s", "wait"),
    "slowdown": ("1", "slowdown"),
    "bounded_slowdown": ("1", "bounded slowdown"),
}
STATISTICS = {"": "mean", "_p95": "95th percentile of", "_max": "maximum"}
OF_MACHINE = {
    "utilization": "utilization",
    "loss_of_capacity": "loss of capacity (idle while jobs wait)",
    "queue_length": "average number of waiting jobs",
    "jobs_in_system": "average number of jobs in the system",
}

METRICS = (
    *(
        Metric(f"{name}{suffix}", unit, f"{statistic} {long_name}", ("runtime_range",))
        for name, (unit, long_name) in OF_JOBS.items()
        for suffix, statistic in STATISTICS.items()
    ),
    Metric("jobs", "1", "number of jobs", ("runtime_range",)),
    *(Metric(name, "1", long_name) for name, long_name in OF_MACHINE.items()),
)


def measure(schedule: Schedule, size: int, n_batches: int, bound: float) -> dict[str, Floats]:
    """Return every metric of the family.

    Parameters
    ----------
    schedule : Schedule
    size : int
        Jobs in a batch.
    n_batches : int
        Batches, from the first job on; the last may be short.
    bound : float
        Seconds below which a runtime counts as that long in the bounded slowdown.

    Returns
    -------
    dict of str to ndarray, shape (n_batches, runtime_range) or (n_batches,)
        NaN for a range without a job.

    Notes
    -----
    Slowdown is (wait + runtime) / runtime, bounded slowdown max(1, (wait + runtime) / max(runtime, bound)).
    The loss of capacity is the share of all processor time that is idle while some job waits (Zhang et al.,
    "Improving parallel job scheduling by combining gang scheduling and backfilling techniques", 2000).
    """
    runtime = schedule.jobs.runtime
    response = schedule.wait + runtime
    values = {
        "wait": schedule.wait,
        "slowdown": response / runtime,
        "bounded_slowdown": np.maximum(response / np.maximum(runtime, bound), 1.0),
    }
    which = np.searchsorted(EDGES, runtime, side="right") + 1
    metrics = {metric.name: np.full((n_batches, len(RANGES)), np.nan) for metric in METRICS if metric.dims}
    for batch in range(n_batches):
        these = slice(batch * size, (batch + 1) * size)
        for k in range(len(RANGES)):
            inside = which[these] == k if k else slice(None)
            metrics["jobs"][batch, k] = which[these][inside].size
            if metrics["jobs"][batch, k] == 0:
                continue
            for name, of_all in values.items():
                sample = of_all[these][inside]
                metrics[name][batch, k] = sample.mean()
                metrics[f"{name}_p95"][batch, k] = np.percentile(sample, 95)
                metrics[f"{name}_max"][batch, k] = sample.max()
    return metrics | time_averages(schedule, _edges(schedule, size, n_batches))


def _edges(schedule: Schedule, size: int, n_batches: int) -> Floats:
    submit = schedule.jobs.submit
    first = np.arange(n_batches + 1) * size
    return np.where(first < len(submit), submit[np.minimum(first, len(submit) - 1)], schedule.end.max())


def time_averages(schedule: Schedule, edges: Floats) -> dict[str, Floats]:
    """Return the averages over time between consecutive edges, by the names of `OF_MACHINE`.

    Parameters
    ----------
    schedule : Schedule
    edges : ndarray of float, shape (n + 1,), seconds
    """
    jobs, n = schedule.jobs, len(schedule.jobs)
    instant = np.concatenate([jobs.submit, schedule.start, schedule.end])
    order = np.argsort(instant, kind="stable")
    instant = instant[order]

    def level(at_submit: ArrayLike, at_start: ArrayLike, at_end: ArrayLike) -> Floats:
        change = np.concatenate([np.broadcast_to(c, n) for c in (at_submit, at_start, at_end)])
        return np.cumsum(change[order], dtype=np.float64)

    waiting = level(1, -1, 0)
    busy = level(0, jobs.size, -jobs.size)
    total = schedule.machine.total
    levels = {
        "utilization": busy / total,
        "loss_of_capacity": np.where(waiting > 0, 1 - busy / total, 0.0),
        "queue_length": waiting,
        "jobs_in_system": level(1, 0, -1),
    }
    length = np.diff(edges)
    averages = {}
    for name, values in levels.items():
        area = np.concatenate([[0.0], np.cumsum(values[:-1] * np.diff(instant))])
        with np.errstate(invalid="ignore"):  # all jobs of a batch, and the next one, at one instant
            averages[name] = np.diff(np.interp(edges, instant, area)) / length
    return averages
