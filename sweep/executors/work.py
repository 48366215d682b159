"""What a worker does: run a bundle of tasks, write down what came out, and report briefly.

The results go to the worker's own log, not back through the executor: a report is a few numbers a task.
"""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from models.family import Family, Outcome
from models.kernels import cache as kernel_cache
from models.point import Parameters, Point
from sweep import statistics
from sweep.errors import RunError
from sweep.plan import families
from sweep.plan.task import Bundle, Result, Stopping, Task, packed
from sweep.statistics.warmup import truncation
from sweep.store.records import Failed, Finished, Layout, encoded
from sweep.store.shards import Shard


def work(bundle: Bundle) -> list[Result]:
    """Run every task of a bundle and log all of them with one write.

    Raises
    ------
    RunError
        If the log cannot be written; the tasks then count as not run. An exception of a task is no
        exception here: it is a record with its traceback.
    """
    # One step for all tasks, then the next: a simulation puts all else out of the processor's caches.
    _load(bundle.tasks)
    ran = [_run(task) for task in bundle.tasks]
    return _log([_recorded(each) for each in ran], bundle)


def report(bundle: Bundle) -> bytes:
    """Run a bundle, and say what came of it in few bytes, see `sweep.plan.task.unpacked`.

    Dask looks at each part of what is handed back, and MPI holds up whoever sends what is long.
    """
    return packed(work(bundle))


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


Ran = tuple[Task, Family, Outcome, float]
"""A simulation that came to its end, and the seconds that it took by the clock."""


def simulate(task: Task) -> Finished | Failed:
    """Run one task; whatever it raises becomes a record."""
    _load([task])
    return _recorded(_run(task))


def _run(task: Task) -> Ran | Failed:
    start = time.perf_counter()
    try:
        family = families.find(task.family)
        return task, family, family.simulate(point(task, family)), time.perf_counter() - start
    except Exception:
        return failed(task, traceback.format_exc(), time.perf_counter() - start)


def _recorded(ran: Ran | Failed) -> Finished | Failed:
    if isinstance(ran, Failed):
        return ran
    try:
        return _finished(*ran)
    except Exception:
        task, _, _, seconds = ran
        return failed(task, traceback.format_exc(), seconds)


_loaded: set[str] = set()
"""Modules whose kernels this process has at hand."""

_looked_at: tuple[Parameters | None, ...] = (None,) * 3
"""Policy, workload and machine whose kernels were looked for last: those very objects."""


def _load(tasks: Iterable[Task]) -> None:
    """Load the kernels that tasks need, once in a process: what that takes is no part of a task's cost.

    What cannot be loaded is said by the tasks, as soon as they run.
    """
    global _looked_at
    policy, workload, machine = _looked_at
    for task in tasks:
        point = task.point
        if point.policy is policy and point.workload is workload and point.machine is machine:
            continue
        with suppress(Exception):
            family = families.find(task.family)
            if not _loaded.issuperset(needed := family.needed([point])):
                family.warm_up([point])
                with suppress(ImportError):  # as long as nothing is kept on disk: the first simulation loads
                    kernel_cache.preload(needed)
                _loaded.update(needed)
        _looked_at = policy, workload, machine = point.policy, point.workload, point.machine


def failed(task: Task, report: str, seconds: float = 0.0) -> Failed:
    """Return the record of a task that did not end well."""
    return Failed(task.id, seconds, list(task.point.seed), dict(task.at), task.replication, report)


def point(task: Task, family: Family) -> Point:
    """Return what the model is told, with the stopping rule built here, in the worker."""
    stopping = task.measurement.stopping
    if stopping is None:
        return task.point
    enough = _enough(stopping, stopping.metric or family.headline)
    return replace(task.point, batches=replace(task.point.batches, enough=enough))


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
        What `own` and `expected` are for.
    own : dict of str to tuple of int
        Shape of each metric beyond the batch.
    expected : dict of int to (list of tuple of int, Layout)
        By the number of batches: shapes, and how the values lie in a record.
    """

    family: Family
    measures: Parameters
    own: dict[str, tuple[int, ...]]
    expected: dict[int, tuple[list[tuple[int, ...]], Layout]]

    def of(self, n_batches: int) -> tuple[list[tuple[int, ...]], Layout]:
        """Return what is expected of so many batches."""
        if n_batches not in self.expected:
            shapes = [(n_batches, *own) for own in self.own.values()]
            layout = tuple((name, math.prod(shape)) for name, shape in zip(self.own, shapes, strict=True))
            self.expected[n_batches] = shapes, layout
        return self.expected[n_batches]


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
    arrays = [np.asarray(outcome.metrics[name]) for name in declared.own]
    shapes = [values.shape for values in arrays]
    n_batches = shapes[0][0] if shapes and shapes[0] else 0
    expected, layout = declared.of(n_batches)
    if shapes != expected or n_batches > task.measurement.checkpoints[-1]:
        raise ValueError(_broken(declared, shapes, task.measurement.checkpoints))
    backlog = None if outcome.backlog is None else encoded(outcome.backlog)
    together = np.concatenate(arrays, axis=None, dtype=_DOUBLES, casting="unsafe").tobytes()
    return Finished(task.id, seconds, int(outcome.jobs), backlog, n_batches, layout, together)


def _broken(declared: Declared, shapes: list[tuple[int, ...]], checkpoints: tuple[int, ...]) -> str:
    """Return how the shapes of metrics, in the order of the declaration, break it."""
    for (name, own), shape in zip(declared.own.items(), shapes, strict=True):
        if not shape or shape[1:] != own:
            return f"metric {name}: shape {shape}, declared (n_batches, ...) with {own}"
    return (
        f"metrics with {sorted({shape[0] for shape in shapes})} batches; declared checkpoints {checkpoints}"
    )
