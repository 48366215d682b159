"""Gang scheduling with a packing scheme, as the sweep sees it: plain data in, batches out."""

from __future__ import annotations

import numpy as np

from models import dotted, workloads
from models.arrays import Floats
from models.family import Outcome
from models.gang import engine
from models.gang.policies import Rules
from models.gang.recording import Recorder
from models.gang.simulation import Measured, Simulation
from models.jobs.machine import one_pool
from models.jobs.measures import Measures
from models.jobs.measuring import Measuring, as_they_ran
from models.jobs.schedule import Schedule
from models.jobs.stream import Stream
from models.jobs.trace import Trace
from models.point import Batches, Point
from models.saturation import Backlog
from models.workloads import repetition

PATIENCE = 0.1
"""Share of the time simulated so far after which it is asked again whether a schedule is complete."""


def simulate(point: Point) -> Outcome:
    """Simulate one point in one replication, see `models.family.Family.simulate`.

    Notes
    -----
    A batch is so many measured jobs in order of termination; of a workload that ends as many as
    `models.jobs.trace.Trace.divided` says, so that the last one may be short where it is so under
    backfilling. Jobs that are not measured (a month's week before it) fill the machine and are in no batch.
    The period of a batch goes from the end of the one before to its last termination: the first begins with
    the submission of the first measured job (with a stream at 0), and none goes on after `Trace.until`.
    A trace has no backlog to speak of, and `job_limit` does not stop it: it ends.
    """
    opened = workloads.open_workload(point)
    batches, available = point.batches, point.batches.checkpoints[-1]
    if isinstance(opened, Trace):
        batches, available = opened.divided(batches)
    assert batches.size is not None  # a trace's are divided, a stream has none without
    everybody = opened.jobs.part(opened.measured) if isinstance(opened, Trace) else None
    measuring = Measuring(Measures.of(point.measures), batches.size, everybody)
    simulation = _simulation(point, opened, batches, measuring=measuring)
    status = engine.BATCHES_DONE
    for look in batches.checkpoints:
        n_measured = min(look, max(available, 0))
        if n_measured:
            status = simulation.run(batches.warmup + n_measured)
        metrics = _metrics(simulation, measuring, batches.warmup)
        if status != engine.BATCHES_DONE or look >= available or batches.is_enough(metrics):
            break
    if isinstance(opened, Trace):
        return Outcome(metrics, simulation.n_terminated)
    backlog = Backlog.of(
        metrics["jobs_in_system"], metrics["utilization"], point.load, overflowed=status == engine.TABLE_FULL
    )
    return Outcome(metrics, simulation.n_terminated, backlog)


def schedule(point: Point) -> Schedule:
    """Return the schedule that `simulate` measures, see `models.family.Family.schedule`.

    Of a stream it has all jobs that are submitted before the last batch ends.

    Raises
    ------
    ValueError
        With one line, if more jobs of a stream are in the system at a time than there is room for.
    """
    rules = Rules.of(point.policy)
    opened = workloads.open_workload(point)
    recorder = Recorder()
    if isinstance(opened, Trace):
        simulation = _simulation(point, opened, Batches(1, 0, (1,)), recorder=recorder)
        simulation.measure_no_more()
        status = simulation.run(1)  # to the end of the last job
    else:
        simulation = _simulation(point, opened, point.batches, recorder=recorder)
        status = simulation.run(point.batches.most)
    n_jobs = simulation.n_submitted
    # Those that are still there need the jobs that arrive after them to be slowed down by.
    simulation.measure_no_more()
    until = simulation.now
    while status != engine.TABLE_FULL and simulation.oldest < n_jobs:
        until *= 1 + PATIENCE  # perhaps nothing happens for as long as that
        status = simulation.run(1, until=until)
    if status == engine.TABLE_FULL:
        raise ValueError(
            f"{point}: more than policy.job_limit={rules.job_limit} jobs are in the system at a time, so "
            "that not all of them end; give more, or take a lower load"
        )
    ended = recorder.ended(n_jobs)
    columns = opened.jobs if isinstance(opened, Trace) else opened.first(int(ended.session.max()) + 1)
    jobs = as_they_ran(ended, columns.part(ended.session))
    return Schedule(
        jobs,
        opened.machine,
        start=ended.start,
        end=ended.end,
        host=np.zeros(n_jobs, np.int64),
        waited=np.maximum(ended.end - ended.submit - ended.runtime, 0.0),
        pieces=recorder.pieces(n_jobs),
        # A log's rows are told only of jobs that are its own one by one.
        trace=opened if isinstance(opened, Trace) and not opened.jobs.repeats else None,
        notes=(str(rules),),
    )


def prepare(point: Point, recorder: Recorder | None = None) -> Simulation:
    """Return a simulation of a point at time 0, which nothing is read off yet."""
    opened = workloads.open_workload(point)
    batches = opened.divided(point.batches)[0] if isinstance(opened, Trace) else point.batches
    return _simulation(point, opened, batches, recorder=recorder)


def _simulation(
    point: Point,
    opened: Stream | Trace,
    batches: Batches,
    *,
    measuring: Measuring | None = None,
    recorder: Recorder | None = None,
) -> Simulation:
    rules = Rules.of(point.policy)
    n_pes = one_pool(opened.machine, point.machine, point.policy)
    memory = opened.machine.memory_each if rules.memory else None
    assert batches.size is not None
    if isinstance(opened, Trace):
        sessions = range(*opened.measured.indices(len(opened.jobs)))
        until = np.inf if opened.until is None else opened.until
        since = float(opened.jobs.submit[0]) if len(opened.jobs) else 0.0
        measured = Measured(batches.size, batches.most, sessions, opened.n_measured, until, since)
        return Simulation(
            rules,
            n_pes,
            iter([opened.jobs]),
            measured,
            ends=True,
            measuring=measuring,
            recorder=recorder,
            memory=memory,
        )
    rerun = repetition.same_runtime if opened.rerun is None else dotted.imported(opened.rerun)
    return Simulation(
        rules,
        n_pes,
        opened.chunks(),
        Measured(batches.size, batches.most),
        rerun=rerun,
        rerun_parameters=opened.rerun_parameters,
        measuring=measuring,
        recorder=recorder,
        memory=memory,
    )


def _metrics(simulation: Simulation, measuring: Measuring, warmup: int) -> dict[str, Floats]:
    """Return the metrics of the batches that have ended after the warm-up."""
    integrated = {
        name: values[: simulation.n_batches] for name, values in simulation.batches._asdict().items()
    }
    return {name: values[warmup:].copy() for name, values in (measuring.metrics() | integrated).items()}
