"""One simulation of a partitioned machine, from Python: feeds the engine and can be looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from models.arrays import Floats, Ints
from models.partitioning import engine
from models.partitioning.discipline import Discipline
from models.partitioning.state import (
    CURSOR,
    FREE,
    N_CLASSES,
    N_CLOCKS,
    N_COLUMNS,
    N_COUNTS,
    N_LISTS,
    N_REAL,
    N_SUMS,
    N_VACANT,
    N_WHOLE,
    NONE,
    NOW,
    ROTATION_DUE,
    TERMINATED,
    TICK,
    VACANT,
    Settings,
    no_arrivals,
)
from models.partitioning.workload import Arrivals

Tables = Callable[[int], tuple[Floats, Ints]]
"""Called with a number of jobs; returns a policy's tables for so many, see `models.partitioning.tables`."""

FIRST_TABLES = 8
"""Jobs that the first tables serve; more are made when they come."""


class Simulation:
    """A partitioned machine serving a stream of jobs.

    Parameters
    ----------
    discipline : Discipline
        The policy.
    tables : callable
        The policy's tables for a number of jobs.
    arrivals : iterator of Arrivals
        Chunks.
    limit : int
        Jobs that can be in memory at once.
    charged : bool
        Whether arrivals and departures stop jobs while their threads move.
    rotation : float, seconds
        Between two rotations.
    rotation_per_job : bool
        Whether that time is multiplied by the number of running jobs.
    interval, overhead : float, seconds
        Q and O, see `models.partitioning.admission`.
    draining : bool
        Whether to go on after the last arrival until all jobs have ended.
    batch_size : int
        Terminations in a batch.
    batch_limit : int
        Room for so many batches.
    job_limit : int
        The table of jobs has so many places, waiting jobs included; a full table ends the run.
    record : int
        Response times of so many jobs, the first to arrive, are kept in `responses`.
    """

    def __init__(
        self,
        discipline: Discipline,
        tables: Tables,
        arrivals: Iterator[Arrivals],
        *,
        limit: int,
        charged: bool = True,
        rotation: float = np.inf,
        rotation_per_job: bool = False,
        interval: float = np.inf,
        overhead: float = 0.0,
        draining: bool = False,
        batch_size: int = 1000,
        batch_limit: int = 31,
        job_limit: int = 2000,
        record: int = 0,
    ) -> None:
        self.discipline = discipline
        self.make_tables = tables
        self.arrivals = arrivals
        self.settings = Settings(
            limit, min(limit, FIRST_TABLES), int(charged), float(rotation), int(rotation_per_job),
            float(interval), float(overhead), batch_size, int(draining),
        )  # fmt: skip
        self.tables, self.cells = tables(self.settings.table_jobs)
        self.real = np.zeros((job_limit, N_REAL))
        self.whole = np.zeros((job_limit, N_WHOLE), np.int64)
        # Folding has at most twice as many cells as jobs.
        self.order = np.zeros((N_LISTS, 2 * job_limit), np.int64)
        self.order[VACANT, :job_limit] = np.arange(job_limit)[::-1]
        self.chunk = no_arrivals()
        self.more_arrivals = True
        self.counts = np.zeros(N_COUNTS, np.int64)
        self.counts[N_VACANT] = job_limit
        self.counts[FREE] = NONE
        self.clocks = np.zeros(N_CLOCKS)
        self.clocks[[TICK, ROTATION_DUE]] = np.inf
        self.sums = np.zeros((N_CLASSES, N_SUMS))
        self.batches = np.full((batch_limit, N_COLUMNS), np.nan)
        self.responses = np.full(record, np.nan)

    def run(self, n_batches: int, until: float = np.inf) -> int:
        """Simulate until so many batches have ended, and say why it stopped (`engine.BATCHES_DONE` …)."""
        while True:
            status = engine.advance(
                *self.discipline, self.settings, self.real, self.whole, self.order, self.tables, self.cells,
                self.chunk, self.counts, self.clocks, self.sums, self.batches, n_batches, self.more_arrivals,
                until, self.responses,
            )  # fmt: skip
            if status == engine.ARRIVALS_USED_UP:
                chunk = next(self.arrivals, None)
                self.more_arrivals = chunk is not None
                self.chunk = no_arrivals() if chunk is None else chunk
                self.counts[CURSOR] = 0
            elif status == engine.TABLES_TOO_SMALL:
                n_jobs = min(2 * self.settings.table_jobs, self.settings.limit)
                self.settings = self.settings._replace(table_jobs=n_jobs)
                self.tables, self.cells = self.make_tables(n_jobs)
            else:
                return int(status)

    @property
    def now(self) -> float:
        """Simulated time of the last event."""
        return float(self.clocks[NOW])

    @property
    def n_terminated(self) -> int:
        """Number of jobs that have ended."""
        return int(self.counts[TERMINATED])

    @property
    def n_batches(self) -> int:
        """Number of batches that have ended, the warm-up included."""
        return self.n_terminated // self.settings.batch_size
