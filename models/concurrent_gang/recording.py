"""Records the activity of every PE and the grades of tasks, for drawings and schedules; only on request."""

from typing import Any

import numpy as np

from models.concurrent_gang.accounting import ROWS_A_TIME
from models.concurrent_gang.codes import BUSY, NONE
from models.concurrent_gang.state import GRADE, SLOT_USE, Record, System
from models.jobs.schedule import Pieces, check_pieces

AT_ONCE = 1 << 16
"""Rows after which Python takes them."""

SAME = ["pe", "state", "job", "task", "owns"]
"""Fields in which two rows must agree to be merged."""


def no_record(rows: int = 0, grades: int = 0) -> Record:
    """Return an empty record of `rows` rows; with 0 rows nothing is recorded."""
    return Record(np.zeros(rows, SLOT_USE), np.zeros(grades, GRADE))


class Recorder:
    """Collects the engine's record.

    Parameters
    ----------
    only_busy : bool
        Keep only the times in which tasks compute, for a schedule.
    """

    def __init__(self, only_busy: bool = False) -> None:
        self.only_busy = only_busy
        self._uses: list[np.ndarray] = []
        self._grades: list[np.ndarray] = []
        self._n_rows = 0

    def record_for(self, system: System) -> Record:
        """Return a record with enough rows for the next events."""
        n_pes, n_tasks = system.settings.n_pes, len(system.tasks)
        rows, grades = AT_ONCE + 2 * ROWS_A_TIME * n_pes, AT_ONCE + 2 * n_tasks
        if len(system.record.uses) >= rows and len(system.record.grades) >= grades:
            return system.record
        return no_record(rows, grades)

    def take(self, system: System) -> None:
        """Take the rows that the engine has recorded; `TooManyPiecesError` for more than can be kept."""
        state = system.state
        self._uses.append(_merged(system.record.uses[: state["n_recorded"][0]]))
        self._n_rows += len(self._uses[-1])
        check_pieces(
            self._n_rows,
            "tasks block often: take fewer jobs, or an earlier time, or run it without a schedule",
        )
        self._grades.append(system.record.grades[: state["n_graded"][0]].copy())
        state["n_recorded"] = state["n_graded"] = 0
        system.pes["row"] = NONE

    def timeline(self) -> Any:
        """Return the activities of all PEs, by PE and time; consecutive equal activities are one row.

        Returns
        -------
        recarray of `state.SLOT_USE`
        """
        return _merged(np.concatenate(self._uses)).view(np.recarray)

    def grades(self) -> Any:
        """Return all grades in order of time, a recarray of `state.GRADE`."""
        return np.concatenate(self._grades).view(np.recarray)

    def pieces(self, n_jobs: int) -> Pieces:
        """Return when tasks of the first `n_jobs` jobs computed; each piece is of one PE."""
        made = self.timeline()
        these = made[(made.state == BUSY) & (made.job < n_jobs)]
        these = these[np.lexsort((these.begin, these.job))]
        job, begin, end = (np.ascontiguousarray(column) for column in (these.job, these.begin, these.end))
        return Pieces(job, np.zeros(len(these), np.int64), begin, end, np.ones(len(these), np.int64))


def _merged(uses: np.ndarray) -> np.ndarray:
    """Return rows of a record by PE and time; consecutive rows without a change are merged."""
    uses = uses[np.lexsort((uses["begin"], uses["pe"]))]
    continues = uses["begin"][1:] == uses["end"][:-1]
    for field in SAME:
        continues &= uses[field][1:] == uses[field][:-1]
    first = np.concatenate([[True], ~continues])[: len(uses)]
    last = np.concatenate([~continues, [True]])[: len(uses)]
    found = uses[first]
    found["end"] = uses["end"][last]
    return found
