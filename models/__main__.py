"""``python -m models``: compile every family's kernels ahead of a study."""

import gc
import importlib
import multiprocessing
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path

from schedsweep import packages
from schedsweep.terminal import guarded


def main(arguments: Sequence[str]) -> int:
    """Compile the kernels that are not compiled yet, one family on each core.

    The kernels of a family share parts, which one process compiles once. A family with more source takes
    longer, and begins earlier.
    """
    from models.family import Family
    from models.kernels import cache

    if arguments:
        print(f"error: python -m models takes no arguments: {' '.join(arguments)}", file=sys.stderr)
        return 2
    sizes = {}
    for folder in (path.parent for path in Path(__file__).parent.glob("*/__init__.py")):
        if isinstance(getattr(importlib.import_module(f"models.{folder.name}"), "FAMILY", None), Family):
            sizes[folder.name] = sum(file.stat().st_size for file in folder.rglob("*.py"))
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(cache.cores(), spawn, _begin) as pool:
        try:
            waiting = [
                pool.submit(_compiled, name) for name in sorted(sizes, key=sizes.__getitem__, reverse=True)
            ]
            for family in as_completed(waiting):
                print(f"compiled: {family.result()}", flush=True)
        except BaseException as error:  # also Ctrl-C: the pool would wait until all families are compiled
            for process in multiprocessing.active_children():
                process.terminate()
            if not isinstance(error, ValueError):
                raise
            print(f"error: {error}", file=sys.stderr)
            return 2
    return 0


def _begin() -> None:
    """Prepare a process that compiles: Ctrl-C ends it from the first process, and garbage is collected less
    often, because most of what a compilation makes lives as long as it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(50_000)


def _compiled(package: str) -> str:
    """Compile the kernels of one family, in this process, and return its name."""
    from models.kernels import cache

    family = importlib.import_module(f"models.{package}").FAMILY
    cache.complete(family.kernels, 1)
    return str(family.name)


if __name__ == "__main__":
    sys.exit(guarded(partial(packages.call, "models.__main__"), sys.argv[1:]))
