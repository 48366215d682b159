"""Imported by the process from which workers are forked, see `models.family.Family.preload`."""

from models import partitioning
from models.kernels import cache as kernel_cache

kernel_cache.preload(partitioning.__name__, partitioning.load)
