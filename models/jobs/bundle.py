"""A site's bundle: one ``.tar.gz`` with slurm.conf and what Slurm prints, see `slurm.capturing`.

A bundle may come from a stranger. Only members that its manifest lists are read, each a regular file with a
plain name and the listed size; nothing is unpacked beyond a limit, and no path or link in it is followed.
"""

import gzip
import hashlib
import io
import json
import os
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from models.jobs.swf.unpacking import LEAST_LIMIT, MOST_BYTES, MOST_TIMES

FORM = 1
MANIFEST, CONFIGURATION, LOG = "bundle.json", "slurm.conf", "sacct.txt"
"""Names of members: the first one, which lists all others; the configuration; the last one, the jobs."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
MOST_FILES, MOST_MANIFEST = 1000, 1 << 20


class BundleError(ValueError):
    """A bundle that cannot be read: one line with the file and a remedy."""


class _Limited(io.RawIOBase):
    """A file that refuses to unpack to more than a number of bytes."""

    def __init__(self, file: gzip.GzipFile, most: int) -> None:
        self._file, self._left = file, most

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise tarfile.ReadError("it unpacks to far more bytes than a bundle has")
        return data


def is_bundle(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a bundle, by its first bytes."""
    try:
        if not os.path.isfile(path):  # a pipe may never end
            return False
        with open(path, "rb") as raw:
            if raw.read(2) != b"\x1f\x8b":
                return False
            raw.seek(0)
            with gzip.open(raw) as file:
                return file.read(len(MANIFEST) + 1) == MANIFEST.encode() + b"\0"
    except (OSError, EOFError, zlib.error):
        return False  # reading it will raise the error


def packed(files: Mapping[str, bytes], about: Mapping[str, Any]) -> bytes:
    """Return a bundle: the same content gives the same bytes."""
    order = sorted(files, key=lambda name: (name == LOG, name != CONFIGURATION, name))
    manifest = {"form": FORM, "about": dict(about), "files": {name: len(files[name]) for name in order}}
    contents = {MANIFEST: json.dumps(manifest, indent=1).encode()} | {name: files[name] for name in order}
    made = io.BytesIO()
    with (
        gzip.GzipFile("", "wb", fileobj=made, mtime=0) as file,
        tarfile.open(fileobj=file, mode="w|", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o600
            tar.addfile(member, io.BytesIO(content))
    return made.getvalue()


def read(path: str | os.PathLike[str], *, log: bool) -> dict[str, bytes]:
    """Return the contents of a bundle by name: the jobs alone, or all other files without unpacking these.

    Raises
    ------
    BundleError
        If it is damaged, or has members that no bundle has.
    """
    path = Path(path)
    try:
        most = min(max(LEAST_LIMIT, MOST_TIMES * path.stat().st_size), MOST_BYTES)
        with (
            gzip.open(path) as file,
            tarfile.open(fileobj=_Limited(file, most), mode="r|") as tar,
        ):
            return dict(_members(path.name, tar, log))
    except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
        raise BundleError(
            f"{path.name}: the bundle is damaged ({error}); fetch it again, or make it with: "
            "python -m slurm capture"
        ) from None


def _members(name: str, tar: tarfile.TarFile, log: bool) -> Iterator[tuple[str, bytes]]:
    listed: dict[str, int] | None = None
    for member in tar:
        size = MOST_MANIFEST if listed is None else listed.pop(member.name, -1)
        if listed is None and (member.name != MANIFEST or member.size > size):
            raise _strange(name, f"does not begin with {MANIFEST}")
        if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or (listed is not None and size < 0):
            raise _strange(name, f"has {member.name[:60]!r}, a link or not in its list")
        if listed is not None and member.size != size:
            raise _strange(name, f"has a member {member.name} of another size than in its list")
        if member.name == LOG and not log:
            return
        if listed is None or (member.name == LOG) == log:
            file = tar.extractfile(member)
            assert file is not None  # it is a regular file
            content = file.read()
            if listed is None:
                listed = _listed(name, content)
            else:
                yield member.name, content
    # Without the jobs the rest of the list has been read: they come last.
    if listed is None or listed:
        raise _strange(name, f"lacks {', '.join(listed or [MANIFEST])}")


def _listed(name: str, content: bytes) -> dict[str, int]:
    try:
        manifest = json.loads(content)
        form, files = manifest["form"], dict(manifest["files"])
        right = all(NAME.fullmatch(one) and type(size) is int and size >= 0 for one, size in files.items())
    except (ValueError, TypeError, KeyError, RecursionError):
        raise _strange(name, f"has a {MANIFEST} that cannot be read") from None
    if form != FORM:
        raise BundleError(
            f"{name}: a bundle of form {str(form)[:20]}, and form {FORM} is read here; update schedsweep"
        )
    if not right or len(files) > MOST_FILES or CONFIGURATION not in files or MANIFEST in files:
        raise _strange(name, f"has a {MANIFEST} without {CONFIGURATION}, or with names that no bundle has")
    return files


def _strange(name: str, what: str) -> BundleError:
    return BundleError(f"{name}: the bundle {what}; make it with: python -m slurm capture")


def jobs(path: str | os.PathLike[str], sha256: str | None = None) -> bytes:
    """Return the output of sacct; its SHA-256 may be given, as the study was planned with it.

    Raises
    ------
    BundleError
        If it holds no jobs, or other jobs.
    """
    if (content := read(path, log=True).get(LOG)) is None:
        raise BundleError(f"{Path(path).name}: the bundle has no {LOG}; add workload.path=FILE")
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise BundleError(
            f"{Path(path).name}: has changed since the study was planned; put the planned file back, or type "
            "the command again to plan with this one"
        )
    return content
