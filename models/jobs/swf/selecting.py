"""The rules by which jobs of an SWF log are kept or dropped."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from models import checks
from models.counting import counted
from models.jobs import selecting
from models.jobs.selecting import Rows, Rule, Selection, known_values
from models.jobs.swf.columns import COLUMNS, SwfError
from models.jobs.swf.log import Log
from models.point import Parameters

FAILED = (0, 5)  # failed, cancelled
PARTIAL = (2, 3, 4)  # bursts of a job that was stopped and continued

Values = int | Iterable[int]
"""One value of a filter, or several."""


@dataclass(frozen=True)
class Filters:
    """The filters of a workload, in the order in which they apply.

    Parameters
    ----------
    start, end : float, optional
        Time window in seconds since the log's first submit, ``start <= t < end``.
    partition, queue, user : int or several, optional
        Keep these only.
    exclude_user : int or several, optional
        Leave these users out.
    exclude : mapping or sequence of mappings, optional
        Each mapping leaves out the rows that meet all of its values, as in the archive's cleaned logs:
        ``{"user": 3, "processors": 1, "application": 1}`` is the system probe of the NASA log.
    partial : {"drop", "keep"}
        Status 2 to 4: bursts of a job that was stopped and continued. Its summary is a separate row, so that
        bursts would count its work twice.
    failed : {"keep", "drop"}
        Status 0 (failed) and 5 (cancelled). Kept by default: they did use the machine.
    zero_runtime, oversized : str
        See `models.jobs.selecting.select`.
    bad_rows : float
        Share of rows that may be left out because they are not rows of the format.
    """

    start: float | None = None
    end: float | None = None
    partition: Values | None = None
    queue: Values | None = None
    user: Values | None = None
    exclude_user: Values | None = None
    exclude: Mapping[str, Values] | Sequence[Mapping[str, Values]] | None = None
    partial: str = "drop"
    failed: str = "keep"
    zero_runtime: str = "drop"
    oversized: str = "drop"
    bad_rows: float = 0.01

    @classmethod
    def of(cls, workload: Parameters) -> Filters:
        """Return the filters of a workload; one that is missing or null has its default."""
        return cls(**{name: workload[name] for name in FILTERS if workload.get(name) is not None})


FILTERS = tuple(each.name for each in fields(Filters))
"""Keys of a workload that are filters."""


def select(log: Log, machine_size: int | None, filters: Filters | None = None) -> Selection:
    """Return the jobs of a log to simulate.

    Rows without a submit time are dropped before all others, and rows of unknown size or runtime before
    `Filters.zero_runtime`. A row counts under the first rule that drops it.

    Parameters
    ----------
    machine_size : int or None
        Processors of the machine to simulate; None drops no job for its size.
    filters : Filters, optional
        By default `Filters()`.

    Raises
    ------
    ValueError
        A filter names a value that no row has, a rule has an unknown setting, or no job is left.

    Examples
    --------
    >>> log = read("NASA-iPSC-1993-3.swf.gz")  # doctest: +SKIP
    >>> print(*select(log, 128, Filters(exclude_user=3)).describe())  # doctest: +SKIP
    NASA-iPSC-1993-3.swf.gz: 42,264 rows, 18,004 kept; dropped 24,087 of user 3 (exclude_user), ...
    """
    filters = filters or Filters()
    checks.choice({"partial": filters.partial}, "workload", "partial", ("drop", "keep"))
    checks.choice({"failed": filters.failed}, "workload", "failed", ("keep", "drop"))
    start, end = filters.start, filters.end
    earliest = -np.inf if start is None else start
    latest = np.inf if end is None else end
    given = [bound for bound in (start, end) if bound is not None]
    is_number = all(isinstance(bound, int | float) and abs(bound) <= checks.MOST for bound in given)
    if not is_number or not earliest < latest:
        raise ValueError(
            f"start={start!r}, end={end!r}: give numbers with start < end, in seconds since the first submit"
        )
    most = checks.number(
        {"bad_rows": filters.bad_rows}, "workload", "bad_rows", "a share, 0 to 1", least=0, most=1
    )
    n_bad = len(log.faults)
    if n_bad > most * (log.n_jobs + n_bad):
        first = min(log.faults)
        raise SwfError(
            f"{log.name}: line {first} {log.faults[first]}; "
            f"{counted(n_bad, 'row', 'is', of=log.n_jobs + n_bad)} wrong: correct or delete such rows, or "
            f"leave them out, workload.bad_rows={_share(n_bad, log.n_jobs)}"
        )
    columns = log.columns
    since_first = columns["submit"] - log.first_submit

    def known(key: str, column: str, wanted: Values) -> list[int]:
        return known_values(log.name, key, columns[column], wanted, operator.index)

    def rules() -> Iterator[Rule]:
        yield "with no submit time", columns["submit"] < 0
        yield f"before start={start}", since_first < earliest
        yield f"at or after end={end}", since_first >= latest
        for column in ("partition", "queue", "user"):
            if (wanted := getattr(filters, column)) is not None:
                values = known(column, column, wanted)
                yield f"of another {column} than {_listed(values)}", ~np.isin(columns[column], values)
        if filters.exclude_user is not None:
            values = known("exclude_user", "user", filters.exclude_user)
            yield f"of user {_listed(values)} (exclude_user)", np.isin(columns["user"], values)
        exclude = [filters.exclude] if isinstance(filters.exclude, Mapping) else filters.exclude or ()
        if not isinstance(exclude, list | tuple) or not all(isinstance(each, Mapping) for each in exclude):
            checks.refuse("workload.exclude", exclude, f"a list of mappings, values of {', '.join(COLUMNS)}")
        for pattern in exclude:
            if not pattern or any(column not in COLUMNS for column in pattern):
                checks.refuse("workload.exclude", dict(pattern), f"values of {', '.join(COLUMNS)}")
            met = {column: known(column, column, wanted) for column, wanted in pattern.items()}
            reason = " and ".join(f"{column} {_listed(values)}" for column, values in met.items())
            hits = [np.isin(columns[column], values) for column, values in met.items()]
            yield f"with {reason} (exclude)", np.logical_and.reduce(hits)
        if filters.partial == "drop":
            yield "bursts of continued jobs (partial=drop)", np.isin(columns["status"], PARTIAL)
        if filters.failed == "drop":
            yield "failed or cancelled (failed=drop)", np.isin(columns["status"], FAILED)
        yield "of unknown size", log.sizes < 1
        yield "with no runtime", columns["runtime"] < 0

    rows = Rows(log.name, log.line, since_first, columns["runtime"], log.sizes)
    unread = {"that are not rows of the format (bad_rows)": n_bad}
    selection = selecting.select(rows, rules(), machine_size, filters.zero_runtime, filters.oversized, unread)
    return replace(selection, notes=(*selection.notes, *log.notes))


def _share(n_bad: int, n_good: int) -> float:
    """Return a share of rows, in hundredths, that covers the bad ones."""
    return math.ceil(100 * n_bad / (n_bad + n_good)) / 100


def _listed(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))
