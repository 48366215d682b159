"""What the processors do that no job has: switch, or idle while some job waits, or have nothing to do."""

from __future__ import annotations

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.schedule import Schedule
from models.production_gang.systems import Levels

ROUNDING = 1e-9


def levels_of(made: Schedule, switches: np.recarray, is_gang: np.ndarray, reserve: Ints) -> Levels:
    """Return what is lost to switches, to packing, and to the reserve, over time.

    Parameters
    ----------
    made : Schedule
        With pieces.
    switches : recarray of PIECE
    is_gang : ndarray of bool, shape (n_jobs,)
        Whether a job is kept from the reserve.
    reserve : ndarray of int, shape (n_hosts,)
        Processors that are kept from gangs. What other jobs use of a host is of its reserve first.

    Notes
    -----
    O(pieces x log pieces). Idle processors are lost to packing, or to limits those in reserve, while some job
    that was submitted does not run; without such a job nothing is lost.
    """
    runs = made.runs
    n_jobs = len(made.jobs)
    # A job that spans hosts runs where the first of them is.
    first = np.full(n_jobs, len(reserve))
    np.minimum.at(first, runs.job, runs.host)
    leads = runs.host == first[runs.job]
    switching = switches.host == first[switches.job]
    ones = np.ones
    events: list[tuple[Floats, int, Floats]] = []

    def add(begin: Floats, end: Floats, level: int, height: np.ndarray) -> None:
        events.append((begin, level, height.astype(np.float64)))
        events.append((end, level, -height.astype(np.float64)))

    add(runs.begin, runs.end, 0, runs.processors)
    add(switches.begin, switches.end, 1, switches.used)
    add(made.jobs.submit, made.end, 2, ones(n_jobs))
    add(runs.begin[leads], runs.end[leads], 2, -ones(int(leads.sum())))
    add(switches.begin[switching], switches.end[switching], 2, -ones(int(switching.sum())))
    for host, kept in enumerate(reserve.tolist()):
        if kept:
            here = (runs.host == host) & ~is_gang[runs.job]
            time, height = _steps(runs.begin[here], runs.end[here], runs.processors[here])
            idle = np.maximum(kept - height, 0.0)
            events.append((time, 3, np.diff(idle, prepend=float(kept))))
    time = np.concatenate([when for when, _, _ in events])
    order = np.argsort(time, kind="stable")
    change = np.zeros((4, time.size))
    at = 0
    for when, level, heights in events:
        change[level, at : at + when.size] = heights
        at += when.size
    busy, lost, waiting, idle_reserve = np.cumsum(change[:, order], axis=1)
    idle_reserve += reserve.sum()
    waits = waiting > 0.5
    idle = np.maximum(made.machine.total - busy - lost, 0.0)
    limits = np.where(waits, np.clip(idle_reserve, 0.0, idle), 0.0)
    packing = np.where(waits, idle, 0.0) - limits
    return Levels(time[order], np.maximum(lost, 0.0), np.where(packing < ROUNDING, 0.0, packing), limits)


def _steps(begin: Floats, end: Floats, height: np.ndarray) -> tuple[Floats, Floats]:
    """Return times, and the sum of all heights from each of them on."""
    time = np.concatenate([begin, end])
    order = np.argsort(time, kind="stable")
    return time[order], np.cumsum(np.concatenate([height, -height]).astype(np.float64)[order])
