"""Compilation of kernels before they are needed, with a notice on the terminal if it takes a while."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from models.family import Family
from models.point import Point
from sweep.errors import SweepError, one_line
from sweep.plan import families

NOTICE = "compiling kernels (once per version)"

SILENT_S = 1.0
"""Seconds of compilation without a notice."""


def warm_up(needed: Iterable[tuple[Family, Sequence[Point]]], say: Callable[[str], object]) -> None:
    """Compile the kernels of some points, or load them from the cache.

    Parameters
    ----------
    say : callable
        Called with the notice if this takes longer than a moment.

    Raises
    ------
    SweepError
        If nothing can be compiled.
    """
    with _notice_after(SILENT_S, say), _interruptible():
        try:
            for family, points in needed:
                family.warm_up(points)
        except ValueError as error:
            raise SweepError(one_line(error)) from None


def ready(point: Point) -> None:
    """Compile the kernels of one simulation, or load them, with the notice on standard error."""
    family = families.find(str(point.policy["family"]))
    warm_up([(family, [point])], _print)


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@contextmanager
def _notice_after(seconds: float, say: Callable[[str], object]) -> Iterator[None]:
    notice = threading.Timer(seconds, say, [NOTICE])
    notice.daemon = True
    notice.start()
    try:
        yield
    finally:
        notice.cancel()


@contextmanager
def _interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt where LLVM's callback swallows it, and an error without a cause follows."""
    before, swallowed = sys.unraisablehook, []

    def note(found: sys.UnraisableHookArgs) -> None:
        if isinstance(found.exc_value, KeyboardInterrupt):
            swallowed.append(True)
        else:
            before(found)

    sys.unraisablehook = note
    try:
        yield
    except RuntimeError:
        if not swallowed:
            raise
    finally:
        sys.unraisablehook = before
    if swallowed:
        raise KeyboardInterrupt


@contextmanager
def noticed() -> Iterator[None]:
    """Print the notice on standard error if one function is compiled for a while within this context.

    This is for kernels outside simulations, such as the geometry of a mesh, which no family compiles
    beforehand.
    """
    from models.kernels.internals import event

    print_once = cache(_print)

    class Outermost(event.Listener):  # a function compiles those that it calls
        depth = 0

        def on_start(self, event: event.Event) -> None:
            if self.depth == 0:
                self.waiting = _notice_after(SILENT_S, print_once)
                self.waiting.__enter__()
            self.depth += 1

        def on_end(self, event: event.Event) -> None:
            self.depth -= 1
            if self.depth == 0:
                self.waiting.__exit__(None, None, None)

    with event.install_listener("numba:compile", Outermost()):
        yield
