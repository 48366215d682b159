"""Rigid jobs in order of submission: what every workload gives and every engine takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from models.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Jobs:
    """Rigid jobs; every array has the shape (n_jobs,).

    Parameters
    ----------
    submit : ndarray of float, seconds
        Ascending.
    runtime : ndarray of float, seconds
        What a job takes if nobody ends it, above 0.
    requested : ndarray of float, seconds
        What its user asked for; NaN where unknown.
    size : ndarray of int
        Processors.
    memory : ndarray of int, KB
        What it asked for, of all its processors together.
    used_memory : ndarray of int, KB, optional
        What it really uses at most; None is all that it asked for.
    user : ndarray of int, optional
        Who submitted it.
    runs : ndarray of int, optional
        How often its user submits the job, each time when the run before has ended (feedback); None is once.
    key : ndarray of int, optional
        Bits that name the random numbers of a job's repetitions; with `runs` only.
    job_class : ndarray of int, optional
        What its site schedules it as, index into `models.jobs.job_classes.JOB_CLASSES`.
    after : ndarray of int, optional
        Position of an earlier job whose answer its user waits for: it is submitted when that one has ended
        and the user has thought (`think`), -1 for none. `submit` is then when that would be if no job ever
        waited. Fields 17 and 18 of the Standard Workload Format.
    think : ndarray of float, seconds, optional
        From that end to this submission; with `after` only.
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

    @property
    def repeats(self) -> bool:
        """Whether some job is submitted again when it has ended."""
        return self.runs is not None and bool((self.runs > 1).any())

    @property
    def used(self) -> Ints:
        """KB that each job really uses."""
        return self.memory if self.used_memory is None else self.used_memory

    def __len__(self) -> int:
        return self.submit.size

    def part(self, chosen: slice | np.ndarray) -> Jobs:
        """Return some of the jobs, in their order; `after` is left out, which names jobs of the whole."""
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
            values = [getattr(part, name) for part in parts]
            columns.append(None if values[0] is None else np.concatenate(values))
        return cls(*columns)
