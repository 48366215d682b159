"""One simulation of a gang scheduler, from Python: feeds the engine and can be looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from models.arrays import Floats
from models.gang import engine
from models.gang.alternation import MODES
from models.gang.schemes import Compiled
from models.gang.slots import NOWHERE
from models.gang.state import (
    CURSOR,
    METRICS,
    N_CLOCKS,
    N_COUNTS,
    N_JOBS,
    N_SLOTS,
    N_VACANT,
    NOW,
    NUMBER,
    PRESENT,
    REPEATING,
    SLOT,
    TERMINATED,
    Room,
    Settings,
    empty_matrix,
    no_jobs,
    no_sessions,
    sessions_of,
)
from models.jobs.jobs import Jobs
from models.kernels.bits import words
from models.workloads.repetition import same_runtime

PRECEDENCE = {"arrival": 0, "largest": 1, "smallest": -1}
FREE = -1


class Simulation:
    """A gang scheduler serving a stream of job sessions.

    Parameters
    ----------
    scheme : Compiled
        The packing scheme.
    scheme_parameters : sequence of int
        What it is told, see `models.gang.schemes.Scheme.arguments`.
    n_pes : int
        PEs of the machine.
    chunks : iterator of Jobs
        What arrives.
    rerun, rerun_parameters
        Give the runtimes of repetitions, see `models.workloads.repetition`.
    memory : int
        Length of the scheme's memory.
    alternation : {"shared", "exclusive", "none"}
        See `models.gang.alternation`.
    precedence : {"arrival", "largest", "smallest"}
        Who takes free PEs first under ``exclusive``.
    unification : bool
        Whether slots whose PEs have become disjoint are united.
    migrating : bool
        Whether the scheme maps all jobs anew at each arrival and termination.
    draining : bool
        Whether to go on after the last arrival until all jobs have ended.
    batch_size : int
        Terminations in a batch.
    batch_limit : int
        Room for so many batches.
    job_limit : int
        The table of jobs has so many places; a full table ends the run.
    record : int
        Response times of so many jobs, the first to be submitted, are kept in `responses`.
    """

    def __init__(
        self,
        scheme: Compiled,
        scheme_parameters: Sequence[int],
        n_pes: int,
        chunks: Iterator[Jobs],
        *,
        rerun: Any = same_runtime,
        rerun_parameters: Floats | None = None,
        memory: int = 1,
        alternation: str = "shared",
        precedence: str = "arrival",
        unification: bool = True,
        migrating: bool = False,
        draining: bool = False,
        batch_size: int = 1000,
        batch_limit: int = 31,
        job_limit: int = 1000,
        record: int = 0,
    ) -> None:
        self.n_pes = n_pes
        self.scheme = scheme
        self.chunks = chunks
        self.rerun = rerun
        self.rerun_parameters = np.zeros(1) if rerun_parameters is None else rerun_parameters
        self.settings = Settings(
            n_pes,
            MODES.index(alternation),
            int(unification),
            int(migrating),
            PRECEDENCE[precedence],
            batch_size,
            int(draining),
        )
        self.matrix = empty_matrix(n_pes, job_limit)
        self.jobs = no_jobs(n_pes, job_limit)
        chosen, granted, scratch = (
            np.zeros((rows, words(n_pes)), np.uint64) for rows in (1, 1, job_limit + 2)
        )
        self.room = Room(chosen, chosen[0], granted, scratch)
        self.memory = np.zeros(memory, np.int64)
        # A scheme without parameters gets one that means nothing: an array needs a length.
        self.parameters = np.array([*scheme_parameters, 0], np.int64)
        self.chunk = no_sessions()
        self.more_sessions = True
        self.counts = np.zeros(N_COUNTS, np.int64)
        self.counts[N_VACANT] = job_limit
        self.counts[REPEATING] = NOWHERE
        self.clocks = np.zeros(N_CLOCKS)
        self.batches = np.full((batch_limit, len(METRICS)), np.nan)
        self.responses = np.full(record, np.nan)

    def run(self, n_batches: int, until: float = np.inf) -> int:
        """Simulate until so many batches have ended, and say why it stopped (`engine.BATCHES_DONE` …)."""
        while True:
            status = engine.advance(
                *self.scheme, self.rerun, self.settings, self.matrix, self.jobs, self.room, self.chunk,
                self.memory, self.parameters, self.rerun_parameters, self.counts, self.clocks,
                self.batches, n_batches, self.more_sessions, until, self.responses,
            )  # fmt: skip
            if status != engine.SESSIONS_USED_UP:
                return int(status)
            chunk = next(self.chunks, None)
            self.more_sessions = chunk is not None
            self.chunk = no_sessions() if chunk is None else sessions_of(chunk)
            self.counts[CURSOR] = 0

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

    def occupancy(self) -> np.ndarray:
        """Return the matrix: the number of the job on each PE of each used slot, or FREE.

        Returns
        -------
        ndarray of int, shape (n_slots, n_pes)
            Jobs are numbered from 0 in order of submission.
        """
        matrix = np.full((int(self.counts[N_SLOTS]), self.n_pes), FREE)
        for job in self.jobs.order[PRESENT, : self.counts[N_JOBS]]:
            matrix[self.jobs.whole[job, SLOT], self.pes_of(job)] = self.jobs.whole[job, NUMBER]
        return matrix

    def pes_of(self, job: int) -> np.ndarray:
        """Return the numbers of the PEs of the job in a place of the table."""
        bits = np.unpackbits(self.jobs.pes[job].astype("<u8").view(np.uint8), bitorder="little")
        return np.flatnonzero(bits)
