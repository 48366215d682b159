"""Slurm's scheduler as the sweep sees it: a point in, batches or a schedule out."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from models.arrays import Floats, Ints
from models.family import Outcome
from models.jobs import outcomes
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Pieces, Schedule
from models.jobs.stream import Stream
from models.jobs.trace import Trace
from models.point import Point
from models.slurm import FAMILY, engine, limits
from models.slurm.metrics import shares
from models.slurm.policies import Rules, configuration_of, open_jobs, wanted, with_downtimes, zero_of
from models.slurm.power import Drawing


@dataclass(frozen=True, eq=False)
class SlurmSchedule(Schedule):
    """A schedule, what started and ended each job, and the seconds lost and suspended, shape (n_jobs,)."""

    by_backfill: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    killed: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    lost: np.ndarray = field(default_factory=lambda: np.zeros(0))
    suspended: np.ndarray = field(default_factory=lambda: np.zeros(0))
    drawing: Drawing = field(default_factory=Drawing.none)


def simulate(point: Point) -> Outcome:
    """Simulate one point in one replication, see `models.family.Family.simulate`."""
    run, opened = _prepared(point)
    return outcomes.simulate(FAMILY, point, opened, run, shares)


def schedule(point: Point) -> Schedule:
    """Return the schedule that `simulate` measures; the last checkpoint is the length of a stream."""
    run, opened = _prepared(point)
    return outcomes.schedule(point, opened, run)


def with_preemption(made: SlurmSchedule, result: engine.Result) -> SlurmSchedule:
    """Add the runs that preemption ended: a requeued job starts again, and its work so far is lost."""
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


def queued(opened: Stream | Trace, jobs: Jobs) -> tuple[Jobs, Floats | None, Ints | None]:
    """Return jobs among those that were cancelled while they waited, when each of all leaves, and where the
    jobs are then; the jobs alone where a log keeps none of these."""
    if not isinstance(opened, Trace) or (cancelled := opened.cancelled) is None or not len(cancelled.jobs):
        return jobs, None, None
    lacking: dict[str, Any] = {
        name: None for name in jobs.__dataclass_fields__ if getattr(jobs, name) is None
    }
    every = Jobs.concatenated([jobs, replace(cancelled.jobs, **lacking)])
    row = np.concatenate([np.arange(len(jobs)) if opened.rows is None else opened.rows, cancelled.rows])
    order = np.lexsort((row, every.submit))
    leaves = np.concatenate([np.full(len(jobs), np.inf), cancelled.leaves])[order]
    return every.part(order), leaves, np.argsort(order)[: len(jobs)]


def _prepared(point: Point):  # type: ignore[no-untyped-def] # a run, and a stream or a trace
    configuration = configuration_of(point.policy, point.machine)
    phases = Rules.of(point.policy).phases
    opened = open_jobs(point, configuration)
    zero, configuration = zero_of(opened, configuration), with_downtimes(configuration, opened)

    users = opened.users if isinstance(opened, Trace) else ()

    def run(jobs: Jobs, machine: Machine) -> Schedule:
        submitted, leaves, these = queued(opened, jobs)
        found = wanted(submitted, point.policy, configuration, users, leaves)
        try:
            result = engine.run(found, configuration, phases, zero=zero)
        except engine.StuckError as error:
            if not isinstance(opened, Trace):
                raise
            job = error.job if these is None else int(np.flatnonzero(these == error.job)[0])
            raise ValueError(f"{opened.name_of(job)}{error.why}") from None
        limit, over = found.limit, limits.above(found, configuration)
        if these is not None:
            result, limit, over = result.part(these), limit[these], None if over is None else over[these]
        ran = replace(
            jobs, runtime=result.end - result.start, requested=limit.astype(np.float64), over_limit=over
        )
        made = SlurmSchedule(
            ran, machine, result.start, result.end, np.zeros(len(jobs), np.int64), promised=result.planned,
            notes=(configuration.name,), cancelled=result.cancelled | result.refused,
            unmeasured=result.refused if result.refused.any() else None, by_backfill=result.by_backfill,
            killed=result.killed, suspended=result.suspended, lost=np.zeros(len(jobs)), drawing=result.drawing
        )  # fmt: skip
        if configuration.settings.gang:
            return with_suspension(made, result.preempted)
        return with_preemption(made, result) if configuration.settings.preempts else made

    return run, opened
