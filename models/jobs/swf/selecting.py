"""The rules by which jobs of a log are kept, left out or changed."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from models.jobs.swf.columns import COLUMNS, format_value
from models.jobs.swf.errors import SwfError
from models.jobs.swf.jobs import Jobs, Selection, account
from models.jobs.swf.log import Log

FAILED = (0, 5)  # failed, cancelled
PARTIAL = (2, 3, 4)  # bursts of a job that was stopped and continued

Values = int | Iterable[int]
"""One value of a filter, or several."""


def select(
    log: Log,
    *,
    machine_size: int,
    start: float | None = None,
    end: float | None = None,
    partition: Values | None = None,
    queue: Values | None = None,
    user: Values | None = None,
    exclude_user: Values | None = None,
    exclude: Mapping[str, Values] | Sequence[Mapping[str, Values]] | None = None,
    partial: str = "drop",
    failed: str = "keep",
    zero_runtime: str = "drop",
    oversized: str = "drop",
) -> Selection:
    """Choose the jobs of a log to simulate.

    The rules are applied in this order, and each row counts under the first one that drops it:

    1. the submit time is unknown;
    2. submitted before `start`;
    3. submitted at or after `end`;
    4. `partition`: another value than those given;
    5. `queue`: likewise;
    6. `user`: likewise;
    7. `exclude_user`;
    8. `exclude`;
    9. `partial`, by status;
    10. `failed`, by status;
    11. the size is unknown (neither allocated nor requested processors);
    12. the runtime is unknown;
    13. `zero_runtime`;
    14. `oversized`.

    Parameters
    ----------
    log : Log
    machine_size : int
        Processors of the machine to simulate.
    start, end : float, optional
        Time window in seconds since the log's first submit, ``start <= t < end``.
    partition, queue, user : int or several, optional
        Keep these only.
    exclude_user : int or several, optional
        Leave these users out.
    exclude : mapping or sequence of mappings, optional
        Each leaves out the rows that meet all of it, as in the archive's cleaned logs:
        ``{"user": 3, "processors": 1, "application": 1}`` is the system probe of the NASA log.
    partial : {"drop", "keep"}
        Status 2 to 4: bursts of a job that was stopped and continued. Its summary is a row of its own, so
        that bursts count its work twice.
    failed : {"keep", "drop"}
        Status 0 (failed) and 5 (cancelled). Kept by default: they did use the machine.
    zero_runtime : {"drop", "second"}
        Jobs shorter than the log's resolution have no slowdown: leave them out, or let them run a second.
    oversized : {"drop", "cap", "error"}
        Jobs larger than `machine_size`: leave them out, shrink them to it, or refuse the log.

    Raises
    ------
    SwfError
        A filter names a value that no row has, a rule has an unknown setting, or no job is left.

    Examples
    --------
    >>> log = read("NASA-iPSC-1993-3.swf.gz")  # doctest: +SKIP
    >>> print(*select(log, machine_size=128, exclude_user=3).describe())  # doctest: +SKIP
    NASA-iPSC-1993-3.swf.gz: 42,264 rows, 18,004 kept; dropped 24,087 of user 3 (exclude_user), ...
    """
    if isinstance(machine_size, bool) or not isinstance(machine_size, int | np.integer) or machine_size < 1:
        raise SwfError(
            f"machine_size={machine_size!r}: give the machine's processors, a whole number from 1 up"
        )
    _check_setting("partial", partial, ("drop", "keep"))
    _check_setting("failed", failed, ("keep", "drop"))
    _check_setting("zero_runtime", zero_runtime, ("drop", "second"))
    _check_setting("oversized", oversized, ("drop", "cap", "error"))
    earliest = -np.inf if start is None else start
    latest = np.inf if end is None else end
    if not all(isinstance(bound, int | float) for bound in (earliest, latest)) or not earliest < latest:
        raise SwfError(
            f"start={start!r}, end={end!r}: give numbers with start < end, in seconds since the first submit"
        )

    columns, sizes = log.columns, log.sizes
    runtime, status = columns["runtime"], columns["status"]
    since_first = columns["submit"] - log.first_submit
    keep = np.ones(log.n_jobs, dtype=bool)
    dropped: dict[str, int] = {}

    def drop(reason: str, rows: np.ndarray) -> None:
        nonlocal keep
        if hits := int((keep & rows).sum()):
            dropped[reason] = dropped.get(reason, 0) + hits
            keep = keep & ~rows

    drop("with no submit time", columns["submit"] < 0)
    drop(f"before start={start}", since_first < earliest)
    drop(f"at or after end={end}", since_first >= latest)
    for column, wanted in (("partition", partition), ("queue", queue), ("user", user)):
        if wanted is not None:
            values = _known_values(log, column, wanted)
            drop(f"of another {column} than {_listed(values)}", ~np.isin(columns[column], values))
    if exclude_user is not None:
        values = _known_values(log, "user", exclude_user)
        drop(f"of user {_listed(values)} (exclude_user)", np.isin(columns["user"], values))
    for pattern in [exclude] if isinstance(exclude, Mapping) else exclude or ():
        met = {column: _known_values(log, column, wanted) for column, wanted in pattern.items()}
        if not met:
            raise SwfError("exclude: an empty pattern would leave out every row; name a column and its value")
        reason = " and ".join(f"{column} {_listed(values)}" for column, values in met.items())
        rows = np.logical_and.reduce([np.isin(columns[column], values) for column, values in met.items()])
        drop(f"with {reason} (exclude)", rows)
    if partial == "drop":
        drop("bursts of continued jobs (partial=drop)", np.isin(status, PARTIAL))
    if failed == "drop":
        drop("failed or cancelled (failed=drop)", np.isin(status, FAILED))
    drop("of unknown size", sizes < 1)
    drop("with no runtime", runtime < 0)
    if zero_runtime == "drop":
        drop("with runtime 0 (zero_runtime=drop)", runtime == 0)

    too_large = sizes > machine_size
    if oversized == "drop":
        drop(f"larger than {machine_size} processors (oversized=drop)", too_large)
    elif oversized == "error" and (keep & too_large).any():
        first = int(np.argmax(keep & too_large))
        raise SwfError(
            f"{log.name}: line {log.line[first]} has a job of {sizes[first]} processors, the machine has "
            f"{machine_size}; set oversized=drop or oversized=cap, or take a machine of {sizes[keep].max()}"
        )
    if not keep.any():
        raise SwfError(
            f"{log.name}: no job is left of {log.n_jobs:,}, {account(dropped)}; {_way_out(dropped)}"
        )

    changes = {
        "jobs of runtime 0 run for a second (zero_runtime=second)": keep & (runtime == 0),
        f"jobs shrunk to {machine_size} processors (oversized=cap)": keep & too_large,
    }
    jobs = Jobs(
        arrival=since_first[keep] - since_first[keep][0],
        runtime=np.where(runtime == 0, 1.0, runtime)[keep],
        size=np.minimum(sizes, machine_size)[keep],
        user=columns["user"][keep],
        application=columns["application"][keep],
        requested_time=columns["requested_time"][keep],
        line=log.line[keep],
    )
    return Selection(log, jobs, dropped, {what: int(n.sum()) for what, n in changes.items() if n.any()})


def _known_values(log: Log, column: str, wanted: Values) -> list[int]:
    """Return the values of a filter as a list; each of them must occur in the log."""
    if column not in COLUMNS:
        raise SwfError(f"exclude: there is no column {column!r}; choose from {', '.join(COLUMNS)}")
    try:
        values = [operator.index(value) for value in (wanted if isinstance(wanted, Iterable) else [wanted])]
    except TypeError:
        raise SwfError(f"{column}={wanted!r}: give a whole number or a list of them") from None
    if not values:
        raise SwfError(f"{column}=[]: names nothing; give at least one value or leave the filter out")
    present, rows = np.unique(log.columns[column], return_counts=True)
    missing = [value for value in values if value not in present]
    if missing and present.size == 1 and present[0] == -1:
        raise SwfError(f"{log.name}: does not know the {column} of any job; leave the filter out")
    if missing:
        top = np.argsort(-rows, kind="stable")[:5]
        told = ", ".join(f"{format_value(present[k])} ({rows[k]:,} rows)" for k in top)
        lowest, highest = format_value(present[0]), format_value(present[-1])
        raise SwfError(
            f"{log.name}: no row has {column} {_listed(missing)}; values go from {lowest} to {highest}, "
            f"most frequent {told}"
        )
    return values


def _check_setting(name: str, given: str, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise SwfError(f"{name}={given!r}: choose {' or '.join(allowed)}")


def _listed(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))


LACKING = ("with no submit time", "of unknown size", "with no runtime")
"""Why a row is left out whatever the filters are: the log does not say what a job is."""


def _way_out(dropped: Mapping[str, int]) -> str:
    """Return what to do about a log of which all rows were dropped."""
    if dropped.keys() <= set(LACKING):
        return "each row needs them: take a log that has them"
    return "loosen the filters that left them out"
