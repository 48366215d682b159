"""What is measured of a schedule."""

from __future__ import annotations

import numpy as np

from models.kernels.compiling import kernel

METRICS = ("reallocations", "epochs", "uninterrupted", "processors_per_job", "processors_at_once")


@kernel("void(int64, int64[::1], int64[::1], int64[::1], float64[::1])", allocates=True)
def measure(unit: int, y: np.ndarray, width: np.ndarray, height: np.ndarray, metrics: np.ndarray) -> None:
    """Measure one schedule. O(J log J).

    Parameters
    ----------
    unit : int
        Units of time in T.
    y, width, height : ndarray of int64, shape (n_jobs,)
        Boxes, see `models.medium_term.boxes.Boxes`.
    metrics : ndarray of float64, shape (5,)
        What `METRICS` names is added to it; `models.medium_term.FAMILY` says what they mean.

    Notes
    -----
    A schedule has no gaps: where a box ends before T another begins, so that there are as many moments of
    reallocation, the end of T among them, as there are different starts.
    """
    n_jobs = len(y)
    reallocated, uninterrupted, allocated = 0, 0, 0
    for job in range(n_jobs):
        allocated += width[job]
        if height[job] < unit:
            reallocated += width[job]
        else:
            uninterrupted += 1
    starts = np.sort(y)
    epochs = 1
    for i in range(1, n_jobs):
        epochs += starts[i] != starts[i - 1]
    metrics[0] += reallocated
    metrics[1] += epochs
    metrics[2] += uninterrupted / n_jobs
    metrics[3] += allocated / n_jobs
    metrics[4] += reallocated / epochs
