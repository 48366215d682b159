"""The records of the workers' logs: one line of JSON for each task.

A line begins with the identity and the state of the task, so that the remaining tasks of a sweep are found
without parsing numbers. The arrays of all metrics, one after the other, are one base64 string of
little-endian doubles: exact bits, including NaN, half the size of decimal text and several times faster to
read. A line ends with a checksum of everything before it. A line that is incomplete, because its process was
killed while writing, or that is damaged does not count.
"""

import json
import re
import zlib
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Layout = tuple[tuple[str, int], ...]
"""Names of metrics in the order of their values, and the number of values of each."""


@dataclass(frozen=True)
class Finished:
    """A task that ended.

    Parameters
    ----------
    seconds : float
    overflowed : bool
        See `models.family.Outcome`.
    metrics : tuple of (str, int)
        Names, and the number of values of each: of shape (batches, ...), in C order.
    values : bytes
        Values of all metrics as little-endian doubles.
    """

    id: str
    seconds: float
    jobs: int
    overflowed: bool
    batches: int
    metrics: Layout
    values: bytes

    def arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield each metric and its values, in C order."""
        flat, start = np.frombuffer(self.values, dtype="<f8"), 0
        for name, n in self.metrics:
            yield name, flat[start : start + n]
            start += n


@dataclass(frozen=True)
class Failed:
    """A task that raised an exception, with what is needed to reproduce it."""

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


HEAD = re.compile(rb'\{"id":"([0-9a-f]{20})","state":"(done|failed)","seconds":([0-9.e+-]+),')

CHECKSUM = b',"crc32":"%08x"}\n'
"""The end of a line: CRC-32 of the bytes before."""

CHECKSUM_LENGTH = len(CHECKSUM % 0)

_text = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def encode(record: Record) -> bytes:
    """Return a record as one line."""
    data = dict(vars(record))  # not `asdict`, which copies everything inside
    head = {
        "id": data.pop("id"),
        "state": "failed" if isinstance(record, Failed) else "done",
        "seconds": data.pop("seconds"),
    }
    if isinstance(record, Finished):
        data["metrics"] = dict(record.metrics)
        data["values"] = b2a_base64(record.values, newline=False).decode()
    line = _text(head | data).encode()[:-1]
    return line + CHECKSUM % zlib.crc32(line)


def head(line: bytes) -> Head | None:
    """Return identity, state and seconds of a line, None if the line is damaged."""
    found = HEAD.match(line)
    if found is None or not _is_whole(line):
        return None
    id_, state, seconds = found.groups()
    return Head(id_.decode(), state == b"failed", float(seconds))


def _is_whole(line: bytes) -> bool:
    return line.endswith(CHECKSUM % zlib.crc32(memoryview(line)[:-CHECKSUM_LENGTH]))


def decode(line: bytes) -> Record | None:
    """Return the record of a line, None if the line is damaged."""
    if not _is_whole(line):
        return None
    try:
        data = json.loads(line)
        del data["crc32"]
        if data.pop("state") == "failed":
            return Failed(**data)
        data["metrics"] = tuple(data["metrics"].items())
        data["values"] = a2b_base64(data["values"])
        record = Finished(**data)
        is_complete = len(record.values) == 8 * sum(n for _, n in record.metrics)
    except (ValueError, TypeError, KeyError, AttributeError):  # not JSON, or other keys
        return None
    return record if is_complete else None
