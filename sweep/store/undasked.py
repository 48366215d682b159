"""Datasets written without dask, where nobody needs it.

xarray loads dask and distributed, nearly half of what a small study takes, only to see of its first array
that it is none of dask's. A command that runs its tasks without dask keeps it from that: xarray is loaded,
and writes, as if there were none. What is imported in between, such as a model of one's own, finds dask.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

WITHOUT = ("serial", "mpi", "slurm.executor")
"""Executors that need no dask, by their ``name``."""

_promised: set[str] = set()
"""Holds ``dask`` once this process is such a command, and ``xarray`` once that was loaded without it."""


def promise(executor: object) -> None:
    """Say that this process is a command with this executor, whose arrays are all its own.

    Where xarray or dask is loaded already, somebody else in the process may have others: all stays as it is.
    """
    if executor in WITHOUT and not {"dask", "xarray"} & set(sys.modules):
        _promised.add("dask")


@contextmanager
def undasked() -> Iterator[None]:
    """Keep xarray from loading dask, as far as that was promised; it remembers what it found when loaded."""
    was_loaded_with_it = "xarray" in sys.modules and "xarray" not in _promised
    if "dask" not in _promised or "dask" in sys.modules or was_loaded_with_it:
        yield
        return
    _promised.add("xarray")
    with hidden("dask"):
        yield


@contextmanager
def hidden(*names: str) -> Iterator[None]:
    """Let modules that are not loaded look as if they were not installed."""
    for name in names:
        sys.modules[name] = None  # type: ignore[assignment]  # what is None there is not to be imported
    try:
        yield
    finally:
        for name in names:
            del sys.modules[name]
