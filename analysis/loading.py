"""Libraries load more than the analysis needs: that is left out, or loaded when somebody looks into it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sweep.store.undasked import hidden

LATER = {
    "numpy": ("numpy.f2py", "numpy.testing"),  # scipy takes every name that numpy has
    "fontTools": ("fontTools.subset",),  # what matplotlib embeds other fonts with than ours
}
"""By package: what becomes a module when the first of its names is looked up."""

ABSENT = ("dask", "mpl_toolkits.mplot3d")
"""What xarray loads only to see that its first array is none of dask's, and axes in three dimensions."""


@contextmanager
def only_what_is_needed() -> Iterator[None]:
    """Let xarray and matplotlib be loaded in two thirds of the time.

    Where one of them is loaded already somebody else in this process may need what is left out: all stays as
    it is.
    """
    if any(name in sys.modules for name in ("xarray", "matplotlib", *ABSENT)):
        yield
        return
    for package, modules in LATER.items():
        importlib.import_module(package)
        for module in modules:
            _load_later(module)
    with hidden(*ABSENT), _without_tables_of_properties(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Unable to import Axes3D", UserWarning)
        yield


@contextmanager
def _without_tables_of_properties() -> Iterator[None]:
    """Let matplotlib's docstrings have no tables of properties: to write them is a quarter of loading it."""
    names = vars(importlib.import_module("matplotlib.artist"))
    described = names["kwdoc"]
    names["kwdoc"] = lambda artist: ""
    try:
        yield
    finally:
        names["kwdoc"] = described


def _load_later(name: str) -> None:
    """Put a module where it belongs whose code is run when it is first looked into."""
    spec = importlib.util.find_spec(name)
    if name in sys.modules or spec is None or spec.loader is None:
        return
    spec.loader = loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)
    package, _, own = name.rpartition(".")
    setattr(sys.modules[package], own, module)
