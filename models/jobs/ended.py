"""Ended jobs, as the event loop of an engine returns them."""

from collections import namedtuple

import numpy as np
from numba import types

from models.kernels.types import FLOATS, INTS

Ended = namedtuple("Ended", ["number", "session", "submit", "start", "end", "runtime", "size"])
"""Jobs that have ended, in order of termination: how many jobs were submitted before each, how many sessions
before its own, its times (`start` is when it got its first processor) and its size."""
ENDED = types.NamedTuple([INTS, INTS, FLOATS, FLOATS, FLOATS, FLOATS, INTS], Ended)


def empty_ended(capacity: int) -> Ended:
    """Return uninitialised columns for `capacity` ended jobs."""
    kinds = (np.int64, np.int64, float, float, float, float, np.int64)
    return Ended(*(np.empty(capacity, kind) for kind in kinds))
