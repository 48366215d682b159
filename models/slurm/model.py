"""Slurm's scheduler as the sweep sees it: a point in, batches or a schedule out."""

from dataclasses import dataclass, field, replace

import numpy as np

from models.family import Outcome
from models.jobs import outcomes
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule
from models.point import Point
from models.slurm import FAMILY, engine
from models.slurm.metrics import shares
from models.slurm.policies import Rules, configuration_of, open_jobs, users_of, wanted, zero_of


@dataclass(frozen=True, eq=False)
class SlurmSchedule(Schedule):
    """A schedule, and what started and ended each job, shape (n_jobs,)."""

    by_backfill: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    killed: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))


def simulate(point: Point) -> Outcome:
    """Simulate one point in one replication, see `models.family.Family.simulate`."""
    run, opened = _prepared(point)
    return outcomes.simulate(FAMILY, point, opened, run, shares)


def schedule(point: Point) -> Schedule:
    """Return the schedule that `simulate` measures; the last checkpoint is the length of a stream."""
    run, opened = _prepared(point)
    return outcomes.schedule(point, opened, run)


def _prepared(point: Point):  # type: ignore[no-untyped-def] # a run, and a stream or a trace
    configuration = configuration_of(point.policy, point.machine)
    phases = Rules.of(point.policy).phases
    opened = open_jobs(point, configuration)

    def run(jobs: Jobs, machine: Machine) -> Schedule:
        found = wanted(jobs, point.policy, configuration, users_of(opened))
        result = engine.run(found, configuration, phases, zero=zero_of(opened, configuration))
        ran = replace(jobs, runtime=result.end - result.start, requested=found.limit.astype(np.float64))
        return SlurmSchedule(
            ran,
            machine,
            result.start,
            result.end,
            np.zeros(len(jobs), np.int64),
            promised=result.planned,
            notes=(configuration.name,),
            by_backfill=result.by_backfill,
            killed=result.killed,
        )

    return run, opened
