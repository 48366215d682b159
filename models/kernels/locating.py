"""Where numba keeps a kernel within the folder of kernels: by its place below ``models``, not by its path."""

import hashlib
import os
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from numba import config
from numba.core.caching import CacheImpl, UserProvidedCacheLocator

from models.kernels import cache

OURS = ("models", "sweep", "analysis", "slurm", "schedsweep")


class OwnLocator(UserProvidedCacheLocator):
    """The place of a user's own kernel, which is compiled anew when a file that it may use changes.

    Numba looks at the kernel's own file only: after a change in a function that it calls, from another file,
    it would go on with the old one.
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
        """Return the hash of the kernel's file and of all of the user's own whose names reach it."""
        files, waiting, seen = {Path(self._py_file)}, [self._module], {""}
        while waiting:
            name = waiting.pop()
            module = sys.modules.get(name)
            if name in seen or name.partition(".")[0] in OURS or module is None:
                continue
            seen.add(name)
            file = getattr(module, "__file__", None)
            if not isinstance(file, str) or not file.endswith(".py") or file.startswith(INSTALLED):
                continue
            files.add(Path(file))
            for value in list(vars(module).values()):
                is_module = isinstance(value, ModuleType)
                waiting.append(str(value.__name__ if is_module else getattr(value, "__module__", "")))
        hashes = [hashlib.sha256(file.read_bytes()).digest() for file in sorted(files)]
        return hashlib.sha256(b"".join(hashes)).hexdigest()


INSTALLED = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})
"""Folders of modules that are installed, with a version."""


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
