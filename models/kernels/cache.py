"""Where compiled kernels are kept.

Numba's disk cache looks only at the file of the function it loads: after a callee in another file changes,
the cached caller silently goes on with the old one. So the cache folder is named by a hash of all of
``models`` and numba's version, and any change starts an empty one.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path


def fingerprint() -> str:
    """Return the hash that names the cache folder."""
    digest = hashlib.sha256(f"numba {version('numba')}, numpy {version('numpy')}".encode())
    root = Path(__file__).parent.parent
    for source in sorted(root.rglob("*.py")):
        digest.update(source.relative_to(root).as_posix().encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def folder() -> Path:
    """Return the cache folder of this version of the models; a user's NUMBA_CACHE_DIR is its parent."""
    parent = os.environ.get("NUMBA_CACHE_DIR")
    if parent is None:
        cache_home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        parent = str(Path(cache_home) / "schedsweep" / "kernels")
    return Path(parent) / fingerprint()


def is_complete(family: str) -> bool:
    """Tell whether every kernel of a family is in the cache, for this machine and this Python."""
    return _marker(family).exists()


def complete(family: str, load: Callable[[], object]) -> None:
    """See to it that every kernel of a family is in the cache; where all are, none is loaded.

    Parameters
    ----------
    family : str
        Name of the family's package.
    load : callable
        Loads every kernel; those that are not in the cache are compiled.
    """
    if not is_complete(family):
        load()
        with suppress(OSError):  # of a cache that cannot be written to: all are looked at again next time
            _marker(family).touch()


def preload(family: str, load: Callable[[], object]) -> None:
    """Load every kernel where that takes no compiling; workers are then forked with all kernels at hand.

    Raises
    ------
    ImportError
        While not all are compiled: a second process shall not do the same. It can be tried again later.
    """
    if not is_complete(family):
        raise ImportError(f"not every kernel of {family} is compiled yet")
    load()


def _marker(family: str) -> Path:
    """Return the file that says so.

    Numba compiles anew for another processor, and different machines may share a home.
    """
    name = f"{family}-{platform.node()}-{sys.implementation.cache_tag}"
    return Path(os.environ["NUMBA_CACHE_DIR"]) / name


def install() -> None:
    """Point numba at the folder; must come before numba is imported. Children inherit it."""
    if os.environ.get("SCHEDSWEEP_KERNELS") == os.environ.get("NUMBA_CACHE_DIR", "unset"):
        return
    cache = folder()
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError:  # a read-only home: compiled again by every user session, but it works
        cache = Path(tempfile.gettempdir()) / f"schedsweep-kernels-{os.getuid()}" / cache.name
        cache.mkdir(parents=True, exist_ok=True)
    os.environ["NUMBA_CACHE_DIR"] = os.environ["SCHEDSWEEP_KERNELS"] = str(cache)
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = str(cache)
