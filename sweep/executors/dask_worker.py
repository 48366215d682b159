"""Imported in Dask worker processes only: they leave Ctrl-C to the run, and do not outlive it.

The fork server that makes the workers imports this before anything else, and they inherit what it sets.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import signal
import sys
from typing import Any, TextIO

# A terminal sends Ctrl-C to all processes of a run; the main one alone decides what happens then. Set before
# the next import, which takes a second in which a worker would answer with a traceback.
signal.signal(signal.SIGINT, signal.SIG_IGN)

from distributed import Status, Worker  # noqa: E402

from schedsweep import packages  # noqa: E402

packages.look_last_in_working_folder()

# Set here too, because a worker may find its peers gone before Dask has told it to be silent; what there is
# to say about workers that end is said by the run.
for name in ("distributed", "distributed.client"):
    logging.getLogger(name).setLevel(logging.CRITICAL)

PR_SET_PDEATHSIG = 1

SWITCH_S = 0.1
"""A thread that waits for the interpreter asks again so often; Python's default is 200 times a second.

While a kernel keeps the interpreter the thread of messages asks for nothing, and is woken for it each time.
Between the tasks of a bundle it has to wait that long at most, and at the end of one not at all.
"""

SELDOM = ("heartbeat", "find-missing", "shift_counters")
"""What a worker of Dask does every half a second to five seconds. Nobody looks at it here: a worker that dies
is known by its closed connection (``worker-ttl`` is off), and no result is fetched from another worker."""

SELDOM_MS = 1e11

CLOSING = (Status.closing, Status.closing_gracefully, Status.closed)


class WhileRunning:
    """The standard error of a worker until it closes.

    A worker that was only just started, and is told to close, may find its parent gone and end with a
    traceback that concerns nobody: all results are in its log by then.
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
    sys.setswitchinterval(SWITCH_S)
    for name in SELDOM:
        worker.periodic_callbacks[name].callback_time = SELDOM_MS
    gc.freeze()  # all that was imported stays: not to be looked through, and copied, time and again
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
