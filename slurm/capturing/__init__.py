"""``python -m slurm capture``: what a simulation of this cluster needs, as one file."""

from slurm.capturing.command import capture

__all__ = ["capture"]
