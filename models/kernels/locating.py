"""Where numba keeps a kernel within the folder of kernels: by its place below ``models``, not by its path."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import config
from numba.core.caching import CacheImpl, UserProvidedCacheLocator

from models.kernels import cache


class KernelLocator(UserProvidedCacheLocator):
    """The place of a kernel of ``models``.

    Numba names a folder by the absolute path of the source. So each copy of the project would compile every
    kernel again: a second clone, an installed wheel, a copy on a node's own disk whose path is another one in
    every job. Folders of kernels are named by hashes of ``models`` already (`models.kernels.cache`): whatever
    copy finds a folder has the same kernels.
    """

    @classmethod
    def from_function(cls, py_func: Callable, py_file: str) -> Any:
        """Return a locator, or None for what numba itself shall place: a user's own kernels."""
        kept_in = config.CACHE_DIR  # type: ignore[attr-defined]  # numba makes it as it is imported
        is_ours = kept_in and os.environ.get("SCHEDSWEEP_KERNELS") == kept_in
        if not is_ours or not Path(py_file).resolve().is_relative_to(cache.ROOT):
            return None
        return super().from_function(py_func, py_file)

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """Return the place below the folder of kernels."""
        package, *parts = Path(py_file).resolve().relative_to(cache.ROOT).parent.parts
        return str(Path("models", f"{package}-{cache.stamp(package)}".rstrip("-"), *parts))

    def get_source_stamp(self) -> str:
        """Return nothing: a source that differs has another folder."""
        return ""


def install() -> None:
    """Let numba ask this locator first; must come before any kernel is made."""
    if KernelLocator not in CacheImpl._locator_classes:
        CacheImpl._locator_classes.insert(0, KernelLocator)
