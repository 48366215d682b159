"""A schedule: who ran when and where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.trace import Trace


@dataclass(frozen=True, eq=False)
class Pieces:
    """Rectangles of a schedule; every array has the shape (n_pieces,).

    Parameters
    ----------
    job, host : ndarray of int
        Indices.
    begin, end : ndarray of float, seconds
    processors : ndarray of int or float
        Of that host.
    """

    job: Ints
    host: Ints
    begin: Floats
    end: Floats
    processors: np.ndarray


MOST_PIECES = 10_000_000
"""Pieces of a schedule: so many take 0.4 GB, and several times that to be sorted and measured."""


class TooManyPiecesError(ValueError):
    """A schedule has more pieces than can be kept."""


def check_pieces(n_pieces: int, what_to_do: str) -> None:
    """Raise `TooManyPiecesError` with one line for more pieces than can be kept."""
    if n_pieces > MOST_PIECES:
        raise TooManyPiecesError(
            f"the schedule has more than {MOST_PIECES:,} pieces (times of a job on one number of "
            f"processors); {what_to_do}"
        )


@dataclass(frozen=True, eq=False)
class Schedule:
    """Who ran when and where; every array has the shape (n_jobs,).

    Parameters
    ----------
    jobs : Jobs
        As they ran: a job that was killed has the runtime that it got, and everybody what it was judged by.
    machine : Machine
    start : ndarray of float, seconds
        When a job ran for the first time, if only for a quantum.
    end : ndarray of float, seconds
    host : ndarray of int
        Index of a host of the machine, the last one that a job ran on.
    began : ndarray of float, seconds, optional
        When the full execution of a job began; None is at its start.
    waited : ndarray of float, seconds, optional
        Where that is not the time before the start: the time in the system less the runtime on the requested
        processors.
    preempted : ndarray of bool, optional
        Whose processors were taken away; None is nobody's.
    promised : ndarray of float, seconds, optional
        The first start that a job was given while it waited; NaN for those that were given none.
    pieces : Pieces, optional
        When a job ran, where, and on how many processors; None is in one piece, on those it asked for.
    held : Pieces, optional
        Processors that were kept idle for a job with a special reservation.
    trace : Trace, optional
        The log or month that the jobs come from.
    notes : tuple of str
        What was simulated, in words.
    """

    jobs: Jobs
    machine: Machine
    start: Floats
    end: Floats
    host: Ints
    began: Floats | None = None
    waited: Floats | None = None
    preempted: np.ndarray | None = None
    promised: Floats | None = None
    pieces: Pieces | None = None
    held: Pieces | None = None
    trace: Trace | None = None
    notes: tuple[str, ...] = ()

    @property
    def wait(self) -> Floats:
        """Seconds from the submission of a job to its first processor."""
        return self.start - self.jobs.submit

    @property
    def delay(self) -> Floats:
        """Seconds that a job was in the system beyond its runtime."""
        return self.wait if self.waited is None else self.waited

    @property
    def response_time(self) -> Floats:
        """Seconds from the submission of a job to its end.

        Added up from the delay, so that the slowdown of a job that is never delayed is exactly 1.
        """
        return self.delay + self.jobs.runtime

    @property
    def full_start(self) -> Floats:
        """Seconds at which the full execution of a job began."""
        return self.start if self.began is None else self.began

    @property
    def runs(self) -> Pieces:
        """All that ran, in pieces."""
        if self.pieces is not None:
            return self.pieces
        return Pieces(np.arange(len(self.jobs)), self.host, self.start, self.end, self.jobs.size)
