"""What a family gives back whose engine makes a whole schedule at once: batches, and the schedule.

A batch is so many jobs in order of submission, the same ones under every policy. An engine that goes on from
where it stopped (gang scheduling) has a way of its own.
"""

from __future__ import annotations

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
from models.point import Batches, Point
from models.saturation import Backlog

LONGEST_TAIL = 4
"""Jobs simulated after the measured ones, at most so many times their number."""

Run = Callable[[Jobs, Machine], Schedule]
"""An engine with its settings: runs all jobs to their ends."""

Own = Callable[[Schedule, Division, Floats], Mapping[str, Floats]]
"""What a family measures itself: of a schedule, in batches, each of which lasts from one edge to the next,
shape (n_batches + 1,), seconds; metrics of the shape (n_batches, ...)."""


def nothing(made: Schedule, division: Division, edges: Floats) -> Mapping[str, Floats]:
    """Measure nothing beyond what any schedule tells."""
    return {}


def simulate(family: Family, point: Point, opened: Stream | Trace, run: Run, own: Own = nothing) -> Outcome:
    """Run a workload and measure it.

    Parameters
    ----------
    family : Family
        Decides which metrics are given back.
    point : Point
    opened : Stream or Trace
        Its workload.
    run : callable
    own : callable, optional

    Notes
    -----
    How a trace is divided says `models.jobs.trace.Trace.divided`; it has no backlog to speak of: it ends.
    """
    batches = point.batches
    if isinstance(opened, Trace):
        made = run(opened.jobs, opened.machine)
        batches, available = opened.divided(batches)
        for look in batches.checkpoints:
            metrics = _measured(family, point, made, batches, min(look, max(available, 0)), own, opened)
            if look >= available or batches.is_enough(metrics):
                break
        return Outcome(metrics, len(opened.jobs))
    for look in batches.checkpoints:
        made, settled = _streamed(opened, run, batches.jobs(batches.warmup + look))
        metrics = _measured(family, point, made, batches, look, own)
        if not settled or batches.is_enough(metrics):
            break
    level, delivered = metrics["jobs_in_system"], metrics["utilization"]
    return Outcome(metrics, len(made.jobs), Backlog.of(level, delivered, point.load, overflowed=not settled))


def schedule(point: Point, opened: Stream | Trace, run: Run) -> Schedule:
    """Return the schedule that is measured; the last look decides how much of a stream there is."""
    if isinstance(opened, Trace):
        return replace(run(opened.jobs, opened.machine), trace=opened)
    return _streamed(opened, run, point.batches.jobs(point.batches.most))[0]


def _streamed(stream: Stream, run: Run, n_jobs: int) -> tuple[Schedule, bool]:
    """Return a schedule whose first `n_jobs` jobs start while jobs still arrive, and whether they do.

    Jobs that arrive later can delay a waiting one. So as many are added as it takes until the last measured
    job has started, or has ended where it can be delayed even then; a system in which that takes too many is
    saturated.
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
    look: int,
    own: Own,
    trace: Trace | None = None,
) -> dict[str, Floats]:
    """Return the metrics of the first `look` batches after the warm-up."""
    n_batches = batches.warmup + look if look else 0
    measured = slice(None) if trace is None else trace.measured
    until = None if trace is None else trace.until
    division = Division.of(made.jobs.submit, batches, n_batches, measured)
    metrics = measure(made, division, Measures.of(point.measures), until)
    metrics |= own(made, division, edges_of(made, division, until))
    declared = family.measured(point.measures)
    return {metric.name: metrics[metric.name][batches.warmup :] for metric in declared}
