"""The progress of a simulation, readable by another process while a kernel runs.

A kernel returns at the end of its simulation, which for a whole log may be minutes away. The record of its
scalars, one of which counts the jobs submitted or started so far, therefore lies in a file that is mapped
into memory (mmap): the kernel writes as usual, and any process that knows the file's name can read it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

COUNT = "arrived"
"""The scalar that counts the jobs submitted so far: the progress of families that name no other scalar."""

HEAD = np.dtype([("n_jobs", np.int64), ("place", np.int64)])
"""The header of a file: the jobs of the simulation, and the offset of their count in bytes."""

_file: Path | None = None
_n_jobs = 0


@contextmanager
def shown_in(file: Path | None) -> Iterator[None]:
    """Let the simulations of this process show their progress in a file, whose folder may not exist."""
    global _file
    _file = file
    try:
        yield
    finally:
        _file = None
        if file is not None:
            file.unlink(missing_ok=True)


def expect(n_jobs: int) -> None:
    """Announce how many jobs the next simulations have."""
    global _n_jobs
    _n_jobs = n_jobs


def record(kind: np.dtype, count: str = COUNT) -> np.ndarray:
    """Return a record of zeros for a simulation's scalars, shape (1,); the scalar `count` is its progress."""
    if _file is not None:
        assert kind.fields is not None
        head = np.array([(_n_jobs, HEAD.itemsize + kind.fields[count][1])], HEAD)
        try:
            # A record of an earlier simulation stays valid: its file no longer has a name.
            _file.unlink(missing_ok=True)
            _file.write_bytes(head.tobytes() + bytes(kind.itemsize))
            return np.asarray(np.memmap(_file, kind, "r+", HEAD.itemsize, 1))
        except OSError:  # no such folder on this machine, or a full one: progress is not shown
            pass
    return np.zeros(1, kind)


def share_done(file: Path) -> float:
    """Return the share of the jobs that a simulation has counted, at most 1; 0 if unknown."""
    try:
        content = file.read_bytes()
        ((n_jobs, place),) = np.frombuffer(content, HEAD, 1).tolist()
        return min(int(np.frombuffer(content, np.int64, 1, place)[0]) / n_jobs, 1.0)
    except (OSError, ValueError, ZeroDivisionError):
        return 0.0
