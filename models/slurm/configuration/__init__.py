"""A slurm.conf as one record of typed settings."""

from models.slurm.configuration.configuration import Configuration
from models.slurm.configuration.errors import ConfigurationError
from models.slurm.configuration.nodes import Node
from models.slurm.configuration.partitions import Partition, Share
from models.slurm.configuration.reading import read
from models.slurm.configuration.settings import Settings

__all__ = ["Configuration", "ConfigurationError", "Node", "Partition", "Settings", "Share", "read"]
