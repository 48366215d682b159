"""A schedule: when and where each job ran."""

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
"""Maximum number of pieces of a schedule: they take 0.4 GB, and several times that to be sorted and
measured."""


class TooManyPiecesError(ValueError):
    """A schedule has more pieces than may be stored."""


def check_pieces(n_pieces: int, remedy: str) -> None:
    """Raise `TooManyPiecesError` with one line for more pieces than may be stored."""
    if n_pieces > MOST_PIECES:
        raise TooManyPiecesError(
            f"the schedule has more than {MOST_PIECES:,} pieces (times of a job on one number of "
            f"processors); {remedy}"
        )


@dataclass(frozen=True, eq=False)
class Schedule:
    """When and where each job ran; every array has the shape (n_jobs,).

    Parameters
    ----------
    jobs : Jobs
        As they ran: a killed job has the runtime until its end, and `requested` is the request that the
        policy read.
    start : ndarray of float, seconds
        First time that a job ran, if only for a quantum.
    end : ndarray of float, seconds
    host : ndarray of int
        Index of the last host that a job ran on.
    began : ndarray of float, seconds, optional
        Begin of a job's full execution; None is its start.
    waited : ndarray of float, seconds, optional
        Time in the system less the runtime on the requested processors, if that is not the time before the
        start.
    preempted : ndarray of bool, optional
        Whether processors were taken away; None is from no job.
    promised : ndarray of float, seconds, optional
        The first reserved start of a waiting job; NaN without a reservation.
    pieces : Pieces, optional
        Times, hosts and processors of each run; None is one piece on the requested processors.
    held : Pieces, optional
        Processors that were kept idle for a job with a special reservation.
    unmeasured : ndarray of bool, optional
        Jobs excluded from means over jobs, because they were killed before they ran; None means none.
    killed, cancelled : ndarray of bool, optional
        Jobs that were ended at their limit, and by an operator or for another job; None means none.
    trace : Trace, optional
        The log or month of the jobs.
    notes : tuple of str
        Remarks on the simulation.
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
    unmeasured: np.ndarray | None = None
    killed: np.ndarray | None = None
    cancelled: np.ndarray | None = None
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
        """All runs of jobs, in pieces."""
        if self.pieces is not None:
            return self.pieces
        return Pieces(np.arange(len(self.jobs)), self.host, self.start, self.end, self.jobs.size)
