"""Reads the logs of a results folder: the heads of records, and the records themselves."""

import itertools
import operator
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from sweep.errors import RunError
from sweep.store.records import Head, Record, decode, head


class Line(NamedTuple):
    """A line of a log, and where it is."""

    log: Path
    offset: int
    length: int


def opened(log: Path) -> BinaryIO:
    """Open a log for reading.

    Raises
    ------
    RunError
        With one line that names the file, if it cannot be read or is not a regular file.
    """
    try:
        if not stat.S_ISREG(log.stat().st_mode):  # opening a pipe would wait for its writer
            raise RunError(f"{log} is not a regular file: move it away, then run the same command again")
        return log.open("rb")
    except OSError as error:
        raise RunError(
            f"{log} cannot be read ({error.strerror}): make it readable, or move it away, and run the same "
            "command again; without this log its tasks run again"
        ) from None


def scan(folder: Path, names: str = "*.jsonl") -> Iterator[tuple[Line, bytes]]:
    """Yield each whole line of the logs of a folder.

    A torn last line waits for its end.

    Parameters
    ----------
    folder : Path
        It need not exist if nothing has been written yet.
    """
    for log in sorted(folder.glob(names)):
        offset = 0
        with opened(log) as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                if line != b"\n":
                    yield Line(log, offset, len(line)), line
                offset += len(line)


def heads(folder: Path, names: str = "*.jsonl") -> Iterator[Head]:
    """Yield the heads of all undamaged records, see `scan`."""
    return filter(None, (head(line) for _, line in scan(folder, names)))


def read(lines: Iterable[Line]) -> Iterator[Record | None]:
    """Yield the record of each line, None if it is damaged; lines of one log should be consecutive."""
    for log, of_log in itertools.groupby(lines, key=operator.attrgetter("log")):
        with opened(log) as file:
            for line in of_log:
                file.seek(line.offset)
                yield decode(file.read(line.length))
