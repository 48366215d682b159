"""Where numba keeps a kernel within the folder of kernels: by its place below ``models``, not by its path."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import config
from numba.core.caching import CacheImpl, UserProvidedCacheLocator

from models.kernels import cache


class OwnLocator(UserProvidedCacheLocator):
    """The place of a user's own kernel, which is compiled anew when a file of its package changes.

    Numba looks at the kernel's own file only: after a change in a function that it calls, from another file,
    it would go on with the old one.
    """

    def get_source_stamp(self) -> str:
        """Return the hash of all files of the top-level package, of a module alone of those beside it."""
        folder = Path(self._py_file).resolve().parent
        files = sorted(folder.glob("*.py"))
        while (folder / "__init__.py").exists():
            files = sorted(folder.rglob("*.py"))
            folder = folder.parent
        return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


class KernelLocator(UserProvidedCacheLocator):
    """The place of a kernel of ``models``.

    Numba names a folder by the absolute path of the source. So each copy of the project would compile every
    kernel again: a second clone, an installed wheel, a copy on a node's own disk whose path is another one in
    every job. Folders of kernels are named by hashes of ``models`` already (`models.kernels.cache`): whatever
    copy finds a folder has the same kernels.
    """

    @classmethod
    def from_function(cls, py_func: Callable, py_file: str) -> Any:
        """Return a locator, or None for what numba itself shall place: kernels of installed packages."""
        kept_in = config.CACHE_DIR  # type: ignore[attr-defined]  # numba makes it as it is imported
        file = Path(py_file).resolve()
        if not kept_in or os.environ.get("SCHEDSWEEP_KERNELS") != kept_in:
            return None
        if file.is_relative_to(cache.ROOT):
            return super().from_function(py_func, py_file)
        is_own = file.is_file() and not {"site-packages", "dist-packages"} & set(file.parts)
        return OwnLocator.from_function(py_func, py_file) if is_own else None

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
