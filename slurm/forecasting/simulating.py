"""The starts of waiting jobs in random futures, by EASY backfilling or by Slurm's scheduler."""

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from models.arrays import Floats, Ints
from models.backfill import engine as backfilling
from models.backfill.policies import rules_of
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.slurm import engine
from models.slurm.configuration import Configuration
from models.slurm.policies import wanted
from models.slurm.scheduler import Phases
from slurm.forecasting.drawing import DAY, Arrivals, Past, runtimes
from slurm.forecasting.state import State, joined

HORIZON, LONGEST = 8 * DAY, 128 * DAY
"""The first horizon of arrivals in seconds, which doubles until all jobs have started, and the last one."""

MOST_THREADS = 8

LATE_S = 60.0
"""Seconds that a job that has exceeded its limit is expected to run on."""


class Scheduler(Protocol):
    """How jobs are scheduled."""

    def at(self, state: State) -> "Scheduler":
        """Return the scheduler with the state that it keeps from the past of a queue."""

    def starts(
        self, state: State, runtime: Floats, later: Jobs, watched: Ints, rng: np.random.Generator | None
    ) -> Floats:
        """Return when the watched jobs of a queue start, in seconds; NaN for one that never does.

        Parameters
        ----------
        runtime : ndarray, shape (n_jobs,), seconds
            Total runtimes of the queue's jobs.
        later : Jobs
            Jobs submitted from the instant on.
        rng : numpy.random.Generator, optional
            Draws everything else that is unknown; with None it is 0.
        """


@dataclass(frozen=True, eq=False)
class Easy:
    """EASY backfilling in order of submission, on a pool of processors.

    Running jobs are submitted at the instant, before all others, with what is left of their runtimes and
    limits, so that they start at once.
    """

    machine: Machine
    policy: Mapping[str, Any]

    def at(self, state: State) -> "Easy":
        """See `Scheduler.at`."""
        return self

    def starts(
        self, state: State, runtime: Floats, later: Jobs, watched: Ints, rng: np.random.Generator | None
    ) -> Floats:
        """See `Scheduler.starts`."""
        now, left = state.jobs, np.maximum(state.jobs.requested - state.elapsed, LATE_S)
        now = replace(now, submit=np.zeros(len(now)), runtime=runtime - state.elapsed, requested=left)
        return backfilling.schedule(joined(now, later), self.machine, rules_of(self.policy)).start[watched]


@dataclass(frozen=True, eq=False)
class Slurm:
    """Slurm's scheduler, as a slurm.conf configures it."""

    configuration: Configuration
    policy: Mapping[str, Any]
    usage: Mapping[tuple[str, str], float] = field(default_factory=dict)
    phases: Phases = engine.AT_ZERO

    def at(self, state: State) -> "Slurm":
        """See `Scheduler.at`."""
        return replace(self, usage=usage_of(state.past, self.configuration, state.users))

    def starts(
        self, state: State, runtime: Floats, later: Jobs, watched: Ints, rng: np.random.Generator | None
    ) -> Floats:
        """See `Scheduler.starts`; the timers' phases are unknown, too."""
        jobs = joined(replace(state.jobs, runtime=runtime), later)
        settings, phases = self.configuration.settings, replace(self.phases, clock=state.zero % DAY)
        if rng is not None:
            tick, cycle, calculation = rng.random(3)
            cycle, calculation = cycle * settings.bf_interval, calculation * settings.calc_period
            phases = replace(phases, tick=tick, backfill=cycle, calculation=calculation)
        found = wanted(jobs, self.policy, self.configuration, state.users)
        present = engine.Present(state.start, state.nodes, watched, self.usage)
        return engine.run(found, self.configuration, phases, zero=state.zero, present=present).start[watched]


def usage_of(
    past: Past, configuration: Configuration, users: tuple[str, ...]
) -> dict[tuple[str, str], float]:
    """Return the decayed CPU seconds of each account and user up to the instant."""
    settings, jobs = configuration.settings, past.jobs
    if not settings.weight_fair or jobs.request is None or jobs.user is None:
        return {}
    ran = past.start < 0
    age = -past.start[ran], np.maximum(-(past.start + jobs.runtime)[ran], 0.0)
    rate = -np.log(settings.decay_per_s)
    seconds = (np.exp(-rate * age[1]) - np.exp(-rate * age[0])) / rate if rate > 0 else age[0] - age[1]
    found: dict[tuple[str, str], float] = {}
    names = [users[n - 1] if 0 < n <= len(users) else str(n) for n in jobs.user[ran].tolist()]
    work = (jobs.size[ran] * seconds).tolist()
    for account, user, used in zip(jobs.request.account[ran].tolist(), names, work, strict=True):
        found[account, user] = found.get((account, user), 0.0) + used
    return found


@dataclass(frozen=True, eq=False)
class Futures:
    """Random futures of a queue: the same ones for each change of a job, so that changes can be compared."""

    state: State
    scheduler: Scheduler
    n: int
    seed: int = 1

    @cached_property
    def _drawn(self) -> tuple[Floats, Arrivals]:
        state, keys = self.state, [np.random.default_rng((self.seed, k)) for k in range(2)]
        drawn = runtimes(state.past, state.jobs, state.elapsed, self.n, keys[0])
        return drawn, Arrivals.of(state.past, keys[1])

    def starts(self, watched: Ints | None = None, state: State | None = None) -> Floats:
        """Return when waiting jobs start, in seconds from the instant, shape (n, n_watched); infinite if not
        within `LONGEST`.

        Parameters
        ----------
        watched : ndarray of int, optional
            Positions in the queue; None stands for all waiting jobs.
        state : State, optional
            The queue with other values of a job: its runtimes are the same up to its limit.
        """
        drawn, arrivals = self._drawn
        state = state or self.state
        if watched is None:
            watched = np.arange(state.n_running, len(state.jobs))
        waiting = slice(state.n_running, None)
        drawn = drawn.copy()
        drawn[:, waiting] = np.fmin(drawn[:, waiting], state.jobs.requested[waiting])

        def one(k: int) -> Floats:
            horizon = HORIZON
            while True:
                later = arrivals.until(horizon, (self.seed, 2, k))
                phases = np.random.default_rng((self.seed, 3, k))
                start = self.scheduler.starts(state, drawn[k], later, watched, phases)
                if horizon >= LONGEST or not (start >= horizon).any():
                    return np.asarray(np.where(start < horizon, start, np.inf))
                horizon *= 2

        with ThreadPoolExecutor(min(os.cpu_count() or 1, MOST_THREADS)) as threads:  # kernels run in parallel
            return np.array(list(threads.map(one, range(self.n))))
