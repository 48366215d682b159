"""Imported by the process from which workers are forked: loads families and their compiled kernels."""

import os
from collections.abc import Iterable
from contextlib import suppress

from sweep.errors import SweepError
from sweep.plan import families

MODULES = "SCHEDSWEEP_PRELOAD"
"""Environment variable: names of modules, separated by commas."""


def load(modules: Iterable[str]) -> None:
    """Import modules; of those that declare a family, the kernels that are in the cache as well.

    A module that cannot be imported is reported by the first task that needs it.
    """
    for name in modules:
        with suppress(SweepError):
            families.find(name).preload()


load(filter(None, os.environ.get(MODULES, "").split(",")))
