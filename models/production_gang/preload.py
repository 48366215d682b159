"""Imported by the process from which workers are forked, see `models.family.Family.preload_module`."""

from models.production_gang import FAMILY

FAMILY.preload()
