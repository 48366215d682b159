"""Reads the logs of a results folder: what is in them, and the records themselves."""

from __future__ import annotations

import itertools
import operator
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sweep.store.index import Entries, Held, Index, Stamp, joined, packed
from sweep.store.shards import (
    CHECKSUM,
    CHECKSUM_LENGTH,
    HEAD,
    Head,
    Outline,
    Outliner,
    Record,
    decode,
    head,
)

BLOCK_BYTES = 1 << 19
"""What is read of a log at a time: it stays in a core's cache until its checksums are compared."""


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
    admits : callable, optional
        Whether the record of a line without a checksum can be what was written, see `sweep.store.expected`.
    """

    def __init__(
        self,
        folder: Path,
        names: str = "*.jsonl",
        index: Index | None = None,
        admits: Callable[[Record], bool] = lambda _: True,
    ) -> None:
        self._folder = folder
        self._names = names
        self.index = index
        self._admits = admits
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
        match, checksum, crc32 = HEAD.match, CHECKSUM_LENGTH, zlib.crc32
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
        return (decode(data[start:end]) for data, start, end in self._lines(places))

    def outlines(self, places: Iterable[Place]) -> Iterator[Outline | Record | None]:
        """Yield the same, but most results with their numbers as text."""
        outline = Outliner()
        known, view = b"", memoryview(b"")
        for data, start, end in self._lines(places):
            if data is not known:
                known, view = data, memoryview(data)
            yield outline(data, view, start, end)

    def _lines(self, places: Iterable[Place]) -> Iterator[tuple[bytes, int, int]]:
        """Yield the line at each place: bytes, and where in them it begins and ends."""
        for log, of_log in itertools.groupby(places, key=operator.attrgetter("log")):
            descriptor = os.open(self._folder / log, os.O_RDONLY)
            try:
                for start, lengths in _neighbours(of_log):
                    data, at = os.pread(descriptor, sum(lengths), start), 0
                    for length in lengths:
                        yield data, at, at + length
                        at += length
            finally:
                os.close(descriptor)

    def _head(self, line: bytes) -> Head | None:
        """Return the head of a line, and count it if it is damaged.

        This is a line without a checksum that agrees. Of an earlier version it has none at all: then only
        all of it tells whether it is whole.
        """
        found = head(line)
        if found is not None and (record := decode(line)) is not None and self._admits(record):
            return found
        if line.strip():
            named = HEAD.match(line)
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
