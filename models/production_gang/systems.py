"""The result of a run, and the common parts of the family's systems."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.calendar import monday
from models.jobs.jobs import Jobs
from models.jobs.schedule import Schedule
from models.jobs.stream import Stream
from models.jobs.trace import Trace


@dataclass(frozen=True, eq=False)
class Levels:
    """Causes by which processors without a job are lost, from each time on; shape (n_times,).

    Parameters
    ----------
    time : ndarray of float, seconds
        Ascending.
    switching, packing, limits : ndarray of float
        Processors that are lost to switching; idle while some job that was admitted finds no place; idle
        because limits keep all waiting jobs from the scheduler.
    """

    time: Floats
    switching: Floats
    packing: Floats
    limits: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class Run(Schedule):
    """The schedule of a system with further results; each of its jobs has a class.

    Parameters
    ----------
    levels : Levels
    preemptions : ndarray of int, shape (n_jobs,)
    clock : float, seconds
        Time since Monday, 0:00, at the schedule's time 0.
    detail : object
        Results that only this system has, for displays.
    """

    levels: Levels
    preemptions: Ints
    clock: float = 0.0
    detail: Any = field(default=None, repr=False)


def first_of(chosen: np.ndarray) -> int | None:
    """Return the first chosen job, if there is one."""
    return int(np.argmax(chosen)) if chosen.any() else None


def order_of_submission(submit: Floats) -> tuple[Ints, Ints]:
    """Return the jobs in the order of their submission, and the position of each job in that order."""
    order = np.lexsort((np.arange(len(submit)), submit))
    position = np.empty(len(submit), np.int64)
    position[order] = np.arange(len(submit))
    return order, position


def as_they_ran(jobs: Jobs, order: Ints, position: Ints, **changed: Any) -> Jobs:
    """Return the jobs in the order of their submission, with some changed columns."""
    after = jobs.after
    if after is not None:
        after = np.where(after >= 0, position[np.maximum(after, 0)], -1)[order]
    think = None if jobs.think is None else jobs.think[order]
    return replace(jobs.part(order), after=after, think=think, **changed)


def link_children(table: np.ndarray, jobs: Jobs) -> None:
    """Record which job each job is submitted after: first children, siblings, and think times."""
    if jobs.after is None:
        return
    is_child = jobs.after >= 0
    table["think"] = 0.0 if jobs.think is None else np.where(is_child, jobs.think, 0.0)
    for child in np.flatnonzero(is_child)[::-1].tolist():
        parent = jobs.after[child]
        table["sibling"][child] = table["first_child"][parent]
        table["first_child"][parent] = child


def clock_of(opened: Stream | Trace) -> float:
    """Return the seconds since Monday, 0:00, at time 0: a log's, else 0."""
    origin = opened.origin if isinstance(opened, Trace) else None
    return 0.0 if origin is None or origin.zero is None else monday(origin.zero)


def twice(values: np.ndarray) -> np.ndarray:
    """Return an array with twice the capacity."""
    return np.concatenate([values, np.zeros_like(values)])


def steps(begin: Floats, end: Floats, height: np.ndarray) -> tuple[Floats, Floats]:
    """Return the times, and the sum of all heights from each of them on."""
    time = np.concatenate([begin, end])
    order = np.argsort(time, kind="stable")
    return time[order], np.cumsum(np.concatenate([height, -height]).astype(np.float64)[order])


def area(time: Floats, level: Floats, edges: Floats) -> Floats:
    """Return the integral of a step function up to each edge; before the first time it is 0."""
    if not time.size:
        return np.zeros(edges.size)
    area = np.concatenate([[0.0], np.cumsum(level[:-1] * np.diff(time))])
    at = np.clip(np.searchsorted(time, edges, side="right") - 1, 0, None)
    return area[at] + np.maximum(edges - time[at], 0.0) * level[at]
