"""What a workload is to a simulator: a stream of job sessions, in chunks.

A session is one user submitting one job, perhaps again and again, each repetition when the one before it
has ended. A log or an open stream of jobs is the case of one run a session. Chunks keep the memory of a
simulation independent of its length; how a workload is cut into chunks never changes what it holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numba import float64, int64, types

from models.kernels.compiling import kernel

RERUN_SIGNATURE = float64(
    float64,  # runtime of the run that has just ended
    int64,  # size of the job
    int64,  # key of the session
    int64,  # number of the run to come, the first has 0
    float64[::1],  # parameters
)
RERUN = types.FunctionType(RERUN_SIGNATURE)


@kernel(RERUN_SIGNATURE)
def same_runtime(runtime, size, key, run, parameters):
    """Every run of a session takes as long as the first."""
    return runtime


class SessionChunk(Protocol):
    """A chunk of sessions, as arrays of one length."""

    gap: np.ndarray
    size: np.ndarray
    runtime: np.ndarray
    runs: np.ndarray
    key: np.ndarray


@dataclass
class SessionStream:
    """A workload in one replication at one load.

    Parameters
    ----------
    chunks : iterator of dict
        Arrays ``gap`` (float64, time since the previous session began), ``size`` (int64, PEs), ``runtime``
        (float64), ``runs`` (int64) and ``key`` (int64), equally long.
    rerun : compiled function of `RERUN_SIGNATURE`
        Runtime of a repetition.
    rerun_parameters : ndarray of float64
        Passed to `rerun`.
    """

    chunks: Iterator[dict[str, np.ndarray]]
    rerun: object = same_runtime
    rerun_parameters: np.ndarray = field(default_factory=lambda: np.zeros(1))
