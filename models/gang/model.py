"""Gang scheduling with a packing scheme, as the sweep sees it: plain data in, batches out."""

import numpy as np

from models import dotted, workloads
from models.arrays import Floats
from models.family import Outcome
from models.gang.policies import Rules
from models.gang.recording import Recorder
from models.gang.simulation import Simulation
from models.jobs.machine import one_pool
from models.jobs.measures import Measures
from models.jobs.measuring import Measuring, as_they_ran
from models.jobs.schedule import Schedule
from models.jobs.stream import Stream
from models.jobs.trace import Trace
from models.packing.driver import TABLE_FULL, Measured
from models.point import Batches, Point
from models.workloads import repetition


def simulate(point: Point) -> Outcome:
    """Simulate one point in one replication, see `models.family.Family.simulate`.

    Notes
    -----
    A batch is a fixed number of measured jobs in order of termination. `models.jobs.trace.Trace.divided`
    gives this number for a workload that ends; its last batch may be short, as under backfilling. Jobs that
    are not measured (a month's week before it) fill the machine and belong to no batch. The period of a batch
    lasts from the end of the previous one to its own last termination: the first begins with the submission
    of the first measured job (with a stream, at 0), and none continues after `Trace.until`. `job_limit` does
    not stop a trace, because a trace ends.
    """
    opened = workloads.open_workload(point)
    batches, available = point.batches, point.batches.checkpoints[-1]
    if isinstance(opened, Trace):
        batches, available = opened.divided(batches)
    assert batches.size is not None  # a trace's batches are divided, a stream needs a size
    all_jobs = opened.jobs.part(opened.measured) if isinstance(opened, Trace) else None
    measuring = Measuring(Measures.of(point.measures), batches.size, all_jobs)
    simulation = _simulation(point, opened, batches, measuring=measuring)
    status, metrics = simulation.run_to_checkpoints(
        batches, available, lambda: _metrics(simulation, measuring, batches.warmup)
    )
    return Outcome(metrics, simulation.n_terminated, status == TABLE_FULL)


def schedule(point: Point) -> Schedule:
    """Return the schedule that `simulate` measures, see `models.family.Family.schedule`.

    For a stream it contains all jobs that are submitted before the last batch ends; ``ValueError`` with one
    line if more jobs are in the system at a time than the table can hold.
    """
    rules = Rules.of(point.policy)
    opened = workloads.open_workload(point)
    recorder = Recorder()
    ends = isinstance(opened, Trace)
    simulation = _simulation(point, opened, Batches(1, 0, (1,)) if ends else point.batches, recorder=recorder)
    if ends:
        simulation.measure_no_more()
    status = simulation.run(1 if ends else point.batches.most)  # a trace to the end of its last job
    n_jobs = simulation.n_submitted
    # Jobs that are still running are slowed down by later arrivals.
    try:
        simulation.run_out(n_jobs, status, rules.job_limit)
    except ValueError as refused:
        raise ValueError(f"{point}: {refused}") from None
    ended = recorder.ended(n_jobs)
    columns = opened.first(int(ended.session.max()) + 1)
    jobs = as_they_ran(ended, columns.part(ended.session))
    return Schedule(
        jobs,
        opened.machine,
        start=ended.start,
        end=ended.end,
        host=np.zeros(n_jobs, np.int64),
        waited=np.maximum(ended.end - ended.submit - ended.runtime, 0.0),
        pieces=recorder.pieces(n_jobs),
        killed=None if columns.repeats else ended.runtime < columns.runtime[ended.session],
        # A log's rows belong only to jobs that are submitted once each.
        trace=opened if isinstance(opened, Trace) and not opened.jobs.repeats else None,
        notes=(str(rules),),
    )


def prepare(point: Point, recorder: Recorder | None = None) -> Simulation:
    """Return a simulation of a point at time 0 that is not measured."""
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
    return Simulation(
        rules,
        one_pool(opened.machine, point.machine, point.policy),
        opened.chunks(),
        Measured.of(opened, batches),
        rerun=repetition.same_runtime if opened.rerun is None else dotted.imported(opened.rerun),
        rerun_parameters=opened.rerun_parameters,
        ends=isinstance(opened, Trace),
        measuring=measuring,
        recorder=recorder,
        memory=opened.machine.memory_each if rules.memory else None,
    )


def _metrics(simulation: Simulation, measuring: Measuring, warmup: int) -> dict[str, Floats]:
    """Return the metrics of the batches that have ended after the warm-up."""
    integrated = {
        name: values[: simulation.n_batches] for name, values in simulation.batches._asdict().items()
    }
    return {name: values[warmup:].copy() for name, values in (measuring.metrics() | integrated).items()}
