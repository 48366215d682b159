"""What a worker does: run a bundle of tasks, write down what came out, and report briefly.

The results go to the worker's own log, not back through the executor: a report is a few numbers a task.
"""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from operator import is_
from pathlib import Path
from typing import NamedTuple

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
from sweep.store.shards import Failed, Finished, Layout, Shard


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
    # As `replace`, which takes twice as long.
    return Point(**{**vars(task.point), "batches": batches(task.measurement, family)})


_measured: tuple[Measurement, Family, Batches] | None = None
"""What `batches` returned last, and for what: those very objects."""


def batches(measurement: Measurement, family: Family) -> Batches:
    """Return how long a simulation is measured."""
    global _measured
    known = _measured  # once: there may be several threads
    if known is None or known[0] is not measurement or known[1] is not family:
        _measured = known = measurement, family, _batches(measurement, family)
    return known[2]


def _batches(measurement: Measurement, family: Family) -> Batches:
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


class Declared(NamedTuple):
    """What a family declares of its metrics.

    Parameters
    ----------
    family : Family
    measures : mapping
        What `own` and `layouts` are for.
    own : dict of str to tuple of int
        Shape of each metric beyond the batch.
    layouts : dict of int to Layout
        By the number of batches.
    """

    family: Family
    measures: Parameters
    own: dict[str, tuple[int, ...]]
    layouts: dict[int, Layout]

    def layout(self, n_batches: int) -> Layout:
        """Return how the values of so many batches lie in a record."""
        if n_batches not in self.layouts:
            self.layouts[n_batches] = tuple(
                (name, n_batches * math.prod(own)) for name, own in self.own.items()
            )
        return self.layouts[n_batches]


_declared: dict[str, Declared] = {}
"""By package: what `_declaration` returned last."""


def _declaration(family: Family, measures: Parameters) -> Declared:
    """Return what a family declares; not asked anew for each task."""
    known = _declared.get(family.package)
    if known is None or known.family is not family or known.measures != measures:
        coords = family.coordinates(measures)
        own = {
            metric.name: tuple(len(coords[dim]) for dim in metric.dims)
            for metric in family.measured(measures)
        }
        _declared[family.package] = known = Declared(family, measures, own, {})
    return known


_DOUBLES = np.dtype("<f8")


def _finished(task: Task, family: Family, outcome: Outcome, seconds: float) -> Finished:
    """Check that the family kept to its declaration, and put its arrays together."""
    declared = _declaration(family, task.point.measures)
    if outcome.metrics.keys() != declared.own.keys():
        raise ValueError(
            f"family {family.name} declares {sorted(declared.own)}, returned {sorted(outcome.metrics)}"
        )
    parts = []
    lengths = set()
    for name, own in declared.own.items():
        values = outcome.metrics[name]
        if not isinstance(values, np.ndarray):
            values = np.asarray(values)
        shape = values.shape
        if shape[1:] != own or not shape:
            raise ValueError(f"metric {name}: shape {shape}, declared (n_batches, ...) with {own}")
        lengths.add(shape[0])
        parts.append(values.ravel() if own else values)
    if len(lengths) != 1 or max(lengths) > task.measurement.looks[-1]:
        raise ValueError(f"metrics with {sorted(lengths)} batches; declared looks {task.measurement.looks}")
    backlog = None if outcome.backlog is None else encoded(outcome.backlog)
    n_batches = lengths.pop()
    together = np.concatenate(parts, dtype=_DOUBLES, casting="unsafe").tobytes() if parts else b""
    layout = declared.layout(n_batches)
    return Finished(task.id, seconds, int(outcome.jobs), backlog, n_batches, layout, together)
