"""Tasks put together to messages of even size, the longest first.

A message costs a few milliseconds of its worker's time; a task may take less. Messages of half a second of
work keep that cost out of sight. Nobody waits at the end, as long as long tasks start early (the longest
first is at most a third longer than the best order, and much less where most tasks are short) and messages
become smaller as the work runs out (guided self-scheduling). What a system takes is found out early, too: of
each that was never measured one task goes before all else, and until it is back the others of it count as
long as it has been away. A worker cannot give back what waits behind the task that it runs (a kernel keeps
its interpreter busy), so that a bundle says whether it is certain to be brief, and executors let nothing wait
behind another (`room`).

References
----------
R. L. Graham, "Bounds on multiprocessing timing anomalies", SIAM J. Appl. Math. 17, 1969 (longest first).
C. D. Polychronopoulos, D. J. Kuck, "Guided self-scheduling", IEEE Trans. Computers C-36, 1987.
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

MESSAGE_S = 0.5
"""Work in a bundle as long as there is plenty. What was logged last is lost at a kill, and progress is told
by bundles: more would be felt."""

BRIEF_S = 1.0
"""Work behind which another bundle may wait on a worker."""

OUTSTANDING = 2
"""Brief bundles a worker has at a time: one that it runs, and one so that it never waits for the next."""

SHARES = 4
"""A bundle has at most such a part of what is left for each worker: two of them are no more than half."""

LEAST_S = 0.05
"""Work in a bundle that is worth a message, however little is left."""

MOVED = 1.25
"""Factor by which a cost has to change for the order to be looked at again."""

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
        Work aimed at in a bundle, as long as there is plenty; until something was measured, a bundle is a
        single task.
    workers : callable, optional
        Returns how many share the work; without it, bundles do not become smaller at the end.
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
        workers: Callable[[], int] | None = None,
        more: Callable[[], bool] = lambda: True,
        logs: Sequence[str] = (),
    ) -> None:
        self._plan = plan
        self._costs = costs
        self._shards = shards
        self._seconds = seconds
        self._workers = workers
        self._more = more
        self._logs = itertools.cycle(logs or [None])
        self._key = keys(plan)
        self._taken: list[float] = []
        self._seen: set[Key] = set()
        self._given: dict[int, Given] = {}
        self._lock = threading.Lock()
        self._over = False
        waiting: dict[Key, list[int]] = defaultdict(list)
        for number in left:
            waiting[self._key(number)].append(number)
        self._jobs = {key: plan.measurement(numbers[0]).jobs for key, numbers in waiting.items()}
        self._waiting = {key: numbers[::-1] for key, numbers in waiting.items()}
        # Systems never measured: their keys, the lowest load first, and when the first task was given out.
        self._unknown: dict[Key, list[Key]] = defaultdict(list)
        for key in self._waiting:
            if not self._costs.knows(key):
                self._unknown[key[:SYSTEM]].append(key)
        for unknown in self._unknown.values():
            unknown.sort(key=_load)
        self._untried = sorted(self._unknown, key=lambda system: _load(self._unknown[system][-1]))
        self._tried: dict[Key, float] = {}
        self._order()

    def _order(self) -> None:
        """Put what is known in order, the longest first, by what is known now."""
        costs = {
            key: self._cost(key, math.inf)
            for key, numbers in self._waiting.items()
            if numbers and key[:SYSTEM] not in self._unknown
        }
        # Of equal costs the highest load first, for that is where simulations take longest.
        self._queue = [(-cost, -_load(key), key) for key, cost in costs.items()]
        heapq.heapify(self._queue)
        self._work = sum(cost * len(self._waiting[key]) for key, cost in costs.items())
        self._ordered_by = costs
        self._moved = False
        # Seldom where it takes long: what comes back between two times costs as much as it does.
        self._order_after = len(self._taken) + len(self._waiting) // 50

    def __iter__(self) -> Iterator[Bundle]:
        return self

    def __next__(self) -> Bundle:
        with self._lock:
            return self._made()

    def _made(self) -> Bundle:
        self._over = self._over or not self._more()
        if self._over:
            raise StopIteration
        if self._moved and len(self._taken) >= self._order_after:
            self._order()
        tasks: list[int] = []
        planned = 0.0
        seconds = self._aimed_at()
        # Costs of another day, or of another policy, may be wrong by orders of magnitude: what was not seen
        # in this run goes alone, so that nothing waits behind it; bundles grow with what came back.
        most = max(1, len(self._taken))
        familiar = True
        while planned < seconds and len(tasks) < most and (key := self._next()) is not None:
            if not (known := key[:SYSTEM] in self._seen) and tasks:
                break
            tasks.append(self._take(key))
            planned += self._cost(key, math.inf) if key[:SYSTEM] not in self._unknown else math.inf
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

    def _aimed_at(self) -> float:
        """Return the seconds of work that a bundle shall have now."""
        if self._workers is None:
            return self._seconds
        return min(self._seconds, max(LEAST_S, self._work / (SHARES * max(1, self._workers()))))

    def _next(self) -> Key | None:
        """Return what to give out next: something untried, else what takes longest, None at the end."""
        if self._untried:
            return self._unknown[self._untried[-1]][-1]
        while self._queue and not self._waiting[self._queue[0][2]]:
            heapq.heappop(self._queue)
        if self._tried:
            # The one that was tried first has been away for longest; the others of it take as long at least.
            system, since = next(iter(self._tried.items()))
            if not self._queue or time.monotonic() - since > -self._queue[0][0]:
                return self._unknown[system][-1]
        return self._queue[0][2] if self._queue else None

    def _take(self, key: Key) -> int:
        """Take a task of what `_next` returned."""
        number = self._waiting[key].pop()
        system = key[:SYSTEM]
        if system in self._unknown:
            if self._untried and self._untried[-1] == system:
                self._untried.pop()
                self._tried[system] = time.monotonic()
            if not self._waiting[key]:
                self._unknown[system].pop()
                if not self._unknown[system]:
                    del self._tried[system]
        else:
            self._work = max(0.0, self._work - self._cost(key, 0.0))
            if not self._waiting[key]:
                heapq.heappop(self._queue)
        return number

    def learn(self, number: int, seconds: float) -> None:
        """Take into account what task `number` took."""
        with self._lock:
            self._taken.append(seconds)
            key = self._key(number)
            self._seen.add(key[:SYSTEM])
            self._costs.add(key, seconds / self._plan.measurement(number).jobs)
            if key[:SYSTEM] in self._unknown:
                self._get_to_know(key[:SYSTEM])
            elif self._waiting.get(key):
                cost, before = self._cost(key, 0.0), self._ordered_by.get(key, 0.0)
                self._moved |= not before / MOVED <= cost <= before * MOVED
        self.ended(number)

    def _get_to_know(self, system: Key) -> None:
        """Put in order what waits of a system now measured for the first time."""
        self._tried.pop(system, None)
        if system in self._untried:
            self._untried.remove(system)
        for key in self._unknown.pop(system):
            cost = self._ordered_by[key] = self._cost(key, math.inf)
            self._work += cost * len(self._waiting[key])
            heapq.heappush(self._queue, (-cost, -_load(key), key))

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
                if not numbers:
                    continue
                if self._costs.knows(key):
                    cost = self._cost(key, math.inf)
                    work += cost * len(numbers)
                    longest = max(longest, cost)
                else:  # what others take says nothing of a system that nobody has seen
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


def room(workers: int, on_their_way: Iterable[Bundle]) -> int:
    """Return how many bundles may be on their way: as many as workers, if any of them may take long.

    What waits behind a long one could not be given to an idle worker any more. A bundle has to be given to a
    worker that has none as long as there is one.
    """
    return workers * (OUTSTANDING if all(bundle.brief for bundle in on_their_way) else 1)


def _load(key: Key) -> float:
    return 0.0 if key[SYSTEM] == "None" else float(key[SYSTEM])
