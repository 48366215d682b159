"""When an array element has to stop: its time is running out, or Slurm signals it."""

import os
import signal
import time
from types import FrameType
from typing import NoReturn, Self

from slurm.commands import Slurm, SlurmError
from sweep.executors.bundles import Bundles

MESSAGE_S = 1.0
"""Seconds of work per message: there is no progress bar, and fewer writes spare a shared file system."""

MARGIN_S = 10.0
"""Time to record the end of an attempt and to be queued again."""

QUEUED_AGAIN_S = 60
"""Seconds that Slurm may take to end a job after requeueing it."""

LONG = 0.95
"""An element takes no task if less time is left than this share of the tasks needs."""


class TerminatedError(BaseException):
    """SIGTERM arrived and seconds remain; no `Exception`, so that it does not count as a task's failure."""


class Watch:
    """Used as a context manager: inside, SIGUSR1 is a request to stop, and SIGTERM raises.

    Parameters
    ----------
    end : float, optional
        When Slurm will end the job, seconds since 1970; None if it never will.
    rounds : int
        Messages that are assigned to a worker at a time.

    Attributes
    ----------
    why : str, optional
        Why the element stopped, see `slurm.record.WHY`; None until then.
    """

    def __init__(self, end: float | None, rounds: int) -> None:
        self.why: str | None = None
        self._end = end
        self._rounds = rounds

    def __enter__(self) -> Self:
        self._before = {
            signal.SIGUSR1: signal.signal(signal.SIGUSR1, self._stop),
            signal.SIGTERM: signal.signal(signal.SIGTERM, _terminate),
        }
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.why = self.why or "signal"

    def more(self, bundles: Bundles) -> bool:
        """Whether another message may be given out."""
        if self.why is None and self._end is not None:
            needed = self._rounds * max(bundles.task_seconds(LONG), MESSAGE_S) + MARGIN_S
            if self._end - time.time() < needed:
                self.why = "time"
        return self.why is None


def queue_again(job: str) -> None:
    """Put this job into the queue again, and wait until Slurm ends it."""
    Slurm().requeue(job)
    time.sleep(QUEUED_AGAIN_S)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise TerminatedError


def end_of_job(limit_s: float | None) -> float | None:
    """Return when Slurm will end this job, seconds since 1970, None if it has no limit.

    Parameters
    ----------
    limit_s : float, optional
        The time limit asked for, counted from now if Slurm does not answer.
    """
    end = os.environ.get("SLURM_JOB_END_TIME", "")  # newer versions set it
    if end.isdecimal():
        return float(end)
    now = time.time()
    try:
        jobs = Slurm().jobs([int(os.environ["SLURM_JOB_ID"])])
    except (SlurmError, KeyError, ValueError):
        jobs = []
    if not jobs:
        return None if limit_s is None else now + limit_s
    return None if jobs[0].left_s is None else now + jobs[0].left_s
