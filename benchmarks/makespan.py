"""How long a mixed study takes over the least that it could, on 2 to 1,000 simulated workers.

The bundles are the real ones, with the executors' limits on outstanding bundles; the work is not done, and
the clock is that of the simulated workers. So the effect of the order and size of bundles is separated from
that of a machine.
"""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Protocol
from unittest.mock import patch

from benchmarks import points
from benchmarks.record import Cell, Findings, Table, Target
from sweep.executors import bundles as bundles_module
from sweep.executors.bundles import MESSAGE_S, OUTSTANDING, Bundles, capacity
from sweep.plan.plan import Plan
from sweep.plan.task import Bundle
from sweep.store.costs import Costs, Key, keys

ON_ITS_WAY_S = 0.001
"""Seconds of a message and its answer."""

SHARE_S = 2.0
"""Work in short tasks for each worker."""

RATIO_TARGET = 1.1
WORKERS = (2, 8, 32, 128, 512, 1000)


class Clock:
    """Replaces the module `time` of the bundles."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        """Return the simulated time in seconds."""
        return self.now


class Crew(Protocol):
    """Simulated workers of an executor, which distribute bundles among them."""

    def free(self) -> int | None:
        """Return the worker that may have another bundle, None if there is none."""

    def gave(self, worker: int, bundle: Bundle) -> None:
        """Count a bundle that a worker was given."""

    def done(self, worker: int, bundle: Bundle) -> None:
        """Count a bundle that is back."""


class LikeDask:
    """The next bundle is for a worker with the fewest, up to the limit of outstanding bundles."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._has = [0] * workers
        self._fewest = [(0, worker) for worker in range(workers)]
        self._bundles = self._long = 0

    def free(self) -> int | None:
        """Return the worker that may have another bundle, None if there is none."""
        # Of all bundles on their way, only whether one may take long counts.
        probe = [Bundle((), Path(), brief=False)] if self._long else []
        if self._bundles >= capacity(self._workers, probe):
            return None
        while self._fewest[0][0] != self._has[self._fewest[0][1]]:
            heapq.heappop(self._fewest)  # outdated entries
        return self._fewest[0][1]

    def gave(self, worker: int, bundle: Bundle) -> None:
        """Count a bundle that a worker was given."""
        self._count(worker, bundle, 1)

    def done(self, worker: int, bundle: Bundle) -> None:
        """Count a bundle that is back."""
        self._count(worker, bundle, -1)

    def _count(self, worker: int, bundle: Bundle, change: int) -> None:
        self._has[worker] += change
        self._bundles += change
        self._long += change * (not bundle.brief)
        heapq.heappush(self._fewest, (self._has[worker], worker))


class LikeMpi:
    """Every rank has a brief bundle waiting behind a brief one, and nothing behind another."""

    def __init__(self, workers: int) -> None:
        self._has: list[list[Bundle]] = [[] for _ in range(workers)]
        self._may = set(range(workers))

    def free(self) -> int | None:
        """Return the worker that may have another bundle, None if there is none."""
        return min(self._may) if self._may else None

    def gave(self, worker: int, bundle: Bundle) -> None:
        """Count a bundle that a worker was given."""
        self._has[worker].append(bundle)
        self._update(worker)

    def done(self, worker: int, bundle: Bundle) -> None:
        """Count a bundle that is back."""
        self._has[worker].remove(bundle)
        self._update(worker)

    def _update(self, worker: int) -> None:
        has = self._has[worker]
        if len(has) < OUTSTANDING and all(bundle.brief for bundle in has):
            self._may.add(worker)
        else:
            self._may.discard(worker)


@dataclass(frozen=True)
class Study:
    """Tasks of a plan by number, with the seconds that each takes."""

    plan: Plan
    seconds: Mapping[int, float]

    def bound(self, workers: int) -> float:
        """Return a lower bound on the seconds of any order."""
        return max(max(self.seconds.values()), sum(self.seconds.values()) / workers)

    def costs(self, known: bool) -> Costs:
        """Return the costs where all tasks were timed before, or none."""
        costs, key = Costs(Path("none")), keys(self.plan)
        if known:
            totals: dict[Key, list[float]] = {}
            for number, seconds in self.seconds.items():
                totals.setdefault(key(number), []).append(seconds)
            for one, taken in totals.items():
                costs.add(one, sum(taken) / len(taken) / self.plan.longest.jobs)
        return costs


def mixed(workers: int, short_s: float, long_s: Sequence[float]) -> Study:
    """Return short tasks of one policy, `SHARE_S` for each worker, and long ones of another.

    Parameters
    ----------
    workers : int
    short_s : float
        Mean of the short tasks, which take 0.3 to 1.7 times as long.
    long_s : sequence of float
    """
    n = max(len(long_s), round(SHARE_S * workers / short_s))
    plan = points.expanded(*points.FIG_8, "policy=[buddy,migration]", "grid.load=[0.7]", f"replications={n}")
    noise = random.Random(1)
    short = {number: short_s * noise.uniform(0.3, 1.7) for number in range(n)}
    return Study(plan, short | {n + i: seconds for i, seconds in enumerate(long_s)})


def makespan(study: Study, workers: int, crew: Crew, *, known: bool = True, even: bool = False) -> float:
    """Run a study on simulated workers and return when the last task is back.

    Parameters
    ----------
    study : Study
    workers : int
    crew : Crew
    known : bool
        Whether the costs are known before.
    even : bool
        Bundles of one size to the end.
    """
    clock = Clock()
    with patch.object(bundles_module, "time", clock):
        share = None if even else (lambda: workers)
        bundles = Bundles(
            study.plan, study.seconds, study.costs(known), Path("none"), MESSAGE_S, workers=share
        )
        return _run(study, bundles, [deque() for _ in range(workers)], crew, clock)


def _run(study: Study, bundles: Bundles, queues: Sequence[deque[Bundle]], crew: Crew, clock: Clock) -> float:
    numbers = {study.plan.ids[number]: number for number in study.seconds}
    order: Iterator[int] = count()
    events: list[tuple[float, int, int]] = []

    def seconds(bundle: Bundle) -> list[float]:
        return [study.seconds[numbers[task.id]] for task in bundle.tasks]

    def start(worker: int) -> None:
        ends = clock.now + ON_ITS_WAY_S + sum(seconds(queues[worker][0]))
        heapq.heappush(events, (ends, next(order), worker))

    def hand_out() -> None:
        while (worker := crew.free()) is not None and (bundle := next(bundles, None)) is not None:
            crew.gave(worker, bundle)
            queues[worker].append(bundle)
            if len(queues[worker]) == 1:
                start(worker)

    hand_out()
    while events:
        clock.now, _, worker = heapq.heappop(events)
        bundle = queues[worker].popleft()
        crew.done(worker, bundle)
        for task, taken in zip(bundle.tasks, seconds(bundle), strict=True):
            bundles.learn(numbers[task.id], taken)
        if queues[worker]:
            start(worker)
        hand_out()
    return clock.now


def run(quick: bool) -> Findings:
    """Simulate a task nearly as long as the work of a worker, among many short ones."""
    rows: list[list[Cell]] = []
    worst = 0.0
    crews: dict[str, Callable[[int], Crew]] = {"dask": LikeDask, "mpi": LikeMpi}
    for workers in WORKERS[: 3 if quick else None]:
        study = mixed(workers, 0.02 if workers < 100 else 0.1, [0.9 * SHARE_S])
        bound = study.bound(workers)
        for name, crew in crews.items():
            known = makespan(study, workers, crew(workers)) / bound
            unknown = makespan(study, workers, crew(workers), known=False) / bound
            even = makespan(study, workers, crew(workers), even=True) / bound
            rows.append([workers, name, known, unknown, even, known / even])
            worst = max(worst, known)
    return Findings(
        [
            Table(
                f"Makespan over the lower bound: {SHARE_S:g} s of short tasks a worker, one task of "
                f"{0.9 * SHARE_S:g} s",
                ["workers", "as", "costs known", "not known", "bundles of one size", "over one size"],
                rows,
            )
        ],
        [Target("makespan over the lower bound, costs known, the worst", worst, RATIO_TARGET, "")],
    )
