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
import itertools
import json
import operator
import os
import re
import secrets
import socket
import threading
import time
import zlib
from binascii import a2b_base64, b2a_base64
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from sweep.store.folder import replace
from sweep.store.index import Entries, Held, Index, Stamp, joined, packed

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


class Head(NamedTuple):
    """The beginning of a record."""

    id: str
    failed: bool
    seconds: float


CHECKSUM = b',"crc32":"%08x"}\n'
"""The end of a line: CRC-32 of the bytes before. Logs of earlier versions have none."""

_CHECKSUM_LENGTH = len(CHECKSUM % 0)
_BEFORE_CHECKSUM = CHECKSUM.split(b"%")[0]

_HEAD = re.compile(rb'\{"id":"([0-9a-f]{20})","state":"(done|failed)","seconds":([0-9.e+-]+),')

_DONE = re.compile(
    _HEAD.pattern + rb'"jobs":(\d+),"backlog":(null|\{[^{}]*\}),"batches":(\d+),"metrics":(\{[^{}]*\})'
)
_DONE_FORMAT = b'{"id":"%b","state":"done","seconds":%b,"jobs":%d,"backlog":%b,"batches":%d,"metrics":%b%b%b"'

_VALUES = b',"values":"'

BLOCK_BYTES = 1 << 19
"""What is read of a log at a time: it stays in a core's cache until its checksums are compared."""


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
    found = _HEAD.match(line)
    if found is None:
        return None
    id_, state, seconds = found.groups()
    failed = state == b"failed"
    if line.startswith(_BEFORE_CHECKSUM, -_CHECKSUM_LENGTH):
        if not line.endswith(_checksum(memoryview(line)[:-_CHECKSUM_LENGTH])):
            return None
        return Head(id_.decode(), failed, float(seconds))
    # Without a checksum: results end with two braces, which occur nowhere else in them; so a line torn
    # anywhere is told apart. A NUL is what a file system puts where a crash of the machine lost a page.
    if not line.endswith(b"}\n" if failed else b"}}\n") or b"\0" in line:
        return None
    return Head(id_.decode(), failed, float(seconds))


def decode(line: bytes) -> Record | None:
    """Return the record of a line, None if the line is damaged."""
    is_whole = line.endswith(_checksum(memoryview(line)[:-_CHECKSUM_LENGTH]))
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
        values = a2b_base64(memoryview(line)[start + len(_VALUES) : -_CHECKSUM_LENGTH - 1])
        if len(values) != n_bytes:
            return None
    else:  # of an earlier version: a base64 for each metric
        each = {name: a2b_base64(text) for name, text in json.loads(metrics).items()}
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
        mine = [(found := _HEAD.match(line)) is not None and found[1].decode() in ids for line in lines]
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


class Place(NamedTuple):
    """Where the line of a record is."""

    log: str
    offset: int
    length: int


class Reader:
    """Reads all logs of a folder, and later only what has been added since.

    Parameters
    ----------
    folder : Path
        Need not exist: then nothing has been written yet.
    names : str
        Pattern of the logs' names; all of them by default.
    index : Index, optional
        Logs that it knows are not read; it is told of those that are read from beginning to end.
    """

    def __init__(self, folder: Path, names: str = "*.jsonl", index: Index | None = None) -> None:
        self._folder = folder
        self._names = names
        self.index = index
        self._offsets: dict[str, int] = {}
        self.damaged: list[str | None] = []
        """Of each line met that does not count: the identity of its task, if that can be read."""

    def heads(self) -> Iterator[Head]:
        """Yield the heads of new lines, without parsing the rest."""
        for _, added in self.entries():
            for some in added:
                yield from map(Head, some.ids, some.failed, some.seconds)

    def records(self) -> Iterator[Record]:
        """Yield the records of new lines; those of a log that is merged meanwhile perhaps twice."""
        for log, added in self.entries():
            places = (
                Place(log, offset, length)
                for some in added
                for offset, length in zip(some.offsets, some.lengths, strict=True)
            )
            with suppress(FileNotFoundError):  # what was in it is in one that is new
                yield from (record for record in self.at(places) if record is not None)

    def entries(self) -> Iterator[tuple[str, Iterator[Entries]]]:
        """Yield the name of each log, and what was added to it, many records at a time.

        Every whole line that was not there the last time is looked at, and its checksum compared; a torn last
        line waits for its end.
        """
        names: set[str] | None = None
        # Again, if logs were merged in the meantime: what was in them is in one that is new.
        while names is None or not names <= self._there():
            names = self._there()
            for name in sorted(names):
                yield name, self._added(name)

    def _there(self) -> set[str]:
        return {path.name for path in self._folder.glob(self._names)}

    def _added(self, name: str) -> Iterator[Entries]:
        """Yield what was added to a log, as the index has it or as is read."""
        if self.index is None or name in self._offsets:
            yield from self._read(name)
            return
        if (held := self.index.held(name)) is not None:
            self._offsets[name] = held.end
            yield from held.columns()
            return
        stamp, n_damaged = Stamp.of(self._folder / name), len(self.damaged)
        parts = []
        for some in self._read(name):
            parts.append(packed(some))
            yield some
        if stamp is not None and stamp == Stamp.of(self._folder / name) and len(self.damaged) == n_damaged:
            self.index.note(name, Held(stamp, self._offsets.get(name, 0), joined(parts)))

    def _read(self, name: str) -> Iterator[Entries]:
        """Yield the heads of lines that were added to a log, and where they are."""
        match, checksum, crc32 = _HEAD.match, _CHECKSUM_LENGTH, zlib.crc32
        for at, data, view, end_of_lines in self._blocks(name):
            some = Entries([], [], [], [], [])
            start = 0
            while start < end_of_lines:
                end = data.find(b"\n", start) + 1
                found = match(data, start, end)
                # As `head` does, without a copy of the line.
                if found is not None and data.startswith(
                    CHECKSUM % crc32(view[start : end - checksum]), end - checksum, end
                ):
                    id_, state, seconds = found.groups()
                    some.add(id_.decode(), state == b"failed", float(seconds), at + start, end - start)
                elif (of_line := self._head(bytes(view[start:end]))) is not None:
                    some.add(*of_line, at + start, end - start)
                start = end
            self._offsets[name] = at + end_of_lines
            yield some

    def _blocks(self, name: str) -> Iterator[tuple[int, bytearray, memoryview, int]]:
        """Yield what was added to a log in blocks: where one begins, its bytes twice, where its lines end."""
        offset = self._offsets.get(name, 0)
        try:
            file = (self._folder / name).open("rb", buffering=0)
        except FileNotFoundError:
            return
        with file:
            data, there = bytearray(BLOCK_BYTES), 0
            file.seek(offset)
            while n := file.readinto(memoryview(data)[there:]):
                there += n
                if end := data.rfind(b"\n", there - n, there) + 1:
                    yield offset, data, memoryview(data), end
                    offset, there = offset + end, there - end
                    data[:there] = data[end : end + there]
                elif there == len(data):
                    data = data + bytes(len(data))  # a line longer than a block

    def at(self, places: Iterable[Place]) -> Iterator[Record | None]:
        """Yield the record at each place, None where it is damaged; places of one log should come together.

        Raises
        ------
        FileNotFoundError
            If a log is not there any more, because it was merged with others.
        """
        for log, of_log in itertools.groupby(places, key=operator.attrgetter("log")):
            descriptor = os.open(self._folder / log, os.O_RDONLY)
            try:
                for start, lengths in _neighbours(of_log):
                    data, at = os.pread(descriptor, sum(lengths), start), 0
                    for length in lengths:
                        yield decode(data[at : at + length])
                        at += length
            finally:
                os.close(descriptor)

    def _head(self, line: bytes) -> Head | None:
        """Return the head of a line, and count it if it is damaged.

        This is a line without a checksum that agrees. Of an earlier version it has none at all: then only
        all of it tells whether it is whole.
        """
        found = head(line)
        if found is not None and decode(line) is not None:
            return found
        if line.strip():
            named = _HEAD.match(line)
            self.damaged.append(named[1].decode() if named else None)
        return None


def _neighbours(places: Iterable[Place]) -> Iterator[tuple[int, list[int]]]:
    """Yield where each of some lines of a log begins that are read at once, and their lengths.

    Lines that follow one another are read together, up to `BLOCK_BYTES`: a call of the system for each took
    a seventh of the time of reading them.
    """
    start, end = 0, 0
    lengths: list[int] = []
    for _, offset, length in places:
        if lengths and (offset != end or end + length - start > BLOCK_BYTES):
            yield start, lengths
            lengths = []
        if not lengths:
            start = offset
        lengths.append(length)
        end = offset + length
    if lengths:
        yield start, lengths
