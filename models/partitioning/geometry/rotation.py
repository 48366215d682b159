"""Rotations of folded partitions until all jobs have had equal service, and their share of the time.

The number of jobs is fixed (McCann 1994, sections 4.4.2 and 5.2.2).
"""

from math import inf, log2

from models.partitioning.rules import Fold, Partitioning
from models.topology.mesh import Mesh


def small_and_large(jobs: int) -> tuple[int, int]:
    """Return how many of J jobs have small and large partitions (S and B); for J = 2^k, 0 and J."""
    small = 2 * (jobs - 2 ** (jobs.bit_length() - 1))
    return small, jobs - small


def cycle_length(jobs: int) -> int:
    """Return N(J), rotations until every job has had equal service (equation 4.6); 0 without rotation."""
    odd = _odd_part(jobs)
    return odd if odd > 1 else 0


def rotations_per_job(jobs: int) -> int:
    """Return f(J), rotations in such a cycle that a job takes part in (equation 4.7)."""
    odd = _odd_part(jobs)
    return 2 * min(small_and_large(odd)) if odd > 1 else 0


def _odd_part(jobs: int) -> int:
    """Return the number of jobs in one system: an even number is treated as two systems of half the jobs."""
    return jobs // (jobs & -jobs)


def share_of_time(policy: Partitioning, mesh: Mesh, jobs: int, interval: float, moved_bytes: float) -> float:
    """Return the fraction of the time that processors spend on rotations (%OV), at most 1.

    An interval lasts for `interval` seconds; `moved_bytes`, 2 D + C, fold one thread and unfold another.

    Notes
    -----
    ``printed`` is equation 5.4. ``derived`` multiplies out the terms of equation 5.3, which makes half of
    that, or a quarter where log2 J (rounded down) is odd; and for even J it counts the rotations of all
    subsystems, where 5.3 and 5.4 count one subsystem's.
    """
    if not isinstance(policy, Fold) or interval == inf or jobs == 1:
        return 0.0
    doublings = jobs.bit_length() - 1
    longer = round(log2(max(mesh.rows, mesh.columns)))
    a_thread = moved_bytes / mesh.bandwidth
    taken_part = rotations_per_job(jobs)  # f(J), in a cycle of N(J) intervals
    if not taken_part:
        return 0.0
    if policy.overhead == "printed":
        share = taken_part * 2.0 ** (longer - doublings // 2 - 1) * a_thread / interval
    else:
        cycle = cycle_length(jobs)
        shorter = round(log2(min(mesh.rows, mesh.columns)))
        side = 2 ** max(shorter - doublings // 2, 0)  # threads that move at once
        seconds = mesh.n_processors / 2 / side * a_thread
        processors = mesh.n_processors / 2**doublings
        share = jobs * taken_part / 2 * processors * seconds / (mesh.n_processors * cycle * interval)
    return min(share, 1.0)
