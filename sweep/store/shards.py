"""The logs in which workers keep what they finished: JSON lines, appended and synced once a message.

Each worker process writes a file of its own, so no write ever waits for or damages another; where that would
be too many files, workers of one machine share a file and take turns. A line begins
with the task's id and state, so that what is left of a sweep is found without parsing numbers. The arrays of
all metrics, one after the other, are one base64 of little-endian doubles: exact bits, NaN included, half the
size of decimal text and several times faster to read. A line ends with a checksum of all before it. One
without its end (the process was killed while writing) does not count, nor does one that is not what was
written. Logs of earlier versions, with a base64 for each metric, are read as well.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import socket
import threading
import time
import zlib
from binascii import a2b_base64, b2a_base64
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from sweep.store.folder import replace

Layout = tuple[tuple[str, int], ...]
"""Names of metrics in the order of their values, and how many values each has."""


@dataclass(frozen=True)
class Finished:
    """A task that ended.

    Parameters
    ----------
    id : str
    seconds : float
    jobs : int
    backlog : str, optional
        What it left undone, as `sweep.store.backlogs.encoded` has it.
    batches : int
    metrics : tuple of (str, int)
        Names, and the number of values of each: of shape (batches, ...), in C order.
    values : bytes
        Of all metrics, little-endian doubles.
    """

    id: str
    seconds: float
    jobs: int
    backlog: str | None
    batches: int
    metrics: Layout
    values: bytes


@dataclass(frozen=True)
class Failed:
    """A task that raised, with what is needed to see it raise again."""

    id: str
    seconds: float
    seed: list[int]
    point: dict[str, Any]
    replication: int
    traceback: str


Record = Finished | Failed


class Outline(NamedTuple):
    """A result whose numbers are still text, as those of many are decoded together.

    Parameters
    ----------
    id, backlog, batches, metrics
        As of `Finished`.
    values : memoryview
        Of all metrics: base64 of little-endian doubles.
    """

    id: str
    backlog: str | None
    batches: int
    metrics: Layout
    values: memoryview


class Head(NamedTuple):
    """The beginning of a record."""

    id: str
    failed: bool
    seconds: float


CHECKSUM = b',"crc32":"%08x"}\n'
"""The end of a line: CRC-32 of the bytes before. Logs of earlier versions have none."""

CHECKSUM_LENGTH = len(CHECKSUM % 0)
_BEFORE_CHECKSUM = CHECKSUM.split(b"%")[0]

HEAD = re.compile(rb'\{"id":"([0-9a-f]{20})","state":"(done|failed)","seconds":([0-9.e+-]+),')

_BEFORE_BATCHES = re.compile(HEAD.pattern + rb'"jobs":(\d+),"backlog":(null|\{[^{}]*\})')
_DONE = re.compile(_BEFORE_BATCHES.pattern + rb',"batches":(\d+),"metrics":(\{[^{}]*\})')
_DONE_FORMAT = b'{"id":"%b","state":"done","seconds":%b,"jobs":%d,"backlog":%b,"batches":%d,"metrics":%b%b%b"'

_VALUES = b',"values":"'


class Shard:
    """The log of one worker process, or of several; the file appears with the first record.

    Parameters
    ----------
    folder : Path
    log : str, optional
        Name of a log shared with other processes of this machine (across machines, appending is not safe on
        every file system); None is a log of this process's own.
    """

    def __init__(self, folder: Path, log: str | None = None) -> None:
        own = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._own = folder / f"{own}.jsonl"
        self._shared = log is not None
        self.path = folder / f"{log}.jsonl" if self._shared else self._own
        self._lock = threading.Lock()  # a worker of a user's own Dask cluster may have several threads

    def append(self, records: Iterable[Record]) -> None:
        """Write records and wait until they are on disk.

        Raises
        ------
        OSError
            If not all could be written (disk full, no permission); none of them is then in the log.
        """
        data = memoryview(b"".join(encode(record) for record in records))
        with self._lock:
            descriptor = self._open()
            try:
                start = os.fstat(descriptor).st_size
                try:
                    if start and os.pread(descriptor, 1, start - 1) != b"\n":
                        os.write(descriptor, b"\n")  # after a torn line that could not be taken back
                    while data:
                        data = data[os.write(descriptor, data) :]
                    os.fsync(descriptor)
                except OSError:
                    # Leave whole lines only, so that the log can be appended to once there is space again.
                    with suppress(OSError):
                        os.ftruncate(descriptor, start)
                    raise
            finally:
                os.close(descriptor)

    def _open(self) -> int:
        """Return a descriptor of the log; one of a shared log is locked until it is closed."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        if not self._shared:
            return descriptor
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:  # a file system without locks: one more file does less harm than a torn line
            os.close(descriptor)
            self._shared, self.path = False, self._own
            return self._open()
        return descriptor


_text = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def encode(record: Record) -> bytes:
    """Return a record as one line."""
    if isinstance(record, Finished):
        line = _DONE_FORMAT % (
            record.id.encode(),
            repr(record.seconds).encode(),
            record.jobs,
            b"null" if record.backlog is None else record.backlog.encode(),
            record.batches,
            _layout_text(record.metrics),
            _VALUES,
            b2a_base64(record.values, newline=False),
        )
    else:
        data = dict(vars(record))  # not `asdict`, which copies all that is inside
        head = {"id": data.pop("id"), "state": "failed", "seconds": data.pop("seconds")}
        line = _text({**head, **data}).encode()[:-1]
    return line + _checksum(line)


def _checksum(line: bytes | memoryview) -> bytes:
    """Return the end of a line."""
    return CHECKSUM % zlib.crc32(line)


@cache
def _layout_text(layout: Layout) -> bytes:
    return _text(dict(layout)).encode()


@cache
def _layout(text: bytes) -> tuple[Layout, int]:
    """Return the layout that `_layout_text` wrote, and the bytes of its values."""
    layout = tuple(json.loads(text).items())
    return layout, 8 * sum(n for _, n in layout)


def head(line: bytes) -> Head | None:
    """Return id, state and seconds of a whole line, None if the line is damaged."""
    found = HEAD.match(line)
    if found is None:
        return None
    id_, state, duration = found.groups()
    try:
        seconds = float(duration)
    except ValueError:
        return None
    failed = state == b"failed"
    if line.startswith(_BEFORE_CHECKSUM, -CHECKSUM_LENGTH):
        if not line.endswith(_checksum(memoryview(line)[:-CHECKSUM_LENGTH])):
            return None
        return Head(id_.decode(), failed, seconds)
    # Without a checksum: results end with two braces, which occur nowhere else in them; so a line torn
    # anywhere is told apart. A NUL is what a file system puts where a crash of the machine lost a page.
    if not line.endswith(b"}\n" if failed else b"}}\n") or b"\0" in line:
        return None
    return Head(id_.decode(), failed, seconds)


def decode(line: bytes) -> Record | None:
    """Return the record of a line, None if the line is damaged."""
    is_whole = line.endswith(_checksum(memoryview(line)[:-CHECKSUM_LENGTH]))
    if not is_whole and head(line) is None:
        return None
    try:
        if (found := _DONE.match(line)) is not None:
            return _finished(line, found)
        data = json.loads(line)
        data.pop("crc32", None)
        return Failed(**data) if data.pop("state") == "failed" else None
    except (ValueError, TypeError, AttributeError):  # not JSON, or other keys
        return None


def _finished(line: bytes, found: re.Match[bytes]) -> Finished | None:
    """Return a result.

    Raises
    ------
    ValueError, TypeError, AttributeError
        If it is not what was written.
    """
    id_, _, seconds, jobs, backlog, batches, metrics = found.groups()
    start = found.end()
    if line.startswith(_VALUES, start):
        layout, n_bytes = _layout(metrics)
        values = a2b_base64(memoryview(line)[start + len(_VALUES) : -CHECKSUM_LENGTH - 1])
        if len(values) != n_bytes:
            return None
    else:  # of an earlier version: a base64 for each metric
        each = {name: a2b_base64(text) for name, text in json.loads(metrics).items()}
        if any(len(part) % 8 for part in each.values()):
            return None
        layout, values = tuple((name, len(part) // 8) for name, part in each.items()), b"".join(each.values())
    return Finished(
        id_.decode(),
        float(seconds),
        int(jobs),
        None if backlog == b"null" else backlog.decode(),
        int(batches),
        layout,
        values,
    )


class Outliner:
    """Reads results line by line; between backlog and numbers most have what the line before them has."""

    def __init__(self) -> None:
        # Batches and metrics: the text, and what it says; the length of the line from there on.
        self._between, self._n_rest = b"\0", 0
        self._batches, self._metrics = 0, cast(Layout, ())

    def __call__(self, data: bytes, view: memoryview, start: int, end: int) -> Outline | Record | None:
        """Return the record of a line, as an outline if it is like the one before; None if it is damaged.

        Parameters
        ----------
        data, view : bytes, memoryview
            The same.
        start, end : int
            Of the line.
        """
        begins = _BEFORE_BATCHES.match(data, start, end)
        if (
            begins is not None
            and data.startswith(self._between, at := begins.end())
            and end - at == self._n_rest
        ):
            checksum = end - CHECKSUM_LENGTH
            if data.startswith(_checksum(view[start:checksum]), checksum, end):
                id_, backlog = begins.group(1, 5)
                return Outline(
                    id_.decode(),
                    None if backlog == b"null" else backlog.decode(),
                    self._batches,
                    self._metrics,
                    view[at + len(self._between) : checksum - 1],
                )
        line = data[start:end]
        record = decode(line)
        if isinstance(record, Finished):
            self._remember(line, record)
        return record

    def _remember(self, line: bytes, record: Finished) -> None:
        begins, found = _BEFORE_BATCHES.match(line), _DONE.match(line)
        if begins is not None and found is not None and line.startswith(_VALUES, found.end()):
            self._between = line[begins.end() : found.end() + len(_VALUES)]
            self._batches, self._metrics = record.batches, record.metrics
            self._n_rest = len(line) - begins.end()


def set_aside(folder: Path, ids: Collection[str]) -> Path | None:
    """Move the records of some tasks out of all logs, so that they do not count; nobody else may be writing.

    Parameters
    ----------
    folder : Path
        Of the logs.
    ids : collection of str

    Returns
    -------
    Path or None
        The file that has them now, in a folder ``aside`` where no reader looks; None where there were none.
    """
    aside = folder / "aside" / f"{time.strftime('%Y-%m-%d-%H%M%S')}-{secrets.token_hex(2)}.jsonl"
    kept: dict[Path, bytes] = {}
    moved: list[bytes] = []
    for log in sorted(folder.glob("*.jsonl")):
        with log.open("rb") as file:
            lines = file.readlines()
        mine = [(found := HEAD.match(line)) is not None and found[1].decode() in ids for line in lines]
        if any(mine):
            moved += [line for line, is_mine in zip(lines, mine, strict=True) if is_mine]
            kept[log] = b"".join(line for line, is_mine in zip(lines, mine, strict=True) if not is_mine)
    if not moved:
        return None
    aside.parent.mkdir(exist_ok=True)
    replace(aside, b"".join(moved))  # there first: at no moment is a record in no file
    for log, rest in kept.items():
        if rest:
            replace(log, rest)
        else:
            log.unlink()
    return aside


def merge(folder: Path, logs: Iterable[Path], name: str) -> None:
    """Make one log of several that nobody writes to any more; at no moment is a line in none of them.

    Parameters
    ----------
    folder : Path
    logs : iterable of Path
    name : str
        Of the one log, without ``.jsonl``.
    """
    logs = list(logs)
    private = folder / ".merging"
    try:
        with private.open("wb") as merged:
            for log in logs:
                with log.open("rb") as file:
                    # A torn last line counts for nothing, and would damage the next one.
                    merged.writelines(line for line in file if line.endswith(b"\n"))
            merged.flush()
            os.fsync(merged.fileno())
        newest = max((log.stat().st_mtime for log in logs), default=time.time())
        os.utime(private, (newest, newest))  # no results are newer for being moved
        private.replace(folder / f"{name}.jsonl")
    finally:
        private.unlink(missing_ok=True)
    for log in logs:
        log.unlink(missing_ok=True)
