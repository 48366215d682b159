"""One simulation of a partitioned machine, from Python: it feeds the engine."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.jobs import Jobs
from models.kernels import standstill
from models.kernels.compiling import function_pointer
from models.partitioning import engine
from models.partitioning.engine import Status
from models.partitioning.simulation.progress import SIGNATURE
from models.partitioning.simulation.source import Part
from models.partitioning.simulation.state import (
    Arrivals,
    Record,
    Settings,
    Shares,
    empty_tables,
    no_arrivals,
)
from models.workloads.speedup.curves import CURVE_SIGNATURE, linear

FIRST_SHARES = 8
"""Number of jobs that the first shares serve; more are made when needed."""

CAPACITY = 32_768
"""Capacity of the records of ended jobs, and of pieces, before they are taken."""


class Curve(NamedTuple):
    """The speed-up: a compiled function of `models.workloads.speedup.curves`, and its parameters."""

    function: Any = linear
    parameters: Floats = np.zeros(1)


class Roll:
    """The jobs that enter the engine, kept for measures, which need more columns than the engine has."""

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


class Simulation:
    """A partitioned machine serving a stream of jobs.

    Parameters
    ----------
    discipline : module
        Module with the compiled functions `arrive`, `depart` and `rotate` of the policy.
    shares : callable
        The policy's shares for a number of jobs.
    arrivals : iterator of Arrivals
        Chunks.
    settings : Settings
    job_limit : int
        Places of the table of jobs, waiting jobs included; a full table ends the run.
    curve : Curve
    """

    def __init__(
        self,
        discipline: Any,
        shares: Callable[[int], Shares],
        arrivals: Iterator[Arrivals],
        settings: Settings,
        job_limit: int,
        curve: Curve,
    ) -> None:
        settings = settings._replace(table_jobs=min(settings.limit, FIRST_SHARES))
        self._functions = (
            function_pointer(discipline.arrive, SIGNATURE),
            function_pointer(discipline.depart, SIGNATURE),
            function_pointer(discipline.rotate, SIGNATURE),
            function_pointer(curve.function, CURVE_SIGNATURE),
        )
        self.make_shares = shares
        self.arrivals = arrivals
        self.tables = empty_tables(job_limit, settings, shares(settings.table_jobs), curve.parameters)
        n_batches = -(-CAPACITY // settings.batch_size)
        # At one event each running job may begin a new piece.
        n_pieces = CAPACITY + 2 * job_limit if settings.recording else 1
        self.record = Record.empty(n_batches * settings.batch_size, n_batches, n_pieces)
        self.chunk = no_arrivals(more=True)

    def run(self, n_batches: int) -> Status:
        """Simulate until `n_batches` batches have ended, and return why it stopped.

        `Status.RECORD_FULL` asks for `take`, after which the simulation can continue.
        """
        self._set(n_batches=n_batches)
        while True:
            status = engine.advance(*self._functions, self.tables, self.chunk, self.record)
            if status == Status.ARRIVALS_USED_UP:
                self.chunk = next(self.arrivals, None) or no_arrivals(more=False)
                self.tables.state["cursor"] = 0
            elif status == Status.SHARES_TOO_FEW:
                settings = self.tables.settings
                n_jobs = min(2 * settings.table_jobs, settings.limit)
                self.tables = self.tables._replace(shares=self.make_shares(n_jobs))
                self._set(table_jobs=n_jobs)
            else:
                standstill.check(self.tables.state[0], self.n_in_system)
                return Status(status)

    def take(self) -> Record:
        """Return the records since the last call, and empty them.

        The arrays are the engine's own: they are valid until it runs again.
        """
        state = self.tables.state
        taken = Record(
            *(
                values[: state[f"n_{name}"][0]].view(np.recarray)
                for name, values in self.record._asdict().items()
            )
        )
        state["n_ended"] = state["n_closed"] = state["n_pieces"] = 0
        return taken

    def _set(self, **changes: Any) -> None:
        self.tables = self.tables._replace(settings=self.tables.settings._replace(**changes))

    @property
    def n_in_system(self) -> int:
        """Number of jobs that run or wait."""
        return int(self.tables.state["n_running"][0] + self.tables.state["n_queued"][0])

    @property
    def n_terminated(self) -> int:
        """Number of jobs that have ended."""
        return int(self.tables.state["terminated"][0])

    @property
    def n_batches(self) -> int:
        """Number of batches that have ended, the warm-up included."""
        return self.n_terminated // self.tables.settings.batch_size

    @property
    def n_submitted(self) -> int:
        """Number of jobs that have been submitted."""
        return int(self.tables.state["submitted"][0])

    @property
    def first_in_system(self) -> int:
        """Number of the first job that has not ended."""
        lists, state = self.tables.lists, self.tables.state[0]
        places = (state["head"] + np.arange(state["n_queued"])) % lists.queue.size
        inside = np.concatenate([lists.running[: state["n_running"]], lists.queue[places]])
        return int(self.tables.jobs["number"][inside].min(initial=self.n_submitted))
