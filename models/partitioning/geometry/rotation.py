"""Rotation of folded partitions as an operation on strings (McCann 1994, section 4.4.2).

A string has a letter for each job, in the order of the walk over the partitions: 's' for a small partition,
'b' for a large one. At a rotation each 'sb' becomes 'bs', all at once; the first symbol follows the last.
"""

from __future__ import annotations


def rotate(partitions: str) -> str:
    """Return the string after one rotation; work is O(length).

    Examples
    --------
    >>> rotate("ssbbb")
    'sbsbb'
    >>> rotate("bbsbs")
    'sbbsb'
    """
    if set(partitions) - {"s", "b"}:
        raise ValueError(f"partitions {partitions!r}; allowed: the letters s (small) and b (large)")
    after = list(partitions)
    for i, symbol in enumerate(partitions):
        if partitions[i - 1] + symbol == "sb":
            after[i - 1], after[i] = "b", "s"
    return "".join(after)


def small_and_large(jobs: int) -> tuple[int, int]:
    """Return how many of J jobs have small and large partitions (S and B); for J = 2^k, 0 and J."""
    _require_jobs(jobs)
    small = 2 * (jobs - 2 ** (jobs.bit_length() - 1))
    return small, jobs - small


def cycle_length(jobs: int) -> int:
    """Return N(J), rotations until every job has had the same (equation 4.6); 0 where nothing rotates."""
    _require_jobs(jobs)
    odd = _odd_part(jobs)
    return odd if odd > 1 else 0


def rotations_per_job(jobs: int) -> int:
    """Return f(J), rotations in such a cycle that a job takes part in (equation 4.7)."""
    _require_jobs(jobs)
    odd = _odd_part(jobs)
    return 2 * min(small_and_large(odd)) if odd > 1 else 0


def _odd_part(jobs: int) -> int:
    """Return the jobs of one system: an even number is treated as two systems of half the jobs."""
    return jobs // (jobs & -jobs)


def _require_jobs(jobs: int) -> None:
    if jobs < 1:
        raise ValueError(f"{jobs} jobs; allowed: 1 or more")
