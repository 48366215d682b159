"""The measures that are meaningful under every policy: one name, one definition, one implementation.

========================  ==============================================================================
``wait``                  seconds from submission to the first processor
``response_time``         seconds from submission to the end
``slowdown``              response time / runtime
``bounded_slowdown``      response time / max(runtime, bound), at least 1
``utilization``           processor time delivered / capacity
``jobs_in_system``        time average of the jobs that are submitted and have not ended
========================  ==============================================================================

The first four are measures of jobs: mean, 95th percentile and maximum over the jobs of a batch, for all jobs
and by the groups that a study requests. The other two are measures of the machine; a family computes them
over the same batches.

References
----------
D. G. Feitelson and L. Rudolph, "Metrics and benchmarking for parallel job scheduling", in *Job Scheduling
Strategies for Parallel Processing*, LNCS 1459, 1998 (bounded slowdown).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from models import checks, dotted
from models.arrays import Floats, Ints
from models.jobs.groups import Grouping, Groups, groupings
from models.jobs.jobs import Jobs
from models.metric import Metric
from models.point import Parameters

OF_JOBS = {
    "wait": ("s", "wait"),
    "response_time": ("s", "response time"),
    "slowdown": ("1", "slowdown"),
    "bounded_slowdown": ("1", "bounded slowdown"),
}
OF_MACHINE = {
    "utilization": ("1", "utilization"),
    "jobs_in_system": ("1", "average number of jobs in the system"),
}
COMMON = (*OF_JOBS, *OF_MACHINE)
"""Names of the common measures, for `models.family.Family.common`."""

STATISTICS = {"": "mean", "_p95": "95th percentile of", "_max": "maximum"}
PERCENT = 0.95

BOUND_S = 10.0


@dataclass(frozen=True)
class JobMeasure:
    """A measure of jobs that a user brings: ``measures.of_jobs=[mine.metrics.wait_of_request]``.

    Its name in the dataset is the last part of the dotted name.

    Parameters
    ----------
    unit, long_name : str
        See `models.metric.Metric`; the statistic comes before the long name.
    value : callable
        (`Jobs`, values) -> ndarray, shape (n_jobs,). The jobs are as they ran, with the workload's columns;
        values is a mapping with ``wait`` and ``response_time`` (s), shape (n_jobs,).

    Examples
    --------
    >>> def value(jobs, values):
    ...     return values["wait"] / jobs.requested
    >>> relative_wait = JobMeasure("1", "wait / requested time", value)
    """

    unit: str
    long_name: str
    value: Callable[[Jobs, Mapping[str, Floats]], Floats]

    def values(self, name: str, jobs: Jobs, values: Mapping[str, Floats]) -> Floats:
        """Return the checked value of each job; ``ValueError`` if the number differs."""
        found = np.asarray(self.value(jobs, MappingProxyType(values)), dtype=np.float64)
        if found.shape != (len(jobs),):
            raise ValueError(
                f"measures.of_jobs: {name} returned an array of shape {found.shape} for {len(jobs)} jobs; "
                "return one number for each job"
            )
        return found


def _own(given: object) -> dict[str, JobMeasure]:
    """Return a user's measures by name."""
    found: dict[str, JobMeasure] = {}
    allowed = "a list of dotted names of models.jobs.measures.JobMeasure objects"
    if not isinstance(given, list | tuple):
        checks.refuse("measures.of_jobs", given, allowed)
    for name in given:
        short, measure, why = str(name).rpartition(".")[2], None, ""
        try:
            measure = dotted.imported(str(name))
        except ImportError as error:
            why = f" cannot be imported ({error})"
        if not isinstance(measure, JobMeasure):
            checks.refuse("measures.of_jobs", f"{name}{why}", allowed)
        if short in (*COMMON, "delay", "jobs") or short in found:
            checks.refuse("measures.of_jobs", name, f"names that no other measure has, and {short} is one")
        found[short] = measure
    return found


@dataclass(frozen=True)
class Measures:
    """How the jobs of a study are measured: ``measures`` of conf/config.yaml.

    Parameters
    ----------
    bound : float, seconds
        Minimum runtime in the bounded slowdown; a shorter one counts as this.
    own : mapping of str to JobMeasure
        A user's measures by name.
    """

    bound: float = BOUND_S
    groups: tuple[Grouping, ...] = ()
    own: Mapping[str, JobMeasure] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Parameters) -> Measures:
        """Return the checked values; ``ValueError`` with one line for a value that is not allowed."""
        bound = checks.number({"bound": BOUND_S, **given}, "measures", "bound", checks.SECONDS, above=0)
        return cls(float(bound), groupings(given.get("groups") or {}), _own(given.get("of_jobs") or []))

    @property
    def reads_columns(self) -> bool:
        """Whether columns of the workload beyond submission, runtime and processors may be read."""
        return bool(self.groups or self.own)


def declared(
    common: Sequence[str], measures: Measures, extra: Mapping[str, tuple[str, str]]
) -> tuple[Metric, ...]:
    """Return the metrics of a family that has these common measures, and more measures of jobs of its own."""
    of_jobs = {name: OF_JOBS[name] for name in common if name in OF_JOBS} | dict(extra)
    if of_jobs:
        of_jobs |= {name: (measure.unit, measure.long_name) for name, measure in measures.own.items()}
    # A mean over jobs is weighted by its jobs; a percentile or a maximum of a batch is one number.
    found = [
        Metric(f"{name}{suffix}", unit, f"{statistic} {long_name}", weight="" if suffix else "jobs")
        for name, (unit, long_name) in of_jobs.items()
        for suffix, statistic in STATISTICS.items()
    ]
    if of_jobs:
        found.append(Metric("jobs", "1", "number of jobs"))
    found += [Metric(name, *OF_MACHINE[name], weight="period") for name in common if name in OF_MACHINE]
    for group in measures.groups if of_jobs else ():
        dims = (group.dim,)
        for name, (unit, long_name) in of_jobs.items():
            jobs = f"jobs_by_{group.name}"
            found += [
                Metric(
                    f"{name}{suffix}_by_{group.name}", unit, f"{statistic} {long_name}", dims,
                    "" if suffix else jobs,
                )
                for suffix, statistic in STATISTICS.items()
            ]  # fmt: skip
        found.append(Metric(f"jobs_by_{group.name}", "1", "number of jobs", dims))
        if group.is_numbered:
            what = "number in the log" if group.is_named else f"largest {group.by}"
            found.append(Metric(f"work_by_{group.name}", "s", "processor time", dims))
            found.append(Metric(f"number_by_{group.name}", "1", f"{group.name}: {what}", dims))
    return tuple(found)


def coordinates(measures: Measures) -> dict[str, tuple[str, ...]]:
    """Return the coordinates of the groups' dimensions."""
    return {group.dim: group.labels for group in measures.groups}


def of_jobs(
    jobs: Jobs,
    values: Mapping[str, Floats],
    batch: Ints,
    n_batches: int,
    measures: Measures,
    all_jobs: Jobs | None = None,
) -> dict[str, Floats]:
    """Return the measures of jobs, see `declared`.

    Parameters
    ----------
    jobs : Jobs
        As they ran: a killed job has the runtime until its end.
    values : mapping of str to ndarray, shape (n_jobs,)
        ``wait``, ``response_time`` and the family's own measures of jobs, in seconds; a user's measures are
        added, and the slowdowns if there is a response time.
    batch : ndarray of int, shape (n_jobs,)
        The batch of each job, from 0 on.
    all_jobs : Jobs, optional
        All jobs that are measured, if `jobs` are only some of them: users are ranked among these.

    Returns
    -------
    dict of str to ndarray, shape (n_batches,) or (n_batches, n_labels)
        NaN for a batch or a group without a job.
    """
    own = {name: measure.values(name, jobs, values) for name, measure in measures.own.items()}
    names, rows = _rows(jobs.runtime, {**values, **own}, measures.bound)
    metrics = _described(names, rows, batch, n_batches)
    groups = Groups(measures.groups, jobs if all_jobs is None else all_jobs)
    for group in measures.groups:
        n = len(group.labels)
        member = groups.of(group, jobs)
        cell = np.where(member < 0, -1, batch * n + member)
        for name, found in _described(names, rows, cell, n_batches * n).items():
            metrics[f"{name}_by_{group.name}"] = found.reshape(n_batches, n)
        if group.is_numbered:
            known = cell >= 0
            work = np.bincount(cell[known], (jobs.size * jobs.runtime)[known], n_batches * n).astype(float)
            metrics[f"work_by_{group.name}"] = work.reshape(n_batches, n)
            metrics[f"number_by_{group.name}"] = np.tile(groups.numbers(group), (n_batches, 1))
    return metrics


def _rows(runtime: Floats, values: Mapping[str, Floats], bound: float) -> tuple[list[str], Floats]:
    """Return the names of the measures of jobs, and their values, shape (n_names, n_jobs)."""
    names = list(values)
    response = values.get("response_time")
    if response is not None:
        names += ["slowdown", "bounded_slowdown"]
    rows = np.empty((len(names), len(runtime)))
    for row, given in zip(rows, values.values(), strict=False):
        row[:] = given
    if response is not None:
        slowdown, bounded = rows[-2:]
        np.divide(response, runtime, out=slowdown)
        np.maximum(runtime, bound, out=bounded)
        np.divide(response, bounded, out=bounded)
        np.maximum(bounded, 1.0, out=bounded)
    return names, rows


def _described(names: Sequence[str], rows: Floats, cell: Ints, n_cells: int) -> dict[str, Floats]:
    """Return number, means, 95th percentiles (interpolated linearly) and maxima of the jobs in each cell.

    Jobs with a negative cell are ignored. O(jobs) on average, once they are sorted by cell.
    """
    order = np.argsort(cell, kind="stable") if (cell[1:] < cell[:-1]).any() else slice(None)
    cell, rows = cell[order], rows[:, order]
    begin = np.searchsorted(cell, np.arange(n_cells + 1))
    number = np.diff(begin)
    kept = slice(begin[0], None)
    # Added one by one, so that the number of rows and the division of jobs change no bit.
    total = np.array([np.bincount(cell[kept], row[kept], n_cells) for row in rows]).reshape(
        len(rows), n_cells
    )
    mean, p95, largest = np.full((3, len(names), n_cells), np.nan)
    np.divide(total, number, out=mean, where=number > 0)
    position = PERCENT * (number - 1)
    for c in np.flatnonzero(number):
        last, below = int(number[c]) - 1, int(position[c])
        above = min(below + 1, last)
        partitioned = np.partition(rows[:, begin[c] : begin[c + 1]], (below, above), axis=1)
        low, high = partitioned[:, below], partitioned[:, above]
        p95[:, c] = low + (high - low) * (position[c] - below)
        largest[:, c] = partitioned[:, above:].max(axis=1)
    found = {"jobs": number.astype(np.float64)}
    for row, name in enumerate(names):
        found |= {name: mean[row], f"{name}_p95": p95[row], f"{name}_max": largest[row]}
    return found
