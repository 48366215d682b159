"""A results folder: its files, the study whose results it holds, and the lock of its writer."""

import errno
import fcntl
import json
import os
import re
import socket
import stat
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sweep.errors import SweepError
from sweep.store import writing

LEFTOVER = re.compile(r"\.(\d+\.|ranks-)")
"""Patterns of writers' temporary files: half of another file, and where MPI ranks meet."""


class HeldError(SweepError):
    """The folder is being written by another run."""


class Folder:
    """Paths of one results folder. Nothing is created before `create` is called."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.shards = path / "shards"
        self.dataset = path / f"{name}.nc"
        self.manifest = path / "config.json"
        self._lock = path / ".lock"

    def check(self) -> None:
        """Raise `SweepError` where `create` would, as far as possible without touching anything."""
        there = next(part for part in (self.path, *self.path.parents) if os.path.lexists(part))
        if not there.is_dir():
            raise self.unwritable(NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(there)))
        if not os.access(there, os.W_OK | os.X_OK):
            raise self.unwritable(PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(there)))

    def create(self, kept: Iterable[str] = ()) -> None:
        """Make the folder.

        Parameters
        ----------
        kept : iterable of str
            Names of its subfolders that executors write to.

        Raises
        ------
        SweepError
            If it cannot be written to.
        """
        for name in (*kept, "pilot", "search", "shards/aside"):
            if (part := self.path / name).is_symlink():
                raise writing.link(part)
        try:
            writing.inner(self.shards)
            reachable = os.access(self.shards, os.W_OK | os.X_OK)
        except OSError as error:
            raise self.unwritable(error) from None
        if not reachable:
            raise self.unwritable(PermissionError(errno.EACCES, os.strerror(errno.EACCES)))

    def unwritable(self, error: OSError) -> SweepError:
        """Return the error for a folder that cannot be created or written to."""
        there = error.filename2 or error.filename
        where = f" ({there})" if there is not None and os.path.lexists(there) else ""
        away = f"move {there} away, or give another" if isinstance(error, IsADirectoryError) else "give a"
        return SweepError(
            f"output={self.path}: {error.strerror or error}{where}; {away} folder that can be written, "
            "output=FOLDER"
        )

    def holds_results(self) -> bool:
        """Whether any task has been logged here."""
        return any(os.stat(shard, follow_symlinks=False).st_size for shard in self.shards.glob("*.jsonl"))

    def checksum(self) -> str | None:
        """Return size and CRC-32 of the dataset on disk; None if it is not a file or cannot be read."""
        crc = size = 0
        try:
            with self.dataset.open("rb") as file:
                while block := file.read(1 << 20):
                    crc, size = zlib.crc32(block, crc), size + len(block)
        except OSError:
            return None
        return f"{size} bytes, {crc:08x}"

    def make_room(self) -> Path | None:
        """Rename a folder that has the name of the dataset, and return its new path."""
        if not self.dataset.is_dir():
            return None
        with suppress(OSError):
            self.dataset.rmdir()  # an empty folder
            return None
        return self.dataset.rename(spare(self.dataset))

    def read_manifest(self) -> dict[str, Any]:
        """Return what `write_manifest` wrote; empty if the manifest is missing or damaged."""
        with suppress(OSError, ValueError, RecursionError):
            data = json.loads(self.manifest.read_text(encoding="utf-8")) if self.manifest.is_file() else {}
            if isinstance(data, dict) and data.pop("crc32", None) in (None, _crc(data)):
                return data
        return {}

    def claim(self, described: dict[str, Any]) -> None:
        """Record the study whose results the folder holds; the dataset's checksum stays."""
        before = self.read_manifest()
        self.write_manifest(described | {key: before.get(key) for key in ("dataset", "checksum")})

    def write_manifest(self, data: dict[str, Any]) -> None:
        """Replace the manifest as a whole."""
        text = json.dumps({**data, "crc32": _crc(data)}, indent=1) + "\n"
        try:
            writing.replace(self.manifest, text.encode())
        except OSError as error:
            raise self.unwritable(error) from None

    def is_held(self) -> bool:
        """Whether a run writes here."""
        try:
            with self._lock.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:  # no run has written here yet
            return False
        return False

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the folder against other runs; the system releases the lock however the process ends."""
        try:
            descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            if self._lock.is_symlink():
                raise SweepError(f"{self._lock} is a link, which a run never makes: remove it") from None
            raise self.unwritable(error) from None
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
                raise SweepError(
                    f"{self._lock}, the lock that keeps two runs apart, is not a regular file with one name: "
                    "remove it"
                )
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.read(descriptor, 500).decode().strip() or "another process"
                raise HeldError(
                    f"{self.path} is being written by {holder}; wait for it, or give another folder, "
                    f"output={spare(self.path)}"
                ) from None
            since = time.strftime("%Y-%m-%d %H:%M:%S")
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()} since {since}\n".encode())
            self._remove_leftovers()
            with writing.holding(self.path):
                yield
        finally:
            os.close(descriptor)

    def _remove_leftovers(self) -> None:
        """Remove the temporary files of killed writers: no other run writes here now."""
        for left in (*self.path.glob(".*.*"), *self.shards.glob(".*")):
            if LEFTOVER.match(left.name) and not left.is_dir():
                left.unlink(missing_ok=True)


def _crc(data: dict[str, Any]) -> str:
    """Return a checksum of JSON, whatever its layout: a flipped bit may leave it JSON of another study."""
    return f"{zlib.crc32(json.dumps(data, sort_keys=True).encode()):08x}"


def spare(path: Path) -> Path:
    """Return the first of PATH-2, PATH-3, ... that does not exist."""
    number = 2
    while (candidate := path.with_name(f"{path.name}-{number}")).exists():
        number += 1
    return candidate
