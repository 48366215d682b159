"""The bytes of a log, plain or gzip, recognised by content."""

from __future__ import annotations

import stat
import zlib
from pathlib import Path

from models.jobs.swf.errors import SwfError

_GZIP_MAGIC = b"\x1f\x8b"
_BYTES_AT_ONCE = 1 << 16


def content_of(path: Path) -> bytes:
    """Return the file's text, unpacked."""
    try:
        if not stat.S_ISREG(mode := path.stat().st_mode) and not stat.S_ISDIR(mode):
            raise SwfError(f"{path}: is a device or a pipe, which may never end; give the path of a log")
        raw = path.read_bytes()
    except FileNotFoundError:
        raise SwfError(
            f"{path}: no such file (looked in {path.absolute().parent}); give the path of a log"
        ) from None
    except IsADirectoryError:
        raise SwfError(f"{path}: is a directory; give the path of one log, plain or gzip") from None
    except OSError as error:
        raise SwfError(f"{path}: cannot be read ({error.strerror}); give the path of a log") from None
    content = _unpacked(path.name, raw) if raw.startswith(_GZIP_MAGIC) else raw
    return content.removeprefix(b"\xef\xbb\xbf")


def _unpacked(name: str, raw: bytes) -> bytes:
    # zlib instead of the gzip module, which keeps back what came before a fault: the message needs its lines.
    parts: list[bytes] = []
    stream = zlib.decompressobj(wbits=31)
    ends = "ends early"
    try:
        for at in range(0, len(raw), _BYTES_AT_ONCE):
            pending = raw[at : at + _BYTES_AT_ONCE]
            while pending:
                # A gzip file may be several streams in a row, and be padded with zeros.
                if stream.eof:
                    pending = pending.lstrip(b"\0")
                    if not pending:
                        break
                    stream = zlib.decompressobj(wbits=31)
                parts.append(stream.decompress(pending))
                pending = stream.unused_data
    except zlib.error:
        ends = "is damaged"
    else:
        if stream.eof:
            return b"".join(parts)
    lines = sum(part.count(b"\n") for part in parts)
    raise SwfError(f"{name}: cut off after line {lines}, the gzip data {ends} there; fetch the file again")
