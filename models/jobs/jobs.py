"""Rigid jobs in order of submission: the output of every workload and the input of every engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.requests import Requests


@dataclass(frozen=True, eq=False)
class Jobs:
    """Rigid jobs; every array has the shape (n_jobs,).

    Parameters
    ----------
    submit : ndarray of float, seconds
        Ascending.
    runtime : ndarray of float, seconds
        Above 0, if the job is not killed.
    requested : ndarray of float, seconds
        Requested runtime; NaN where unknown.
    size : ndarray of int
        Processors.
    memory : ndarray of int, KB
        Requested, of all its processors together.
    used_memory : ndarray of int, KB, optional
        Largest use; None is all of the requested memory.
    user : ndarray of int, optional
        Number of the user that submitted it.
    runs : ndarray of int, optional
        Number of submissions of the job, each at the end of the previous run (feedback); None means one.
    key : ndarray of int, optional
        Key of the random numbers of a job's repetitions; with `runs` only.
    job_class : ndarray of int, optional
        The site's scheduling class, index into `models.jobs.job_classes.JOB_CLASSES`.
    after : ndarray of int, optional
        Position of the earlier job that the user waits for: the job is submitted at the end of that job plus
        the think time; -1 for none. `submit` is then its submission time if no job ever waited. Fields 17 and
        18 of the Standard Workload Format.
    think : ndarray of float, seconds, optional
        From that end to this submission; with `after` only.
    request : Requests, optional
        The jobs' other requests to a cluster.
    predicted : ndarray of float, seconds, optional
        The scheduler's own prediction of the runtime, to plan by; `requested` stays the limit.
    partition, account, qos, reservation : ndarray of int, optional
        Numbers of names in a log, like `user`; -1 where unknown. No policy reads them.
    over_limit : ndarray of bool, optional
        Whether the job asks for more at once than a limit of its site allows.
    """

    submit: Floats
    runtime: Floats
    requested: Floats
    size: Ints
    memory: Ints
    used_memory: Ints | None = None
    user: Ints | None = None
    runs: Ints | None = None
    key: Ints | None = None
    job_class: Ints | None = None
    after: Ints | None = None
    think: Floats | None = None
    request: Requests | None = None
    predicted: Floats | None = None
    partition: Ints | None = None
    account: Ints | None = None
    qos: Ints | None = None
    reservation: Ints | None = None
    over_limit: np.ndarray | None = None

    @classmethod
    def bare(cls, submit: Floats, runtime: Floats, size: Ints, **columns: Any) -> Jobs:
        """Return jobs that request neither time nor memory; `columns` are further columns."""
        n = len(submit)
        return cls(submit, runtime, np.full(n, np.nan), size, np.zeros(n, np.int64), **columns)

    @property
    def repeats(self) -> bool:
        """Whether some job is submitted again when it has ended."""
        return self.runs is not None and bool((self.runs > 1).any())

    @property
    def further(self) -> np.ndarray | None:
        """Which jobs are components of a heterogeneous job after its first one, which averages over jobs
        leave out; None means none."""
        if self.request is None or not len(rows := self.request.components):
            return None
        of_rows, found = self.request.het_job[rows], np.zeros(len(self), bool)
        found[rows[1:]] = of_rows[1:] == of_rows[:-1]
        return found if found.any() else None

    @property
    def used(self) -> Ints:
        """Memory that each job uses, KB."""
        return self.memory if self.used_memory is None else self.used_memory

    def __len__(self) -> int:
        return self.submit.size

    def part(self, chosen: slice | np.ndarray) -> Jobs:
        """Return some of the jobs, in their order, without `after`, which refers to jobs of the whole."""
        columns: list[Any] = [
            None if name in ("after", "think") else getattr(self, name) for name in self.__dataclass_fields__
        ]
        parts: list[Any] = [None if values is None else values[chosen] for values in columns]
        return Jobs(*parts)

    @classmethod
    def concatenated(cls, parts: Sequence[Jobs]) -> Jobs:
        """Return the jobs of several parts with the same columns, one after the other."""
        columns: list[Any] = []
        for name in cls.__dataclass_fields__:
            values: list[Any] = [getattr(part, name) for part in parts]
            join = Requests.concatenated if name == "request" else np.concatenate
            columns.append(None if values[0] is None else join(values))
        return cls(*columns)
