"""The disk cache of compiled kernels.

Numba's disk cache checks only the file of the function it loads: after a callee in another file changes,
the cached caller silently continues with the old one. So the cache folder is named by the versions of numba
and numpy, and a module's folder in it by a hash of all code that its kernels can reach
(`models.kernels.reach`): after an edit, only kernels that may call the edited code are compiled again. Copies
of the project with the same code share the cache (`models.kernels.locating`).
"""

import importlib
import os
import platform
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from models.kernels import reach


def folder() -> Path:
    """Return the cache folder of these versions of libraries; a user's NUMBA_CACHE_DIR is its parent."""
    parent = os.environ.get("NUMBA_CACHE_DIR")
    if parent is None:
        cache_home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        parent = str(Path(cache_home) / "schedsweep" / "kernels")
    return Path(parent) / f"numba-{version('numba')}-numpy-{version('numpy')}"


def in_use() -> Path:
    """Return the folder in which this process, and those that it starts, keep kernels."""
    return Path(os.environ["NUMBA_CACHE_DIR"])


def is_complete(module: str) -> bool:
    """Return whether every kernel of a module is in the cache, for this machine and this Python."""
    return _marker(module).exists()


def cores() -> int:
    """Return the number of cores that this process may use, one where the system does not say."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def complete(modules: Sequence[str], processes: int | None = None) -> None:
    """Compile all kernels of some modules that are not in the cache; complete modules are not loaded.

    Modules are compiled in parallel, the first one here and the others in as many processes as cores are
    left: each process has to load numba first.

    Parameters
    ----------
    modules : sequence of str
        Importing them loads their kernels; kernels that are not in the cache are compiled. The first one
        takes longest.
    processes : int, optional
        By default one for each core.

    Raises
    ------
    ValueError
        With one line, if numba is set to compile nothing.
    """
    if (disabled := os.environ.get("NUMBA_DISABLE_JIT", "0")) not in ("", "0"):
        raise ValueError(f"NUMBA_DISABLE_JIT={disabled}: kernels run compiled only; unset NUMBA_DISABLE_JIT")
    modules = [module for module in modules if not is_complete(module)]
    if not modules:
        return
    first, *others = modules
    more = min(len(others), (processes or cores()) - 1)
    if more > 0:
        with ThreadPoolExecutor(more) as beside:
            for i in range(more):
                beside.submit(_load_elsewhere, others[i::more])
            importlib.import_module(first)
    for module in modules:
        importlib.import_module(module)
        with suppress(OSError):  # a cache that cannot be written to: checked again next time
            _marker(module).touch()


def preload(modules: Sequence[str]) -> None:
    """Load the modules whose kernels are all compiled; any other would be compiled twice."""
    for module in filter(is_complete, modules):
        importlib.import_module(module)


def _load_elsewhere(modules: Sequence[str]) -> None:
    """Import modules in a separate process, whose compiled kernels stay in the cache.

    The process is a plain interpreter: one of `multiprocessing` would run a notebook's or a script's main
    module again. After a failure there, the import is repeated here and raises the error.
    """
    command = [sys.executable, "-c", f"import {', '.join(modules)}"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run(command, env=environment, capture_output=True, check=False)


def _marker(module: str) -> Path:
    """Return the file that marks a module as complete.

    Numba compiles again for another processor, and different machines may share a home.
    """
    return in_use() / f"{module}-{reach.digest(module)}-{platform.node()}-{sys.implementation.cache_tag}"


def _is_made(place: Path) -> bool:
    """Make a folder that only this user can enter, and return whether it exists and belongs to the user.

    Numba runs the code in its cache: a folder that others may write to would let them run theirs.
    """
    before = os.umask(0o077)
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    finally:
        os.umask(before)
    return _is_private(place)


def _is_private(place: Path) -> bool:
    """Return whether only this user may write to a folder and its parent."""
    try:
        found = [each.stat() for each in (place, place.parent)]
    except OSError:
        return False
    return all(each.st_uid == os.getuid() and not each.st_mode & 0o022 for each in found)


def _begin_with_shared(cache: Path) -> None:
    """Copy, once, the kernels that a shared installation's owner compiled, if no other user may change
    them."""
    given, done = os.environ.get("SCHEDSWEEP_SHARED_KERNELS"), cache / "shared"
    if not given or done.exists():
        return
    shared = (Path(given) / cache.name).resolve()
    # A writable parent such as /tmp is safe if only owners may rename its entries.
    above = all(_is_of_owner(place, sticky=True) for place in shared.parents)
    with suppress(OSError):
        if above and all(map(_is_of_owner, (shared, *shared.rglob("*")))):
            for file in filter(Path.is_file, shared.rglob("*")):
                place = cache / file.relative_to(shared)
                place.parent.mkdir(parents=True, exist_ok=True)
                if not place.exists():
                    made = place.with_name(f"{place.name}.{os.getpid()}")  # numba may read it meanwhile
                    shutil.copyfile(file, made)
                    made.replace(place)
            done.touch()


def _is_of_owner(place: Path, sticky: bool = False) -> bool:
    """Return whether only root or this user may change a file or a folder; a link is neither."""
    found = place.lstat()
    is_kept = not found.st_mode & 0o022 or (sticky and found.st_mode & stat.S_ISVTX)
    return not stat.S_ISLNK(found.st_mode) and found.st_uid in (0, os.getuid()) and bool(is_kept)


def install() -> None:
    """Set numba's cache folder, before numba is imported; child processes inherit it."""
    if os.environ.get("SCHEDSWEEP_KERNELS") == os.environ.get("NUMBA_CACHE_DIR", "unset"):
        return
    own = folder()
    # In a read-only home, kernels are compiled again by every user session, but it works.
    of_session = Path(tempfile.gettempdir()) / f"schedsweep-kernels-{os.getuid()}" / own.name
    cache = next(filter(_is_made, (own, of_session)), None)
    if cache is None:
        cache = Path(tempfile.mkdtemp(prefix="schedsweep-kernels-"))
    _begin_with_shared(cache)
    os.environ["NUMBA_CACHE_DIR"] = os.environ["SCHEDSWEEP_KERNELS"] = str(cache)
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = str(cache)
