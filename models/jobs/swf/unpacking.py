"""The bytes of a log, plain or gzip, recognised by content."""

import gzip
import hashlib
import io
import stat
import zlib
from pathlib import Path

from models.jobs.swf.columns import SwfError

_GZIP_MAGIC = b"\x1f\x8b"

MOST_TIMES, LEAST_LIMIT = 40, 1 << 24
"""A log may unpack to so many times its size, or to so many bytes: logs of the archive have 3 to 12 times."""

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
    content = _unpacked(path.name, raw) if raw.startswith(_GZIP_MAGIC) else raw
    return content.removeprefix(b"\xef\xbb\xbf")


def _unpacked(name: str, raw: bytes) -> bytes:
    most = max(LEAST_LIMIT, MOST_TIMES * len(raw))
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            content = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise SwfError(
            f"{name}: the gzip data is cut off or damaged ({error}); fetch the file again"
        ) from None
    if len(content) > most:
        raise SwfError(
            f"{name}: unpacks to more than {MOST_TIMES} times its {len(raw):,} bytes, as no log does; if it "
            "is one, unpack it and give that file"
        )
    return content
