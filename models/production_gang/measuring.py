"""The measures of a run of production gang scheduling beyond its schedule, batch by batch."""

from collections.abc import Mapping

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.calendar import DAY
from models.jobs.division import Division
from models.jobs.job_classes import INTERACTIVE, JOB_CLASSES
from models.jobs.schedule import Schedule
from models.production_gang.daytime import HOUR, of_day, parts_of_days
from models.production_gang.metrics import BEGUN, FEW_PERCENT, HOURS, LENGTH_EDGES, LENGTHS, SIZES, WORKDAYS
from models.production_gang.systems import Run, area, steps

LOSSES = ("switching_share", "packing_loss", "limits_loss")


def of_run(run: Schedule, division: Division, edges: Floats) -> dict[str, Floats]:
    """Return the metrics of `models.production_gang.metrics` that a schedule lacks, shape (n_batches, ...).

    Parameters
    ----------
    run : Run
        The run, typed as any schedule by `models.jobs.outcomes`.
    division : Division
        The jobs of each batch.
    edges : ndarray of float, shape (n_batches + 1,), seconds
        When batches begin and the last one ends.
    """
    these, batch, n = division.these, division.batch, division.n_batches
    jobs = run.jobs.part(these)
    assert isinstance(run, Run)
    assert jobs.job_class is not None
    response = run.response_time[these]
    preempted = run.preemptions[these]
    classes = len(JOB_CLASSES)
    cell = batch * classes + jobs.job_class

    def by_class(values: np.ndarray) -> Floats:
        return _sums(cell, values, (n, classes))

    with np.errstate(divide="ignore", invalid="ignore"):  # a batch without a job, a class without one
        number, runtime = by_class(np.ones(len(jobs))), by_class(jobs.runtime)
        found = {
            "preemptions": np.bincount(batch, preempted, n) / np.bincount(batch, minlength=n),
            "class_jobs": number,
            "class_runtime": runtime,
            "class_work": by_class(jobs.runtime * jobs.size),
            "class_slowdown": by_class(response) / runtime,
            "class_preempted": by_class(preempted > 0) / number,
        }
    power = np.minimum(np.ceil(np.log2(jobs.size)), len(SIZES) - 1).astype(np.int64)
    cells = batch * len(SIZES) + power
    found["partition_work"] = _sums(cells, jobs.runtime * jobs.size, (n, len(SIZES)))
    interactive = jobs.job_class == INTERACTIVE
    hour = ((jobs.submit + run.clock) % DAY // HOUR).astype(np.int64)
    length = np.searchsorted(LENGTH_EDGES, jobs.runtime, side="right")
    wait = run.wait[these]
    marks = {name: wait <= seconds for name, seconds in BEGUN.items()}
    marks |= {"preempted": preempted > 0, "undelayed": response < FEW_PERCENT * jobs.runtime}
    marks = {name: mark[interactive] for name, mark in marks.items()}
    for suffix, group, n_groups in (("hour", hour, len(HOURS)), ("length", length, len(LENGTHS))):
        at = (batch * n_groups + group)[interactive]
        found |= _of_interactive(
            suffix, at, (n, n_groups), jobs.runtime[interactive], response[interactive], marks
        )
    return found | _of_machine(run, edges) | _of_classes(run, edges) | of_day(run, edges)


def _sums(cell: Ints, values: np.ndarray, shape: tuple[int, int]) -> Floats:
    """Return the sums of values by cell."""
    return np.bincount(cell, values, shape[0] * shape[1]).reshape(shape).astype(np.float64)


def _of_interactive(
    suffix: str, cell: Ints, shape: tuple[int, int], runtime: Floats, response: Floats,
    marks: Mapping[str, np.ndarray],
) -> dict[str, Floats]:  # fmt: skip
    number, total = _sums(cell, np.ones(len(cell)), shape), _sums(cell, runtime, shape)
    largest = np.full(shape, -np.inf)
    np.maximum.at(largest.reshape(-1), cell, response / runtime)
    with np.errstate(divide="ignore", invalid="ignore"):
        slowdown = _sums(cell, response, shape) / total
        shares = {name: _sums(cell, mark, shape) / number for name, mark in marks.items()}
    return {f"interactive_{name}_by_{suffix}": share for name, share in shares.items()} | {
        f"interactive_jobs_by_{suffix}": number,
        f"interactive_runtime_by_{suffix}": total,
        f"interactive_slowdown_by_{suffix}": slowdown,
        f"interactive_slowdown_max_by_{suffix}": np.where(number > 0, largest, np.nan),
    }


def _of_machine(run: Run, edges: Floats) -> dict[str, Floats]:
    """Return the shares of the processor time that no job gets."""
    levels, capacity = run.levels, run.machine.total * np.diff(edges)
    losses = zip(LOSSES, (levels.switching, levels.packing, levels.limits), strict=True)
    delivered = np.diff(area(*steps(run.runs.begin, run.runs.end, run.runs.processors), edges))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = {name: np.diff(area(levels.time, lost, edges)) / capacity for name, lost in losses}
        left = 1 - delivered / capacity - sum(found.values())
    # A share of a batch is negative only by rounding.
    return found | {"no_work_share": np.where(np.abs(left) < 1e-9, 0.0, left)} | _of_weekends(run, edges)


def _of_weekends(run: Run, edges: Floats) -> dict[str, Floats]:
    """Return the time of weekdays and of weekends, and its share without work, NaN without such time."""
    levels, n = run.levels, len(edges) - 1
    cuts, batch, _, weekday = parts_of_days(run.clock, edges)
    length, weekend = np.diff(cuts), weekday >= WORKDAYS
    used = np.diff(area(*steps(run.runs.begin, run.runs.end, run.runs.processors), cuts))
    for level in (levels.switching, levels.packing, levels.limits):
        used += np.diff(area(levels.time, level, cuts))
    found = {}
    for days_of, chosen in (("weekdays", ~weekend), ("weekends", weekend)):
        found[days_of] = np.bincount(batch[chosen], length[chosen], n).astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = 1 - np.bincount(batch[chosen], used[chosen], n) / (run.machine.total * found[days_of])
        found[f"no_work_{days_of}"] = np.where(np.abs(share) < 1e-9, 0.0, share)
    return found


def _of_classes(run: Run, edges: Floats) -> dict[str, Floats]:
    """Return which jobs end and what is delivered between edges, whenever they were submitted."""
    job_class, pieces = run.jobs.job_class, run.runs
    assert job_class is not None
    ended, delivered = [], []
    for number in range(len(JOB_CLASSES)):
        ends = np.sort(run.end[job_class == number])
        ended.append(np.diff(np.searchsorted(ends, edges)).astype(np.float64))
        its = job_class[pieces.job] == number
        level = steps(pieces.begin[its], pieces.end[its], pieces.processors[its])
        seconds = np.diff(area(*level, edges))
        delivered.append(np.where(np.abs(seconds) < 1e-6, 0.0, seconds))  # a smaller value is rounding
    return {"class_ended": np.stack(ended, axis=1), "class_delivered": np.stack(delivered, axis=1)}
