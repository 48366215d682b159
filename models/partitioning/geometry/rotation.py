"""How often folded partitions rotate until all jobs have had the same (McCann 1994, section 4.4.2)."""


def small_and_large(jobs: int) -> tuple[int, int]:
    """Return how many of J jobs have small and large partitions (S and B); for J = 2^k, 0 and J."""
    small = 2 * (jobs - 2 ** (jobs.bit_length() - 1))
    return small, jobs - small


def cycle_length(jobs: int) -> int:
    """Return N(J), rotations until every job has had the same (equation 4.6); 0 where nothing rotates."""
    odd = _odd_part(jobs)
    return odd if odd > 1 else 0


def rotations_per_job(jobs: int) -> int:
    """Return f(J), rotations in such a cycle that a job takes part in (equation 4.7)."""
    odd = _odd_part(jobs)
    return 2 * min(small_and_large(odd)) if odd > 1 else 0


def _odd_part(jobs: int) -> int:
    """Return the jobs of one system: an even number is treated as two systems of half the jobs."""
    return jobs // (jobs & -jobs)
