"""The messages between the run and its workers: plain data, small, and free of grids and configs."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from models import streams
from models.family import Family
from models.point import Batches, Point, Seed
from sweep.config.settings import WEEK


@dataclass(frozen=True)
class Stopping:
    """The rule by which a run may end early: ``precision``, ``confidence``, ``warmup`` of
    conf/config.yaml."""

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
    overloaded: bool = False

    @property
    def to_the_end(self) -> bool:
        """Whether a run ends with its workload (a log, a month), or is solved (a chain)."""
        return not isinstance(self.batch_size, int)

    @property
    def batches(self) -> Batches:
        """The same in the form for a model, without the stopping rule."""
        size = self.batch_size if isinstance(self.batch_size, int) else None
        weeks = self.batch_size == WEEK
        return Batches(size, self.warmup, self.checkpoints, weeks=weeks, overloaded=self.overloaded)

    @property
    def jobs(self) -> int:
        """Jobs that a run simulates if it does not end early; 1 if their number is unknown."""
        return 1 if self.to_the_end else self.batches.jobs(self.batches.most)


@dataclass(frozen=True)
class Task:
    """One simulation: a point of the grid in one replication.

    Parameters
    ----------
    id : str
        Hash of everything below that can change the result; see `sweep.plan.identity`.
    family : str or Family
        The name of its package; a program itself, which may have none.
    point : Point
        Arguments of the model, without the stopping rule.
    at : dict
        Axis -> value, for the record of a failure.
    """

    id: str
    family: str | Family
    point: Point
    measurement: Measurement
    at: Mapping[str, Any]
    replication: int


@dataclass(frozen=True)
class Bundle:
    """Tasks that are sent together, and the folder for their results: one message to a worker.

    Parameters
    ----------
    log : str, optional
        Name of a log that several workers of one machine share; None is a log of the worker's own.
    brief : bool
        Whether it is short by measurement, not by a guess, so that another bundle may wait behind it.
    running : Path, optional
        Folder for files with the progress of tasks (`models.kernels.progress`), on one machine.
    """

    tasks: tuple[Task, ...]
    shards: Path
    log: str | None = None
    brief: bool = False
    running: Path | None = None

    def progress_of(self, task: Task) -> Path | None:
        """Return the file that shows the progress of a task; None where tasks are short."""
        return self.running / task.id if self.running and task.measurement.to_the_end else None


def seed(root: int, workload: str, replication: int) -> Seed:
    """Return (root seed, workload, replication), as `models.streams` takes it.

    Policy, machine and load stay out, so that all of them contend with the same sequence of jobs
    (common random numbers): differences between policies are then paired.
    """
    return (root, streams.key(workload), replication)


class Result(NamedTuple):
    """One finished task in the form that the run needs; the values are in the worker's log."""

    id: str
    failed: bool
    seconds: float
    jobs: int
