"""From a schedule to the metrics of the family, for batches of jobs in order of submission.

Whatever the policy, a batch holds the same jobs, so that differences between policies are paired job by job.
What concerns the machine is measured from the first submission of a batch to that of the next one, or to the
end of what is measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from models.arrays import Floats, Ints
from models.family import Metric
from models.jobs.groups import GROUPS, USER_RANK, by_user, groups_of

if TYPE_CHECKING:
    from models.jobs.schedule import Schedule

OF_JOBS = {
    "wait": ("s", "wait"),
    "slowdown": ("1", "slowdown"),
    "bounded_slowdown": ("1", "bounded slowdown"),
}
STATISTICS = {"": "mean", "_p95": "95th percentile of", "_max": "maximum"}
OF_EVERY_GROUP = ("wait", "wait_p95", "wait_max", "slowdown", "bounded_slowdown", "jobs")
"""Metrics of classes, sizes and users; by runtime there are all of them."""

OF_MACHINE = {
    "utilization": "utilization",
    "loss_of_capacity": "loss of capacity (idle while jobs wait)",
    "queue_length": "average number of waiting jobs",
    "jobs_in_system": "average number of jobs in the system",
    "held_idle": "share of all processor time kept idle for special reservations",
    "preempted_share": "share of jobs that were preempted",
    "started_at_once": "share of jobs whose full execution begins at their submission",
}
OF_USERS = {"work_by_user": ("s", "processor time"), "user_number": ("1", "user's number in the log")}


def _of_jobs() -> dict[str, tuple[str, str]]:
    found = {
        f"{name}{suffix}": (unit, f"{statistic} {long_name}")
        for name, (unit, long_name) in OF_JOBS.items()
        for suffix, statistic in STATISTICS.items()
    }
    return found | {"jobs": ("1", "number of jobs")}


def metric_name(name: str, dim: str) -> str:
    """Return the name that a metric of jobs has when it is told by a dimension, e.g. ``wait_by_class``."""
    return f"{name}{GROUPS[dim].suffix}"


METRICS = (
    *(
        Metric(metric_name(name, dim), unit, long_name, (dim,))
        for dim in GROUPS
        for name, (unit, long_name) in _of_jobs().items()
        if name in OF_EVERY_GROUP or not GROUPS[dim].suffix
    ),
    *(Metric(name, unit, long_name, (USER_RANK,)) for name, (unit, long_name) in OF_USERS.items()),
    *(Metric(name, "1", long_name) for name, long_name in OF_MACHINE.items()),
    Metric("period", "s", "time over which the machine was measured"),
)


def measure(
    schedule: Schedule,
    size: int,
    n_batches: int,
    bound: float,
    measured: slice = slice(None),
    until: float | None = None,
) -> dict[str, Floats]:
    """Return every metric of the family.

    Parameters
    ----------
    schedule : Schedule
    size : int
        Jobs in a batch.
    n_batches : int
        Batches, from the first measured job on; the last may be short.
    bound : float
        Seconds below which a runtime counts as that long in the bounded slowdown.
    measured : slice
        Jobs that count.
    until : float, optional
        Seconds at which the measured period ends; None is the end of the last measured job.

    Returns
    -------
    dict of str to ndarray, shape (n_batches, groups) or (n_batches,)
        NaN for a group without a job.

    Notes
    -----
    Slowdown is (wait + runtime) / runtime, bounded slowdown max(1, (wait + runtime) / max(runtime, bound)).
    The loss of capacity is the share of all processor time that is idle while some job waits (Zhang et al.,
    "Improving parallel job scheduling by combining gang scheduling and backfilling techniques", 2000).
    """
    first, stop, _ = measured.indices(len(schedule.jobs))
    these = slice(first, min(stop, first + size * n_batches))
    jobs, wait = schedule.jobs.part(these), schedule.wait[these]
    response = wait + jobs.runtime
    values = {
        "wait": wait,
        "slowdown": response / jobs.runtime,
        "bounded_slowdown": np.maximum(response / np.maximum(jobs.runtime, bound), 1.0),
    }
    batch = np.arange(len(jobs)) // size
    metrics = {}
    for dim, group in groups_of(jobs).items():
        n_groups = len(GROUPS[dim].labels)
        for name, found in _statistics(values, batch, n_batches, group, n_groups).items():
            if (told := metric_name(name, dim)) in _NAMES:
                metrics[told] = found
    metrics |= by_user(jobs, batch, n_batches)

    submit = schedule.jobs.submit
    begins = first + np.arange(n_batches + 1) * size
    last = schedule.end[these].max(initial=0.0) if until is None else until
    edges = np.where(begins < stop, submit[np.minimum(begins, len(submit) - 1)], last)
    metrics |= time_averages(schedule, edges) | {"period": np.diff(edges)}
    shares = {
        "preempted_share": np.zeros(len(jobs)) if schedule.preempted is None else schedule.preempted[these],
        "started_at_once": schedule.full_start[these] <= jobs.submit,
    }
    counts = np.bincount(batch, minlength=n_batches)
    with np.errstate(invalid="ignore"):  # a batch without a job
        return metrics | {
            name: np.bincount(batch, share, n_batches) / counts for name, share in shares.items()
        }


_NAMES = {metric.name for metric in METRICS}


def _statistics(
    values: dict[str, Floats], batch: Ints, n_batches: int, group: Ints, n_groups: int
) -> dict[str, Floats]:
    """Return number, means, 95th percentiles and maxima by batch and group, whose first is everybody.

    All at once: sorted by batch, group and value, each of them is a stretch of its own.
    """
    cell = np.concatenate([batch * n_groups, batch * n_groups + group])
    n_cells = n_batches * n_groups
    count = np.bincount(cell, minlength=n_cells)
    empty = count == 0
    begin = np.cumsum(count) - count
    # As numpy.percentile interpolates: between the two values around this position.
    position = 0.95 * np.maximum(count - 1, 0)
    below = position.astype(np.int64)
    above = np.minimum(below + 1, np.maximum(count - 1, 0))
    found = {"jobs": count.astype(np.float64)}
    for name, value in values.items():
        twice = np.concatenate([value, value])
        ordered = np.append(twice[np.lexsort((twice, cell))], np.nan)  # stretches may be empty at the end

        def at(offset: Ints, ordered: Floats = ordered) -> Floats:
            return np.where(empty, np.nan, ordered[begin + offset])

        with np.errstate(invalid="ignore"):
            found[name] = np.bincount(cell, twice, n_cells) / count
        found[f"{name}_p95"] = at(below) + (at(above) - at(below)) * (position - below)
        found[f"{name}_max"] = at(np.maximum(count - 1, 0))
    return {name: values.reshape(n_batches, n_groups) for name, values in found.items()}


def time_averages(schedule: Schedule, edges: Floats) -> dict[str, Floats]:
    """Return the averages over time between consecutive edges, by the names of `OF_MACHINE`.

    Parameters
    ----------
    schedule : Schedule
    edges : ndarray of float, shape (n + 1,), seconds
    """
    jobs, runs, held = schedule.jobs, schedule.runs, schedule.held
    total = schedule.machine.total
    # Rows: jobs that wait, jobs in the system, processors at work, processors kept idle.
    events: list[tuple[Floats, tuple[Any, Any, Any, Any]]] = [
        (jobs.submit, (1, 1, 0, 0)),
        (schedule.full_start, (-1, 0, 0, 0)),
        (schedule.end, (0, -1, 0, 0)),
        (runs.begin, (0, 0, runs.processors, 0)),
        (runs.end, (0, 0, -runs.processors, 0)),
    ]
    if held is not None:
        events += [(held.begin, (0, 0, 0, held.processors)), (held.end, (0, 0, 0, -held.processors))]
    instant = np.concatenate([when for when, _ in events])
    order = np.argsort(instant, kind="stable")
    instant = instant[order]
    change = np.concatenate(
        [np.stack([np.broadcast_to(row, when.size) for row in rows]) for when, rows in events], axis=1
    )
    waiting, in_system, busy, idle = np.cumsum(change[:, order].astype(np.float64), axis=1)
    levels = {
        "utilization": busy / total,
        "loss_of_capacity": np.where(waiting > 0, 1 - busy / total, 0.0),
        "queue_length": waiting,
        "jobs_in_system": in_system,
        "held_idle": idle / total,
    }
    length = np.diff(edges)
    averages = {}
    for name, values in levels.items():
        area = np.concatenate([[0.0], np.cumsum(values[:-1] * np.diff(instant))])
        with np.errstate(invalid="ignore"):  # all jobs of a batch, and the next one, at one instant
            averages[name] = np.diff(np.interp(edges, instant, area)) / length
    return averages
