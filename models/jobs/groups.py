"""Groups of jobs by which measures are reported: data, not code (``conf/groups``).

A grouping is a dimension of the dataset. It divides jobs by ranges of a number (runtime, processors, …), by
quantiles of the work in the order of a number, by a site's classes with limits, by the scheduling class of
the workload, or by names in a log: users, partitions, accounts, QOS, reservations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from models import checks
from models.arrays import Floats, Ints
from models.jobs.job_classes import JOB_CLASSES
from models.jobs.jobs import Jobs
from models.jobs.machine import KB_IN_GB
from models.point import Parameters

NO_GROUP = -1

MOST_EDGE = 1e18
MOST_RANKS = 10_000
OTHERS = "others"
UNKNOWN = -1

NAMED = ("user", "partition", "account", "qos", "reservation")
"""Columns of jobs with the numbers of names in a log."""

LIMITS = ("within limits", "above a limit")
"""Groups by `Jobs.over_limit`."""

MOST_QUANTILES = 100

NUMBERS = {
    "runtime": lambda jobs: jobs.runtime,
    "requested": lambda jobs: jobs.requested,
    "processors": lambda jobs: jobs.size,
    "memory_gb": lambda jobs: jobs.memory / KB_IN_GB,
    "work": lambda jobs: jobs.size * jobs.runtime,
}
"""Numbers that ranges and limits may use: seconds, processors, GB of a whole job, processor-seconds."""

KEYS = ("name", "dim", "by", "edges", "labels", "ranks", "classes", "quantiles")


@dataclass(frozen=True)
class Grouping:
    """One division of jobs into groups.

    Parameters
    ----------
    name : str
        Suffix of the metrics: ``wait_by_NAME``.
    dim : str
        Dimension of the dataset.
    labels : tuple of str
        Its coordinates.
    by : str
        A key of `NUMBERS`, one of `NAMED`, ``over_limit``, ``job_class`` or ``classes``.
    edges : tuple of float
        Lower ends of the second range, the third, and so on.
    classes : tuple of mapping
        The limits of each class on `NUMBERS`, all inclusive; a job is in the first class whose limits it
        meets.
    quantiles : int
        Number of groups with equal work, as far as jobs with the same number allow; 0 if edges are given.
    """

    name: str
    dim: str
    labels: tuple[str, ...]
    by: str
    edges: tuple[float, ...] = ()
    classes: tuple[Mapping[str, float], ...] = ()
    quantiles: int = 0

    @property
    def is_named(self) -> bool:
        """Whether the groups are ranks of users or other names in a log."""
        return self.by in NAMED

    @property
    def is_numbered(self) -> bool:
        """Whether the meaning of a label depends on the workload."""
        return self.is_named or self.quantiles > 0

    @classmethod
    def of(cls, name: str, given: object) -> Grouping:
        """Read a YAML file of ``conf/groups``; ``ValueError`` with one line for a mistake."""
        where = f"groups {name}: "
        keys = checks.mapping(given, f"groups {name}", KEYS)
        dim = str(keys.get("dim", name))
        if not dim.isidentifier():
            checks.refuse(f"{where}dim", dim, "letters, digits and '_'")
        if (each := keys.get("classes")) is not None:
            classes = [_class(f"{where}classes[{i}]", one) for i, one in enumerate(_list(each))]
            names = [*(label for label, _ in classes), "other"]
            if len(set(names)) < max(len(names), 2):
                checks.refuse(f"{where}classes", each, "a list of classes, each with a name of its own")
            return cls(name, dim, tuple(names), "classes", classes=tuple(limits for _, limits in classes))
        by = checks.choice(keys, f"groups {name}", "by", (*NUMBERS, *NAMED, "over_limit", "job_class"))
        if by == "job_class":
            return cls(name, dim, JOB_CLASSES, by)
        if by == "over_limit":
            return cls(name, dim, LIMITS, by)
        if "quantiles" in keys:
            allowed = f"a whole number from 2 to {MOST_QUANTILES}"
            n = checks.whole(keys, f"groups {name}", "quantiles", allowed, least=2, most=MOST_QUANTILES)
            return cls(name, dim, tuple(str(one) for one in range(1, n + 1)), by, quantiles=n)
        if by in NAMED:
            allowed = f"a positive whole number, at most {MOST_RANKS:,}"
            ranks = checks.whole({"ranks": 20, **keys}, f"groups {name}", "ranks", allowed, most=MOST_RANKS)
            return cls(name, dim, (*(str(rank) for rank in range(1, ranks + 1)), OTHERS), by)
        edges = _list(keys.get("edges"))
        numeric = all(isinstance(edge, int | float) and abs(edge) <= MOST_EDGE for edge in edges)
        if not edges or not numeric or sorted(set(edges)) != edges:
            checks.refuse(f"{where}edges", keys.get("edges"), "ascending numbers with which ranges begin")
        names = [str(label) for label in _list(keys.get("labels") or _labels(edges))]
        if len(names) != len(edges) + 1 or len(set(names)) < len(names):
            checks.refuse(f"{where}labels", names, f"{len(edges) + 1} names, one for each range")
        return cls(name, dim, tuple(names), by, tuple(map(float, edges)))


class Groups:
    """All groupings of a study, for the jobs of one workload.

    Parameters
    ----------
    all_jobs : Jobs
        All jobs that are measured: users are ranked by their work among these.
    """

    def __init__(self, groupings: Sequence[Grouping], all_jobs: Jobs) -> None:
        self.groupings = groupings
        self._ranked = {grouping.name: _ranked(grouping, all_jobs) for grouping in groupings}

    def of(self, grouping: Grouping, jobs: Jobs) -> Ints:
        """Return the position in `Grouping.labels` of every job's group, or `NO_GROUP`."""
        if grouping.is_named:
            return self._ranks(grouping, jobs)
        if grouping.by == "classes":
            return _first_class(grouping, jobs)
        if grouping.by == "job_class":
            return np.full(len(jobs), NO_GROUP) if jobs.job_class is None else jobs.job_class
        if grouping.by == "over_limit":
            return np.full(len(jobs), NO_GROUP) if jobs.over_limit is None else jobs.over_limit.astype(int)
        values = NUMBERS[grouping.by](jobs)
        if grouping.quantiles:
            largest = self._ranked[grouping.name]
            found = np.minimum(np.searchsorted(largest, values), len(largest) - 1)
        else:
            found = np.searchsorted(grouping.edges, values, side="right")
        return np.where(np.isnan(values), NO_GROUP, found)

    def numbers(self, grouping: Grouping) -> Floats:
        """Return the meaning of each label, shape (n_labels,): the number in the log at a rank, the largest
        number in a quantile; NaN if a label has no jobs."""
        known = self._ranked[grouping.name]
        numbers = np.full(len(grouping.labels), np.nan)
        numbers[: known.size] = known
        return numbers

    def _ranks(self, grouping: Grouping, jobs: Jobs) -> Ints:
        others = len(grouping.labels) - 1
        known, column = self._ranked[grouping.name], getattr(jobs, grouping.by)
        if column is None or not known.size:
            return np.full(len(jobs), others if grouping.by == "user" else NO_GROUP)
        order = np.argsort(known)
        at = order[np.minimum(np.searchsorted(known, column, sorter=order), known.size - 1)]
        return np.where(known[at] == column, at, others)


def _list(given: object) -> list[Any]:
    """Return a list as it is, an empty one for anything else."""
    return given if isinstance(given, list) else []


def _class(where: str, given: Any) -> tuple[str, Mapping[str, float]]:
    keys = checks.mapping(given, where, ("name", *NUMBERS))
    limits = {key: checks.number(keys, where, key, "a number") for key in keys if key != "name"}
    if "name" not in keys or not limits:
        checks.refuse(where, given, f"a name, and a limit of one or more of {', '.join(NUMBERS)}")
    return str(keys["name"]), limits


def _labels(edges: Sequence[float]) -> list[str]:
    inner = [f"{low:g} to {high:g}" for low, high in pairwise(edges)]
    return [f"under {edges[0]:g}", *inner, f"{edges[-1]:g} and more"]


def _first_class(grouping: Grouping, jobs: Jobs) -> Ints:
    found = np.full(len(jobs), len(grouping.classes))
    for number, limits in reversed(list(enumerate(grouping.classes))):
        meets = np.ones(len(jobs), bool)
        for key, most in limits.items():
            meets &= NUMBERS[key](jobs) <= most  # false for an unknown request
        found[meets] = number
    return found


def _ranked(grouping: Grouping, jobs: Jobs) -> Ints:
    """Return the users (or the like) with the most work, in descending order, ties by number.

    For quantiles, return the largest number in each, ascending.
    """
    named = getattr(jobs, grouping.by) if grouping.is_named else None
    values = NUMBERS[grouping.by](jobs) if grouping.quantiles else named
    if values is None or not len(values):
        return np.zeros(0, np.int64)
    numbers, which = np.unique(values, return_inverse=True)
    work = np.bincount(which, jobs.size * jobs.runtime, numbers.size)
    if grouping.quantiles:
        middle = (np.cumsum(work) - work / 2) / max(work.sum(), 1.0)
        quantile = np.floor(grouping.quantiles * middle)
        return numbers[np.append(np.flatnonzero(np.diff(quantile)), numbers.size - 1)]
    work[numbers == UNKNOWN] = -1.0
    first = np.argsort(-work, kind="stable")[: len(grouping.labels) - 1]
    return numbers[first[numbers[first] != UNKNOWN]]


def groupings(given: Parameters) -> tuple[Grouping, ...]:
    """Return the groupings of ``measures.groups``: name -> YAML file."""
    return tuple(Grouping.of(name, file) for name, file in given.items())
