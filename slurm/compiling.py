"""Kernels compiled once a node: the first element does it, those that start beside it wait."""

from __future__ import annotations

import fcntl
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from models import kernel_cache
from sweep.plan.plan import Plan
from sweep.run import warm_up

PATIENCE_S = 300.0
"""How long to wait for another element; then this one compiles, too, which is safe but a waste."""


def compile_once(plan: Plan) -> None:
    """Have every kernel of a plan in the cache."""
    with _turn(kernel_cache.in_use() / f".compiling-{platform.node()}"):
        warm_up(plan, Console(quiet=True))


@contextmanager
def _turn(path: Path) -> Iterator[None]:
    """Wait for a lock, but not for ever, and go on without it where there are no locks."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        yield
        return
    try:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.1)
            except OSError:
                break
        yield
    finally:
        os.close(descriptor)
