"""The place of a kernel within the cache: named by the code that it can reach, not by its path."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import config

from models.kernels import reach
from models.kernels.internals import UserProvidedCacheLocator, ask_first


class OwnLocator(UserProvidedCacheLocator):
    """The place of a user's own kernel, which is compiled again when a file that it may use changes.

    Numba checks the kernel's own file only: after a change in a function that it calls, from another file,
    it would continue with the old one.
    """

    _module = ""

    @classmethod
    def from_function(cls, py_func: Callable, py_file: str) -> Any:
        """Return a locator."""
        found = super().from_function(py_func, py_file)
        if found is not None:
            found._module = py_func.__module__
        return found

    def get_source_stamp(self) -> str:
        """Return the hash of the kernel's file and of all that it can reach."""
        return reach.hashed({"": Path(self._py_file), **reach.reached(self._module)})


class KernelLocator(UserProvidedCacheLocator):
    """The place of a kernel of ``models``.

    Numba names a folder by the absolute path of the source. So each copy of the project would compile every
    kernel again: a second clone, an installed wheel, a copy on a node's own disk whose path differs in every
    job. A module's folder is named by the module and a hash of all code that its kernels can reach: every
    copy that finds a folder has the same kernels.
    """

    @classmethod
    def from_function(cls, py_func: Callable, py_file: str) -> Any:
        """Return a locator, or None for kernels that numba itself places: those in installed packages."""
        kept_in = config.CACHE_DIR  # type: ignore[attr-defined]  # numba makes it as it is imported
        file = Path(py_file).resolve()
        if not kept_in or os.environ.get("SCHEDSWEEP_KERNELS") != kept_in:
            return None
        if file.is_relative_to(reach.ROOT):
            return super().from_function(py_func, py_file)
        is_own = file.is_file() and not {"site-packages", "dist-packages"} & set(file.parts)
        return OwnLocator.from_function(py_func, py_file) if is_own else None

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """Return the place below the folder of kernels."""
        place = Path(py_file).resolve().relative_to(reach.ROOT.parent).with_suffix("")
        module = ".".join(place.parent.parts if place.name == "__init__" else place.parts)
        return f"{place}-{reach.digest(module)}"

    def get_source_stamp(self) -> str:
        """Return nothing: a changed source has another folder."""
        return ""


def install() -> None:
    """Let numba ask this locator first; must come before any kernel is made."""
    ask_first(KernelLocator)
