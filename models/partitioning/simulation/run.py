"""One simulation of a partitioned machine, from Python: feeds the engine and can be looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from models.arrays import Floats
from models.kernels.function_pointers import function_pointer
from models.partitioning import engine
from models.partitioning.simulation.discipline import SIGNATURE, Discipline
from models.partitioning.simulation.shares import Shares
from models.partitioning.simulation.state import (
    CURSOR,
    HEAD,
    N_CLOSED,
    N_ENDED,
    N_PIECES,
    N_QUEUED,
    N_RUNNING,
    NOW,
    NUMBER,
    QUEUE,
    RUNNING,
    SUBMITTED,
    TERMINATED,
    Arrivals,
    Closed,
    Ended,
    Held,
    Plan,
    Record,
    Settings,
    empty_record,
    empty_state,
    no_arrivals,
)
from models.workloads.speedup.curves import CURVE_SIGNATURE, linear

SharesOf = Callable[[int], Shares]
"""Called with a number of jobs; returns a policy's shares for so many."""

FIRST_SHARES = 8
"""Jobs that the first shares serve; more are made when they come."""

ROOM = 32_768
"""Jobs that can end, and pieces, before they are taken away."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What is simulated, and for how long, apart from who shares out the machine and who arrives.

    Parameters
    ----------
    limit : int
        Jobs that can be in memory at once.
    interval, overhead : float, seconds
        Q and O, see `models.partitioning.simulation.admission`.
    charged : bool
        Whether arrivals and departures stop jobs while their threads move.
    rotation : float, seconds
        Between two rotations.
    rotation_per_job : bool
        Whether that time is multiplied by the number of running jobs.
    by_shape : bool
        Whether the shares' rates are those of every job; then the speed-up is not asked.
    draining : bool
        Whether to go on after the last arrival until all jobs have ended.
    batch_size : int
        Terminations in a batch.
    job_limit : int
        The table of jobs has so many places, waiting jobs included; a full table ends the run.
    recording : bool
        Whether the times of jobs on each number of processors are written down.
    """

    limit: int
    interval: float = np.inf
    overhead: float = 0.0
    charged: bool = True
    rotation: float = np.inf
    rotation_per_job: bool = False
    by_shape: bool = True
    draining: bool = False
    batch_size: int = 1000
    job_limit: int = 2000
    recording: bool = False

    def settings(self) -> Settings:
        """Return it as the engine takes it, which is told later when to return."""
        return Settings(
            self.limit, min(self.limit, FIRST_SHARES), int(self.charged), float(self.rotation),
            int(self.rotation_per_job), float(self.interval), float(self.overhead), self.batch_size,
            int(self.draining), int(self.by_shape), int(self.recording), 0, np.inf,
        )  # fmt: skip


class Curve(NamedTuple):
    """The speed-up: a compiled function of `models.workloads.speedup.curves`, and what it is told."""

    function: Any = linear
    parameters: Floats = np.zeros(1)


class Simulation:
    """A partitioned machine serving a stream of jobs.

    Parameters
    ----------
    discipline : Discipline
        The policy.
    shares : callable
        The policy's shares for a number of jobs.
    arrivals : iterator of Arrivals
        Chunks.
    setup : Setup
    curve : Curve
    """

    def __init__(
        self,
        discipline: Discipline,
        shares: SharesOf,
        arrivals: Iterator[Arrivals],
        setup: Setup,
        curve: Curve | None = None,
    ) -> None:
        curve = Curve() if curve is None else curve
        self._functions = (
            *(function_pointer(function, SIGNATURE) for function in discipline),
            function_pointer(curve.function, CURVE_SIGNATURE),
        )
        self.make_shares = shares
        self.arrivals = arrivals
        settings = setup.settings()
        made = shares(settings.table_jobs)
        self.plan = Plan(settings, *made[:-1], curve.parameters)
        self.state = empty_state(setup.job_limit)
        n_batches = -(-ROOM // setup.batch_size)
        # At one event each running job may begin a new piece.
        n_pieces = ROOM + 2 * setup.job_limit if setup.recording else 1
        self.record = empty_record(n_batches * setup.batch_size, n_batches, n_pieces, made.held)
        self.chunk = no_arrivals(more=True)

    def run(self, n_batches: int, until: float = np.inf) -> int:
        """Simulate until so many batches have ended, and say why it stopped (`engine.BATCHES_DONE` …).

        `engine.RECORD_FULL` asks for `take`, after which the simulation can go on.
        """
        self._settle(n_batches=n_batches, until=until)
        while True:
            status = engine.advance(*self._functions, self.state, self.plan, self.chunk, self.record)
            if status == engine.ARRIVALS_USED_UP:
                self.chunk = next(self.arrivals, None) or no_arrivals(more=False)
                self.state.counts[CURSOR] = 0
            elif status == engine.SHARES_TOO_FEW:
                settings = self.plan.settings
                n_jobs = min(2 * settings.table_jobs, settings.limit)
                made = self.make_shares(n_jobs)
                self.plan = Plan(settings, *made[:-1], self.plan.curve)
                self.record = self.record._replace(held=made.held)
                self._settle(table_jobs=n_jobs)
            else:
                return int(status)

    def take(self) -> Record:
        """Return what was written down since the last time, and make room for more.

        The arrays are the engine's own: they hold until it runs again.
        """
        counts, record = self.state.counts, self.record
        n_ended, n_closed, n_pieces = counts[[N_ENDED, N_CLOSED, N_PIECES]]
        counts[[N_ENDED, N_CLOSED, N_PIECES]] = 0
        return Record(
            Ended(*(values[:n_ended] for values in record.ended)),
            Closed(*(values[:n_closed] for values in record.closed)),
            Held(*(values[:n_pieces] for values in record.pieces)),
            record.held,
        )

    def _settle(self, **changes: float) -> None:
        self.plan = self.plan._replace(settings=self.plan.settings._replace(**changes))

    @property
    def now(self) -> float:
        """Simulated time of the last event."""
        return float(self.state.clocks[NOW])

    @property
    def n_terminated(self) -> int:
        """Number of jobs that have ended."""
        return int(self.state.counts[TERMINATED])

    @property
    def n_batches(self) -> int:
        """Number of batches that have ended, the warm-up included."""
        return self.n_terminated // self.plan.settings.batch_size

    @property
    def n_submitted(self) -> int:
        """Number of jobs that have been submitted."""
        return int(self.state.counts[SUBMITTED])

    @property
    def first_in_system(self) -> int:
        """Number of the first job that has not ended."""
        _, whole, order, counts, _ = self.state
        running = order[RUNNING, : counts[N_RUNNING]]
        places = (counts[HEAD] + np.arange(counts[N_QUEUED])) % order.shape[1]
        inside = np.concatenate([running, order[QUEUE, places]])
        return int(whole[inside, NUMBER].min(initial=self.n_submitted))
