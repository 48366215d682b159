"""Imported by the process from which workers are forked, see `models.family.Family.preload`."""

from models import kernel_cache, partitioning

kernel_cache.preload(partitioning.__name__, partitioning.load)
