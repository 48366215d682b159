"""Logs in the Standard Workload Format: read, select jobs, write.

One row is one job of 18 columns, -1 means unknown, and lines that start with ``;`` are comments of the
form ``; Key: value``. `read` gives a `Log`: what the file says, every row of it. `select` turns a log into
jobs that can be simulated and accounts for each row that it leaves out. `write` makes such a file.

References
----------
S. J. Chapin et al., "Benchmarks and standards for the evaluation of parallel job schedulers", in *Job
Scheduling Strategies for Parallel Processing*, LNCS 1659, 1999; version 2.2 of the format as the Parallel
Workloads Archive defines it.
"""

from __future__ import annotations

import gzip
import operator
import os
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

DTYPES = {
    "job": np.int64,
    "submit": np.float64,  # seconds since the log's start
    "wait": np.float64,  # seconds
    "runtime": np.float64,  # seconds of wall clock
    "processors": np.int64,  # allocated
    "cpu_time": np.float64,  # seconds, average of the processors
    "memory": np.float64,  # KB for each processor
    "requested_processors": np.int64,
    "requested_time": np.float64,  # seconds
    "requested_memory": np.float64,  # KB for each processor
    "status": np.int64,
    "user": np.int64,
    "group": np.int64,
    "application": np.int64,
    "queue": np.int64,
    "partition": np.int64,
    "preceding_job": np.int64,
    "think_time": np.float64,  # seconds after the preceding job
}
"""The 18 columns in the format's order; times and memory may have decimals."""

COLUMNS = tuple(DTYPES)
FAILED = (0, 5)  # failed, cancelled
PARTIAL = (2, 3, 4)  # bursts of a job that was stopped and continued
EXACT = 2**53  # whole numbers below it are the same in float64

_NUMBER = re.compile(rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_NUMBER_BYTES = b"0123456789+-.eE \t\n\r\v\f"
# A comment that begins with a tab or more than two blanks continues the one before, whatever it looks like.
_HEADER_ENTRY = re.compile(r"; {0,2}([A-Za-z]\w*):(?:\s+(.*))?")
_GZIP_MAGIC = b"\x1f\x8b"
_BYTES_AT_ONCE = 1 << 16

Values = int | Iterable[int]
"""One value of a filter, or several."""


class SwfError(ValueError):
    """A log that cannot be used as asked: one clear line with the file, the line number and what to do."""


@dataclass(frozen=True, eq=False)
class Log:
    """What an SWF file says.

    Parameters
    ----------
    path : Path
        Where it was read; messages tell the file's name only.
    header : dict of str to list of str
        Comments by key, one string a line, in the file's order. Keys may repeat (``Queue``, ``Note``) and a
        comment without a key continues the one before, or stands under ``""`` where there is none.
    columns : dict of str to ndarray, shape (n_jobs,)
        One array for each of `COLUMNS`, in order of submit time, with the types of `DTYPES`.
    line : ndarray of int, shape (n_jobs,)
        Line of each row in the (uncompressed) file, from 1.
    notes : tuple of str
        What a user should hear of this file: rows out of order, fewer rows than its header says.
    """

    path: Path
    header: dict[str, list[str]]
    columns: dict[str, np.ndarray]
    line: np.ndarray
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the file, without its folder."""
        return self.path.name

    @property
    def n_jobs(self) -> int:
        """Number of rows."""
        return self.line.size

    @cached_property
    def sizes(self) -> np.ndarray:
        """Processors of each job: allocated, where these are unknown requested, 0 where both are."""
        allocated, requested = self.columns["processors"], self.columns["requested_processors"]
        return np.where(allocated > 0, allocated, np.maximum(requested, 0))

    @property
    def max_processors(self) -> int:
        """Processors of the machine: the header's MaxProcs, else its MaxNodes, else the largest job."""
        return _header_number(self.header, "MaxProcs", "MaxNodes") or int(self.sizes.max())

    @property
    def first_submit(self) -> float:
        """Submit time of the first job, seconds; 0 if no submit time is known."""
        known = self.columns["submit"][self.columns["submit"] >= 0]
        return float(known[0]) if known.size else 0.0

    def offered_load(self, processors: int | None = None) -> float:
        """Return the work of all jobs over what the machine can do from the first submit to the last end.

        A job ends at submit + wait + runtime, an unknown wait counted as 0; this is how the archive's
        loads are reproduced. Rows whose submit time, runtime or size is unknown add nothing.

        Parameters
        ----------
        processors : int, optional
            Processors of the machine; `max_processors` by default.
        """
        machine = self.max_processors if processors is None else processors
        known = self.columns["submit"] >= 0
        wait, runtime = (np.maximum(self.columns[name], 0) for name in ("wait", "runtime"))
        end = np.where(known, self.columns["submit"] + wait + runtime, 0)
        capacity = machine * (end.max() - self.first_submit)
        if capacity <= 0:
            raise SwfError(
                f"{self.name}: has no load on {machine} processors: no job takes time; use another log"
            )
        return float((self.sizes * runtime)[known].sum() / capacity)


@dataclass(frozen=True, eq=False)
class Jobs:
    """Jobs ready to be simulated, in order of arrival; every array has the shape (n_jobs,).

    Parameters
    ----------
    arrival : ndarray of float, seconds
        The first job arrives at 0.
    runtime : ndarray of float, seconds
        Above 0.
    size : ndarray of int
        Processors, at least 1 and at most the machine's.
    user, application : ndarray of int
        -1 where the log does not say.
    requested_time : ndarray of float, seconds
        The user's estimate, -1 where the log has none.
    line : ndarray of int
        Line of the file that the job comes from.
    """

    arrival: np.ndarray
    runtime: np.ndarray
    size: np.ndarray
    user: np.ndarray
    application: np.ndarray
    requested_time: np.ndarray
    line: np.ndarray


@dataclass(frozen=True, eq=False)
class Selection:
    """The jobs kept of a log and an account of all its rows: ``kept + sum(dropped.values())`` are its rows.

    Parameters
    ----------
    log : Log
        Where they come from.
    jobs : Jobs
        What is left.
    dropped : dict of str to int
        Reason → rows, in the order of the rules; a row counts under the first rule that drops it.
    changed : dict of str to int
        What was done to rows that are kept → rows.
    """

    log: Log
    jobs: Jobs
    dropped: dict[str, int]
    changed: dict[str, int]

    @property
    def kept(self) -> int:
        """Number of jobs left."""
        return self.jobs.line.size

    def describe(self) -> list[str]:
        """Return the lines to say aloud before this selection is used."""
        lines = [f"{self.log.name}: {self.log.n_jobs:,} rows, {self.kept:,} kept; {_account(self.dropped)}"]
        lines += [f"{self.log.name}: {rows:,} {what}" for what, rows in self.changed.items()]
        return lines + [f"{self.log.name}: {note}" for note in self.log.notes]


def read(path: str | os.PathLike[str]) -> Log:
    """Read an SWF log, plain or gzip (told apart by content, not by name).

    A file that was cut exactly at the end of a line looks like a shorter log: it is read, and `Log.notes`
    says how many rows its header promises. Any other cut is an error. A last row without a line end is taken
    as whole only if it ends in -1, since any other last number may be the beginning of a longer one.

    Parameters
    ----------
    path : path-like
        The file.

    Raises
    ------
    SwfError
        No such file, not text, no jobs, cut off, or the first line that is wrong, with its number: not 18
        columns, not a number, a decimal where the format wants a whole number, a negative runtime that is
        not -1.
    """
    path = Path(path)
    content = _content(path)
    comments: list[bytes] = []
    rows: list[bytes] = []
    numbers: list[int] = []
    ends_in_row = False
    for number, text in enumerate(content.splitlines(), start=1):
        stripped = text.lstrip()
        if stripped.startswith(b";"):
            comments.append(stripped)
            ends_in_row = False
        elif stripped:
            rows.append(text)
            numbers.append(number)
            ends_in_row = True
    if not rows:
        what = f"only {len(comments):,} comment lines" if comments else "empty"
        raise SwfError(
            f"{path.name}: no jobs at all ({what}); give a log with one row of 18 columns for each job"
        )
    line = np.array(numbers)
    cut = _cut(path.name, rows[-1], numbers[-1], ended=content[-1:].isspace()) if ends_in_row else None
    values = _table(path.name, rows, line, cut)
    header = _header(comments)

    submit = values[:, COLUMNS.index("submit")]
    late = int((submit < np.maximum.accumulate(submit)).sum())
    notes = _row_count_note(header, values) + (
        (f"{late:,} rows were out of submit order, sorted",) if late else ()
    )
    order = np.argsort(submit, kind="stable")
    columns = {
        name: values[order, column].astype(dtype) for column, (name, dtype) in enumerate(DTYPES.items())
    }
    return Log(path, header, columns, line[order], notes)


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
    2. submitted before `start`, 3. at or after `end`;
    4. `partition`, 5. `queue`, 6. `user`: another value than those given;
    7. `exclude_user`, 8. `exclude`;
    9. `partial`, 10. `failed`, by status;
    11. the size is unknown (neither allocated nor requested processors), 12. the runtime is unknown;
    13. `zero_runtime`, 14. `oversized`.

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
        raise SwfError(f"{log.name}: no job is left of {log.n_jobs:,}, {_account(dropped)}; loosen the rules")

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


def write(
    path: str | os.PathLike[str],
    columns: Mapping[str, np.ndarray],
    header: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write an SWF file that `read` gives back; compressed if its name ends with ``.gz``.

    The file appears whole or not at all, and the same arguments give the same bytes.

    Parameters
    ----------
    path : path-like
    columns : mapping of str to ndarray, shape (n_jobs,)
        Any of `COLUMNS`, in the order to be written; those left out are -1, a missing ``job`` counts from 1.
    header : mapping of str to sequence of str, optional
        ``{"Note": ["one line", "another"]}``; the key ``""`` is for comments without one, before all others.

    Raises
    ------
    SwfError
        Unknown columns, different lengths, no rows, or values that `read` would refuse.
    """
    path = Path(path)
    unknown = sorted(set(columns) - set(COLUMNS))
    if unknown:
        raise SwfError(
            f"{path.name}: no columns {', '.join(unknown)} in the format; it has {', '.join(COLUMNS)}"
        )
    lengths = {name: np.size(values) for name, values in columns.items()}
    if len(set(lengths.values())) != 1 or 0 in lengths.values():
        told = ", ".join(f"{name} {length}" for name, length in lengths.items()) or "none"
        raise SwfError(f"{path.name}: needs columns of one length, at least 1; got {told}")
    table = np.full((next(iter(lengths.values())), len(COLUMNS)), -1.0)
    table[:, 0] = np.arange(1, len(table) + 1)
    for name, values in columns.items():
        table[:, COLUMNS.index(name)] = values
    if invalid := _first_invalid(table):
        row, what = invalid
        raise SwfError(f"{path.name}: row {row + 1} cannot be written, {what}")

    lines = _header_lines(path.name, header or {})
    # Whole numbers without a decimal point, as every reader of the format expects them.
    texts = [[str(int(x)) if x.is_integer() else repr(x) for x in column] for column in table.T.tolist()]
    lines += map(" ".join, zip(*texts, strict=True))
    content = ("\n".join(lines) + "\n").encode()
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(gzip.compress(content, mtime=0) if path.name.endswith(".gz") else content)
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise SwfError(
            f"{path}: cannot be written ({error.strerror}); choose a folder you may write to"
        ) from None


def run_lengths(user: np.ndarray, application: np.ndarray | int, size: np.ndarray) -> np.ndarray:
    """Return how often users repeat a job: Feitelson 1996, section 3.3 and Fig. 6.

    A run is a maximal sequence of jobs of one user, in submit order and whatever others submit in between,
    with the same application and the same number of nodes. Jobs of unknown users (-1) are left out.

    Parameters
    ----------
    user, size : ndarray of int, shape (n_jobs,)
        In submit order.
    application : ndarray of int, shape (n_jobs,), or -1
        -1 for a log that does not know it: jobs then differ by size only.

    Returns
    -------
    ndarray of int, shape (n_runs,)
        Grouped by user; the sum is the number of jobs of known users.

    Examples
    --------
    >>> run_lengths(np.array([1, 2, 1, 1]), -1, np.array([4, 4, 4, 8])).tolist()
    [2, 1, 1]
    """
    jobs = np.stack([user, np.broadcast_to(application, np.shape(user)), size])[:, np.asarray(user) >= 0]
    jobs = jobs[:, np.argsort(jobs[0], kind="stable")]
    differs = (jobs[:, 1:] != jobs[:, :-1]).any(axis=0)
    boundaries = np.concatenate([[True], differs, [True]]) if jobs.size else np.zeros(0, dtype=bool)
    return np.diff(np.flatnonzero(boundaries))


def _content(path: Path) -> bytes:
    """Return the file's text, unpacked."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise SwfError(
            f"{path}: no such file (looked in {path.absolute().parent}); give the path of a log"
        ) from None
    except IsADirectoryError:
        raise SwfError(f"{path}: is a directory; give the path of one log, plain or gzip") from None
    except OSError as error:
        raise SwfError(f"{path}: cannot be read ({error.strerror}); give the path of a log") from None
    content = _unpacked(path.name, raw) if raw.startswith(_GZIP_MAGIC) else raw
    return content.removeprefix(b"\xef\xbb\xbf")


def _unpacked(name: str, raw: bytes) -> bytes:
    # zlib instead of the gzip module, which keeps back what came before a fault: the message needs its lines.
    parts: list[bytes] = []
    stream = zlib.decompressobj(wbits=31)
    ends = "ends early"
    try:
        for at in range(0, len(raw), _BYTES_AT_ONCE):
            pending = raw[at : at + _BYTES_AT_ONCE]
            while pending:
                # A gzip file may be several streams in a row, and be padded with zeros.
                if stream.eof:
                    pending = pending.lstrip(b"\0")
                    if not pending:
                        break
                    stream = zlib.decompressobj(wbits=31)
                parts.append(stream.decompress(pending))
                pending = stream.unused_data
    except zlib.error:
        ends = "is damaged"
    else:
        if stream.eof:
            return b"".join(parts)
    lines = sum(part.count(b"\n") for part in parts)
    raise SwfError(f"{name}: cut off after line {lines}, the gzip data {ends} there; fetch the file again")


def _table(name: str, rows: list[bytes], line: np.ndarray, cut: str | None) -> np.ndarray:
    """Return the rows as numbers, shape (n_rows, 18), or raise for the first line that is wrong.

    `cut` is what to say of the last one if it is only a part of a row.
    """
    fault = cut
    n_good = len(rows) - (cut is not None)
    try:
        values = _numbers(rows[:n_good])
    except ValueError:
        # The quick way does not say reliably where it failed: look at one row after the other.
        n_good, what = next((k, what) for k, row in enumerate(rows[:n_good]) if (what := _syntax_fault(row)))
        fault = f"{name}: line {line[n_good]} {what}"
        values = _numbers(rows[:n_good])
    if invalid := _first_invalid(values):
        row, what = invalid
        raise SwfError(f"{name}: line {line[row]} has {what}; correct it or delete the line")
    if fault:
        raise SwfError(fault)
    return values


def _cut(name: str, row: bytes, number: int, *, ended: bool) -> str | None:
    """Return what to say if the last row is only a part of one."""
    tokens = row.split()
    if _odd_bytes(row):
        return None
    if len(tokens) < len(COLUMNS):
        why = f"has {len(tokens)} of {len(COLUMNS)} columns"
    elif not ended and len(tokens) == len(COLUMNS) and tokens[-1] != b"-1":
        why = "has no line end, so its last number may go on"
    else:
        return None
    return (
        f"{name}: cut off after line {number - 1}, line {number} {why}; fetch the file again, or complete or "
        f"delete line {number}"
    )


def _numbers(rows: list[bytes]) -> np.ndarray:
    """Return the rows as numbers, quickly; ValueError if any of them is irregular."""
    if not rows:
        return np.empty((0, len(COLUMNS)))
    text = b"\n".join(rows)
    if text.translate(None, delete=_NUMBER_BYTES):
        raise ValueError("bytes that belong to no number")
    # Whole numbers are parsed five times as fast. Others stay out: some numpy versions truncate them.
    if not any(mark in text for mark in (b".", b"e", b"E")):
        try:
            return _of_18_columns(np.loadtxt(rows, dtype=np.int64, comments=None, ndmin=2))
        except ValueError:
            pass  # perhaps a number beyond 64 bits, which the caller tells by its value
    return _of_18_columns(np.loadtxt(rows, dtype=np.float64, comments=None, ndmin=2))


def _of_18_columns(values: np.ndarray) -> np.ndarray:
    if values.shape[1] != len(COLUMNS):
        raise ValueError("rows of equal but wrong length")
    return values


def _syntax_fault(row: bytes) -> str | None:
    if odd := _odd_bytes(row):
        return f"is not text (byte 0x{odd[0]:02x}); a log is plain text or gzip, unpack other formats first"
    tokens = row.split()
    if len(tokens) != len(COLUMNS):
        return f"has {len(tokens)} columns, need {len(COLUMNS)}; correct it or delete the line"
    for name, token in zip(COLUMNS, tokens, strict=True):
        if not _NUMBER.fullmatch(token):
            shown = token[:40].decode()
            return f"has {shown!r} as {name}, not a number; use -1 for unknown, or delete the line"
    return None


def _odd_bytes(row: bytes) -> bytes:
    """Return the bytes that no text of numbers has."""
    return row.translate(None, delete=bytes(range(0x20, 0x7F)) + b"\t\r\n\v\f")


def _first_invalid(values: np.ndarray) -> tuple[int, str] | None:
    """Return the first row with a value that no log can have, and what is wrong with it."""
    runtime = COLUMNS.index("runtime")
    beyond = ~((values < EXACT) & (values > -EXACT))  # so is nan
    wrong = beyond.copy()
    for column, dtype in enumerate(DTYPES.values()):
        if dtype is np.int64 and values.dtype != np.int64:
            wrong[:, column] |= values[:, column] != np.rint(values[:, column])
    wrong[:, runtime] |= (values[:, runtime] < 0) & (values[:, runtime] != -1)
    if not wrong.any():
        return None
    row = int(np.argmax(wrong.any(axis=1)))
    column = int(np.argmax(wrong[row]))
    if beyond[row, column]:
        return row, f"{values[row, column]:g} as {COLUMNS[column]}, not a number below 2^53"
    shown = _shown(values[row, column])
    if column == runtime:
        return row, f"the negative runtime {shown}, only -1 (unknown) is allowed"
    return row, f"{shown} as {COLUMNS[column]}, not a whole number"


def _header(comments: list[bytes]) -> dict[str, list[str]]:
    header: dict[str, list[str]] = {}
    key = ""
    for comment in comments:
        try:
            text = comment.decode()
        except UnicodeDecodeError:
            text = comment.decode("latin-1")  # old logs spell names and places in it
        entry = _HEADER_ENTRY.fullmatch(text)
        if entry:
            key = entry[1]
        value = (entry[2] or "" if entry else text[1:]).strip()
        if entry or value:
            header.setdefault(key, []).append(value)
    return header


def _header_lines(name: str, header: Mapping[str, Sequence[str]]) -> list[str]:
    lines = []
    for key in sorted(header, key=bool):  # comments without a key first, they would continue another
        values = header[key]
        for value in [values] if isinstance(values, str) else values:
            # Three blanks make a comment without a key stay one, even if it reads like "Key: value".
            line = f"; {key}: {value}".rstrip() if key else f";   {value}"
            back = _header([line.encode()])
            if len(line.encode().splitlines()) != 1 or back != {key: [value]}:
                raise SwfError(
                    f"{name}: cannot write the header entry {key!r}: {value!r}; a key is one word, "
                    "a value one line without blanks around it"
                )
            lines.append(line)
    return lines


def _header_number(header: Mapping[str, list[str]], *keys: str) -> int:
    """Return the first of the keys that is there with a whole number above 0, else 0."""
    for key in keys:
        for value in header.get(key, []):
            leading = re.match(r"[0-9]+", value)
            if leading and int(leading[0]) > 0:
                return int(leading[0])
    return 0


def _row_count_note(header: Mapping[str, list[str]], values: np.ndarray) -> tuple[str, ...]:
    told = _header_number(header, "MaxRecords", "MaxJobs")
    rows = len(values)
    if told in (0, rows):
        return ()
    note = f"{rows:,} rows, its header says {told:,}"
    if rows > told:
        return (note,)
    # A cleaned log keeps the header and the job numbers of the original.
    whole = values[:, COLUMNS.index("job")].max() >= told
    return (note + (": some are left out, the last is there" if whole else ": the end may be missing"),)


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
        told = ", ".join(f"{_shown(present[k])} ({rows[k]:,} rows)" for k in top)
        lowest, highest = _shown(present[0]), _shown(present[-1])
        raise SwfError(
            f"{log.name}: no row has {column} {_listed(missing)}; values go from {lowest} to {highest}, "
            f"most frequent {told}"
        )
    return values


def _check_setting(name: str, given: str, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise SwfError(f"{name}={given!r}: choose {' or '.join(allowed)}")


def _shown(value: float) -> str:
    return np.format_float_positional(value, trim="-")


def _listed(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))


def _account(dropped: Mapping[str, int]) -> str:
    return "dropped " + (", ".join(f"{rows:,} {reason}" for reason, rows in dropped.items()) or "nothing")
