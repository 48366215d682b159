"""The jobs on their way into the engine, kept for their measures, which need more than the engine has."""

from collections.abc import Iterator

import numpy as np

from models.arrays import Ints
from models.jobs.jobs import Jobs
from models.partitioning.simulation.source import Part
from models.partitioning.simulation.state import Arrivals


class Roll:
    """Chunks of jobs."""

    def __init__(self, parts: Iterator[Part]) -> None:
        self._parts = parts
        self._kept: list[Jobs] = []
        self._first = 0  # number of the first job that is kept

    def arrivals(self) -> Iterator[Arrivals]:
        """Yield the chunks for the engine."""
        for jobs, job_class, work, alone in self._parts:
            self._kept.append(jobs)
            columns = (jobs.submit, work, jobs.runtime, alone)
            submit, spent, runtime, speed = (np.ascontiguousarray(each, np.float64) for each in columns)
            size = np.ascontiguousarray(jobs.size, np.int64)
            yield Arrivals(submit, spent, runtime, speed, size, job_class, True)

    def of(self, numbers: Ints) -> Jobs:
        """Return jobs by their numbers, in that order."""
        if len(self._kept) > 1:
            self._kept = [Jobs.concatenated(self._kept)]
        return self._kept[0].part(numbers - self._first)

    def forget(self, number: int) -> None:
        """Drop the jobs before a number."""
        while self._kept and self._first + len(self._kept[0]) <= number:
            self._first += len(self._kept.pop(0))
        if self._kept and number > self._first:
            self._kept[0] = self._kept[0].part(slice(number - self._first, None))
            self._first = number
