"""An endless workload in one replication at one load."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from models.arrays import Floats
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine

CHECKED = 1000
"""Number of jobs of an endless stream that are checked before anything runs."""

FIRST_CHUNK = 2048
"""Number of jobs in the first chunk of a workload that is drawn as a whole; each later chunk doubles it."""


@dataclass(frozen=True, eq=False)
class Stream:
    """Jobs without end.

    Parameters
    ----------
    first : callable
        Returns the first `n_jobs` jobs; a longer call begins with the jobs of a shorter one.
    chunked : callable, optional
        Returns an iterator of consecutive chunks of jobs, for a workload that is drawn in chunks; the jobs do
        not depend on the cuts.
    rerun : str, optional
        Dotted name of a compiled function that returns the runtime of a repetition, see
        `models.workloads.repetition`; None: as the first run.
    rerun_parameters : ndarray of float64
        Passed to `rerun`.
    """

    name: str
    machine: Machine
    first: Callable[[int], Jobs]
    notes: tuple[str, ...] = ()
    chunked: Callable[[], Iterator[Jobs]] | None = None
    rerun: str | None = None
    rerun_parameters: Floats = field(default_factory=lambda: np.zeros(1))

    def chunks(self) -> Iterator[Jobs]:
        """Return consecutive chunks of jobs; memory need not grow with the length of a simulation."""
        return self._doubling() if self.chunked is None else self.chunked()

    def mapped(self, change: Callable[[Jobs], Jobs]) -> Stream:
        """Return the stream with each job changed independently of the others, and of cuts."""
        chunked = None if self.chunked is None else lambda: map(change, self.chunks())
        return replace(self, first=lambda n_jobs: change(self.first(n_jobs)), chunked=chunked)

    def checked_once(self) -> Stream:
        """Return the stream; the jobs that are checked are drawn once, for all policies that check them."""
        checked = cache(self.first)
        return replace(
            self, first=lambda n_jobs: checked(n_jobs) if n_jobs == CHECKED else self.first(n_jobs)
        )

    def _doubling(self) -> Iterator[Jobs]:
        n_given, size = 0, FIRST_CHUNK
        while True:
            yield self.first(n_given + size).part(slice(n_given, n_given + size))
            n_given += size
            size = n_given


def joined(chunks: Iterator[Jobs], n_jobs: int) -> Jobs:
    """Return the first `n_jobs` jobs of consecutive chunks."""
    taken: list[Jobs] = []
    n_taken = 0
    while n_taken < n_jobs:
        taken.append(next(chunks))
        n_taken += len(taken[-1])
    return Jobs.concatenated(taken).part(slice(n_jobs))
