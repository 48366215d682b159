"""Measures the size to which a dataset unpacks, in a separate process, before anything in it is decoded.

A stranger's file may have strings that share their bytes, arrays without data, or circular groups, at which
the netCDF library ends the process; and its arrays may lie in other files on this machine. Every reader of
datasets calls ``measured`` first. Run as a script, this file opens a dataset and prints its fault.
"""

import functools
import math
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

MOST_BYTES, MOST_TIMES = 1 << 31, 100
"""Limits of numbers in bytes of memory, and as a multiple of the file's size: it may be full of zeros."""

MOST_TEXTS, LONGEST_TEXT, MOST_CHARACTERS = 100_000, 1 << 16, 1 << 25
"""Limits of strings in arrays (names of policies and values of axes): number, length and sum."""

LONGEST_ATTRIBUTE = 1 << 26
"""Maximum length of an attribute: some hold configs, recipes and code."""

MOST_PARTS, MOST_ATTRIBUTES, DEEPEST = 10_000, 1_000, 3
"""Limits: variables, groups and dimensions of a file; attributes of each; levels of groups."""

MOST_OF_CHUNK = 1 << 28
"""Maximum bytes of a chunk, which is unpacked as a whole."""

MEMORY, PATIENCE_S = 1 << 29, 60
"""Memory for opening a dataset and reading its strings, in addition to the library's."""


_WRITTEN: dict[str, tuple[int, ...]] = {}
"""Path -> the version of a dataset that this process wrote itself."""


def _version(found: os.stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def written(path: Path) -> None:
    """Trust the version of a dataset that this process has just written: measuring takes a process."""
    _WRITTEN[str(path.absolute())] = _version(path.stat())


def measured(path: Path) -> None:
    """Raise `ValueError` if a file exceeds the limits of a dataset; each version is measured once."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):  # opening a pipe would wait for its writer
        raise ValueError("it is not a regular file")
    if _WRITTEN.get(str(path.absolute())) != _version(found):
        _measure(str(path.absolute()), *_version(found))


@functools.lru_cache(maxsize=256)
def _measure(path: str, *version: int) -> None:
    command = [sys.executable, "-P", "-W", "ignore", __file__, path]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        raise ValueError(f"it could not be opened within {PATIENCE_S} s") from None
    if done.returncode or done.stdout != "measured\n":
        raise ValueError(done.stdout.strip() or "the netCDF library failed on its structure")


def _n_files() -> int:
    """Return the number of files that this process has open, including the listing itself."""
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def faults(path: str) -> Iterator[str]:
    """Yield the faults of a dataset; a part is read only after everything that determines its size."""
    from netCDF4 import Dataset

    before = _n_files()
    with Dataset(path) as file:
        if _n_files() > before + 1:
            yield "parts of it are in other files"
        yield from _faults_of_group(file, [0], 0)
        groups = [file, *_groups(file)]
        variables = [variable for group in groups for variable in group.variables.values()]
        numbers = [one for one in variables if one.dtype is not str]
        most = max(MOST_BYTES, MOST_TIMES * os.path.getsize(path))
        if (size := sum(8 * math.prod(one.shape) for one in numbers)) > most:
            yield f"it unpacks to {size:,} bytes, as no study does"
        texts = [one for one in variables if one.dtype is str]
        if (n := sum(math.prod(one.shape) for one in texts)) > MOST_TEXTS:
            yield f"it has {n:,} texts, of at most {MOST_TEXTS:,}"
        yield from _faults_of_texts(texts)
        yield from _other_files(numbers)


def _groups(group: Any) -> Iterator[Any]:
    for inner in group.groups.values():
        yield inner
        yield from _groups(inner)


def _faults_of_group(group: Any, parts: list[int], depth: int) -> Iterator[str]:
    """Yield faults of the types, sizes and attributes in a group and its subgroups."""
    parts[0] += len(group.variables) + len(group.groups) + len(group.dimensions)
    if parts[0] > MOST_PARTS or depth > DEEPEST:
        yield f"it has more than {MOST_PARTS:,} variables, groups and dimensions, or {DEEPEST} levels of them"
    if group.data_model != "NETCDF4" or group.cmptypes or group.vltypes or group.enumtypes:
        yield "it has user-defined types, or another format than netCDF-4"
    yield from _faults_of_attributes(group)
    for name, variable in group.variables.items():
        is_text = variable.dtype == "S1" and getattr(variable, "_Encoding", "") == "utf-8"
        if variable.dtype is not str and variable.dtype.kind not in "fiu" and not is_text:
            yield f"{name} is neither numbers nor texts"
        chunks = variable.chunking() or "contiguous"
        if chunks != "contiguous" and 8 * math.prod(chunks) > MOST_OF_CHUNK:
            yield f"{name} has chunks of {math.prod(chunks):,} values"
        yield from _faults_of_attributes(variable)
    for inner in group.groups.values():
        yield from _faults_of_group(inner, parts, depth + 1)


def _faults_of_attributes(owner: Any) -> Iterator[str]:
    names = owner.ncattrs()
    if len(names) > MOST_ATTRIBUTES:
        yield f"{owner.name} has {len(names):,} attributes"
    for name in names:
        value = owner.getncattr(name)
        if (size := sum(map(len, value)) if isinstance(value, list) else len(str(value))) > LONGEST_ATTRIBUTE:
            yield f"the attribute {name} has {size:,} characters"


def _faults_of_texts(texts: list[Any]) -> Iterator[str]:
    """Read strings one by one, because several may share the same bytes of the file."""
    total = 0
    for variable in texts:
        variable.set_auto_mask(False)
        for at in np.ndindex(variable.shape):
            length = len(variable[at])
            total += length
            if length > LONGEST_TEXT or total > MOST_CHARACTERS:
                yield f"{variable.name} has texts of {length:,} characters, or too many of them"


def _other_files(numbers: list[Any]) -> Iterator[str]:
    """Yield variables whose values are in other files on this machine, which a report would then show."""
    whole = [one for one in numbers if one.chunking() == "contiguous" and math.prod(one.shape)]
    before = _n_files()
    for variable in whole:
        variable.set_auto_maskandscale(False)
        variable[(0,) * variable.ndim]
        if _n_files() > before:  # virtual: the other file stays open
            yield f"{variable.name} is in another file"
    # A file of external storage is closed again: no further one can be opened.
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    for variable in whole:
        variable[(0,) * variable.ndim]


def main(path: str) -> None:
    """Print the first fault of a dataset, or that there is none."""
    from netCDF4 import Dataset  # noqa: F401  (it takes memory of its own)

    if os.path.exists("/proc/self/statm"):
        with open("/proc/self/statm", encoding="ascii") as file:
            own = int(file.read().split()[0]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        most = own + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most if hard == -1 else min(most, hard), hard))
    try:
        fault = next(faults(path), "measured")
    except MemoryError:
        fault = f"it takes more than {MEMORY >> 20} MB to open, as no study does"
    except Exception as error:
        fault = f"{type(error).__name__}: {error}"
    print(" ".join(fault.split())[:300], flush=True)
    os._exit(0)  # whatever state the file has left the library in


if __name__ == "__main__":
    main(sys.argv[1])
