"""The work of a worker: run a bundle of tasks, log the results, and return a summary.

The results go to the worker's own log, not back through the executor, which gets a few numbers per task.
"""

import json
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from models.family import Family, Outcome
from models.kernels import cache as kernel_cache
from models.kernels import progress
from models.point import Point
from sweep import statistics
from sweep.config import canonical
from sweep.errors import RunError, SweepError
from sweep.plan import families, sources
from sweep.plan.identity import ASKED, runs_planned_code
from sweep.plan.task import Bundle, Result, Stopping, Task
from sweep.statistics.warmup import truncation
from sweep.store.records import Failed, Finished
from sweep.store.shards import Shard


def work(bundle: Bundle) -> list[Result]:
    """Run every task of a bundle and log all of them with one write.

    Raises
    ------
    RunError
        If the log cannot be written; the tasks then count as not run. An exception in a task is not
        raised: it is recorded with its traceback.
    """
    _load(bundle.tasks)
    records = []
    for task in bundle.tasks:
        with progress.shown_in(bundle.progress_of(task)):
            records.append(_record_of(task))
    return _log(records, bundle)


def give_up(bundle: Bundle, reason: str) -> list[Result]:
    """Log all tasks of a bundle as failed; for executors whose workers died while running it."""
    return _log([failed(task, reason) for task in bundle.tasks], bundle)


def _log(records: list[Finished | Failed], bundle: Bundle) -> list[Result]:
    try:
        shard(bundle.shards, bundle.log).append(records)
    except OSError as error:
        raise RunError(
            f"{bundle.shards}: results cannot be written ({error.strerror}); everything written before is "
            "kept: free some disk space, then run the same command again"
        ) from None
    return [Result(r.id, isinstance(r, Failed), r.seconds, getattr(r, "jobs", 0)) for r in records]


@cache
def shard(folder: Path, log: str | None = None) -> Shard:
    """Return this process's own log in a results folder, or one that it shares."""
    return Shard(folder, log)


def simulate(task: Task) -> Finished | Failed:
    """Run one task; any exception becomes a record."""
    _load([task])
    return _record_of(task)


def _record_of(task: Task) -> Finished | Failed:
    start = time.perf_counter()
    try:
        family = families.find(task.family)
        outcome = family.simulate(point(task, family))
        seconds = time.perf_counter() - start
        _refuse_changed_code(task, family)
        return _finished(task, family, outcome, seconds)
    except Exception:
        return failed(task, traceback.format_exc(), time.perf_counter() - start)


_checked: set[str] = set()
"""The code parts of the identities of tasks that ran with that code in this process."""


def _refuse_changed_code(task: Task, family: Family) -> None:
    """Refuse a result of a user's code that was changed between the plan and its import here.

    Checked after the run and not before: the import that counts may be one that the simulation makes.
    """
    code = task.id[ASKED:]
    if code in _checked:
        return
    point = task.point
    own = sources.foreign([{"family": family.package}, point.policy, point.workload, point.measures])
    if own and not runs_planned_code(task, family):
        raise SweepError(
            f"{', '.join(own)}, or what it imports, has changed since the study was planned; run the "
            "command again to plan with the new version"
        )
    _checked.add(code)


_loaded: set[str] = set()
"""Modules whose kernels this process has loaded."""


def _load(tasks: Iterable[Task]) -> None:
    """Load the kernels that tasks need, once in a process and before the clock of a task's cost starts.

    An error of loading is raised again, and recorded, by the task itself.
    """
    # By identity: a bundle's tasks share these mappings, whose content would take longer to compare.
    systems = {
        (task.family, id(task.point.policy), id(task.point.workload), id(task.point.machine)): task.point
        for task in tasks
    }
    for (package, *_), point in systems.items():
        with suppress(Exception):  # the task fails with the same error, and its record has the traceback
            family = families.find(package)
            if not _loaded.issuperset(needed := family.needed([point])):
                family.warm_up([point])
                kernel_cache.preload(needed)
                _loaded.update(needed)


def failed(task: Task, report: str, seconds: float = 0.0) -> Failed:
    """Return the record of a task that failed."""
    return Failed(task.id, seconds, list(task.point.seed), dict(task.at), task.replication, report)


def point(task: Task, family: Family) -> Point:
    """Return the arguments of the model, with the stopping rule built here, in the worker."""
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


@cache
def _own_shapes(package: str | Family, measures: str) -> dict[str, tuple[int, ...]]:
    """Return the shape of each metric that a family declares, beyond the batch."""
    family, given = families.find(package), json.loads(measures)
    coords = family.coordinates(given)
    return {metric.name: tuple(len(coords[dim]) for dim in metric.dims) for metric in family.measured(given)}


def _finished(task: Task, family: Family, outcome: Outcome, seconds: float) -> Finished:
    """Return the record of a task, after a check of its arrays against the family's declaration."""
    declared = _own_shapes(task.family, canonical.text(task.point.measures))
    if outcome.metrics.keys() != declared.keys():
        raise ValueError(
            f"family {family.name} declares {sorted(declared)}, returned {sorted(outcome.metrics)}"
        )
    # Little endian, whatever the machine: a log may be read on another one.
    arrays = {name: np.asarray(outcome.metrics[name], dtype="<f8") for name in declared}
    for name, values in arrays.items():
        if not values.shape or values.shape[1:] != declared[name]:
            raise ValueError(
                f"metric {name}: shape {values.shape}, declared (n_batches, ...) with {declared[name]}"
            )
    lengths = sorted({len(values) for values in arrays.values()})
    checkpoints = task.measurement.checkpoints
    if len(lengths) > 1 or lengths[-1] > checkpoints[-1]:
        raise ValueError(f"metrics with {lengths} batches; declared checkpoints {checkpoints}")
    return Finished(
        task.id,
        seconds,
        int(outcome.jobs),
        bool(outcome.overflowed),
        lengths[-1],
        tuple((name, values.size) for name, values in arrays.items()),
        b"".join(values.tobytes() for values in arrays.values()),
    )
