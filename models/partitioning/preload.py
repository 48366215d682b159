"""Imported by the process from which workers are forked: they then have every kernel at hand from the start.

Only what is compiled already is loaded: while the run compiles, a second process shall not do the same. The
import then fails, and can be tried again later.
"""

from models import partitioning

if not partitioning.compiled().exists():
    raise ImportError("not every kernel is compiled yet")
partitioning.load()
