"""The twelve job classes of the NCSA Origin 2000 (Chiang and Vernon 2001, Table 1).

A job is in the shortest time class and the smallest size class whose limits its requests meet. The CPU time
per processor that a rigid job requests is its requested runtime.
"""

from collections.abc import Iterable

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.machine import KB_IN_GB

HOUR = 3600.0

TIME_CLASSES = {"vst": 5 * HOUR, "st": 50 * HOUR, "mt": 200 * HOUR, "lt": 400 * HOUR}
"""Maximum CPU time per processor, seconds."""

SIZE_CLASSES = {"sj": (8, 2 * KB_IN_GB), "mj": (16, 4 * KB_IN_GB), "lj": (64, 16 * KB_IN_GB)}
"""Maximum processors and KB of memory."""

CLASSES = tuple(f"{time}_{size}" for size in SIZE_CLASSES for time in TIME_CLASSES)
"""In the order of Table 4: vst_sj, st_sj, mt_sj, lt_sj, vst_mj, ..."""

NO_CLASS = -1


def classify(requested: Floats, size: Ints, memory: Ints) -> Ints:
    """Return the index of each job's class in `CLASSES`, `NO_CLASS` beyond all limits.

    Parameters
    ----------
    requested : ndarray of float, shape (n_jobs,), seconds
        NaN if unknown; the job then has no class.
    size : ndarray of int, shape (n_jobs,)
    memory : ndarray of int, shape (n_jobs,), KB
        Of all processors of a job together.
    """
    time = beyond(requested, TIME_CLASSES.values())
    processors, kilobytes = zip(*SIZE_CLASSES.values(), strict=True)
    width = np.maximum(beyond(size, processors), beyond(memory, kilobytes))
    known = (time < len(TIME_CLASSES)) & (width < len(SIZE_CLASSES)) & ~np.isnan(requested)
    return np.where(known, width * len(TIME_CLASSES) + time, NO_CLASS).astype(np.int64)


def beyond(values: np.ndarray, limits: Iterable[float]) -> Ints:
    """Return how many of a few limits each value exceeds; for a few limits this is faster than a search."""
    return np.asarray(sum((values > limit).astype(np.int64) for limit in limits))
