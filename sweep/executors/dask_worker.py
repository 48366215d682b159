"""Imported in Dask worker processes only: they leave Ctrl-C to the run, and end with it.

The fork server that makes the workers imports this before anything else, and they inherit what it sets.
"""

import ctypes
import gc
import logging
import signal
import sys
from typing import Any, TextIO

# A terminal sends Ctrl-C to all processes of a run, and the main one handles it. Set before the next import,
# during which, for a second, an interrupted worker would print a traceback.
signal.signal(signal.SIGINT, signal.SIG_IGN)

from distributed import Status, Worker  # noqa: E402

from schedsweep import packages  # noqa: E402

packages.search_working_folder_last()

# Set here too, because a worker may lose its peers before Dask has silenced it. The run itself reports
# workers that end.
for name in ("distributed", "distributed.client"):
    logging.getLogger(name).setLevel(logging.CRITICAL)

PR_SET_PDEATHSIG = 1

CLOSING = (Status.closing, Status.closing_gracefully, Status.closed)


class WhileRunning:
    """The standard error of a worker until it closes.

    A worker that closes right after its start may find its parent gone and print a meaningless traceback: all
    results are in its log by that time.
    """

    def __init__(self, stream: TextIO, worker: Worker) -> None:
        self._stream = stream
        self._worker = worker

    def write(self, text: str) -> int:
        """Write, as long as the worker runs."""
        return len(text) if self._worker.status in CLOSING else self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def dask_setup(worker: Worker) -> None:
    """Have the kernel end this process when its parent ends (Linux), even in the middle of a long task.

    Dask watches its parent too, but in a thread, which cannot run while a compiled kernel holds the
    interpreter's lock.
    """
    sys.stderr = WhileRunning(sys.stderr, worker)
    gc.freeze()  # otherwise each collection would scan, and thereby copy, the imported modules
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
