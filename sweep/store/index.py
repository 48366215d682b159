"""Where each record is in the logs, kept in a file so that finished logs are not read through again.

The logs alone count. The index says what each of them held when it had a certain length and certain times;
one that has others by now is read as if there were no index, and so is every log where the index is missing
or damaged. It may be deleted at any moment. Whoever holds the folder's lock writes it, as a whole and by
renaming. A damaged log is not in it: what is wrong with it is told each time.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sweep.store.folder import replace

NAME = "index"

FIRST_LINE = b"index 1, crc32 %08x\n"
"""With a checksum of all that follows. The number is raised when that changes, or what counts as a record."""

_COLUMNS = [("id", "S20"), ("failed", "?"), ("seconds", "<f8"), ("offset", "<i8"), ("length", "<i4")]

ENTRY = np.dtype(_COLUMNS)
"""Of a record; the columns are those of `Entries`."""

TOGETHER = 1 << 14
"""Entries that are made Python objects at a time."""

TICK_NS = 2 * 10**9
"""How far apart two times of a file have to be to be told apart on every file system.

What changes a log within the same tick leaves it its times. So nothing is taken from the index of a log that
had been changed less than this before the index was written.
"""


class Entries(NamedTuple):
    """Heads of records of one log, and where they are: columns of one length."""

    ids: list[str]
    failed: list[bool]
    seconds: list[float]
    offsets: list[int]
    lengths: list[int]

    def add(self, id_: str, failed: bool, seconds: float, offset: int, length: int) -> None:
        """Append one."""
        self.ids.append(id_)
        self.failed.append(failed)
        self.seconds.append(seconds)
        self.offsets.append(offset)
        self.lengths.append(length)


class Stamp(NamedTuple):
    """What a log's directory entry tells of its content: it differs after every change but the quickest."""

    size: int
    modified_ns: int
    changed_ns: int

    @classmethod
    def of(cls, log: Path) -> Stamp | None:
        """Return that of a log, None where there is none."""
        try:
            with log.open("rb", buffering=0) as file:  # network file systems tell the newest of an open file
                stat = os.fstat(file.fileno())
        except FileNotFoundError:
            return None
        return cls(stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


class Held(NamedTuple):
    """What a log held.

    Parameters
    ----------
    stamp : Stamp
        When it was read.
    end : int
        Of its last whole line.
    entries : ndarray of `ENTRY`, shape (n,)
    """

    stamp: Stamp
    end: int
    entries: np.ndarray

    def columns(self) -> Iterator[Entries]:
        """Yield the entries as Python has them."""
        for start in range(0, len(self.entries), TOGETHER):
            part = self.entries[start : start + TOGETHER]
            columns = (part[name].tolist() for name, _ in _COLUMNS[1:])
            yield Entries(part["id"].astype(str).tolist(), *columns)


def packed(columns: Entries) -> np.ndarray:
    """Return entries as an array of `ENTRY`, shape (n,)."""
    found = np.empty(len(columns.ids), ENTRY)
    found["id"] = np.frombuffer("".join(columns.ids).encode(), ENTRY["id"])
    for (name, _), values in zip(_COLUMNS[1:], columns[1:], strict=True):
        found[name] = values
    return found


def joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return what `packed` returned of the parts of a log as one array."""
    return np.concatenate([np.empty(0, ENTRY), *parts])


class Index:
    """The index of a folder of logs: what was kept, and what was found since.

    Parameters
    ----------
    folder : Path
        Of the logs.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._kept = _read(self._path)
        self._held: dict[str, Held] = {}

    def held(self, log: str) -> Held | None:
        """Return what a log holds, None if that has to be read."""
        known = self._held.get(log) or self._kept.get(log)
        if known is None or known.stamp != Stamp.of(self._path.with_name(log)):
            return None
        self._held[log] = known
        return known

    def note(self, log: str, held: Held) -> None:
        """Remember what a log, just read from its beginning to its end, holds."""
        self._held[log] = held

    def save(self) -> None:
        """Keep what logs hold, unless that is kept already; only for whoever holds the folder's lock.

        Where it cannot be written, the logs are read the next time, as they were this time.
        """
        if _stamps(self._held) == _stamps(self._kept):
            return
        logs = [(name, *held.stamp, held.end, len(held.entries)) for name, held in self._held.items()]
        told = json.dumps(logs).encode() + b"\n"
        data = b"".join([told, *(held.entries.tobytes() for held in self._held.values())])
        with suppress(OSError):
            replace(self._path, FIRST_LINE % zlib.crc32(data) + data)
            self._kept = dict(self._held)

    def drop(self) -> None:
        """Forget everything, because a log does not hold what the index says."""
        self._kept, self._held = {}, {}
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def _stamps(logs: dict[str, Held]) -> dict[str, Stamp]:
    return {name: held.stamp for name, held in logs.items()}


def _read(path: Path) -> dict[str, Held]:
    """Return what was kept of each log; of those left out that may have changed within the same tick."""
    try:
        with path.open("rb") as file:
            written = os.fstat(file.fileno()).st_mtime_ns
            data = file.read()
    except OSError:
        return {}
    start = data.find(b"\n") + 1
    if data[:start] != FIRST_LINE % zlib.crc32(memoryview(data)[start:]):
        return {}
    end = data.index(b"\n", start) + 1
    entries, first, found = np.frombuffer(memoryview(data)[end:], ENTRY), 0, {}
    for name, size, modified, changed, end_of_lines, n in json.loads(data[start:end]):
        if max(modified, changed) + TICK_NS <= written:
            found[name] = Held(Stamp(size, modified, changed), end_of_lines, entries[first : first + n])
        first += n
    return found
