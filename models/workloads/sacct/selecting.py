"""The rules by which rows of sacct become jobs, or are left out and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from models.workloads import replayed
from models.workloads.sacct import fields
from models.workloads.sacct.errors import COMMAND, SacctError
from models.workloads.sacct.reading import Table

WAITING = ("PENDING", "REVOKED")
RUNNING = ("RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "SIGNALING", "STAGE_OUT", "STOPPED")

SETTINGS = {
    "arrival": ("submit", "eligible"),
    "requeued": ("runs", "last"),
    "zero_runtime": ("drop", "second"),
    "oversized": ("drop", "cap", "error"),
}

Names = str | Iterable[str]
"""One value of a filter, or several."""


@dataclass(frozen=True, eq=False)
class Selection:
    """The rows that are kept, in order of arrival, and what became of the others.

    Parameters
    ----------
    table : Table
    rows : ndarray of int, shape (n_jobs,)
        Rows of the table.
    arrival : ndarray of float, shape (n_jobs,), seconds
        Since the first of these jobs.
    runtime : ndarray of float, shape (n_jobs,), seconds
    size : ndarray of int, shape (n_jobs,)
        Processors.
    user : ndarray of int, shape (n_jobs,)
        From 1 on, by first appearance in the file (`users_of`).
    waited : ndarray of float, shape (n_jobs,), seconds
        From the arrival to the start, as it was.
    first : float
        Unix seconds of the first arrival, as if the file's times were UTC.
    left_out : dict of str to int
        Reason -> rows; steps are among them.
    notes : tuple of str
        What else should be said aloud.
    """

    table: Table
    rows: np.ndarray
    arrival: np.ndarray
    runtime: np.ndarray
    size: np.ndarray
    user: np.ndarray
    waited: np.ndarray
    first: float
    left_out: dict[str, int]
    notes: tuple[str, ...]

    @property
    def at_once(self) -> int:
        """Most processors that these jobs ever had at once: a machine has at least so many."""
        start = self.table.start[self.rows].astype(np.int64)
        return replayed.most_at_once(start, self.runtime.astype(np.int64), self.size)

    def describe(self) -> list[str]:
        """Return the lines to say aloud before this selection is used."""
        name = self.table.name
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in self.left_out.items()) or "nothing"
        first = f"{name}: {self.table.n_rows:,} rows: {self.rows.size:,} jobs; left out: {reasons}"
        return [first, *(f"{name}: {note}" for note in self.notes)]


def select(
    table: Table,
    *,
    machine_size: int | None,
    start: str | None = None,
    end: str | None = None,
    partition: Names | None = None,
    user: Names | None = None,
    arrival: str = "submit",
    requeued: str = "runs",
    zero_runtime: str = "drop",
    oversized: str = "drop",
) -> Selection:
    """Choose the jobs to simulate; each row counts under the first rule that leaves it out.

    Parameters
    ----------
    table : Table
    machine_size : int or None
        Processors of the largest host; None leaves no job out for its size.
    start, end : str, optional
        As sacct writes times, ``2024-03-01`` or ``2024-03-01T08:00:00``: jobs that arrive at
        ``start <= t < end``.
    partition, user : str or several, optional
        Keep these only.
    arrival : {"submit", "eligible"}
        When a job arrives: when it is submitted, or when it might start as far as its dependencies, its begin
        time and its holds are concerned.
    requeued : {"runs", "last"}
        Each run of a job that was put back into the queue is a job of its own, which arrives when it was put
        back; or only the last run of such a job counts.
    zero_runtime : {"drop", "second"}
        Jobs that ran for less than a second: leave them out, or let them run for one.
    oversized : {"drop", "cap", "error"}
        Jobs larger than `machine_size`: leave them out, shrink them to it, or refuse the file.

    Raises
    ------
    SacctError
        A filter names what no row has, a rule has an unknown setting, or no job is left.
    """
    given = {"arrival": arrival, "requeued": requeued, "zero_runtime": zero_runtime, "oversized": oversized}
    for setting, value in given.items():
        if value not in SETTINGS[setting]:
            raise SacctError(f"{setting}={value!r}: choose {' or '.join(SETTINGS[setting])}")
    name = table.name
    if arrival == "eligible" and table.eligible is None:
        raise SacctError(f"{name}: the first line names no field Eligible; make it with: {COMMAND}")
    instant = table.eligible if arrival == "eligible" and table.eligible is not None else table.submit

    keep = np.ones(table.line.size, bool)
    unread = {"steps": table.n_steps, "exactly like one before them": table.n_twice}
    left_out = {reason: n for reason, n in unread.items() if n}

    def leave_out(reason: str, rows: np.ndarray) -> None:
        nonlocal keep
        if hits := int((keep & rows).sum()):
            left_out[reason] = hits
            keep = keep & ~rows

    waiting = np.isnat(table.start) | np.isin(table.state, WAITING) | (table.processors < 1)
    leave_out("that never started", waiting)
    leave_out("still running", np.isin(table.state, RUNNING))
    leave_out("that were never eligible", np.isnat(instant))
    leave_out(f"before start={start}", instant < _instant("start", start, "0001-01-01"))
    leave_out(f"at or after end={end}", instant >= _instant("end", end, "9999-12-31"))
    for what, column, wanted in (("partition", table.partition, partition), ("user", table.user, user)):
        if wanted is not None:  # names of users stay out of what is told
            leave_out(f"of another {what}", ~np.isin(column, _known(name, what, column, wanted)))
    runs = Counter(table.job[keep])
    again = {job: n for job, n in runs.items() if n > 1}
    if requeued == "last":
        leave_out("earlier runs of requeued jobs (requeued=last)", ~_is_last_run(table, keep))
    if zero_runtime == "drop":
        leave_out("with runtime 0 (zero_runtime=drop)", table.elapsed == 0)
    too_large = table.processors > (np.inf if machine_size is None else machine_size)
    if oversized == "drop":
        leave_out(f"larger than {machine_size} processors (oversized=drop)", too_large)
    elif oversized == "error" and (keep & too_large).any():
        first = int(np.argmax(keep & too_large))
        raise SacctError(
            f"{name}: line {table.line[first]} has a job of {table.processors[first]} processors, the "
            f"largest host {machine_size}; set workload.oversized=drop or cap, or take a larger machine"
        )
    if not keep.any():
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in left_out.items())
        raise SacctError(f"{name}: no job is left of {table.n_rows:,} rows: {reasons}")

    in_file = np.flatnonzero(keep)
    rows = in_file[np.argsort(instant[in_file], kind="stable")]
    changes = {
        f"rows are runs of {len(again):,} jobs that were put back into the queue; each run is a job, from "
        "when it was put back (requeued=runs)": sum(again.values()) if requeued == "runs" else 0,
        "rows were out of the order of arrival, sorted": int(
            (instant[in_file] < np.maximum.accumulate(instant[in_file])).sum()
        ),
        "parts of heterogeneous jobs run as jobs of their own": sum("+" in job for job in table.job[rows]),
        "jobs had no time limit of their own": int(np.isnan(table.requested[rows]).sum()),
        "jobs of runtime 0 run for a second (zero_runtime=second)": int((table.elapsed[rows] == 0).sum()),
        f"jobs shrunk to {machine_size} processors (oversized=cap)": int(too_large[rows].sum()),
    }
    waited = np.maximum(table.start[rows] - instant[rows], np.timedelta64(0)).astype(float)
    user_of = {who: number for number, who in enumerate(dict.fromkeys(table.user), start=1)}
    return Selection(
        table,
        rows,
        (instant[rows] - instant[rows[0]]).astype(float),
        np.maximum(table.elapsed[rows], 1.0),
        np.minimum(table.processors[rows], machine_size or np.iinfo(np.int64).max),
        np.array([user_of[who] for who in table.user[rows]]),
        waited,
        float(instant[rows[0]].astype(np.int64)),
        left_out,
        (
            *(f"{n:,} {what}" for what, n in changes.items() if n),
            "times are taken as they stand: where sacct printed local time and a clock was changed, some are "
            "an hour off (TZ=UTC sacct ... avoids it)",
        ),
    )


def users_of(table: Table) -> tuple[str, ...]:
    """Return the names of all users of a file: number n of `Selection.user` is the n-th."""
    # What was no UTF-8 was kept as it stood; from here on names are text that can be written.
    return tuple(
        name.encode(errors="surrogateescape").decode(errors="replace") for name in dict.fromkeys(table.user)
    )


def _instant(setting: str, given: object, none: str) -> np.datetime64:
    text = none if given is None else str(given)
    if fields.TIME.fullmatch(text) or fields.DATE.fullmatch(text):
        try:
            return np.datetime64(text, "s")
        except ValueError:  # a month 13
            pass
    raise SacctError(f"{setting}={text}: give a time such as 2024-03-01 or 2024-03-01T08:00:00")


def _known(name: str, what: str, column: np.ndarray, wanted: Names) -> list[str]:
    """Return the values of a filter as a list; each of them must occur in the file."""
    names = [str(wanted)] if isinstance(wanted, str | int) else [str(one) for one in wanted]
    rows = Counter(column)
    missing = [one for one in names if one not in rows]
    if missing or not names:
        told = ", ".join(f"{one} ({n:,} rows)" for one, n in rows.most_common(5))
        raise SacctError(f"{name}: no row has the {what} {', '.join(missing)}; most frequent are {told}")
    return names


def _is_last_run(table: Table, keep: np.ndarray) -> np.ndarray:
    """Tell which rows are, among those kept, the last submitted of their job."""
    rows = np.flatnonzero(keep)
    last = {table.job[row]: row for row in rows[np.argsort(table.submit[rows], kind="stable")]}
    is_last = np.zeros(keep.size, bool)
    is_last[list(last.values())] = True
    return is_last
