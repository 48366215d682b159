"""What every PE did and how tasks were graded, for drawings and schedules; kept where it is asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.arrays import Floats, Ints
from models.concurrent_gang.accounting import ROWS_A_TIME
from models.concurrent_gang.state import BUSY, N_GRADED, N_RECORDED, Record, System
from models.jobs.schedule import Pieces, check_pieces

AT_ONCE = 1 << 16
"""Rows before Python takes them away."""


def no_record(rows: int = 0, grades: int = 0) -> Record:
    """Return a record with room for so many rows; with none nothing is recorded."""
    return Record(
        np.zeros((rows, 5), np.int64),
        np.zeros((rows, 2)),
        np.zeros((grades, 2), np.int64),
        np.zeros((grades, 3)),
    )


@dataclass(frozen=True)
class Timeline:
    """What PEs did; every array has the shape (n_rows,), in order of time within a PE.

    Parameters
    ----------
    pe : ndarray of int
    state : ndarray of int
        Index into `metrics.STATES`.
    job, task : ndarray of int
        Numbers, of a job in order of submission and of a task in its job; -1 for an idle PE.
    owns : ndarray of bool
        Whether the task is the owner of the slot.
    begin, end : ndarray of float, seconds
    """

    pe: Ints
    state: Ints
    job: Ints
    task: Ints
    owns: np.ndarray
    begin: Floats
    end: Floats


@dataclass(frozen=True)
class Grades:
    """Grades of membership at the ends of slices; every array has the shape (n_rows,).

    Parameters
    ----------
    job, task : ndarray of int
    time : ndarray of float, seconds
    io, computation : ndarray of float
    """

    job: Ints
    task: Ints
    time: Floats
    io: Floats
    computation: Floats


class Recorder:
    """Takes down what happens.

    Parameters
    ----------
    only_busy : bool
        Keep only when tasks compute, for a schedule.
    """

    def __init__(self, only_busy: bool = False) -> None:
        self.only_busy = only_busy
        self.n_jobs: int | None = None
        """Of other jobs than the first so many nothing is kept, from the moment when this is set."""
        self._rows: list[tuple[np.ndarray, np.ndarray]] = []
        self._grades: list[tuple[np.ndarray, np.ndarray]] = []
        self._n_rows = 0

    def room(self, system: System) -> Record:
        """Return a record with room for what the next events write down."""
        n_pes, n_tasks = system.settings.n_pes, len(system.tasks.whole)
        rows, grades = AT_ONCE + 2 * ROWS_A_TIME * n_pes, AT_ONCE + 2 * n_tasks
        if len(system.record.whole) >= rows and len(system.record.graded) >= grades:
            return system.record
        return no_record(rows, grades)

    def take(self, system: System) -> None:
        """Take away what the engine has written down.

        Raises
        ------
        ValueError
            With one line, if there is more than can be kept.
        """
        counts, record = system.counts, system.record
        rows, grades = counts[N_RECORDED], counts[N_GRADED]
        whole, real = record.whole[:rows], record.real[:rows]
        if self.only_busy:
            kept = whole[:, 1] == BUSY
            if self.n_jobs is not None:
                kept &= whole[:, 2] < self.n_jobs
            whole, real = whole[kept], real[kept]
        merged = _merged(whole, real)
        self._n_rows += len(merged[0])
        check_pieces(
            self._n_rows,
            "tasks block often: take fewer jobs, or an earlier time, or run it without a schedule",
        )
        self._rows.append(merged)
        self._grades.append((record.graded[:grades].copy(), record.grades[:grades].copy()))
        counts[N_RECORDED] = counts[N_GRADED] = 0

    def timeline(self) -> Timeline:
        """Return all that PEs did; what goes on without a change is one row."""
        whole, real = (np.concatenate(each) for each in zip(*self._rows, strict=True))
        whole, real = _merged(whole, real)
        pe, state, job, task, owns = whole.T
        return Timeline(pe, state, job, task, owns.astype(bool), *real.T)

    def grades(self) -> Grades:
        """Return all grades, in order of time."""
        whole, real = (np.concatenate(each) for each in zip(*self._grades, strict=True))
        return Grades(whole[:, 0], whole[:, 1], *real.T)

    def pieces(self, n_jobs: int) -> Pieces:
        """Return when tasks of the first `n_jobs` jobs computed, one PE a piece."""
        made = self.timeline()
        these = np.flatnonzero((made.state == BUSY) & (made.job < n_jobs))
        these = these[np.lexsort((made.begin[these], made.job[these]))]
        job, begin, end = made.job[these], made.begin[these], made.end[these]
        return Pieces(job, np.zeros(len(these), np.int64), begin, end, np.ones(len(these), np.int64))


def _merged(whole: np.ndarray, real: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of a record by PE and time; what goes on without a change is one row."""
    order = np.lexsort((real[:, 0], whole[:, 0]))
    whole, real = whole[order], real[order]
    goes_on = (whole[1:] == whole[:-1]).all(axis=1) & (real[1:, 0] == real[:-1, 1])
    first = np.concatenate([[True], ~goes_on])[: len(whole)]
    last = np.concatenate([~goes_on, [True]])[: len(whole)]
    return whole[first], np.column_stack([real[first, 0], real[last, 1]])
