"""A simulation of jobs packed into slots, from Python: what the drivers of all such engines have in common.

An engine simulates until it needs something (the next chunk of jobs, a larger table, rows of its record) or
is done, and returns the reason. A family's driver calls it, fills its state and reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from models.arrays import Floats
from models.jobs.jobs import Jobs
from models.jobs.stream import Stream
from models.jobs.trace import Trace
from models.kernels import standstill
from models.packing import matrix
from models.packing.scheme import Scheme
from models.point import Batches

# Why an engine returned.
BATCHES_DONE, ARRIVALS_USED_UP, NO_MORE_JOBS, TIME_REACHED, TABLE_FULL, RECORD_FULL, STANDSTILL = range(7)

ENDLESS = 1 << 62

PATIENCE = 0.1
"""Share of the time simulated so far after which `Driver.run_out` checks again."""


@dataclass(frozen=True)
class Measured:
    """Which part of a simulation is measured."""

    batch_size: int = ENDLESS  # measured terminations in a batch
    batch_limit: int = 1  # batches at most
    # Those whose jobs count (each job is one unless users repeat it); earlier ones fill the machine.
    sessions: range = range(ENDLESS)
    n_jobs: int = ENDLESS  # runs of all of these sessions; with the last the last batch ends, if it is short
    until: float = np.inf  # time at which the machine is no longer measured
    since: float = 0.0  # time from which it is, where nothing comes before the measured sessions

    @classmethod
    def of(cls, opened: Stream | Trace, batches: Batches) -> Measured:
        """Return the measured part of a workload in batches of a size."""
        assert batches.size is not None
        if not isinstance(opened, Trace):
            return cls(batches.size, batches.most)
        sessions = range(*opened.measured.indices(len(opened.jobs)))
        until = np.inf if opened.until is None else opened.until
        since = float(opened.jobs.submit[0]) if len(opened.jobs) else 0.0
        return cls(batches.size, batches.most, sessions, opened.n_measured, until, since)


def tables(
    scheme: Scheme, parameters: tuple[int, ...], n_pes: int, limit: int, slots_limit: int | None = None
) -> dict[str, Any]:
    """Return the fields of an engine's system that belong to packing, with places for `limit` jobs."""
    return {
        "matrix": matrix.empty_matrix(n_pes, limit, slots_limit),
        "table": matrix.empty_table(n_pes, limit),
        "buffers": matrix.buffers_for(n_pes, limit, slots_limit),
        # A scheme without parameters gets one without meaning: an array needs a length.
        "books": matrix.Books(np.zeros(scheme.memory(n_pes), np.int64), np.array([*parameters, 0], np.int64)),
    }


def scalars(kind: np.dtype, measured: Measured, limit: int) -> np.ndarray:
    """Return the record of an engine's scalars at the beginning, shape (1,)."""
    found = np.zeros(1, kind)
    found["n_vacant"] = limit
    found["measuring"] = measured.sessions.start == 0
    found["batch_start"], found["measured_until"] = measured.since, np.inf
    return found


class Driver:
    """What a family's simulation inherits; `most_jobs` are the places of the table at most.

    Attributes
    ----------
    state : record
        The scalars of the engine.
    """

    def __init__(
        self,
        system: Any,
        n_pes: int,
        chunks: Iterator[Jobs],
        measured: Measured,
        most_jobs: int,
        slots_limit: int | None = None,
    ) -> None:
        self.system, self.n_pes = system, n_pes
        self.state: Any = system.state.view(np.recarray)[0]
        self._chunks, self._more_arrivals = chunks, True
        self._until, self._most_jobs, self._slots_limit = measured.until, most_jobs, slots_limit
        nothing = np.zeros(0, np.int64)
        self._arrivals = self._arriving(Jobs(np.zeros(0), np.zeros(0), np.zeros(0), nothing, nothing))

    def run(self, n_batches: int, until: float = np.inf) -> int:
        """Simulate until `n_batches` batches have ended, and return why it stopped (`BATCHES_DONE` …)."""
        while True:
            status = self._advance(n_batches, float(min(until, self._until)))
            standstill.check(self.state, self.n_submitted + self.n_pes)
            if status == ARRIVALS_USED_UP:
                self._take_arrivals()
            elif status == RECORD_FULL:
                self._take_record()
            elif status == TABLE_FULL and len(self.system.table.jobs) < self._most_jobs:
                self._enlarge(min(2 * len(self.system.table.jobs), self._most_jobs))
            elif status == TIME_REACHED and self._until <= until:
                self._stop_measuring(self._until)
                self._until = np.inf
            else:
                self._hand_out()
                if status != BATCHES_DONE or self.n_batches >= n_batches:
                    return status

    def run_to_checkpoints(
        self, batches: Batches, available: int, metrics: Callable[[], dict[str, Floats]]
    ) -> tuple[int, dict[str, Floats]]:
        """Simulate to the last checkpoint of which there are jobs, or to one at which the batches do.

        Returns
        -------
        tuple
            Why the last run stopped, and the metrics then.
        """
        status = BATCHES_DONE
        for checkpoint in batches.checkpoints:
            n_measured = min(checkpoint, max(available, 0))
            if n_measured:
                status = self.run(batches.warmup + n_measured)
            found = metrics()
            if status != BATCHES_DONE or checkpoint >= available or batches.is_enough(found):
                break
        return status, found

    def run_out(
        self, n_jobs: int, status: int, job_limit: int, check: Callable[[], None] = lambda: None
    ) -> None:
        """Simulate on until the first `n_jobs` have ended, those that arrive after them included.

        `check` is called from time to time and may raise.

        Raises
        ------
        ValueError
            With one line, if more jobs are in the system at a time than the table can hold.
        """
        self.measure_no_more()
        until = max(self.now, 1.0)
        while status != TABLE_FULL and (self.n_submitted < n_jobs or self.oldest < n_jobs):
            check()
            until *= 1 + PATIENCE  # there may be no event for a while
            status = self.run(ENDLESS, until=until)
        if status == TABLE_FULL:
            raise ValueError(
                f"more than policy.job_limit={job_limit} jobs are in the system at a time, so that "
                "not all of them end; give more, or take a lower load"
            )

    def measure_no_more(self) -> None:
        """Continue without closing batches."""
        settings = self.system.settings._replace(end_measured=0)
        self.system = self.system._replace(settings=settings)

    def _advance(self, n_batches: int, until: float) -> int:
        """Call the engine and return why it stopped."""
        raise NotImplementedError

    def _stop_measuring(self, now: float) -> None:
        """End the measured period at a time."""
        raise NotImplementedError

    def _arriving(self, jobs: Jobs) -> Any:
        """Return a chunk of jobs as the engine takes it."""
        raise NotImplementedError

    def _hand_out(self) -> None:
        """Take the jobs of batches that have ended from the engine."""

    def _take_record(self) -> None:
        """Take the record from the engine."""

    def _take_arrivals(self) -> None:
        chunk = next(self._chunks, None)
        self._more_arrivals = chunk is not None
        if chunk is not None:
            self._arrivals = self._arriving(chunk)
            self.state.cursor = 0

    def _enlarge(self, limit: int) -> None:
        """Make room for `limit` jobs in the table and the matrix; places are only names."""
        system = self.system
        self.state.n_vacant += limit - len(system.table.jobs)
        self.system = system._replace(
            matrix=matrix.enlarged_matrix(system.matrix, self.n_pes, limit, self._slots_limit),
            table=matrix.enlarged_table(system.table, self.n_pes, limit),
            buffers=matrix.buffers_for(self.n_pes, limit, self._slots_limit),
        )

    @property
    def now(self) -> float:
        """Simulated time of the last event."""
        return float(self.state.now)

    @property
    def n_submitted(self) -> int:
        """Number of jobs that have been submitted."""
        return int(self.state.n_submitted)

    @property
    def n_terminated(self) -> int:
        """Number of jobs that have ended."""
        return int(self.state.n_terminated)

    @property
    def n_batches(self) -> int:
        """Number of batches that have ended, the warm-up included."""
        return int(self.state.n_batches)

    @property
    def places(self) -> np.ndarray:
        """Places of the jobs in the matrix, in no order."""
        return self.system.table.present[: self.state.n_jobs]

    @property
    def places_in_system(self) -> np.ndarray:
        """Places of all jobs that have been submitted and have not ended."""
        return self.places

    @property
    def oldest(self) -> int:
        """Number of the job in the system that was submitted first; of the next one where there is none."""
        numbers = self.system.table.jobs["number"][self.places_in_system]
        return int(numbers.min()) if len(numbers) else self.n_submitted
