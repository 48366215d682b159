"""The time that the remaining tasks of a run will take, extrapolated from those that came back.

A kind of task (`sweep.store.costs.Key`) costs what it cost in this run, once enough of its tasks have
finished; along an axis, costs may differ by a factor of 100. Until then it costs what earlier runs measured,
times the ratio by which this run differs from them so far, or what other kinds cost at that load; this may be
wrong by a factor of `DOUBT` either way, which makes the outlook a range. The number of workers is measured as
work returned per second, so waiting times and other load on the machine are included.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from typing import NamedTuple

import numpy as np

from models.arrays import Floats
from models.counting import counted
from sweep.progress import duration
from sweep.store.costs import Key

DOUBT = 2.0
"""Factor by which the cost may differ for a kind without a finished task in this run."""

PRIOR = 2
"""Finished tasks of a kind at which their mean has the same weight as the expectation."""

SPREAD = 1.5
"""Ratio of the ends of a range from which the range is shown."""

MOST_CHANGE = 4.0
"""Maximum ratio by which the pace of a task is assumed to change."""

ENOUGH = 100
"""Finished tasks after which a kind that was never measured is assumed to cost as much as they did."""

PACE_S = 5.0
"""Seconds of a run after which its pace is known: before, the start of the workers dominates it."""


class Outlook(NamedTuple):
    """The time that the remaining tasks will take.

    Parameters
    ----------
    work : float
        Seconds of CPU time of all tasks with a timing.
    seconds : float
        Seconds until the last of these is done, if work is shared evenly: never less than the longest of
        them.
    low, high : float
        The same if all kinds without a finished task cost less, or more, than expected.
    unknown : int
        Tasks with no timing yet.
    overdue : int
        Tasks that take much longer than expected; each counts as half done.
    """

    work: float
    seconds: float
    low: float
    high: float
    unknown: int = 0
    overdue: int = 0

    @classmethod
    def of(
        cls, known: Floats, doubtful: float, longest: Floats, workers: float, unknown: int, overdue: int
    ) -> Outlook:
        """Return the outlook on `known + doubtful` seconds, of which `doubtful` may be off by `DOUBT`.

        `known` and the longest task are arrays of shape (2,): the least and the most.
        """
        low, high = np.maximum((known + doubtful * np.array((1 / DOUBT, DOUBT))) / workers, longest)
        work = float(known.mean()) + doubtful
        seconds = max(work / workers, float(longest.mean()))
        return cls(work, seconds, float(low), float(high), unknown, overdue)

    def __str__(self) -> str:
        reasons = []
        if self.unknown:
            reasons.append(f"{counted(self.unknown, 'task')} with no timing yet")
        if self.overdue:
            reasons.append(f"{self.overdue:,} take{'s' * (self.overdue == 1)} longer than expected")
        if self.unknown and self.seconds < 1:
            return f"time left unknown: {', '.join(reasons)}"
        left = duration(self.seconds)
        if self.high > SPREAD * self.low:
            left = f"{duration(self.low)} to {duration(self.high)}"
        least = "at least " if self.unknown else ""
        return f"{least}{left} left{': ' * bool(reasons)}{', '.join(reasons)}"


class Pace:
    """The pace of a long task: simulations slow down as their queues grow, and recover."""

    def __init__(self) -> None:
        self._seen = [(0.0, 0.0)]

    def rest(self, elapsed: float, done: float) -> Floats:
        """Return the least and the most seconds that the rest will take, given the share that is done.

        One assumes the pace in the latter half of the time so far, the other a pace that continues to change
        as it did from the average to that pace.
        """
        self._seen.append((elapsed, done))
        while len(self._seen) > 2 and self._seen[1][0] <= elapsed / 2:
            self._seen.pop(0)
        before, share = self._seen[0]
        on_average, lately = elapsed / done, math.inf
        if share < done:
            lately = (elapsed - before) / (done - share)
        if share == 0 or math.isinf(lately):  # nothing to compare with, or the task stands still
            return np.full(2, (1 - done) * on_average)
        # These were the paces in the middle of all completed work and in the middle of its latter part.
        trend = lately + (lately - on_average) * (1 - share) / share
        later = min(max(trend, lately / MOST_CHANGE), lately * MOST_CHANGE)
        return (1 - done) * np.sort((lately, later))


class Timings:
    """The measured times of a run's tasks so far.

    Parameters
    ----------
    before : dict of Key to float
        Seconds of a task by its kind, as earlier runs measured them; infinite without a measurement.
    jobs : dict of Key to int
        Jobs that a task of that kind simulates.
    """

    def __init__(self, before: dict[Key, float], jobs: dict[Key, int]) -> None:
        self._before, self._jobs = before, jobs
        self._spent: dict[Key, list[float]] = defaultdict(lambda: [0, 0.0])
        self._at_load: dict[Key, list[float]] = defaultdict(lambda: [0, 0.0])
        self._begun: float | None = None
        self._count, self._work, self._worked_jobs = 0, 0.0, 0
        self._work_before = self._work_expected = 0.0

    def add(self, key: Key, seconds: float) -> None:
        """Count a finished task."""
        if self._begun is None:
            # From the start of the first task: the start of workers and the compilation do not count.
            self._begun = time.monotonic() - seconds
        for total, units in ((self._spent[key], 1), (self._at_load[_without_policy(key)], self._jobs[key])):
            total[0] += units
            total[1] += seconds
        self._count += 1
        self._work += seconds
        self._worked_jobs += self._jobs[key]
        if math.isfinite(before := self._before.get(key, math.inf)):
            self._work_before += before
            self._work_expected += seconds

    def seconds(self, key: Key, otherwise: float) -> tuple[float, float]:
        """Return the expected seconds of a task of a kind, and the share of them that this run measured.

        Parameters
        ----------
        otherwise : float
            The cost by similar kinds for a kind that no run measured; infinite if none of these was measured.
        """
        count, total = self._spent.get(key, (0, 0.0))
        if math.isfinite(before := self._before.get(key, math.inf)) and self._work_before:
            otherwise = before * self._work_expected / self._work_before
        elif count:
            jobs, seconds = self._at_load[_without_policy(key)]
            otherwise = seconds / jobs * self._jobs[key]
        elif math.isinf(otherwise) and self._count >= ENOUGH:
            otherwise = self._work / self._worked_jobs * self._jobs[key]
        return (total + PRIOR * otherwise) / (count + PRIOR), count / (count + PRIOR)

    def workers(self, given: int, spent: float = 0.0) -> float:
        """Return the effective number of workers: the work done per second, at most their number.

        Parameters
        ----------
        spent : float
            Seconds for which the unfinished tasks have run.
        """
        elapsed = 0.0 if self._begun is None else time.monotonic() - self._begun
        if elapsed < PACE_S:
            return given
        # At least a quarter of a worker, so that one long task in front does not predict weeks.
        return min(given, max((self._work + spent) / elapsed, 0.25))


def _without_policy(key: Key) -> Key:
    family, machine, _, workload, load = key
    return family, machine, workload, load
