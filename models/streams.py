"""Random numbers: one independent stream per cause.

Policies, loads and machines are not part of a seed, so every scheme at every load contends with the same
jobs (common random numbers); a cause that draws more numbers never shifts another's.
"""

import hashlib

import numpy as np

from models.point import Seed


def key(name: str) -> int:
    """Return a 64-bit number for a name, the same on every machine and in every process."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")


def stream(seed: Seed, cause: str) -> np.random.Generator:
    """Return the generator of one cause (``arrivals``, ``sizes``, ``runtimes`` …) in one replication.

    Examples
    --------
    >>> a = stream((1, 2, 0), "sizes").random(3)
    >>> b = stream((1, 2, 0), "sizes").random(3)
    >>> bool((a == b).all())
    True
    """
    return np.random.default_rng([*seed, key(cause)])
