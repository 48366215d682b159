"""A model of an executor with more workers than there are cores here, fitted to studies on those that are.

One process hands out messages, one after the other, and takes the results. Its CPU time in a study is

    first + message · messages + task · tasks + clock · wall

where ``clock`` is what goes by time alone (progress, the state of connections, looks for messages): more
workers do not add to it. Workers take, beside their simulations, something for a message and for each task.
Studies with one and with two workers, with messages and tasks of several lengths (`benchmarks.messages`) tell
these apart. Each study is also predicted from all others, which says how good the model is; intervals are
jackknifed from the same fits.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

import numpy as np
from scipy import optimize, stats

from sweep.executors.bundles import MESSAGE_S
from sweep.executors.mpi import RANK_0_S
from sweep.store.collect import WRITE_SHARE

A_WORKER_S = {"dask": 0.0, "mpi": RANK_0_S}
"""Seconds of work in a message at least, for each worker there is, see `message_s` of the executors."""

POOR = 0.15
"""A model that is wrong by more than such a part, on a study that it has not seen, is said to be poor."""


@dataclass(frozen=True)
class Study:
    """What a study took once its workers were there, in seconds.

    Parameters
    ----------
    workers, messages, tasks : int
    work : float
        CPU time of its simulations.
    wall : float
    main, workers_cpu : float
        CPU time of the one process, and of all workers.
    start : float
        Wall-clock time before.
    """

    workers: int
    messages: int
    tasks: int
    work: float
    wall: float
    main: float
    workers_cpu: float
    start: float


@dataclass(frozen=True)
class Executor:
    """What an executor costs, in seconds of CPU time.

    Parameters
    ----------
    message_s, task_s : float
        Of the one process for a message, and for each task in it.
    clock : float
        Share of the one process's time that goes by the clock.
    worker_message_s, worker_task_s : float
        Of a worker beside the simulations, for a message and for each task.
    first_s, worker_first_s : float
        Of the one process, and of each worker, once.
    start_s : float
        Wall-clock time until all workers are there.
    a_worker_s : float
        Seconds of work in a message at least, for each worker.
    """

    message_s: float
    task_s: float
    clock: float
    worker_message_s: float
    worker_task_s: float
    first_s: float = 0.0
    worker_first_s: float = 0.0
    start_s: float = 0.0
    a_worker_s: float = 0.0

    def per_message(self, task_s: float, workers: int) -> tuple[int, float, float]:
        """Return the tasks in a message, what the one process takes for it, and what a worker does."""
        n = max(1, round(max(MESSAGE_S, self.a_worker_s * workers) / task_s))
        taken = (self.message_s + n * self.task_s) / max(1 - self.clock - WRITE_SHARE, 1e-3)
        return n, taken, n * task_s + self.worker_message_s + n * self.worker_task_s

    def busy(self, task_s: float, workers: int) -> float:
        """Return how many of so many workers the one process keeps busy with tasks of so many seconds."""
        _, taken, worked = self.per_message(task_s, workers)
        return min(float(workers), 1 + worked / taken) if taken else float(workers)

    def share(self, task_s: float) -> float:
        """Return the share of a worker's CPU time that goes into simulations."""
        n, _, worked = self.per_message(task_s, 1)
        return n * task_s / worked

    def makespan(self, task_s: float, tasks: int, workers: int) -> float:
        """Return the seconds to the last result, message by message. O(messages log workers)."""
        n, taken, worked = self.per_message(task_s, workers)
        idle = [0.0] * min(workers, -(-tasks // n))
        free = last = 0.0
        while tasks > 0:
            now = min(n, tasks)
            tasks -= now
            free = max(free, heapq.heappop(idle)) + taken
            end = free + worked * now / n
            last = max(last, end)
            heapq.heappush(idle, end)
        return self.start_s + last

    def main(self, study: Study, wall: float) -> float:
        """Return the CPU time of the one process in a study that takes so long."""
        costs = self.message_s * study.messages + self.task_s * study.tasks
        return self.first_s + costs + self.clock * wall

    def wall(self, study: Study, cores: int) -> float:
        """Return how long a study takes on a machine of so many cores that nobody else uses."""
        beside = self.worker_message_s * study.messages + self.worker_task_s * study.tasks
        workers = study.work + beside + self.worker_first_s * study.workers
        alone = self.main(study, 0.0)
        return max(
            workers / study.workers,  # each has its share
            (workers + alone) / (cores - self.clock),  # all cores work
            alone / (1 - self.clock),  # the one process works all the time
        )


def fit(studies: Sequence[Study], a_worker_s: float = 0.0) -> Executor:
    """Return the costs, none below zero, that make the smallest relative errors.

    Parameters
    ----------
    studies : sequence of Study
        Of one executor.
    a_worker_s : float
        See `Executor`.
    """
    of = {each.name: np.array([getattr(study, each.name) for study in studies]) for each in fields(Study)}
    ones = np.ones(len(studies))
    main = _least((ones, of["messages"], of["tasks"], of["wall"]), of["main"], of["main"])
    beside = of["workers_cpu"] - of["work"]
    worker = _least((of["workers"], of["messages"], of["tasks"]), beside, of["workers_cpu"])
    return Executor(
        main[1],
        main[2],
        main[3],
        worker[1],
        worker[2],
        main[0],
        worker[0],
        float(np.median(of["start"])),
        a_worker_s,
    )


def _least(columns: Sequence[np.ndarray], values: np.ndarray, scale: np.ndarray) -> list[float]:
    """Return the coefficients of columns, none below zero, whose errors are smallest against a scale."""
    matrix = np.stack(columns, axis=1) / scale[:, np.newaxis]
    size = np.linalg.norm(matrix, axis=0)  # a column of tasks is thousands of times one of ones
    found, _ = optimize.nnls(matrix / size, np.maximum(values, 0.0) / scale)
    return [float(each) for each in found / size]


@dataclass(frozen=True)
class Fitted:
    """A model, and what the studies that it was fitted to say of it.

    Parameters
    ----------
    executor : Executor
    studies : tuple of Study
    without : tuple of Executor
        Fitted to all studies but each.
    """

    executor: Executor
    studies: tuple[Study, ...]
    without: tuple[Executor, ...]

    @classmethod
    def of(cls, studies: Sequence[Study], a_worker_s: float = 0.0) -> Fitted:
        """Fit to all studies, and to all but each."""
        without = [fit([*studies[:i], *studies[i + 1 :]], a_worker_s) for i in range(len(studies))]
        return cls(fit(studies, a_worker_s), tuple(studies), tuple(without))

    def held_out(self, cores: int) -> list[tuple[float, float]]:
        """Return, of each study, the one process's CPU time and the wall-clock time that the others tell."""
        return [
            (other.main(study, study.wall), other.wall(study, cores))
            for study, other in zip(self.studies, self.without, strict=True)
        ]

    def errors(self, cores: int) -> tuple[float, float]:
        """Return the largest relative errors of those."""
        told = zip(self.held_out(cores), self.studies, strict=True)
        each = [(abs(main / study.main - 1), abs(wall / study.wall - 1)) for (main, wall), study in told]
        return max(main for main, _ in each), max(wall for _, wall in each)

    def interval(self, number: Callable[[Executor], float]) -> tuple[float, float]:
        """Return a number of the model with the half-width of its 95 % interval, jackknifed."""
        values = np.array([number(each) for each in self.without])
        n = len(values)
        error = math.sqrt((n - 1) / n * float(((values - values.mean()) ** 2).sum()))
        return number(self.executor), float(stats.t.ppf(0.975, max(1, n - 4))) * error

    def within(self, number: Callable[[Executor], float]) -> tuple[float, float, float]:
        """Return a positive number of the model, and the ends of its interval on a logarithmic scale."""
        value, half = self.interval(lambda each: math.log(max(number(each), 1e-12)))
        return math.exp(value), math.exp(value - min(half, 50.0)), math.exp(value + min(half, 50.0))

    def verdict(self, cores: int) -> str:
        """Return in a line how far the model may be trusted."""
        main, wall = self.errors(cores)
        said = (
            f"of studies not seen, the one process's CPU time within {main:.0%}, the time within {wall:.0%}"
        )
        poor = [what for what, error in (("CPU time", main), ("time", wall)) if error > POOR]
        return f"{said}; POOR: its {' and '.join(poor)} not within {POOR:.0%}" if poor else said


COSTS: dict[str, Callable[[Executor], float]] = {
    "ms a message": lambda each: 1e3 * each.message_s,
    "µs a task": lambda each: 1e6 * each.task_s,
    "% of a core by the clock": lambda each: 1e2 * each.clock,
    "worker: ms a message": lambda each: 1e3 * each.worker_message_s,
    "worker: µs a task": lambda each: 1e6 * each.worker_task_s,
}
"""What is told of a model, and how."""


COLUMNS = [each.name for each in fields(Study)]


def row(study: Study) -> list[float]:
    """Return a study as numbers, in the order of `COLUMNS`."""
    return list(astuple(study))


def fitted(tables: Sequence[Mapping[str, Any]]) -> dict[str, Fitted]:
    """Return the models of the executors whose studies the tables of the benchmark `messages` have."""
    found = {}
    for table in tables:
        name = table["title"].partition(":")[0]
        if name in A_WORKER_S:
            studies = [Study(*numbers[1 : len(COLUMNS) + 1]) for numbers in table["rows"]]
            found[name] = Fitted.of(studies, A_WORKER_S[name])
    return found
