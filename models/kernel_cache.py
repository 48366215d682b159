"""Where compiled kernels are kept.

Numba's disk cache looks only at the file of the function it loads: after a callee in another file changes,
the cached caller silently goes on with the old one. So the cache folder is named by a hash of all of
``models`` and numba's version, and any change starts an empty one.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path


def fingerprint() -> str:
    """Return the hash that names the cache folder."""
    digest = hashlib.sha256(f"numba {version('numba')}, numpy {version('numpy')}".encode())
    root = Path(__file__).parent
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


def is_empty() -> bool:
    """Tell whether kernels have to be compiled: nothing was ever kept in this version's folder."""
    return not any(Path(os.environ["NUMBA_CACHE_DIR"]).rglob("*.nbi"))


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
