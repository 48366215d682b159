"""Backfilling as the sweep sees it: plain data in, batches out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from models.arrays import Floats
from models.backfill.engines import schedule
from models.backfill.rules import Rules
from models.family import Batches, Outcome, Parameters, Seed
from models.jobs import machine as machines
from models.jobs.measures import measure
from models.jobs.schedule import Schedule
from models.jobs.swf_schedule import write_schedule
from models.saturation import backlog_grows
from models.workloads.sources import Source, module_of

LONGEST_TAIL = 4
"""Jobs simulated after the measured ones, at most so many times their number."""


def simulate(
    policy: Parameters,
    workload: Parameters,
    machine: Parameters,
    load: float | None,
    batches: Batches,
    seed: Seed,
) -> Outcome:
    """Simulate one point in one replication, see `models.family.Simulate`.

    Notes
    -----
    A batch is so many jobs in order of submission. A log shorter than one batch is divided into as many equal
    ones as were asked for (the last may be short); of a longer one the jobs after its last full batch are
    simulated but not measured. A log never counts as saturated: it ends.
    """
    rules = Rules.of(policy)
    module = module_of(workload)
    if not module.ENDLESS:
        source: Source = module.open_source(workload, machine, load, seed)
        made = schedule(source.jobs, source.machine, rules)
        n_jobs = len(range(*source.measured.indices(len(source.jobs))))
        available = n_jobs // batches.size - batches.warmup
        if n_jobs < batches.size:
            size = max(-(-n_jobs // (batches.warmup + batches.looks[-1])), 1)
            batches = replace(batches, size=size)
            available = -(-n_jobs // size) - batches.warmup
        for look in batches.looks:
            metrics = _measured(made, rules, batches, min(look, max(available, 0)), source)
            if look >= available or _is_enough(batches, metrics):
                break
        return Outcome(metrics, False, len(source.jobs))
    for look in batches.looks:
        made, settled = _stream(rules, workload, machine, load, (batches.warmup + look) * batches.size, seed)
        metrics = _measured(made, rules, batches, look)
        if not settled or _is_enough(batches, metrics):
            break
    saturated = not settled or backlog_grows(metrics["jobs_in_system"])
    return Outcome(metrics, bool(saturated), len(made.jobs))


def export(
    policy: Parameters,
    workload: Parameters,
    machine: Parameters,
    load: float | None,
    batches: Batches,
    seed: Seed,
    path: str | os.PathLike[str],
) -> None:
    """Write the schedule of one point in one replication as an SWF file.

    Parameters
    ----------
    policy, workload, machine, load, batches, seed
        As for `simulate`: the same schedule, whose last look decides how much of a stream there is.
    path : path-like
        Compressed if its name ends with ``.gz``.
    """
    rules = Rules.of(policy)
    source = None
    module = module_of(workload)
    if not module.ENDLESS:
        source = module.open_source(workload, machine, load, seed)
        made = schedule(source.jobs, source.machine, rules)
    else:
        n_jobs = (batches.warmup + batches.looks[-1]) * batches.size
        made, _ = _stream(rules, workload, machine, load, n_jobs, seed)
    names = ", ".join(f"{group['name']}" for group in (policy, workload, machine) if "name" in group)
    where = names if load is None else f"{names}, load {load:g}"
    write_schedule(path, made, source, [where, str(rules)])


def _stream(
    rules: Rules, workload: Parameters, machine: Parameters, load: float | None, n_jobs: int, seed: Seed
) -> tuple[Schedule, bool]:
    """Return a schedule whose first `n_jobs` jobs start while jobs still arrive, and whether they do.

    Jobs that arrive later can delay a waiting one. So as many are added as it takes until the last measured
    job has started, or has ended where it can be delayed even then; a system in which that takes too many is
    saturated.
    """
    hosts, draw = machines.of(machine), module_of(workload).draw
    tail = max(n_jobs // 8, 100)
    while True:
        made = schedule(draw(workload, hosts, load, n_jobs + tail, seed), hosts, rules)
        settled = made.start if made.waited is None else made.end
        if settled[:n_jobs].max() <= made.jobs.submit[-1]:
            return made, True
        if tail >= LONGEST_TAIL * n_jobs:
            return made, False
        tail *= 2


def _measured(
    made: Schedule, rules: Rules, batches: Batches, look: int, source: Source | None = None
) -> dict[str, Floats]:
    """Return the metrics of the first `look` batches after the warm-up."""
    n_batches = batches.warmup + look if look else 0
    period = () if source is None else (source.measured, source.until)
    metrics = measure(made, batches.size, n_batches, rules.bound, *period)
    return {name: values[batches.warmup :] for name, values in metrics.items()}


def _is_enough(batches: Batches, metrics: Mapping[str, Floats]) -> bool:
    """Ask the stopping rule, about those groups only that every batch has jobs of."""
    if batches.enough is None:
        return False
    known = {n: ~np.isnan(v).any(axis=0) for n, v in metrics.items() if v.ndim == 2}
    return batches.enough({n: v[:, known[n]] if n in known else v for n, v in metrics.items()})
