"""Imported in Dask worker processes only: they leave Ctrl-C to the run, and do not outlive it.

The fork server that makes the workers imports this before anything else, and they inherit what it sets.
"""

from __future__ import annotations

import ctypes
import signal

# A terminal sends Ctrl-C to all processes of a run; the main one alone decides what happens then. Set before
# the next import, which takes a second in which a worker would answer with a traceback.
signal.signal(signal.SIGINT, signal.SIG_IGN)

from distributed import Worker  # noqa: E402

PR_SET_PDEATHSIG = 1


def dask_setup(worker: Worker) -> None:
    """Have the kernel end this process when its parent ends (Linux), even in the middle of a long task.

    Dask watches its parent too, but in a thread, which cannot run while a compiled kernel holds the
    interpreter's lock.
    """
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
