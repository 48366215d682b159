"""A slurm.conf as one declared object."""

from models.slurm.configuration.configuration import Configuration, ConfigurationError, Node, Partition
from models.slurm.configuration.reading import read

__all__ = ["Configuration", "ConfigurationError", "Node", "Partition", "read"]
