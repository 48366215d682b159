"""Numbers of jobs that share the processors: groups of BUDDY, epochs of the others. Loads no kernel."""

from functools import cache

import numpy as np

from models.arrays import Ints

GROUPS = ("smallest_first", "largest_first", "none")
"""How BUDDY divides any number of jobs into groups of powers of two, see `group_sizes`."""


@cache
def group_sizes(n_jobs: int, groups: str) -> Ints:
    """Return the sizes of groups in the order in which they are filled, with the largest minima first.

    Section 6.4.2 ends with a division into groups of powers of two and leaves open which powers. Here they
    are the binary digits of J: the fewest groups. ``smallest_first`` is the order that the text proposes,
    ``largest_first`` the opposite; with ``none`` J must be a power of two.

    Examples
    --------
    >>> group_sizes(11, "smallest_first").tolist()
    [1, 2, 8]
    """
    sizes = [1 << bit for bit in range(n_jobs.bit_length()) if n_jobs >> bit & 1]
    return np.array(sizes[::-1] if groups == "largest_first" else sizes, np.int64)


@cache
def jobs_in_groups(n_jobs: int, groups: str) -> Ints:
    """Return how many jobs each job's group has, shape (n_jobs,), by ascending minima; see `group_sizes`.

    Examples
    --------
    >>> jobs_in_groups(5, "smallest_first").tolist()
    [4, 4, 4, 4, 1]
    """
    sizes = group_sizes(n_jobs, groups)
    return np.repeat(sizes, sizes)[::-1].copy()


@cache
def divisors(processors: int) -> Ints:
    """Return the numbers of jobs that an epoch can have, the largest first."""
    small = [n for n in range(1, int(processors**0.5) + 1) if processors % n == 0]
    return np.array(sorted({*small, *(processors // n for n in small)}, reverse=True), np.int64)
