"""The bytes of a log, plain or compressed, recognised by content."""

import bz2
import gzip
import hashlib
import lzma
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any

from models.jobs.swf.columns import SwfError


def _zstandard(file: IO[bytes]) -> Any:
    """Open a file of zstandard, which Python itself reads from 3.14 on."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd.open(file)


FORMATS: dict[bytes, tuple[str, Callable[[IO[bytes]], Any]]] = {
    b"\x1f\x8b": ("gzip", gzip.open),
    b"BZh": ("bzip2", bz2.open),
    b"\xfd7zXZ\0": ("xz", lzma.open),
    b"\x28\xb5\x2f\xfd": ("zstandard", _zstandard),
}
"""First bytes of a compressed file -> its format, and how it is opened."""

BOM = b"\xef\xbb\xbf"
HTML, LONGEST_START = (b"<!doctype html", b"<html"), 1000
"""The beginning of a web page, and the number of bytes that are searched for it."""

MOST_TIMES, LEAST_LIMIT = 100, 1 << 24
"""Maximum decompression ratio, or size in bytes: logs compress 3 to 12 times, repetitive JSON up to 60
times."""

ROW_BYTES = 200
"""Of a log, at most."""

MOST_BYTES, MOST_IN_BLOCKS = 1 << 31, 1 << 36
"""Of a file that is read as a whole: a hundred times the largest log of the archive; of one that is read in
blocks."""


def content_of(path: Path, sha256: str | None = None) -> bytes:
    """Return the file's text, unpacked; see `unpacked`."""
    return b"".join(unpacked(path, sha256))


def unpacked(path: Path, sha256: str | None = None, size: int = -1) -> Iterator[bytes]:
    """Yield the file's text, unpacked, in blocks of a number of bytes, or as one.

    Parameters
    ----------
    sha256 : str, optional
        SHA-256 of the file that a study was planned with: another file would give values under the wrong
        identity.
    """
    most = MOST_BYTES if size < 0 else MOST_IN_BLOCKS
    try:
        if not stat.S_ISREG(mode := path.stat().st_mode) and not stat.S_ISDIR(mode):
            raise SwfError(f"{path}: is a device or a pipe, which may never end; give the path of a log")
        if (n_bytes := path.stat().st_size) > most:
            raise SwfError(
                f"{path}: has {n_bytes:,} bytes, and at most {most:,} are read; give a part of it, such as: "
                f"zcat -f {path.name} | head -n {most // ROW_BYTES} > part.swf"
            )
        with path.open("rb") as raw:
            if sha256 is not None and hashlib.file_digest(raw, "sha256").hexdigest() != sha256:
                raise SwfError(
                    f"{path}: has changed since the study was planned; put the planned file back, or type "
                    "the command again to plan with this one"
                )
            raw.seek(0)
            yield from _blocks(path.name, raw, n_bytes, size, most)
    except FileNotFoundError:
        raise SwfError(
            f"{path}: no such file (looked in {path.absolute().parent}); give the path of a log"
        ) from None
    except IsADirectoryError:
        raise SwfError(f"{path}: is a directory; give the path of one log, plain or gzip") from None
    except OSError as error:
        raise SwfError(f"{path}: cannot be read ({error.strerror}); give the path of a log") from None


def _blocks(name: str, raw: IO[bytes], n_bytes: int, size: int, most: int) -> Iterator[bytes]:
    first = raw.read(max(map(len, FORMATS)))
    raw.seek(0)
    form, opened = next((FORMATS[magic] for magic in FORMATS if first.startswith(magic)), ("", nullcontext))
    most = min(max(LEAST_LIMIT, MOST_TIMES * n_bytes), most) if form else n_bytes
    try:
        with opened(raw) as file:
            n_read, block = 0, file.read(size if size > 0 else most + 1)
            if block.startswith(BOM):
                block = block[len(BOM) :]
            if block[:LONGEST_START].lstrip().lower().startswith(HTML):
                raise SwfError(f"{name}: is an HTML page, not a log; download the log that the page links to")
            while block:
                if (n_read := n_read + len(block)) > most:
                    raise SwfError(
                        f"{name}: unpacks to more than {most:,} bytes, from {n_bytes:,}, as no log does; if "
                        "it is one, unpack it and give that file"
                    )
                yield block
                block = file.read(size)
    except ImportError:
        raise SwfError(
            f"{name}: is compressed with zstandard, which needs a package; add it: pip install backports.zstd"
        ) from None
    except Exception as error:  # each decompressor has errors of its own
        if not form or isinstance(error, SwfError):
            raise
        raise SwfError(
            f"{name}: the {form} data is cut off or damaged ({error}); fetch the file again"
        ) from None
