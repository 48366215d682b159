"""What a worker does: run a bundle of tasks, write down what came out, and report briefly.

The results go to the worker's own log, not back through the executor: a report is a few numbers a task.
"""

from __future__ import annotations

import time
import traceback
from binascii import b2a_base64
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from operator import is_
from pathlib import Path

import numpy as np

from models.family import Family, Outcome
from models.kernels import cache as kernel_cache
from models.point import Batches, Parameters, Point
from sweep import statistics
from sweep.errors import RunError
from sweep.plan import families
from sweep.plan.task import Bundle, Measurement, Result, Stopping, Task
from sweep.statistics.warmup import truncation
from sweep.store.backlogs import encoded
from sweep.store.shards import Failed, Finished, Shard


def work(bundle: Bundle) -> list[Result]:
    """Run every task of a bundle and log all of them with one write.

    Raises
    ------
    RunError
        If the log cannot be written; the tasks then count as not run. An exception of a task is no
        exception here: it is a record with its traceback.
    """
    return _log([simulate(task) for task in bundle.tasks], bundle)


def give_up(bundle: Bundle, reason: str) -> list[Result]:
    """Log all tasks of a bundle as failed; for executors whose workers died of it."""
    return _log([failed(task, reason) for task in bundle.tasks], bundle)


def _log(records: list[Finished | Failed], bundle: Bundle) -> list[Result]:
    try:
        shard(bundle.shards, bundle.log).append(records)
    except OSError as error:
        raise RunError(
            f"{bundle.shards}: results cannot be written ({error.strerror}); all written before are kept: "
            "make room, then type the same command to go on"
        ) from None
    return [Result(r.id, isinstance(r, Failed), r.seconds, getattr(r, "jobs", 0)) for r in records]


@cache
def shard(folder: Path, log: str | None = None) -> Shard:
    """Return this process's own log in a results folder, or one that it shares."""
    return Shard(folder, log)


def simulate(task: Task) -> Finished | Failed:
    """Run one task; whatever it raises becomes a record."""
    start = time.perf_counter()
    try:
        family = families.find(task.family)
        _load(family, task.point)
        start = time.perf_counter()  # to load kernels, once in a process, is no part of a task's cost
        outcome = family.simulate(point(task, family))
        return _finished(task, family, outcome, time.perf_counter() - start)
    except Exception:
        return failed(task, traceback.format_exc(), time.perf_counter() - start)


_loaded: set[str] = set()
"""Modules whose kernels this process has at hand."""

_looked_at: tuple[Parameters, ...] = ()
"""Policy, workload and machine whose kernels were looked for last: those very objects."""


def _load(family: Family, point: Point) -> None:
    """Load the kernels that a point needs, once in a process."""
    global _looked_at
    system = (point.policy, point.workload, point.machine)
    if len(_looked_at) == len(system) and all(map(is_, _looked_at, system)):
        return
    if not _loaded.issuperset(needed := family.needed([point])):
        family.warm_up([point])
        with suppress(ImportError):  # as long as nothing is kept on disk: the first simulation loads
            kernel_cache.preload(needed)
        _loaded.update(needed)
    _looked_at = system


def failed(task: Task, report: str, seconds: float = 0.0) -> Failed:
    """Return the record of a task that did not end well."""
    return Failed(task.id, seconds, list(task.point.seed), dict(task.at), task.replication, report)


def point(task: Task, family: Family) -> Point:
    """Return what the model is told, with the stopping rule built here, in the worker."""
    return replace(task.point, batches=batches(task.measurement, family))


def batches(measurement: Measurement, family: Family) -> Batches:
    """Return how long a simulation is measured."""
    enough = None
    if measurement.stopping is not None:
        enough = _enough(measurement.stopping, measurement.stopping.metric or family.headline)
    return replace(measurement.batches, enough=enough)


def _enough(rule: Stopping, metric: str) -> Callable[[Mapping[str, np.ndarray]], bool]:
    def enough(metrics: Mapping[str, np.ndarray]) -> bool:
        values = np.asarray(metrics[metric], dtype=np.float64)
        if rule.mser:
            values = values[truncation(values[np.newaxis]) :]
        columns = values.reshape(len(values), -1).T
        return all(
            statistics.precise_enough(column[np.newaxis], rule.relative, rule.confidence)
            for column in columns
        )

    return enough


_declared: dict[str, tuple[Family, Parameters, dict[str, tuple[int, ...]]]] = {}
"""By package: what `_own_shapes` returned last, and for what."""


def _own_shapes(family: Family, measures: Parameters) -> dict[str, tuple[int, ...]]:
    """Return the shape of each declared metric beyond the batch; not asked anew for each task."""
    known = _declared.get(family.package)
    if known is None or known[0] is not family or known[1] != measures:
        coords = family.coordinates(measures)
        shapes = {
            metric.name: tuple(len(coords[dim]) for dim in metric.dims)
            for metric in family.measured(measures)
        }
        _declared[family.package] = known = (family, measures, shapes)
    return known[2]


_DOUBLES = np.dtype("<f8")


def _finished(task: Task, family: Family, outcome: Outcome, seconds: float) -> Finished:
    """Check that the family kept to its declaration, and encode its arrays."""
    declared = _own_shapes(family, task.point.measures)
    if outcome.metrics.keys() != declared.keys():
        raise ValueError(
            f"family {family.name} declares {sorted(declared)}, returned {sorted(outcome.metrics)}"
        )
    arrays: dict[str, str] = {}
    lengths = set()
    for name, own in declared.items():
        values = np.ascontiguousarray(outcome.metrics[name], _DOUBLES)
        if values.shape[1:] != own or values.ndim == 0:
            raise ValueError(f"metric {name}: shape {values.shape}, declared (n_batches, ...) with {own}")
        lengths.add(len(values))
        arrays[name] = b2a_base64(values.data, newline=False).decode("ascii")
    if len(lengths) != 1 or max(lengths) > task.measurement.looks[-1]:
        raise ValueError(f"metrics with {sorted(lengths)} batches; declared looks {task.measurement.looks}")
    backlog = None if outcome.backlog is None else encoded(outcome.backlog)
    return Finished(task.id, seconds, int(outcome.jobs), backlog, lengths.pop(), arrays)
