"""The jobs selected from a log, and the account of the rows that were not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from models.jobs.swf.log import Log


@dataclass(frozen=True, eq=False)
class Jobs:
    """Jobs ready to be simulated, in order of arrival; every array has the shape (n_jobs,).

    Parameters
    ----------
    arrival : ndarray of float, seconds
        The first job arrives at 0.
    runtime : ndarray of float, seconds
        Above 0.
    size : ndarray of int
        Processors, at least 1 and at most the machine's.
    user, application : ndarray of int
        -1 where the log does not say.
    requested_time : ndarray of float, seconds
        The user's estimate, -1 where the log has none.
    line : ndarray of int
        Line of the file that the job comes from.
    """

    arrival: np.ndarray
    runtime: np.ndarray
    size: np.ndarray
    user: np.ndarray
    application: np.ndarray
    requested_time: np.ndarray
    line: np.ndarray


@dataclass(frozen=True, eq=False)
class Selection:
    """The jobs kept of a log and an account of all its rows: ``kept + sum(dropped.values())`` are its rows.

    Parameters
    ----------
    log : Log
        Where they come from.
    jobs : Jobs
        What is left.
    dropped : dict of str to int
        Reason → rows, in the order of the rules; a row counts under the first rule that drops it.
    changed : dict of str to int
        What was done to rows that are kept → rows.
    """

    log: Log
    jobs: Jobs
    dropped: dict[str, int]
    changed: dict[str, int]

    @property
    def kept(self) -> int:
        """Number of jobs left."""
        return self.jobs.line.size

    def describe(self) -> list[str]:
        """Return the lines to say aloud before this selection is used."""
        lines = [f"{self.log.name}: {self.log.n_jobs:,} rows, {self.kept:,} kept; {account(self.dropped)}"]
        lines += [f"{self.log.name}: {rows:,} {what}" for what, rows in self.changed.items()]
        return lines + [f"{self.log.name}: {note}" for note in self.log.notes]


def account(dropped: Mapping[str, int]) -> str:
    """Return how many rows were dropped for which reason, in words."""
    return "dropped " + (", ".join(f"{rows:,} {reason}" for reason, rows in dropped.items()) or "nothing")
