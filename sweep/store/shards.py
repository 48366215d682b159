"""The logs to which workers append their finished tasks, synced once per message.

Each worker process writes its own file, so that no write ever waits for or damages another; where that would
be too many files, the workers of one machine share a file and take turns.
"""

import fcntl
import os
import secrets
import socket
import threading
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from sweep.store import reader
from sweep.store.records import HEAD, Record, encode
from sweep.store.writing import inner, link, open_log, replace


class Shard:
    """The log of one worker process, or of several; the file appears with the first record.

    Parameters
    ----------
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
        """Write records and wait until they are on the disk.

        Raises
        ------
        OSError
            If some could not be written (disk full, no permission); none of the records is then in the log.
        """
        data = memoryview(b"".join(encode(record) for record in records))
        with self._lock:
            descriptor = self._open()
            try:
                start = os.fstat(descriptor).st_size
                try:
                    if start and os.pread(descriptor, 1, start - 1) != b"\n":
                        os.write(descriptor, b"\n")  # after a torn line that could not be removed
                    while data:
                        data = data[os.write(descriptor, data) :]
                    os.fsync(descriptor)
                except OSError:
                    # Leave only complete lines, so that the log can be appended to once there is space again.
                    with suppress(OSError):
                        os.ftruncate(descriptor, start)
                    raise
            finally:
                os.close(descriptor)

    def _open(self) -> int:
        """Return a descriptor of the log; a shared log is locked until it is closed."""
        if self.path.parent.is_symlink():  # the folder was exchanged during the run
            raise link(self.path.parent)
        descriptor = open_log(self.path)
        if not self._shared:
            return descriptor
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:  # a file system without locks: one more file does less harm than a torn line
            os.close(descriptor)
            self._shared, self.path = False, self._own
            return self._open()
        return descriptor


def set_aside(folder: Path, ids: Collection[str]) -> Path | None:
    """Move the records of some tasks out of all logs, so that they do not count; no other process may write.

    Returns
    -------
    Path or None
        The file that holds them now, in a folder ``aside`` that no reader opens; None if there were
        none.
    """
    aside = folder / "aside" / f"{time.strftime('%Y-%m-%d-%H%M%S')}-{secrets.token_hex(2)}.jsonl"
    kept: dict[Path, bytes] = {}
    moved: list[bytes] = []
    for log in sorted(folder.glob("*.jsonl")):
        with reader.opened(log) as file:
            lines = file.readlines()
        mine = [(found := HEAD.match(line)) is not None and found[1].decode() in ids for line in lines]
        if any(mine):
            moved += [line for line, is_mine in zip(lines, mine, strict=True) if is_mine]
            kept[log] = b"".join(line for line, is_mine in zip(lines, mine, strict=True) if not is_mine)
    if not moved:
        return None
    inner(aside.parent)
    replace(aside, b"".join(moved))  # written first: every record is in some file at any moment
    for log, rest in kept.items():
        if rest:
            replace(log, rest)
        else:
            log.unlink()
    return aside
