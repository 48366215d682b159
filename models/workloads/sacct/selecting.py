"""The rules by which rows of sacct become jobs or are dropped."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from models import checks
from models.arrays import Ints
from models.counting import counted
from models.jobs import selecting
from models.jobs.selecting import Rows, Rule, Selection, known_values
from models.workloads.sacct import fields
from models.workloads.sacct.fields import COMMAND, SACCT, SacctError
from models.workloads.sacct.reading import Table

WAITING = ("PENDING", "REVOKED")
RUNNING = ("RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "SIGNALING", "STAGE_OUT", "STOPPED")
PUT_BACK_S = 3600
"""A run that is submitted within this time after the previous run's end is a run of the same job: Slurm
submits it when it requeues the job. Slurm also reuses job numbers for unrelated jobs."""
TOGETHER = np.timedelta64(60, "s")
"""Components of a heterogeneous job are submitted within this time, or requeued, each at its own end."""
ARRIVAL = SUBMIT, ELIGIBLE = ("submit", "eligible")
REQUEUED = RUNS, LAST = ("runs", "last")

CLOCKS = (
    "times are used as printed, or in UTC if they have an offset from it: if sacct printed local time "
    "without one and the clocks changed during the log, some times are an hour off (run TZ=UTC sacct ... to "
    "avoid this)"
)

Names = str | Iterable[str]
"""One value of a filter, or several."""


def select(
    table: Table,
    *,
    machine_size: int | None,
    start: str | None = None,
    end: str | None = None,
    cluster: Names | None = None,
    partition: Names | None = None,
    user: Names | None = None,
    arrival: str = SUBMIT,
    requeued: str = RUNS,
    zero_runtime: str = "drop",
    oversized: str = "drop",
) -> Selection:
    """Return the jobs to simulate; a row counts under the first rule that drops it.

    Parameters
    ----------
    machine_size : int or None
        Processors of the largest host; None drops no job for its size.
    start, end : str, optional
        As sacct writes times, ``2024-03-01`` or ``2024-03-01T08:00:00``: jobs that arrive at
        ``start <= t < end``.
    cluster, partition, user : str or several, optional
        Keep these only. Jobs of several clusters have no common machine: one of them has to be named.
    arrival : {"submit", "eligible"}
        When a job arrives: when it is submitted, or when its dependencies, its begin time and its holds allow
        it to start.
    requeued : {"runs", "last"}
        Whether each run of a requeued job is a separate job, which arrives when it was requeued, or only the
        last run counts.
    zero_runtime, oversized : str
        See `models.jobs.selecting.select`.

    Raises
    ------
    ValueError
        A filter names a value that no row has, a rule has an unknown setting, or no job is left.
    """
    checks.choice({"arrival": arrival}, "workload", "arrival", ARRIVAL)
    checks.choice({"requeued": requeued}, "workload", "requeued", REQUEUED)
    names = {"cluster": cluster, "partition": partition, "user": user}
    lacking = []
    if arrival == ELIGIBLE and table.eligible is None:
        lacking.append("Eligible, which workload.arrival=eligible needs")
    if cluster is not None and table.cluster is None:
        lacking.append("Cluster, which workload.cluster needs")
    if lacking:
        fields_of = " and field ".join(lacking)
        raise SacctError(
            f"{table.name}: the first line lacks field {fields_of}; make the file with: {COMMAND},Cluster"
        )
    instant = arrivals(table, arrival)
    of_filters = _of_filters(table, instant, start, end, names)
    rules: list[Rule] = [
        ("that never started", ~_started(table)),
        ("still running", np.isin(table.state, RUNNING)),
        ("with a negative runtime by the site's clock", table.elapsed < 0),
        ("that were never eligible", np.isnat(instant)),
        *of_filters,
    ]
    keep = ~np.logical_or.reduce([rows for _, rows in rules])
    _refuse_clusters(table, keep)
    runs = _runs(table, keep)
    if requeued == LAST:
        earlier = np.zeros(keep.size, bool)
        earlier[[row for of_job in runs for row in of_job[:-1]]] = True
        rules.append(("as an earlier run of a requeued job (requeued=last)", earlier))
    seconds = instant.astype(np.int64).astype(float)
    log = Rows(table.name, table.line, seconds, table.elapsed, table.processors)
    counts, resized = table.counts, table.n_resized
    unread = {"as a step": counts.steps, "that repeat an earlier row": counts.twice}
    if parts := counts.rows - counts.steps - counts.twice - table.line.size:
        unread["as a part of a job that changed its size"] = parts
    selection = selecting.select(log, rules, machine_size, zero_runtime, oversized, unread)
    rows = selection.rows
    again = [len(of_job) for of_job in runs]
    early, nowhere = (int(these[rows].sum()) for these in (table.start < instant, table.nodes < 1))
    in_file = seconds[np.sort(rows)]
    parts_of = sum("+" in job for job in table.job[rows])
    share = parts_of / max(rows.size, 1)
    of_segments = 0 if table.placed is None else int(table.placed[rows, 4].sum())
    unsorted = int((in_file < np.maximum.accumulate(in_file)).sum())
    changes = {
        f"{counted(sum(again), 'row', 'is')} runs of {counted(len(again), 'requeued job')}; each run is "
        "simulated as a job that is submitted when it was requeued (requeued=runs)": again
        if requeued == RUNS
        else [],
        f"{counted(unsorted, 'row', 'was')} not in order of arrival: sorted": unsorted,
        f"{counted(parts_of, 'component')} of heterogeneous jobs ({share:.1%} of the jobs): policies of "
        "Slurm's scheduler start them together, others one by one; averages over jobs count the first one "
        "only": parts_of,
        f"{counted(of_segments, 'job', 'asks')} for --spread-segments or --consolidate-segments, which have "
        f"no effect here ({of_segments / max(rows.size, 1):.1%} of the jobs)": of_segments,
        f"{counted(early, 'job')} started before submission by the file's clocks: waits count as 0": early,
        f"{counted(counts.joined, 'row', 'was')} joined from lines that a field such as SubmitLine had "
        "broken": counts.joined,
        f"{counted(resized, 'job')} changed size: the processors of the longest part are taken": resized,
        f"{counted(nowhere, 'job', 'has')} no nodes by AllocNodes: one node is taken": nowhere,
    }
    notes = (
        *(change for change, n in changes.items() if n),
        *selection.notes,
        *([CLOCKS] if table.source.startswith(SACCT) and "--json" not in table.source else []),
    )
    return replace(selection, notes=notes)


def _started(table: Table) -> np.ndarray:
    """Return which rows are runs."""
    return ~(np.isnat(table.start) | np.isin(table.state, WAITING) | (table.processors < 1))


def _of_filters(
    table: Table, instant: np.ndarray, start: str | None, end: str | None, given: Mapping[str, Names | None]
) -> list[Rule]:
    rules: list[Rule] = [
        (f"before start={start}", instant < _instant("start", start, "0001-01-01")),
        (f"at or after end={end}", instant >= _instant("end", end, "9999-12-31")),
    ]
    for key, wanted in given.items():
        if wanted is not None:  # messages do not name users
            column = getattr(table, key)
            values = known_values(table.name, key, column, wanted, str)
            rules.append((f"of another {key}", ~np.isin(column, values)))
    return rules


def cancelled(table: Table, filters: Mapping[str, Any]) -> tuple[Ints | None, list[str]]:
    """Return the rows of the jobs that were cancelled while they waited for processors, in order of arrival,
    None where the file lacks their times or sizes, with a note.

    Parameters
    ----------
    filters : mapping
        ``start``, ``end``, ``cluster``, ``partition``, ``user`` and ``arrival`` as in `select`, where given.
    """
    instant = arrivals(table, filters.get("arrival", SUBMIT))
    given = {key: filters.get(key) for key in ("cluster", "partition", "user")}
    rules = _of_filters(table, instant, filters.get("start"), filters.get("end"), given)
    left_out = np.logical_or.reduce([np.isnat(instant), *(rows for _, rows in rules)])
    waited = ~_started(table) & np.char.startswith(table.state.astype(str), "CANCELLED") & ~left_out
    if table.end is None or table.asked is None:
        n = int(waited.sum())
        return None, [
            f"{counted(n, 'job', 'was')} cancelled before the start; such jobs could hold their places in "
            "the queue (workload.cancelled=keep) if the file had the fields End and ReqCPUS"
        ] * bool(n)
    eligible = table.submit if table.eligible is None else table.eligible
    rows = np.flatnonzero(waited & (table.asked > 0) & (table.end > instant) & (table.end > eligible))
    return rows[np.argsort(instant[rows], kind="stable")], []


def arrivals(table: Table, arrival: str) -> np.ndarray:
    """Return the instant at which each row arrives, by ``arrival`` of `select`."""
    if arrival == SUBMIT:
        return table.submit
    assert table.eligible is not None  # checked by `select`
    return table.eligible


def users_of(table: Table) -> tuple[str, ...]:
    """Return the names of all users of a file, the n-th for user number n."""
    return legible(dict.fromkeys(table.user))


def legible(names: Iterable[str]) -> tuple[str, ...]:
    """Return names as text that can be written: the reader keeps bytes that are not UTF-8."""
    return tuple(name.encode(errors="surrogateescape").decode(errors="replace") for name in names)


def _instant(setting: str, given: object, none: str) -> np.datetime64:
    text = none if given is None else str(given)
    if fields.TIME.fullmatch(text) or fields.DATE.fullmatch(text):
        try:
            return np.datetime64(text, "s")
        except ValueError:  # a month 13
            pass
    raise SacctError(f"workload.{setting}={text}: give a time such as 2024-03-01 or 2024-03-01T08:00:00")


def _refuse_clusters(table: Table, keep: np.ndarray) -> None:
    if table.cluster is None:
        return
    names = sorted(set(table.cluster[keep]))
    if len(names) > 1:
        raise SacctError(
            f"{table.name}: has jobs of {len(names)} clusters ({', '.join(names[:5])}), which do not "
            f"share a machine; add workload.cluster={names[0]}, or compare them: "
            f"+axes.cluster=workload.cluster '+grid.cluster=[{','.join(names[:5])}]'"
        )


def het_jobs(table: Table) -> Ints:
    """Return the number of the heterogeneous job of which each row (``12+1``) is a component, -1 for none.

    A job has each component once, of one cluster, and all of them were submitted `TOGETHER`. So each run
    of a requeued job is a job of its own, and a number that Slurm used again names another job. O(n log n).
    """
    found = np.full(table.job.size, -1)
    latest: dict[tuple[str, str], tuple[int, np.datetime64, set[str]]] = {}
    rows = np.flatnonzero(["+" in job for job in table.job])
    n_jobs = 0
    for row in rows[np.argsort(table.submit[rows], kind="stable")].tolist():
        number, _, component = table.job[row].partition("+")
        key = ("" if table.cluster is None else table.cluster[row], number)
        if key not in latest or table.submit[row] - latest[key][1] > TOGETHER or component in latest[key][2]:
            latest[key] = n_jobs, table.submit[row], set()
            n_jobs += 1
        found[row], _, components = latest[key]
        components.add(component)
    return found


def _runs(table: Table, keep: np.ndarray) -> list[list[int]]:
    """Return the rows of each job that ran more than once, in the order of its runs."""
    of_number: dict[str, list[int]] = {}
    rows = np.flatnonzero(keep)
    for row in rows[np.argsort(table.submit[rows], kind="stable")].tolist():
        of_number.setdefault(table.job[row], []).append(row)
    found = []
    ended = table.start.astype(np.int64) + table.elapsed
    submitted = table.submit.astype(np.int64)
    for several in (of_one for of_one in of_number.values() if len(of_one) > 1):
        of_job = several[:1]
        for before, row in pairwise(several):
            if table.user[before] != table.user[row] or abs(submitted[row] - ended[before]) > PUT_BACK_S:
                found.append(of_job)
                of_job = []
            of_job.append(row)
        found.append(of_job)
    return [of_job for of_job in found if len(of_job) > 1]
