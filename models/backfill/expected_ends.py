"""Expected ends of what runs on each host, the last first: what the future is judged by.

The lists of all hosts are kept in flat arrays; that of a host begins at the position `at`. An entry says when
so many processors and so much memory become free, as far as requested times tell.
"""

from __future__ import annotations

from numba import float64, int64, void

from models.arrays import Floats, Ints
from models.kernels.compiling import kernel
from models.kernels.types import FLOATS, INTS


@kernel(void(FLOATS, INTS, INTS, int64, int64, float64, int64, int64), inline=True)
def insert(
    due: Floats, due_size: Ints, due_need: Ints, at: int, n: int, when: float, size: int, need: int
) -> None:
    """Add an entry to a host's list of `n`. O(entries that end before)."""
    i = at + n
    while i > at and due[i - 1] < when:
        due[i] = due[i - 1]
        due_size[i] = due_size[i - 1]
        due_need[i] = due_need[i - 1]
        i -= 1
    due[i] = when
    due_size[i] = size
    due_need[i] = need


@kernel(void(FLOATS, INTS, INTS, int64, int64, float64, int64, int64), inline=True)
def remove(
    due: Floats, due_size: Ints, due_need: Ints, at: int, n: int, when: float, size: int, need: int
) -> None:
    """Take away an entry from a host's list of `n`; those that are alike are as good as each other. O(n)."""
    i = at
    while due[i] != when or due_size[i] != size or due_need[i] != need:
        i += 1
    for k in range(i, at + n - 1):
        due[k] = due[k + 1]
        due_size[k] = due_size[k + 1]
        due_need[k] = due_need[k + 1]
