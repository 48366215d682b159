"""Slurm's scheduler as the sweep sees it: a point in, batches or a schedule out."""

from dataclasses import dataclass, field, replace

import numpy as np

from models.family import Outcome
from models.jobs import outcomes
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Pieces, Schedule
from models.jobs.trace import Trace
from models.point import Point
from models.slurm import FAMILY, engine, limits
from models.slurm.metrics import shares
from models.slurm.policies import (
    Rules,
    configuration_of,
    open_jobs,
    wanted,
    with_downtimes,
    zero_of,
)


@dataclass(frozen=True, eq=False)
class SlurmSchedule(Schedule):
    """A schedule, what started and ended each job, seconds of runs in vain and suspended, shape (n_jobs,)."""

    by_backfill: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    killed: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    lost: np.ndarray = field(default_factory=lambda: np.zeros(0))
    suspended: np.ndarray = field(default_factory=lambda: np.zeros(0))


def simulate(point: Point) -> Outcome:
    """Simulate one point in one replication, see `models.family.Family.simulate`."""
    run, opened = _prepared(point)
    return outcomes.simulate(FAMILY, point, opened, run, shares)


def schedule(point: Point) -> Schedule:
    """Return the schedule that `simulate` measures; the last checkpoint is the length of a stream."""
    run, opened = _prepared(point)
    return outcomes.schedule(point, opened, run)


def with_preemption(made: SlurmSchedule, result: engine.Result) -> SlurmSchedule:
    """Add the runs that preemption ended: a requeued job starts again, what it had done is lost."""
    lost, last = result.lost, made.runs
    time = np.where(result.cancelled, made.jobs.runtime, 0.0)
    np.add.at(time, lost.job, lost.end - lost.begin)
    start = made.start.copy()
    np.minimum.at(start, lost.job, lost.begin)
    joined = {
        name: np.concatenate([getattr(lost, name), getattr(last, name)])
        for name in ("job", "host", "begin", "end", "processors")
    }
    return replace(
        made,
        start=start,
        began=made.start,
        waited=made.end - made.jobs.submit - made.jobs.runtime,
        preempted=result.cancelled | (np.bincount(lost.job, minlength=len(start)) > 0),
        pieces=Pieces(**joined),
        lost=time,
    )


def with_suspension(made: SlurmSchedule, preempted: np.ndarray) -> SlurmSchedule:
    """Take the time that jobs are suspended from their runtimes; a job uses its processors in part, all the
    time."""
    time, runs = made.end - made.start, made.runs
    ran = time - made.suspended
    share = np.divide(ran, time, out=np.ones_like(time), where=time > 0)
    return replace(
        made,
        jobs=replace(made.jobs, runtime=ran),
        waited=made.end - made.jobs.submit - ran,
        preempted=preempted,
        pieces=replace(runs, processors=runs.processors * share),
    )


def _prepared(point: Point):  # type: ignore[no-untyped-def] # a run, and a stream or a trace
    configuration = configuration_of(point.policy, point.machine)
    phases = Rules.of(point.policy).phases
    opened = open_jobs(point, configuration)
    zero, configuration = zero_of(opened, configuration), with_downtimes(configuration, opened)

    users = opened.users if isinstance(opened, Trace) else ()

    def run(jobs: Jobs, machine: Machine) -> Schedule:
        found = wanted(jobs, point.policy, configuration, users)
        result = engine.run(found, configuration, phases, zero=zero)
        ran = replace(
            jobs, runtime=result.end - result.start, requested=found.limit.astype(np.float64),
            over_limit=limits.above(found, configuration),
        )  # fmt: skip
        made = SlurmSchedule(
            ran,
            machine,
            result.start,
            result.end,
            np.zeros(len(jobs), np.int64),
            promised=result.planned,
            notes=(configuration.name,),
            by_backfill=result.by_backfill,
            killed=result.killed,
            cancelled=result.cancelled,
            lost=np.zeros(len(jobs)),
            suspended=result.suspended,
        )
        if configuration.settings.gang:
            return with_suspension(made, result.preempted)
        return with_preemption(made, result) if configuration.settings.preempts else made

    return run, opened
