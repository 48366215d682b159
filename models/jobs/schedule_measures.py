"""Measures read off a schedule, for batches of jobs in order of submission.

Whatever the policy, a batch holds the same jobs, so that differences between policies are paired job by job.
Measures of the machine extend from the begin of a batch to the begin of the next one, or to the end of the
measured period, see `models.jobs.division`.
"""

from typing import Any

import numpy as np

from models.arrays import Floats
from models.jobs.division import Division
from models.jobs.measures import Measures, of_jobs
from models.jobs.schedule import Schedule


def measure(
    schedule: Schedule,
    division: Division,
    measures: Measures,
    until: float | None = None,
) -> dict[str, Floats]:
    """Return the common measures, and the other measures of any schedule.

    Parameters
    ----------
    until : float, optional
        Seconds at which the measured period ends; None is the end of the last measured job.

    Returns
    -------
    dict of str to ndarray, shape (n_batches, ...)
        The measures of `models.jobs.measures`; of jobs also ``delay``, the time in the system beyond the
        runtime. Of the machine also ``loss_of_capacity``, the share of all processor time that is idle while
        some job waits; ``queue_length``, the average number of waiting jobs; ``held_idle``, the share of all
        processor time kept idle for special reservations. ``preempted_share`` and ``started_at_once`` are
        shares of the jobs, ``period`` the seconds over which the machine was measured. NaN without jobs.

    References
    ----------
    Zhang et al., "Improving parallel job scheduling by combining gang scheduling and backfilling
    techniques", 2000 (loss of capacity).
    """
    these, batch, n_batches = division.these, division.batch, division.n_batches
    jobs = schedule.jobs.part(these)
    values = {
        "wait": schedule.wait[these],
        "response_time": schedule.response_time[these],
        "delay": schedule.delay[these],
    }
    metrics = of_jobs(jobs, values, batch, n_batches, measures)

    edges = edges_of(schedule, division, until)
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


def edges_of(schedule: Schedule, division: Division, until: float | None = None) -> Floats:
    """Return when batches begin and the last one ends, shape (n_batches + 1,), seconds; see `measure`."""
    last = schedule.end[division.these].max(initial=0.0) if until is None else until
    edges: Floats = np.where(np.isnan(division.borders), last, division.borders)
    return np.maximum.accumulate(edges)  # the last batch may have no job that ran


def time_averages(schedule: Schedule, edges: Floats) -> dict[str, Floats]:
    """Return averages over time between consecutive edges, see `measure`.

    Parameters
    ----------
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
