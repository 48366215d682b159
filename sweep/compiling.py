"""Kernels compiled before they are needed: by every command in one way, which says so if it takes a while."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from models.family import Family
from models.point import Point
from sweep.plan import families

NOTICE = "compiling kernels (once per version)"

UNSAID_S = 1.0
"""How long nothing is said: kernels that are compiled take less."""


def warm_up(needed: Iterable[tuple[Family, Sequence[Point]]], say: Callable[[str], object]) -> None:
    """Have the kernels that some points need in the cache.

    Parameters
    ----------
    needed : iterable of (Family, sequence of Point)
    say : callable
        Takes one line, if that is not done at once.
    """
    notice = threading.Timer(UNSAID_S, say, [NOTICE])
    notice.daemon = True
    notice.start()
    try:
        for family, points in needed:
            family.warm_up(points)
    finally:
        notice.cancel()


def ready(point: Point) -> None:
    """Have the kernels of one simulation in the cache, saying on standard error that they are compiled."""
    family = families.find(str(point.policy["family"]))
    warm_up([(family, [point])], partial(print, file=sys.stderr, flush=True))


@contextmanager
def told() -> Iterator[None]:
    """Say on standard error that kernels are compiled, if what is run in it turns out to compile for a while.

    For what calls kernels of no simulation, such as the geometry of a mesh: no family makes them ready.
    """
    from numba.core import event

    from sweep.compilations import KIND, Watch

    with event.install_listener(KIND, Watch(UNSAID_S, partial(print, NOTICE, file=sys.stderr, flush=True))):
        yield
