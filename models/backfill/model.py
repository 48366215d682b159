"""Backfilling as the sweep sees it: plain data in, batches out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from models import workloads
from models.arrays import Floats
from models.backfill import engine
from models.backfill.policies import rules_of
from models.backfill.rules import Rules
from models.family import Outcome
from models.jobs.measures import Measures
from models.jobs.schedule import Schedule
from models.jobs.schedule_measures import measure
from models.jobs.stream import Stream
from models.jobs.trace import Trace
from models.point import Batches, Point
from models.saturation import backlog_grows

LONGEST_TAIL = 4
"""Jobs simulated after the measured ones, at most so many times their number."""


def simulate(point: Point) -> Outcome:
    """Simulate one point in one replication, see `models.family.Family.simulate`.

    Notes
    -----
    A batch is so many jobs in order of submission, see `models.jobs.trace.Trace.divided`. A log never counts
    as saturated: it ends.
    """
    rules, batches = rules_of(point.policy), point.batches
    opened = workloads.open_workload(point)
    if isinstance(opened, Trace):
        made = engine.schedule(opened.jobs, opened.machine, rules)
        batches, available = opened.divided(batches)
        for look in batches.looks:
            metrics = _measured(made, point, batches, min(look, max(available, 0)), opened)
            if look >= available or _is_enough(batches, metrics):
                break
        return Outcome(metrics, False, len(opened.jobs))
    for look in batches.looks:
        made, settled = _stream(rules, opened, batches.jobs(batches.warmup + look))
        metrics = _measured(made, point, batches, look)
        if not settled or _is_enough(batches, metrics):
            break
    saturated = not settled or backlog_grows(metrics["jobs_in_system"])
    return Outcome(metrics, bool(saturated), len(made.jobs))


def schedule(point: Point) -> Schedule:
    """Return the schedule that `simulate` measures; the last look decides how much of a stream there is."""
    rules = rules_of(point.policy)
    opened = workloads.open_workload(point)
    if isinstance(opened, Trace):
        made = engine.schedule(opened.jobs, opened.machine, rules)
        return replace(made, trace=opened, notes=(str(rules),))
    made, _ = _stream(rules, opened, point.batches.jobs(point.batches.most))
    return replace(made, notes=(str(rules),))


def _stream(rules: Rules, stream: Stream, n_jobs: int) -> tuple[Schedule, bool]:
    """Return a schedule whose first `n_jobs` jobs start while jobs still arrive, and whether they do.

    Jobs that arrive later can delay a waiting one. So as many are added as it takes until the last measured
    job has started, or has ended where it can be delayed even then; a system in which that takes too many is
    saturated.
    """
    tail = max(n_jobs // 8, 100)
    while True:
        made = engine.schedule(stream.first(n_jobs + tail), stream.machine, rules)
        settled = made.start if made.waited is None else made.end
        if settled[:n_jobs].max() <= made.jobs.submit[-1]:
            return made, True
        if tail >= LONGEST_TAIL * n_jobs:
            return made, False
        tail *= 2


def _measured(
    made: Schedule, point: Point, batches: Batches, look: int, trace: Trace | None = None
) -> dict[str, Floats]:
    """Return the metrics of the first `look` batches after the warm-up."""
    n_batches = batches.warmup + look if look else 0
    period = () if trace is None else (trace.measured, trace.until)
    assert batches.size is not None  # a trace's are divided, a stream has none without
    metrics = measure(made, batches.size, n_batches, Measures.of(point.measures), *period)
    return {name: values[batches.warmup :] for name, values in metrics.items()}


def _is_enough(batches: Batches, metrics: Mapping[str, Floats]) -> bool:
    """Ask the stopping rule, about those groups only that every batch has jobs of."""
    if batches.enough is None:
        return False
    known = {n: ~np.isnan(v).any(axis=0) for n, v in metrics.items() if v.ndim == 2}
    return batches.enough({n: v[:, known[n]] if n in known else v for n, v in metrics.items()})
