"""Imported by the process from which workers are forked, see `models.family.Family.preload`."""

from models import backfill
from models.kernels import cache as kernel_cache

kernel_cache.preload(backfill.__name__, backfill.load)
