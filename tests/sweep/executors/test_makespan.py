"""How long a study takes on many workers: the policy itself, on simulated workers with their own clock.

The bundles are the real ones, with the executors' limits on outstanding bundles; the work is not done, and
the clock belongs to the simulated workers.
"""

import heapq
import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from unittest.mock import patch

import pytest

from benchmarks import points
from sweep.executors import bundles as bundles_module
from sweep.executors.bundles import MESSAGE_S, Bundles, capacity
from sweep.plan.data import Plan
from sweep.plan.task import Bundle
from sweep.store.costs import Costs, Key, keys

ON_ITS_WAY_S = 0.001
"""Seconds of a message and its answer."""

SHARE_S = 2.0
"""Work in short tasks for each worker."""


Queues = Sequence[deque[Bundle]]
"""The bundles that each worker has, the first of which it runs."""


def free_worker(queues: Queues) -> int | None:
    """Return the worker with the fewest bundles, None at the executors' limit of outstanding bundles."""
    out = [bundle for queue in queues for bundle in queue]
    if len(out) >= capacity(len(queues), out):
        return None
    return min(range(len(queues)), key=lambda worker: len(queues[worker]))


class Clock:
    """Replaces the module `time` of the bundles."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        """Return the simulated time in seconds."""
        return self.now


@dataclass(frozen=True)
class Study:
    """A plan, with the seconds that its first tasks take."""

    plan: Plan
    seconds: Sequence[float]

    def bound(self, workers: int) -> float:
        """Return a lower bound on the seconds of any order."""
        return max(max(self.seconds), sum(self.seconds) / workers)

    def costs(self) -> Costs:
        """Return the costs of tasks that were all timed before."""
        costs, key = Costs(Path("none")), keys(self.plan)
        totals: dict[Key, list[float]] = {}
        for number, seconds in enumerate(self.seconds):
            totals.setdefault(key(number), []).append(seconds)
        for one, taken in totals.items():
            costs.add(one, sum(taken) / len(taken) / self.plan.longest.jobs)
        return costs


def mixed(workers: int, short_s: float, long_s: Sequence[float]) -> Study:
    """Return short tasks of one policy, `SHARE_S` for each worker, and long ones of another.

    The short tasks take `short_s` on average, each 0.3 to 1.7 times as long.
    """
    n = max(len(long_s), round(SHARE_S * workers / short_s))
    plan = points.expanded(*points.FIG_8, "policy=[buddy,migration]", "grid.load=[0.7]", f"replications={n}")
    noise = random.Random(1)
    return Study(plan, [*(short_s * noise.uniform(0.3, 1.7) for _ in range(n)), *long_s])


def makespan(study: Study, workers: int, known: bool) -> float:
    """Return when the last task of a study is back from simulated workers; costs may be `known` before."""
    clock = Clock()
    costs = study.costs() if known else Costs(Path("none"))
    with patch.object(bundles_module, "time", clock):
        bundles = Bundles(
            study.plan, range(len(study.seconds)), costs, Path("none"), MESSAGE_S, workers=lambda: workers
        )
        return _run(study, bundles, [deque() for _ in range(workers)], clock)


def _run(study: Study, bundles: Bundles, queues: Queues, clock: Clock) -> float:
    numbers = {study.plan.ids[number]: number for number in range(len(study.seconds))}
    order, events = count(), list[tuple[float, int, int]]()

    def start(worker: int) -> None:
        seconds = sum(study.seconds[numbers[task.id]] for task in queues[worker][0].tasks)
        heapq.heappush(events, (clock.now + ON_ITS_WAY_S + seconds, next(order), worker))

    def hand_out() -> None:
        while (worker := free_worker(queues)) is not None and (bundle := next(bundles, None)) is not None:
            queues[worker].append(bundle)
            if len(queues[worker]) == 1:
                start(worker)

    hand_out()
    while events:
        clock.now, _, worker = heapq.heappop(events)
        for task in queues[worker].popleft().tasks:
            bundles.learn(numbers[task.id], study.seconds[numbers[task.id]])
        if queues[worker]:
            start(worker)
        hand_out()
    return clock.now


@pytest.mark.parametrize(
    ("workers", "short_s"), [(2, 0.02), (30, 0.02), pytest.param(1000, 0.1, marks=pytest.mark.exhaustive)]
)
def test_one_long_task_among_many_short_ones(workers, short_s):
    """At most 1.1 times what no order can beat, also where it is not known beforehand which one is long."""
    study = mixed(workers, short_s, [1.8])
    for known in (True, False):
        assert makespan(study, workers, known) <= 1.1 * study.bound(workers)


def test_a_task_longer_than_all_the_rest():
    """It is the bound, and nothing waits for it or before it."""
    study = mixed(4, 0.02, [60.0])
    for known in (True, False):
        assert makespan(study, 4, known) <= 60.1


@pytest.mark.exhaustive
def test_many_long_tasks_of_a_policy_without_a_timing():
    """They are not left for the end because the first has not come back yet."""
    study = mixed(10, 0.01, [1.0] * 20)
    assert makespan(study, 10, False) <= 1.1 * study.bound(10)
