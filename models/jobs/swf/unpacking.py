"""The bytes of a log, plain or compressed, recognised by content."""

import bz2
import gzip
import hashlib
import io
import lzma
import stat
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from models.jobs.swf.columns import SwfError

FORMATS: dict[bytes, tuple[str, Callable[..., Any]]] = {
    b"\x1f\x8b": ("gzip", gzip.open),
    b"BZh": ("bzip2", bz2.open),
    b"\xfd7zXZ\0": ("xz", lzma.open),
}
"""First bytes of a compressed file -> its format, and how it is opened."""

ZSTANDARD = b"\x28\xb5\x2f\xfd"

HTML, LONGEST_START = (b"<!doctype html", b"<html"), 1000
"""How a web page begins, and the bytes in which that is looked for."""

MOST_TIMES, LEAST_LIMIT = 100, 1 << 24
"""Maximum decompression ratio, or size in bytes: logs compress 3 to 12 times, repetitive JSON up to 60
times."""

MOST_BYTES = 1 << 31
"""Of a file: a hundred times the largest log of the archive."""


def content_of(path: Path, sha256: str | None = None) -> bytes:
    """Return the file's text, unpacked.

    Parameters
    ----------
    sha256 : str, optional
        Of the file that a study was planned with: another one would give its values under the wrong identity.
    """
    try:
        if not stat.S_ISREG(mode := path.stat().st_mode) and not stat.S_ISDIR(mode):
            raise SwfError(f"{path}: is a device or a pipe, which may never end; give the path of a log")
        if (size := path.stat().st_size) > MOST_BYTES:
            raise SwfError(f"{path}: has {size:,} bytes; a log has {MOST_BYTES:,} at most")
        raw = path.read_bytes()
    except FileNotFoundError:
        raise SwfError(
            f"{path}: no such file (looked in {path.absolute().parent}); give the path of a log"
        ) from None
    except IsADirectoryError:
        raise SwfError(f"{path}: is a directory; give the path of one log, plain or gzip") from None
    except OSError as error:
        raise SwfError(f"{path}: cannot be read ({error.strerror}); give the path of a log") from None
    if sha256 is not None and hashlib.sha256(raw).hexdigest() != sha256:
        raise SwfError(
            f"{path}: has changed since the study was planned; put the planned file back, or type the "
            "command again to plan with this one"
        )
    content = _unpacked(path.name, raw).removeprefix(b"\xef\xbb\xbf")
    if content[:LONGEST_START].lstrip().lower().startswith(HTML):
        raise SwfError(f"{path.name}: is an HTML page, not a log; download the log that the page links to")
    return content


def _unpacked(name: str, raw: bytes) -> bytes:
    if raw.startswith(ZSTANDARD):
        raise SwfError(f"{name}: is compressed with zstandard; unpack it: unzstd {name}, and give that file")
    magic = next((first for first in FORMATS if raw.startswith(first)), None)
    if magic is None:
        return raw
    most = min(max(LEAST_LIMIT, MOST_TIMES * len(raw)), MOST_BYTES)
    form, opened = FORMATS[magic]
    try:
        with opened(io.BytesIO(raw)) as file:
            content: bytes = file.read(most + 1)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise SwfError(
            f"{name}: the {form} data is cut off or damaged ({error}); fetch the file again"
        ) from None
    if len(content) > most:
        raise SwfError(
            f"{name}: unpacks to more than {most:,} bytes, from {len(raw):,}, as no log does; if it is "
            "one, unpack it and give that file"
        )
    return content
