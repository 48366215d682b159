"""The seed of a replication, as `models.streams` wants it."""

from models import streams
from models.point import Seed


def seed(root: int, workload: str, replication: int) -> Seed:
    """Return (root seed, workload, replication).

    Policy, machine and load stay out, so that all of them contend with the same sequence of jobs
    (common random numbers): differences between policies are then paired.
    """
    return (root, streams.key(workload), replication)
