"""Imported by the process from which workers are forked, see `models.family.Family.preload`."""

from models import gang
from models.kernels import cache as kernel_cache

kernel_cache.preload(gang.__name__, gang.load)
