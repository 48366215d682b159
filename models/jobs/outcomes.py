"""The outcome of families whose engine returns a whole schedule: batches, and the schedule.

A batch is a number of jobs in order of submission, the same ones under every policy. Engines that can be
resumed (gang scheduling) measure ended jobs instead, see `models.jobs.measuring`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from models.arrays import Floats
from models.family import Family, Outcome
from models.jobs.division import Division
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.measures import Measures
from models.jobs.schedule import Schedule
from models.jobs.schedule_measures import edges_of, measure
from models.jobs.stream import Stream
from models.jobs.trace import Trace
from models.kernels import progress
from models.point import Batches, Point

LONGEST_TAIL = 4
"""Limit on the jobs simulated after the measured ones, relative to their number."""

Run = Callable[[Jobs, Machine], Schedule]
"""An engine with its settings: runs all jobs to their ends."""

Own = Callable[[Schedule, Division, Floats], Mapping[str, Floats]]
"""A family's own measures of a schedule, in batches, each from one edge to the next, shape (n_batches + 1,),
seconds; metrics of the shape (n_batches, ...)."""


def nothing(made: Schedule, division: Division, edges: Floats) -> Mapping[str, Floats]:
    """Measure nothing beyond the common measures."""
    return {}


def simulate(family: Family, point: Point, opened: Stream | Trace, run: Run, own: Own = nothing) -> Outcome:
    """Run a workload and measure it.

    Notes
    -----
    A trace is divided by `models.jobs.trace.Trace.divided`.
    """
    batches = point.batches
    if isinstance(opened, Trace):
        progress.expect(len(opened.jobs))
        made = run(opened.jobs, opened.machine)
        batches, available = opened.divided(batches)
        for checkpoint in batches.checkpoints:
            metrics = _measured(family, point, made, batches, min(checkpoint, max(available, 0)), own, opened)
            if checkpoint >= available or batches.is_enough(metrics):
                break
        return Outcome(metrics, len(opened.jobs))
    for checkpoint in batches.checkpoints:
        n_jobs = batches.jobs(batches.warmup + checkpoint)
        if batches.overloaded:
            made, settled = run(opened.first(n_jobs + 1), opened.machine), True
        else:
            made, settled = _streamed(opened, run, n_jobs)
        metrics = _measured(family, point, made, batches, checkpoint, own)
        if not settled or batches.is_enough(metrics):
            break
    return Outcome(metrics, len(made.jobs), overflowed=not settled)


def schedule(point: Point, opened: Stream | Trace, run: Run) -> Schedule:
    """Return the schedule that is measured; a stream up to the last checkpoint."""
    if isinstance(opened, Trace):
        return replace(run(opened.jobs, opened.machine), trace=opened)
    return _streamed(opened, run, point.batches.jobs(point.batches.most))[0]


def _streamed(stream: Stream, run: Run, n_jobs: int) -> tuple[Schedule, bool]:
    """Return a schedule whose first `n_jobs` jobs start while jobs still arrive, and whether that succeeded.

    Jobs that arrive later can delay a waiting one. So jobs are added until the last measured job has started,
    or has ended if it can be delayed even then; a system that needs too many of them is saturated.
    """
    tail = max(n_jobs // 8, 100)
    while True:
        made = run(stream.first(n_jobs + tail), stream.machine)
        settled = made.start if made.waited is None else made.end
        if settled[:n_jobs].max() <= made.jobs.submit[-1]:
            return made, True
        if tail >= LONGEST_TAIL * n_jobs:
            return made, False
        tail *= 2


def _measured(
    family: Family,
    point: Point,
    made: Schedule,
    batches: Batches,
    checkpoint: int,
    own: Own,
    trace: Trace | None = None,
) -> dict[str, Floats]:
    """Return the metrics of the first `checkpoint` batches after the warm-up."""
    n_batches = batches.warmup + checkpoint if checkpoint else 0
    measured = slice(None) if trace is None else trace.measured
    until = None if trace is None else trace.until
    division = Division.of(made.jobs.submit, batches, n_batches, measured)
    for left_out in (made.unmeasured, made.jobs.further):
        if left_out is not None:
            division = division.without(left_out)
    metrics = measure(made, division, Measures.of(point.measures), until)
    metrics |= own(made, division, edges_of(made, division, until))
    declared = family.measured(point.measures)
    return {metric.name: metrics[metric.name][batches.warmup :] for metric in declared}
