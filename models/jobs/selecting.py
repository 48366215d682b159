"""Selects a log's jobs by a table of rules: a reason, and the rows that are dropped for it.

The rules of each format are in `models.jobs.swf.selecting` and `models.workloads.sacct.selecting`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from models import checks
from models.arrays import Floats, Ints
from models.counting import counted

ZERO_RUNTIME = ("drop", "second")
OVERSIZED = ("drop", "cap", "error")

Rule = tuple[str, np.ndarray]
"""A reason, and the rows that are dropped for it, shape (n_rows,)."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a log in the file's order; every array has the shape (n_rows,).

    Parameters
    ----------
    arrival, runtime : ndarray of float, seconds
    size : ndarray of int
        Processors.
    """

    name: str
    line: Ints
    arrival: Floats
    runtime: Floats
    size: Ints


@dataclass(frozen=True, eq=False)
class Selection:
    """The jobs that are simulated, in order of arrival; every array has the shape (n_jobs,).

    Parameters
    ----------
    rows : ndarray of int
        Position of each job in the log's columns.
    arrival : ndarray of float, seconds
        The first job arrives at 0.
    runtime : ndarray of float, seconds
        Above 0.
    size : ndarray of int
        Processors, at most as many as the largest host has.
    dropped : dict of str to int
        Reason -> rows; a row counts under the first rule that drops it.
    notes : tuple of str
        Changes to rows that are kept, and remarks on the log.
    """

    name: str
    rows: Ints
    arrival: Floats
    runtime: Floats
    size: Ints
    dropped: Mapping[str, int]
    notes: tuple[str, ...]

    @property
    def kept(self) -> int:
        """Number of jobs."""
        return self.rows.size

    def describe(self) -> list[str]:
        """Return the account of all rows, and the notes."""
        n_rows = self.kept + sum(self.dropped.values())
        account = f"{counted(n_rows, 'row')}, {self.kept:,} kept; {_account(self.dropped)}"
        return [f"{self.name}: {line}" for line in (account, *self.notes)]


def select(
    log: Rows,
    rules: Iterable[Rule],
    machine_size: int | None,
    zero_runtime: str,
    oversized: str,
    unread: Mapping[str, int] | None = None,
) -> Selection:
    """Drop rows by rules, then by runtime and size.

    Parameters
    ----------
    rules : iterable of (reason, rows)
        A row counts under the first rule that drops it.
    machine_size : int or None
        Processors of the largest host; None drops no job for its size.
    zero_runtime : {"drop", "second"}
        Jobs shorter than the log's resolution have no slowdown: drop them, or let them run for a second.
    oversized : {"drop", "cap", "error"}
        Jobs larger than `machine_size`: drop them, shrink them to it, or refuse the log.
    unread : mapping of str to int, optional
        Reason -> rows of the file that are not among `log`.

    Raises
    ------
    ValueError
        If a job is too large (``error``), or no job is left.
    """
    checks.choice({"zero_runtime": zero_runtime}, "workload", "zero_runtime", ZERO_RUNTIME)
    checks.choice({"oversized": oversized}, "workload", "oversized", OVERSIZED)
    keep = np.ones(log.line.size, bool)
    dropped = {reason: n for reason, n in (unread or {}).items() if n}
    zero = log.runtime == 0
    too_large = log.size > (np.inf if machine_size is None else machine_size)
    last = [
        ("with runtime 0 (zero_runtime=drop)", zero & (zero_runtime == "drop")),
        (f"larger than {machine_size} processors (oversized=drop)", too_large & (oversized == "drop")),
    ]
    for reason, rows in (*rules, *last):
        if hits := int((keep & rows).sum()):
            dropped[reason] = dropped.get(reason, 0) + hits
            keep &= ~rows
    if oversized == "error" and (keep & too_large).any():
        first = int(np.argmax(keep & too_large))
        raise ValueError(
            f"{log.name}: line {log.line[first]} has a job of {counted(log.size[first], 'processor')}, and "
            f"the largest host has {machine_size}; add workload.oversized=drop or workload.oversized=cap, or "
            f"take a machine with {log.size[keep].max()} processors"
        )
    if not keep.any():
        n_rows = log.line.size + sum((unread or {}).values())
        raise ValueError(
            f"{log.name}: no job is left of {counted(n_rows, 'row')}: {_account(dropped)}; loosen the "
            "filters, or take another log"
        )
    rows = np.flatnonzero(keep)
    rows = rows[np.argsort(log.arrival[rows], kind="stable")]
    changes = {
        "of runtime 0, simulated as one second (zero_runtime=second)": zero[rows].sum(),
        f"shrunk to {machine_size} processors (oversized=cap)": too_large[rows].sum(),
    }
    return Selection(
        log.name,
        rows,
        log.arrival[rows] - log.arrival[rows[0]],
        np.where(zero, 1.0, log.runtime)[rows],
        log.size[rows] if machine_size is None else np.minimum(log.size[rows], machine_size),
        dropped,
        tuple(f"{counted(n, 'job')} {change}" for change, n in changes.items() if n),
    )


def known_values(
    name: str, key: str, column: np.ndarray, wanted: object, kind: Callable[[Any], Any]
) -> list[Any]:
    """Return the values of a filter as a list.

    Raises
    ------
    ValueError
        If the value is missing, has another type, or occurs in no row.
    """
    given: Any = wanted if isinstance(wanted, Iterable) and not isinstance(wanted, str) else [wanted]
    try:
        values = [kind(value) for value in given]
    except TypeError:
        values = []
    if not values:
        checks.refuse(f"workload.{key}", wanted, "one value of the log, or a list of them, or null")
    present, rows = np.unique(column, return_counts=True)
    if missing := [str(value) for value in values if value not in present]:
        if present.tolist() == [-1]:
            raise ValueError(f"{name}: no job has a known {key}; leave out the filter workload.{key}")
        top = np.argsort(-rows, kind="stable")[:5]
        frequent = ", ".join(f"{present[k]} ({counted(rows[k], 'row')})" for k in top)
        raise ValueError(f"{name}: no row has {key} {', '.join(missing)}; most frequent are {frequent}")
    return values


def _account(dropped: Mapping[str, int]) -> str:
    return "dropped " + (", ".join(f"{rows:,} {reason}" for reason, rows in dropped.items()) or "nothing")
