"""How far a simulation is, where another process can read it while a kernel runs.

A kernel returns at the end of its simulation, which for a whole log may be minutes away. The record of its
scalars, one of which counts the jobs submitted or started so far, therefore lies in a file that is mapped
into memory (mmap): the kernel writes as it always does, and any process that knows the file's name reads.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

COUNT = "arrived"
"""The scalar that counts the jobs submitted so far, by which families show their progress that name none."""

HEAD = np.dtype([("n_jobs", np.int64), ("place", np.int64)])
"""What a file begins with: the jobs of the simulation, and the place of their count, in bytes."""

_file: Path | None = None
_n_jobs = 0


@contextmanager
def shown_in(file: Path | None) -> Iterator[None]:
    """Have the simulations of this process show their progress in a file, in a folder that may not exist."""
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
    """Return one record of zeros for the scalars of a simulation, shape (1,); `count` of them shows how far
    it is."""
    if _file is not None:
        assert kind.fields is not None
        head = np.array([(_n_jobs, HEAD.itemsize + kind.fields[count][1])], HEAD)
        try:
            # A record of an earlier simulation stays what it is: its file has no name any more.
            _file.unlink(missing_ok=True)
            _file.write_bytes(head.tobytes() + bytes(kind.itemsize))
            return np.asarray(np.memmap(_file, kind, "r+", HEAD.itemsize, 1))
        except OSError:  # no such folder on this machine, or a full one: progress is not shown
            pass
    return np.zeros(1, kind)


def share_done(file: Path) -> float:
    """Return the share of the jobs that a simulation has counted, at most 1; 0 if it shows nothing."""
    try:
        content = file.read_bytes()
        ((n_jobs, place),) = np.frombuffer(content, HEAD, 1).tolist()
        return min(int(np.frombuffer(content, np.int64, 1, place)[0]) / n_jobs, 1.0)
    except (OSError, ValueError, ZeroDivisionError):
        return 0.0
