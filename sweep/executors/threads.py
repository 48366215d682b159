"""A task is one thread of work on one core: numerical libraries must not start more."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
    **dict.fromkeys(("NUMBA_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"),
}
"""Environment variables, which libraries read when they are imported: so they are set before."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Let processes that are started within this context use one thread."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
