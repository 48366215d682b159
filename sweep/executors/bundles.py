"""Tasks grouped into messages of even size, the longest first.

A message costs a few milliseconds of a worker's time, and a task may take less. Messages of half a second of
work make that cost negligible. No worker is idle for long at the end, because long tasks start early
(longest-first order is at most a third longer than the best order, and much less where most tasks are short)
and messages become smaller as the work runs out (guided self-scheduling). Unknown costs are measured early,
too: one task of each kind (a system at a load) without a timing runs before all others. Simulations of whole
logs may take minutes under one policy and seconds under another, so one worker takes the longest and all
others the shortest, and results arrive from the beginning on. A bundle that waits behind a running one does
not move to an idle worker; so each bundle is marked as brief or not, and no bundle waits behind one that is
not (`capacity`). A long task reports its progress (`models.kernels.progress`).

References
----------
R. L. Graham, "Bounds on multiprocessing timing anomalies", SIAM J. Appl. Math. 17, 1969 (longest first).
C. D. Polychronopoulos, D. J. Kuck, "Guided self-scheduling", IEEE Trans. Computers C-36, 1987.
"""

import heapq
import itertools
import math
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple, TypeVar

import numpy as np

from models.kernels.progress import share_done
from sweep.executors.outlook import Outlook, Pace, Timings
from sweep.plan.data import Plan
from sweep.plan.task import Bundle
from sweep.store.costs import SYSTEM, Costs, Key, as_number, keys

T = TypeVar("T")

MESSAGE_S = 0.5
"""Seconds of work in a bundle while plenty is left. A kill loses the running bundle, and progress advances by
bundles, so a user would notice longer ones."""

BRIEF_S = 1.0
"""Work behind which another bundle may wait on a worker. It is above `MESSAGE_S`, because the last task of a
bundle exceeds the target."""

OUTSTANDING = 2
"""Brief bundles of a worker at a time: one that runs, and one in its queue so that it is never idle."""

SHARES = 4
"""A bundle has at most 1/SHARES of a worker's share of the remaining work: the last bundles are small, so
that all workers finish at about the same time. A larger value means more messages."""

LEAST_S = 0.05
"""Minimum work of a message, however little is left: well above the milliseconds that a message costs."""

MOVED = 1.25
"""Factor by which a cost has to change before the tasks of its system are sorted again. Every result changes
the mean a little, and sorting after each would cost more than a slightly wrong order."""

Place = tuple[bool, float, float, int, Key]
"""Sort key of a kind of task: whether it was tried or timed, minus its cost and load, its first task."""

LEGIBLE = 0.05
"""Completed share of a task from which the rest is extrapolated; before, the start-up dominates the pace."""

LATE, LATE_S = 3.0, 5.0
"""A bundle is overdue after LATE x expected + LATE_S seconds. The constant is for short tasks, whose messages
may take longer than the tasks."""


class Given(NamedTuple):
    """A running bundle: its start, its expected seconds, its unfinished tasks, the file in which one of them
    shows its progress, and its pace."""

    at: float
    seconds: float
    tasks: set[int]
    progress: Path | None
    pace: Pace

    def share_done(self) -> float:
        """Return the completed share of its only task, 0 if unknown."""
        return 0.0 if self.progress is None else share_done(self.progress)


class Bundles:
    """Iterator of bundles, each made when it is taken, from the timings known at that moment.

    Parameters
    ----------
    left : iterable of int
        Task numbers to run.
    costs : Costs
        Updated by `learn` while this is iterated.
    shards : Path
        Folder for the workers' logs.
    seconds : float
        Target work of a bundle while plenty is left; until a task has been measured, a bundle is a single
        task.
    workers : callable, optional
        Returns the number of workers; without it, bundles do not become smaller at the end.
    more : callable, optional
        Called before each bundle; the first false result ends the iteration.
    logs : sequence of str
        Names of logs that the workers share; see `sweep.plan.task.Bundle`.
    running : Path, optional
        Folder in which long tasks show their progress.
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
        running: Path | None = None,
    ) -> None:
        self._plan = plan
        self._costs = costs
        self._shards = shards
        self._seconds = seconds
        self._workers = workers
        self._more = more
        self._logs = itertools.cycle(logs or [None])
        self._running = running
        self._key = keys(plan)
        self._taken: list[float] = []
        self._tried: set[Key] = set()
        self._seen: set[Key] = set()
        self._given: dict[int, Given] = {}
        self._longest = Given(0.0, 0.0, set(), None, Pace())
        self._lock = threading.Lock()
        # Set once: an executor may call `next` again after the end, and must not get a bundle then.
        self._over = False
        waiting: dict[Key, list[int]] = defaultdict(list)
        for number in left:
            waiting[self._key(number)].append(number)
        self._jobs = {key: plan.measurement(numbers[0]).jobs for key, numbers in waiting.items()}
        self._first = {key: numbers[0] for key, numbers in waiting.items()}
        # Costs within a kind may grow along an axis: in random order, the finished tasks are a fair sample
        # of all. The seed is fixed, so that the order of a run can be repeated.
        mixed = np.random.default_rng(0)
        self._waiting = {key: mixed.permutation(numbers).tolist() for key, numbers in waiting.items()}
        self._of_system: dict[Key, list[Key]] = defaultdict(list)
        for key in self._waiting:
            self._of_system[key[:SYSTEM]].append(key)
        # A heap cannot change a place: a key is pushed again with its new place, and a popped entry that
        # differs from `_places` is outdated.
        self._queue: list[Place] = []
        self._places: dict[Key, Place] = {}
        self._work = 0.0
        for system in self._of_system:
            self._sort_in(system)
        self._timings = Timings({key: self._cost(key) for key in self._waiting}, self._jobs)

    def _sort_in(self, system: Key) -> None:
        """Sort the waiting tasks of a system by its current cost; earlier places become invalid."""
        for key in self._of_system[system]:
            self._work -= self._work_of(key)
            cost = self._cost(key)
            # At equal costs the highest load comes first, where simulations take longest; then the plan's
            # order decides, so that among policies without a timing the grid's first ones begin.
            known = key in self._tried or self._costs.is_measured(key)
            place = (known, -cost, -as_number(key[SYSTEM]), self._first[key], key)
            self._places[key] = place
            self._work += self._work_of(key)
            if self._waiting[key]:
                heapq.heappush(self._queue, place)

    def _work_of(self, key: Key) -> float:
        """Return the known seconds of the waiting tasks of a key, at the cost by which they were sorted."""
        if key not in self._places or math.isinf(cost := -self._places[key][1]):
            return 0.0
        return cost * len(self._waiting[key])

    def __iter__(self) -> Iterator[Bundle]:
        return self

    def __next__(self) -> Bundle:
        # The lock: results arrive, and the progress bar reads the outlook, in other threads.
        with self._lock:
            return self._made()

    def _made(self) -> Bundle:
        self._over = self._over or not self._more()
        if self._over:
            raise StopIteration
        tasks: list[int] = []
        planned = 0.0
        seconds = self._aimed_at()
        # Costs from another day, or of another policy, may be wrong by orders of magnitude: a system not seen
        # in this run starts with a bundle of one task; bundles grow with the number of finished tasks.
        most = max(1, len(self._taken))
        familiar = True
        # Whole logs take minutes: one worker takes the longest task, all others the shortest, so that a user
        # sees results early. A single worker takes only the shortest.
        alone = self._workers is None or self._workers() == 1
        shortest = self._plan.longest.to_the_end and (alone or bool(self._longest.tasks))
        while planned < seconds and len(tasks) < most and (key := self._next(shortest)) is not None:
            # A task of a system without a result in this run gets its own bundle: it may take any time, and
            # would delay the results of the other tasks.
            if not (known := key[:SYSTEM] in self._seen) and tasks:
                break
            tasks.append(self._take(key))
            planned += self._cost(key)
            if not known:
                familiar = False
                break
        if not tasks:
            raise StopIteration
        # `brief` is not estimated from earlier runs: a wrong estimate would delay a bundle for hours.
        bundle = Bundle(
            tuple(self._plan.task(number) for number in tasks),
            self._shards,
            next(self._logs),
            brief=familiar and planned <= BRIEF_S,
            running=self._running,
        )
        progress = bundle.progress_of(bundle.tasks[0]) if len(tasks) == 1 else None
        given = Given(time.monotonic(), planned, set(tasks), progress, Pace())
        self._given |= dict.fromkeys(tasks, given)
        self._longest = self._longest if shortest else given
        return bundle

    def _aimed_at(self) -> float:
        """Return the target work of the next bundle in seconds."""
        if self._workers is None:
            return self._seconds
        return min(self._seconds, max(LEAST_S, self._work / (SHARES * max(1, self._workers()))))

    def _next(self, shortest: bool) -> Key | None:
        """Return the key of the next task, None at the end; the shortest one once every kind has a timing."""
        while self._queue:
            key = self._queue[0][-1]
            if self._waiting[key] and self._queue[0] == self._places[key]:
                if shortest and self._queue[0][0]:
                    # The other end of the heap: a linear search over kinds of tasks, not over tasks.
                    waiting = (place for key, place in self._places.items() if self._waiting[key])
                    return max(waiting, key=lambda place: (place[1], -place[3]))[-1]
                return key
            heapq.heappop(self._queue)
        return None

    def _take(self, key: Key) -> int:
        """Take a task of a key that `_next` returned."""
        self._work -= self._work_of(key)
        number = self._waiting[key].pop()
        self._work += self._work_of(key)
        if not self._places[key][0]:  # the first task of a kind without a timing
            # One trial is enough to measure the cost: the rest of the kind is sorted by cost again.
            self._tried.add(key)
            self._sort_in(key[:SYSTEM])
        return number

    def learn(self, number: int, seconds: float) -> None:
        """Record the seconds that task `number` took."""
        with self._lock:
            self._taken.append(seconds)
            key = self._key(number)
            self._seen.add(key[:SYSTEM])
            self._costs.add(key, seconds / self._plan.measurement(number).jobs)
            self._timings.add(key, seconds)
            before, cost = -self._places[key][1], self._cost(key)
            # Also true for a kind that had no timing until now: inf / MOVED is larger than any cost.
            if not before / MOVED <= cost <= before * MOVED:
                self._sort_in(key[:SYSTEM])
        self.ended(number)

    def ended(self, number: int) -> None:
        """Remove task `number`, done or failed, from the running ones."""
        with self._lock:
            if (given := self._given.pop(number, None)) is not None:
                given.tasks.discard(number)

    def outlook(self, workers: int) -> Outlook:
        """Return the time that the remaining tasks will take; may be called from any thread."""
        now = time.monotonic()
        with self._lock:
            known, longest, doubtful, spent = np.zeros(2), np.zeros(2), 0.0, 0.0
            unknown = overdue = 0
            for key, numbers in self._waiting.items():
                if not numbers:
                    continue
                seconds, measured = self._timings.seconds(key, self._cost(key))
                if math.isinf(seconds):
                    unknown += len(numbers)
                    continue
                known += seconds * len(numbers) * measured
                doubtful += seconds * len(numbers) * (1 - measured)
                longest = np.maximum(longest, seconds)
            # Each running bundle once: all of its tasks share one entry.
            for given in {id(each): each for each in self._given.values()}.values():
                elapsed = now - given.at
                spent += elapsed
                if (done := given.share_done()) > LEGIBLE:
                    ends = given.pace.rest(elapsed, done)
                    known, longest = known + ends, np.maximum(longest, ends)
                    continue
                if not math.isfinite(given.seconds):
                    unknown += len(given.tasks)
                    continue
                rest = max(0.0, given.seconds - elapsed)
                if elapsed > LATE * given.seconds + LATE_S:
                    overdue += len(given.tasks)
                    rest = elapsed  # counts as half done: the best guess without any other information
                known, longest = known + rest, np.maximum(longest, rest)
            pace = self._timings.workers(workers, spent)
            if not any(self._waiting.values()):  # all remaining tasks run, each on its own worker
                pace = max(pace, len(self._given))
            return Outlook.of(known, doubtful, longest, pace, unknown, overdue)

    def last(self, seconds: float) -> list[int]:
        """Return the running tasks if all others are done and each of them has run for this many seconds."""
        with self._lock:
            now, given = time.monotonic(), self._given
            is_last = not any(self._waiting.values()) and all(
                now - one.at > seconds for one in given.values()
            )
            return sorted(given) if is_last else []

    def task_seconds(self, share: float) -> float:
        """Return the seconds that this share of the finished, or of the waiting, tasks does not exceed."""
        came_back = float(np.quantile(self._taken, share)) if self._taken else 0.0
        known = ((self._cost(key), len(numbers)) for key, numbers in self._waiting.items())
        costs = sorted((cost if math.isfinite(cost) else 0.0, n) for cost, n in known)
        rest = share * sum(n for _, n in costs)
        for seconds, n in costs:
            rest -= n
            if rest <= 0 and n:
                return max(came_back, seconds)
        return came_back

    def _cost(self, key: Key) -> float:
        """Return the seconds of a task, infinite if its system has no timing."""
        seconds = self._costs.seconds_a_job(key) if self._costs.has_system(key) else None
        return math.inf if seconds is None else seconds * self._jobs[key]


def capacity(workers: int, submitted: Iterable[Bundle]) -> int:
    """Return how many bundles may be submitted at a time: one per worker if any of them may take long.

    A bundle that waits behind a long one cannot move to an idle worker. Idle workers are served before busy
    ones.
    """
    return workers * (OUTSTANDING if all(bundle.brief for bundle in submitted) else 1)


def finished(
    bundles: Iterator[Bundle],
    submit: Callable[[Bundle], Future[T]],
    workers: Callable[[], int],
    check: Callable[[], object],
    every_s: float,
) -> Iterator[tuple[Bundle, Future[T]] | None]:
    """Submit bundles, a few at a time, and yield each with its future once it is done.

    Yields None whenever no bundle has finished for `every_s`.

    Parameters
    ----------
    check : callable
        Called before each wait, of at most `every_s`; raises when waiting has become pointless.
    """
    arrived: SimpleQueue[Future[T]] = SimpleQueue()
    on_their_way: dict[Future[T], Bundle] = {}
    while True:
        # Called before bundles are submitted, because it may change the number of workers.
        check()
        while len(on_their_way) < capacity(workers(), on_their_way.values()):
            if (bundle := next(bundles, None)) is None:
                break
            future = submit(bundle)
            on_their_way[future] = bundle
            # The callback runs in the executor's thread, or at once in this one if it is already done.
            future.add_done_callback(arrived.put)
        if not on_their_way:
            return
        try:
            future = arrived.get(timeout=every_s)
        except Empty:
            yield None
        else:
            yield on_their_way.pop(future), future
