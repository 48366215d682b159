"""Random numbers: one independent stream per cause.

Policies, loads and machines are no part of a seed, so every scheme at every load contends with the same
jobs (common random numbers); a cause that draws more numbers never shifts those of another.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

import numpy as np

from models.point import Seed


def key(name: str) -> int:
    """Return a 64-bit number for a name, the same on every machine and in every process."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")


class _Start:
    """The words that a generator starts from, as an `ISeedSequence` of numpy's.

    Mixing them takes ten times as long as the rest, and the points of a study share them.
    """

    def __init__(self, mixed: np.random.SeedSequence) -> None:
        self._words = mixed.generate_state(4, np.uint64)

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        """Return the words; PCG64 asks for four of 64 bits."""
        return self._words


@lru_cache(maxsize=1024)
def _start(seed: Seed, cause: str) -> _Start:
    # Here and not as a base class: a plan draws nothing, and need not load numpy.random.
    np.random.bit_generator.ISeedSequence.register(_Start)
    return _Start(np.random.SeedSequence([*seed, key(cause)]))


def stream(seed: Seed, cause: str) -> np.random.Generator:
    """Return the generator of one cause (``arrivals``, ``sizes``, ``runtimes`` …) in one replication.

    Examples
    --------
    >>> a = stream((1, 2, 0), "sizes").random(3)
    >>> b = stream((1, 2, 0), "sizes").random(3)
    >>> bool((a == b).all())
    True
    """
    start: Any = _start(tuple(seed), cause)  # numpy takes any seed sequence, and is typed for its own alone
    return np.random.Generator(np.random.PCG64(start))
