"""What share of the time rotating takes, with a fixed number of jobs (McCann 1994, section 5.2.2)."""

from math import inf, log2

from models.partitioning.geometry import rotation
from models.partitioning.rules import Fold, Partitioning
from models.topology.mesh import Mesh


def share_of_time(policy: Partitioning, mesh: Mesh, jobs: int, interval: float, moved_bytes: float) -> float:
    """Return the fraction of the time that processors spend on rotations (%OV), at most 1.

    Parameters
    ----------
    policy : Partitioning
    mesh : Mesh
    jobs : int
    interval : float, seconds
    moved_bytes : float
        To fold one thread and unfold another: 2 D + C.

    Notes
    -----
    ``printed`` is equation 5.4. ``derived`` multiplies out the terms of equation 5.3, which makes half of
    that, or a quarter where log2 J (rounded down) is odd; and for even J it counts the rotations of all
    subsystems, where 5.3 and 5.4 have those of one.
    """
    if not isinstance(policy, Fold) or interval == inf or jobs == 1:
        return 0.0
    doublings = jobs.bit_length() - 1
    longer = round(log2(max(mesh.rows, mesh.columns)))
    a_thread = moved_bytes / mesh.bandwidth
    taken_part = rotation.rotations_per_job(jobs)  # f(J), in a cycle of N(J) intervals
    if not taken_part:
        return 0.0
    if policy.overhead == "printed":
        share = taken_part * 2.0 ** (longer - doublings // 2 - 1) * a_thread / interval
    else:
        cycle = rotation.cycle_length(jobs)
        shorter = round(log2(min(mesh.rows, mesh.columns)))
        side = 2 ** max(shorter - doublings // 2, 0)  # threads that move at once
        seconds = mesh.n_processors / 2 / side * a_thread
        processors = mesh.n_processors / 2**doublings
        share = jobs * taken_part / 2 * processors * seconds / (mesh.n_processors * cycle * interval)
    return min(share, 1.0)
