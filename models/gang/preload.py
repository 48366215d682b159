"""Imported by the process from which workers are forked: they then have every kernel at hand from the start.

Only what is compiled already is loaded: while the run compiles, a second process shall not do the same. The
import then fails, and can be tried again later.
"""

from models import gang, kernel_cache

if kernel_cache.is_empty():
    raise ImportError("no kernel is compiled yet")
gang.load()
