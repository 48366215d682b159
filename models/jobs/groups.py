"""Groups of jobs by which measures are reported: data, not code (``conf/groups``).

A grouping is a dimension of the dataset. It divides jobs by ranges of a number (runtime, processors, …), by
classes with limits (a site's), by the scheduling class of the workload, or by user.
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
UNKNOWN_USER = -1

NUMBERS = {
    "runtime": lambda jobs: jobs.runtime,
    "requested": lambda jobs: jobs.requested,
    "processors": lambda jobs: jobs.size,
    "memory_gb": lambda jobs: jobs.memory / KB_IN_GB,
    "work": lambda jobs: jobs.size * jobs.runtime,
}
"""Numbers that ranges and limits may use: seconds, processors, GB of a whole job, processor-seconds."""

KEYS = ("name", "dim", "by", "edges", "labels", "ranks", "classes")


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
        A key of `NUMBERS`, ``user``, ``job_class`` or ``classes``.
    edges : tuple of float
        Lower ends of the second range, the third, and so on.
    classes : tuple of mapping
        Of each class the limits of `NUMBERS`, each inclusive; a job is in the first whose limits it meets.
    """

    name: str
    dim: str
    labels: tuple[str, ...]
    by: str
    edges: tuple[float, ...] = ()
    classes: tuple[Mapping[str, float], ...] = ()

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
        by = checks.choice(keys, f"groups {name}", "by", (*NUMBERS, "user", "job_class"))
        if by == "job_class":
            return cls(name, dim, JOB_CLASSES, by)
        if by == "user":
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
        self._users = {grouping.name: _ranked(grouping, all_jobs) for grouping in groupings}

    def of(self, grouping: Grouping, jobs: Jobs) -> Ints:
        """Return the position in `Grouping.labels` of every job's group, or `NO_GROUP`."""
        if grouping.by == "user":
            return self._ranks(grouping, jobs)
        if grouping.by == "classes":
            return _first_class(grouping, jobs)
        if grouping.by == "job_class":
            return np.full(len(jobs), NO_GROUP) if jobs.job_class is None else jobs.job_class
        values = NUMBERS[grouping.by](jobs)
        found = np.searchsorted(grouping.edges, values, side="right")
        return np.where(np.isnan(values), NO_GROUP, found)

    def numbers(self, grouping: Grouping) -> Floats:
        """Return the users' numbers in the log by rank, shape (n_labels,), NaN where a rank has none."""
        users = self._users[grouping.name]
        numbers = np.full(len(grouping.labels), np.nan)
        numbers[: users.size] = users
        return numbers

    def _ranks(self, grouping: Grouping, jobs: Jobs) -> Ints:
        others = len(grouping.labels) - 1
        users = self._users[grouping.name]
        if jobs.user is None or not users.size:
            return np.full(len(jobs), others)
        order = np.argsort(users)
        at = order[np.minimum(np.searchsorted(users, jobs.user, sorter=order), users.size - 1)]
        return np.where(users[at] == jobs.user, at, others)


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
    """Return the users with the most work, in descending order; ties by number."""
    if grouping.by != "user" or jobs.user is None:
        return np.zeros(0, np.int64)
    users, which = np.unique(jobs.user, return_inverse=True)
    work = np.bincount(which, jobs.size * jobs.runtime, users.size)
    work[users == UNKNOWN_USER] = -1.0
    first = np.argsort(-work, kind="stable")[: len(grouping.labels) - 1]
    return users[first[users[first] != UNKNOWN_USER]]


def groupings(given: Parameters) -> tuple[Grouping, ...]:
    """Return the groupings of ``measures.groups``: name -> YAML file."""
    return tuple(Grouping.of(name, file) for name, file in given.items())
