"""Tasks put together to messages of even size, the longest first.

A message costs about a millisecond on its way; a task may take less. Messages that take 50 to 100 ms of work
keep that cost out of sight and still leave nobody waiting at the end, as long as long tasks start early.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from sweep.plan.plan import Plan
from sweep.plan.task import Bundle
from sweep.store.costs import Costs, Key, keys


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
        waiting: dict[Key, list[int]] = defaultdict(list)
        for number in left:
            waiting[self._key(number)].append(number)
        self._waiting = {key: numbers[::-1] for key, numbers in waiting.items()}
        # Costs unknown: the highest load first, for that is where simulations take longest.
        self._queue = [(-self._cost(key, math.inf), -_load(key), key) for key in self._waiting]
        heapq.heapify(self._queue)

    def __iter__(self) -> Iterator[Bundle]:
        return self

    def __next__(self) -> Bundle:
        if not self._more():
            self._queue.clear()  # nobody asks again
        tasks: list[int] = []
        planned = 0.0
        # Costs of another day may be wrong by orders of magnitude: start with single tasks, then let bundles
        # grow with what came back in this run.
        most = max(1, len(self._taken))
        while self._queue and planned < self._seconds and len(tasks) < most:
            *_, key = self._queue[0]
            tasks.append(self._waiting[key].pop())
            planned += self._cost(key, math.inf)
            if not self._waiting[key]:
                heapq.heappop(self._queue)
        if not tasks:
            raise StopIteration
        return Bundle(tuple(self._plan.task(number) for number in tasks), self._shards, next(self._logs))

    def learn(self, number: int, seconds: float) -> None:
        """Take into account what task `number` took."""
        self._taken.append(seconds)
        self._costs.add(self._key(number), seconds / self._plan.measurement.jobs)

    def seconds_waiting(self) -> float | None:
        """Return the work in tasks not yet given out, None as long as nothing was measured."""
        total = sum(
            self._cost(key, math.inf) * len(numbers) for key, numbers in self._waiting.items() if numbers
        )
        return total if math.isfinite(total) else None

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
        return unknown if seconds is None else seconds * self._plan.measurement.jobs


def _load(key: Key) -> float:
    return 0.0 if key[-1] == "None" else float(key[-1])
