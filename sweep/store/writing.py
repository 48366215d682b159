"""Writes all files of results: it follows no link, and detects a folder that was exchanged.

A results folder may be shared with others: a link in it could point to the user's own files elsewhere. A
folder that the user names may itself be a link.
"""

import glob
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sweep.errors import RunError, SweepError

NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW

_held: dict[Path, tuple[int, int]] = {}
"""Folders that runs of this process write to -> their identities."""


def identity(folder: Path) -> tuple[int, int] | None:
    """Return what identifies a folder whatever its name is; None if it does not exist."""
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def holding(folder: Path) -> Iterator[None]:
    """Within this context, write only to this very folder: another one may get its name meanwhile."""
    place, before = folder.absolute(), identity(folder)
    assert before is not None
    _held[place] = before
    try:
        yield
    finally:
        _held.pop(place, None)


def check_held(path: Path) -> None:
    """Raise `RunError` if a file would be written to another folder than the one that a run began with."""
    place = path.absolute()
    for folder, before in _held.items():
        if place.is_relative_to(folder) and identity(folder) != before:
            raise RunError(
                f"{folder} was moved away or replaced while the run wrote to it: the dataset there now is "
                "left unchanged, and finished tasks are in the folder that was moved; move it back, then run "
                "the same command again"
            )


def link(path: Path) -> SweepError:
    """Return the error for a link where no run makes one."""
    return SweepError(f"{path} is a link: remove it, or give another folder, output=FOLDER")


def inner(folder: Path) -> Path:
    """Make a folder inside a results folder, and return it.

    Raises
    ------
    SweepError
        If it is a link, which may point to the user's own files elsewhere.
    """
    if folder.is_symlink():
        raise link(folder)
    check_held(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def open_log(path: Path, flags: int = os.O_RDWR | os.O_APPEND) -> int:
    """Return a descriptor of a file for appending lines; it is created if missing.

    Raises
    ------
    OSError
        If it is a link, or cannot be opened.
    """
    check_held(path)
    return os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW, 0o666)


def write_new(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Write a file that must not exist yet, not even as a link."""
    check_held(path)
    with open(os.open(path, NEW, mode), "wb") as file:
        file.write(data)


def replace(path: Path, data: bytes) -> None:
    """Write a file atomically: it is always either the old or the new one, also after a crash."""
    with private(path) as made:
        made.write_bytes(data)


@contextmanager
def private(path: Path) -> Iterator[Path]:
    """Yield a private file that then replaces the one at `path`: a reader never finds a partial file.

    A link at `path` is replaced, not followed. Leftovers of killed processes beside it are removed.
    """
    check_held(path)
    for left in path.parent.glob(f".*.{glob.escape(path.name)}"):
        if left.name.removesuffix(f".{path.name}")[1:].isdecimal():
            left.unlink(missing_ok=True)
    # The end of a name may be its format.
    made = path.with_name(f".{secrets.randbelow(10**12)}.{path.name}")
    try:
        write_new(made, b"")  # a random name, at which no link can wait
        yield made
        with made.open("rb") as file:
            os.fsync(file.fileno())
        check_held(path)
        made.replace(path)
    except IsADirectoryError as error:
        raise IsADirectoryError(error.errno, error.strerror, str(path)) from None  # not the private file
    except FileNotFoundError:
        check_held(path)  # the folder itself is gone
        raise
    finally:
        made.unlink(missing_ok=True)
