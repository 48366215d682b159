"""Imported by the process from which workers are forked: they then have every kernel at hand from the start.

Only what is compiled already is loaded: while the run compiles, a second process shall not do the same.
"""

import importlib

from models import kernel_cache
from models.gang import schemes

if not kernel_cache.is_empty():
    importlib.import_module("models.gang.model")
    schemes.load_all()
