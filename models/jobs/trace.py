"""A workload with an end of its own: a log, a month."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from models.arrays import Floats, Ints
from models.counting import counted
from models.jobs.calendar import has_periods, periods
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.swf import Log
from models.point import Batches

NAMED = 5
"""Number of jobs of a log that a note lists."""

SHORT = 40
"""Batches of a workload that is too short for weeks and days, and is divided into equal numbers of jobs."""


@dataclass(frozen=True)
class Origin:
    """The log that the jobs of a trace were read from: facts for a report.

    Parameters
    ----------
    file : str
        Its name, without the folder.
    form : str
        Kind of file.
    account : str
        The numbers of rows and jobs, and the reasons for which rows were dropped, in one line.
    system : str
        The machine and the site as the file names them, empty if it does not.
    zero : float, optional
        Unix seconds at which the first of these jobs was submitted.
    zone : str
        Time zone of these seconds, empty if the file does not name it.
    days : float
        From the first submission to the last one.
    load : float, optional
        Work relative to the capacity of all hosts in that time, before it is rescaled.
    reported : tuple of str
        Notes of the trace that only repeat these fields and its waits.
    """

    file: str
    form: str
    account: str
    system: str = ""
    zero: float | None = None
    zone: str = ""
    days: float = 0.0
    load: float | None = None
    reported: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Cancelled:
    """Jobs of a log that were cancelled while they waited.

    Parameters
    ----------
    jobs : Jobs
        The jobs, with times like the jobs that ran; `runtime` is how long each may run before it is
        cancelled.
    leaves : ndarray of float, shape (n_jobs,), seconds
        When each was cancelled.
    rows : ndarray of int, shape (n_jobs,)
        Positions in the log's columns.
    """

    jobs: Jobs
    leaves: Floats
    rows: Ints

    def part(self, chosen: np.ndarray) -> Cancelled:
        """Return some of them, in their order."""
        return Cancelled(self.jobs.part(chosen), self.leaves[chosen], self.rows[chosen])

    def moved(self, first: float, stretch: float) -> Cancelled:
        """Return them for a log that begins later and takes longer: each job waits as long as recorded."""
        kept = self.part(self.leaves > first)
        submit = np.maximum(kept.jobs.submit - first, 0.0)
        waits = kept.leaves - first - submit
        submit *= stretch
        return replace(kept, jobs=replace(kept.jobs, submit=submit), leaves=submit + waits)


@dataclass(frozen=True, eq=False)
class Trace:
    """The jobs of a workload that ends.

    Parameters
    ----------
    jobs : Jobs
        The first is submitted at 0.
    measured : slice
        Jobs that are measured; those before them fill the machine.
    until : float, optional
        Seconds at which the measured period ends; None is the end of the last measured job.
    log : Log, optional
        The source of the jobs; `rows`, shape (n_jobs,), are their positions in its columns.
    rows : ndarray of int, optional
    ids : ndarray of str, optional
        Identifier of each of the log's rows, if it is not a number.
    lines : ndarray of int, optional
        Line of each of the log's rows in its file.
    users : tuple of str
        Names of the users, if the log has them, the n-th for user number n.
    origin : Origin, optional
        The log, for a report.
    waited : ndarray of float, shape (n_jobs,), seconds, optional
        Recorded waits; NaN for a job without one, None if no job has one.
    partition : ndarray, shape (n_jobs,), optional
        Name or number of each job's partition, as read; None for resampled jobs.
    cancelled : Cancelled, optional
        Jobs that waited beside them until they were cancelled, if the workload keeps these.
    own_machine : bool
        Whether `machine` may be the one that ran these jobs as recorded; see `models.workloads.replayed`.
    """

    name: str
    jobs: Jobs
    machine: Machine
    notes: tuple[str, ...] = ()
    measured: slice = field(default_factory=lambda: slice(None))
    until: float | None = None
    log: Log | None = None
    rows: Ints | None = None
    ids: np.ndarray | None = None
    lines: Ints | None = None
    users: tuple[str, ...] = ()
    origin: Origin | None = None
    waited: Floats | None = None
    partition: np.ndarray | None = None
    own_machine: bool = True
    cancelled: Cancelled | None = None
    rerun: ClassVar[None] = None
    rerun_parameters: ClassVar[None] = None

    def first(self, n_jobs: int) -> Jobs:
        """Return all jobs, of which the first `n_jobs` are requested; see `models.jobs.stream.Stream`."""
        return self.jobs

    def part(self, chosen: np.ndarray) -> Trace:
        """Return the log with some of its jobs, in their order."""
        columns = {name: getattr(self, name) for name in ("rows", "waited", "partition")}
        return replace(
            self,
            jobs=self.jobs.part(chosen),
            **{name: values[chosen] for name, values in columns.items() if values is not None},
        )

    def names_of(self, jobs: Ints) -> str:
        """Return the first few jobs by their names in the log: ``JobID 1002, 1004, 1007 and 12 others``."""
        kind, names = "line", np.arange(1, len(self.jobs) + 1) if self.rows is None else self.rows
        if self.rows is None:
            kind = "job"
        elif self.ids is not None:
            kind, names = "JobID", self.ids[self.rows]
        elif self.log is not None:
            names = self.log.line[self.rows]
        first = ", ".join(str(name) for name in names[jobs[:NAMED]])
        return f"{kind} {first}" + f" and {counted(len(jobs) - NAMED, 'other')}" * (len(jobs) > NAMED)

    def name_of(self, job: int) -> str:
        """Return a job by its name in the log, for messages: ``job 2 (JobID 1002, line 3 of march.txt)``."""
        if self.rows is None or self.origin is None:
            return f"job {job + 1}"
        row = int(self.rows[job])
        lines = self.lines if self.lines is not None else self.log.line if self.log is not None else None
        found = [f"JobID {self.ids[row]}"] if self.ids is not None else []
        found += [f"line {lines[row]}"] if lines is not None else []
        return f"job {job + 1} ({', '.join(found)} of {self.origin.file})" if found else f"job {job + 1}"

    def chunks(self) -> Iterator[Jobs]:
        """Return all jobs as one chunk."""
        return iter([self.jobs])

    @property
    def n_measured(self) -> int:
        """Number of measured jobs, counting each repetition."""
        if self.jobs.runs is not None:
            return int(self.jobs.runs[self.measured].sum())
        return len(range(*self.measured.indices(len(self.jobs))))

    def divided(self, batches: Batches) -> tuple[Batches, int]:
        """Return batches of a size that this workload fills, and their number after the warm-up.

        Without a size all jobs are measured, divided into the requested number of equal batches: one batch is
        the whole workload, and the last of several may be short. The same holds for a workload that is
        shorter than one batch. In a longer one, the jobs after its last full batch are simulated but not
        measured. The number of weeks is the workload's own; a workload of less than ten days is divided into
        `SHORT` equal batches instead.
        """
        if batches.weeks and not has_periods(self.jobs.submit[self.measured]):
            equal, available = self.divided(
                Batches(None, batches.warmup, (min(batches.checkpoints[-1], SHORT),))
            )
            return replace(batches, size=equal.size, weeks=False), available
        if batches.weeks:
            return batches, len(periods(self.jobs.submit[self.measured], batches.most)) - 1 - batches.warmup
        n_jobs = self.n_measured
        size = n_jobs if batches.size is None else batches.size
        if n_jobs < size or batches.size is None:
            size = max(-(-n_jobs // batches.most), 1)
            return replace(batches, size=size), -(-n_jobs // size) - batches.warmup
        return batches, n_jobs // size - batches.warmup
