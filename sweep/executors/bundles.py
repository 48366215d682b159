"""Tasks put together to messages of even size, the longest first.

A message costs about a millisecond on its way; a task may take less. Messages that take 50 to 100 ms of work
keep that cost out of sight and still leave nobody waiting at the end, as long as long tasks start early. A
worker cannot give back what waits behind the task that it runs (a kernel keeps its interpreter busy), so that
a bundle says whether it is certain to be brief, and executors let nothing wait behind another.
"""

from __future__ import annotations

import heapq
import itertools
import math
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sweep.plan.plan import Plan
from sweep.plan.task import Bundle
from sweep.progress import duration
from sweep.store.costs import SYSTEM, Costs, Key, keys

BRIEF_S = 1.0
"""Work behind which another bundle may wait on a worker."""

LATE, LATE_S = 3.0, 5.0
"""A bundle that is away for longer than so many times what was expected, and so many seconds, is late."""


class Given(NamedTuple):
    """A bundle that was given out: when, the seconds expected of it, and which tasks are not back."""

    at: float
    seconds: float
    tasks: set[int]


class Outlook(NamedTuple):
    """How long the rest will take.

    Parameters
    ----------
    work : float
        Seconds of CPU time, of all tasks of which something is known.
    seconds : float
        Until the last of these is back, if work is shared evenly: never less than the longest of them.
    unknown : int
        Tasks like which none was ever measured.
    overdue : int
        Tasks that take much longer than was expected.
    """

    work: float
    seconds: float
    unknown: int
    overdue: int

    def __str__(self) -> str:
        told = []
        if self.unknown:
            told.append(f"{self.unknown:,} task{'s' * (self.unknown > 1)} not measured yet")
        if self.overdue:
            told.append(f"{self.overdue:,} take{'s' * (self.overdue == 1)} longer than expected")
        if not told:
            return f"{duration(self.seconds)} left"
        known = f"at least {duration(self.seconds)} left" if self.seconds >= 1 else "time left not known"
        return f"{known}: {', '.join(told)}"


class Bundles:
    """Iterator of bundles, made one by one, so that each profits from what has been measured by then.

    Parameters
    ----------
    plan : Plan
    left : iterable of int
        Task numbers to run.
    costs : Costs
        Updated by `learn` while this is iterated.
    shards : Path
        Folder for the workers' logs.
    seconds : float
        Work aimed at in a bundle; as long as nothing was measured, a bundle is a single task.
    more : callable, optional
        Asked before each bundle whether another one may be given out; the first no is the end.
    logs : sequence of str
        Names of logs that the workers share; see `sweep.plan.task.Bundle`.
    """

    def __init__(
        self,
        plan: Plan,
        left: Iterable[int],
        costs: Costs,
        shards: Path,
        seconds: float,
        *,
        more: Callable[[], bool] = lambda: True,
        logs: Sequence[str] = (),
    ) -> None:
        self._plan = plan
        self._costs = costs
        self._shards = shards
        self._seconds = seconds
        self._more = more
        self._logs = itertools.cycle(logs or [None])
        self._key = keys(plan)
        self._taken: list[float] = []
        self._seen: set[Key] = set()
        self._given: dict[int, Given] = {}
        self._lock = threading.Lock()
        waiting: dict[Key, list[int]] = defaultdict(list)
        for number in left:
            waiting[self._key(number)].append(number)
        self._jobs = {key: plan.measurement(numbers[0]).jobs for key, numbers in waiting.items()}
        self._waiting = {key: numbers[::-1] for key, numbers in waiting.items()}
        # Costs unknown: the highest load first, for that is where simulations take longest.
        self._queue = [(-self._cost(key, math.inf), -_load(key), key) for key in self._waiting]
        heapq.heapify(self._queue)

    def __iter__(self) -> Iterator[Bundle]:
        return self

    def __next__(self) -> Bundle:
        with self._lock:
            return self._made()

    def _made(self) -> Bundle:
        if not self._more():
            self._queue.clear()  # nobody asks again
        tasks: list[int] = []
        planned = 0.0
        # Costs of another day, or of another policy, may be wrong by orders of magnitude: what was not seen
        # in this run goes alone, so that nothing waits behind it; bundles grow with what came back.
        most = max(1, len(self._taken))
        familiar = True
        while self._queue and planned < self._seconds and len(tasks) < most:
            *_, key = self._queue[0]
            if not (known := key[:SYSTEM] in self._seen) and tasks:
                break
            tasks.append(self._waiting[key].pop())
            planned += self._cost(key, math.inf)
            if not self._waiting[key]:
                heapq.heappop(self._queue)
            if not known:
                familiar = False
                break
        if not tasks:
            raise StopIteration
        given = Given(time.monotonic(), planned, set(tasks))
        self._given |= dict.fromkeys(tasks, given)
        return Bundle(
            tuple(self._plan.task(number) for number in tasks),
            self._shards,
            next(self._logs),
            brief=familiar and planned <= BRIEF_S,
        )

    def learn(self, number: int, seconds: float) -> None:
        """Take into account what task `number` took."""
        with self._lock:
            self._taken.append(seconds)
            key = self._key(number)
            self._seen.add(key[:SYSTEM])
            self._costs.add(key, seconds / self._plan.measurement(number).jobs)
        self.ended(number)

    def ended(self, number: int) -> None:
        """Take into account that task `number` is back, done or failed."""
        with self._lock:
            if (given := self._given.pop(number, None)) is not None:
                given.tasks.discard(number)

    def seconds_waiting(self) -> float | None:
        """Return the work in tasks not yet given out, None as long as nothing was measured."""
        total = sum(
            self._cost(key, math.inf) * len(numbers) for key, numbers in self._waiting.items() if numbers
        )
        return total if math.isfinite(total) else None

    def outlook(self, workers: int) -> Outlook:
        """Return how long the rest will take, as far as anybody knows; may be called from any thread."""
        now = time.monotonic()
        with self._lock:
            work = longest = 0.0
            unknown = overdue = 0
            for key, numbers in self._waiting.items():
                cost = self._cost(key, math.inf)
                if numbers and math.isfinite(cost):
                    work += cost * len(numbers)
                    longest = max(longest, cost)
                else:
                    unknown += len(numbers)
            for given in {id(each): each for each in self._given.values()}.values():
                elapsed = now - given.at
                if not math.isfinite(given.seconds):
                    unknown += len(given.tasks)
                elif elapsed > LATE * given.seconds + LATE_S:
                    overdue += len(given.tasks)
                else:
                    rest = max(0.0, given.seconds - elapsed)
                    work += rest
                    longest = max(longest, rest)
        return Outlook(work, max(work / workers, longest), unknown, overdue)

    def task_seconds(self, share: float) -> float:
        """Return what this share of the tasks takes at most: those that came back, and those that wait."""
        came_back = float(np.quantile(self._taken, share)) if self._taken else 0.0
        costs = sorted((self._cost(key, 0.0), len(numbers)) for key, numbers in self._waiting.items())
        room = share * sum(n for _, n in costs)
        for seconds, n in costs:
            room -= n
            if room <= 0 and n:
                return max(came_back, seconds)
        return came_back

    def _cost(self, key: Key, unknown: float) -> float:
        seconds = self._costs.seconds_a_job(key)
        return unknown if seconds is None else seconds * self._jobs[key]


def _load(key: Key) -> float:
    return 0.0 if key[-1] == "None" else float(key[-1])
