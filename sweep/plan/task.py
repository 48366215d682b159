"""What travels between the run and its workers: plain data, small, and free of grids and configs."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from models.point import Batches, Point
from sweep.config.settings import WEEK


@dataclass(frozen=True)
class Stopping:
    """When a run may end at a look: ``precision``, ``confidence`` and ``warmup`` of conf/config.yaml."""

    relative: float
    confidence: float
    metric: str | None
    mser: bool


@dataclass(frozen=True)
class Measurement:
    """How long every task of a plan is measured; the same for all of them."""

    batch_size: int | str | None
    warmup: int
    checkpoints: tuple[int, ...]
    stopping: Stopping | None = None

    @property
    def to_the_end(self) -> bool:
        """Whether a run lasts as long as its workload (a log, a month), or is none (a chain is solved)."""
        return not isinstance(self.batch_size, int)

    @property
    def batches(self) -> Batches:
        """The same as a model is told it, without the stopping rule."""
        size = self.batch_size if isinstance(self.batch_size, int) else None
        return Batches(size, self.warmup, self.checkpoints, weeks=self.batch_size == WEEK)

    @property
    def jobs(self) -> int:
        """Jobs that a run simulates if it does not end early; 1 where nobody knows how many there are."""
        return 1 if self.to_the_end else self.batches.jobs(self.batches.most)


@dataclass(frozen=True)
class Task:
    """One simulation: a point of the grid in one replication.

    Parameters
    ----------
    id : str
        Hash of everything below that can change the result; see `sweep.plan.plan`.
    family : str
        Dotted name of the family's package.
    point : Point
        What the model is told, without the stopping rule.
    measurement : Measurement
    at : dict
        Axis -> value, for people who read the record of a failure.
    replication : int
    """

    id: str
    family: str
    point: Point
    measurement: Measurement
    at: Mapping[str, Any]
    replication: int


@dataclass(frozen=True)
class Bundle:
    """Tasks that travel together, and the folder for their results: one message to a worker.

    Parameters
    ----------
    tasks : tuple of Task
    shards : Path
    log : str, optional
        Name of a log that several workers of one machine share; None is a log of the worker's own.
    brief : bool
        Whether it is known, and not only guessed, to take little time: another may wait behind it.
    """

    tasks: tuple[Task, ...]
    shards: Path
    log: str | None = None
    brief: bool = False


class Result(NamedTuple):
    """What the run has to know of one finished task; the numbers themselves are in the worker's log."""

    id: str
    failed: bool
    seconds: float
    jobs: int


def packed(results: Sequence[Result]) -> bytes:
    """Return the results of a bundle as one thing of 17 bytes a task; `unpacked` is the other way round."""
    failed, seconds, jobs = ([each[column] for each in results] for column in (1, 2, 3))
    return struct.pack(_format(len(results)), *failed, *seconds, *jobs)


def unpacked(data: bytes, bundle: Bundle) -> list[Result]:
    """Return the results of a bundle, whose tasks they are in the same order."""
    n = len(bundle.tasks)
    told = struct.unpack(_format(n), data)
    return [
        Result(task.id, *its)
        for task, *its in zip(bundle.tasks, told[:n], told[n : 2 * n], told[2 * n :], strict=True)
    ]


def _format(n: int) -> str:
    return f"<{n}?{n}d{n}q"
