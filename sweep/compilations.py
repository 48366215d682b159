"""How long functions are compiled while something else is done, where nothing was made ready beforehand."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from numba.core import event

KIND = "numba:compile"
"""What numba calls the compilation of a function that is not in its cache."""


class Watch(event.Listener):
    """Listens to numba, and says so once when compilations add up to some seconds.

    Parameters
    ----------
    after_s : float
    say : callable
    """

    def __init__(self, after_s: float, say: Callable[[], object]) -> None:
        self._left_s = after_s
        self._say = say
        self._said = False
        self._depth = 0  # a function compiles those that it calls
        self._began = 0.0
        self._notice: threading.Timer | None = None

    def on_start(self, event: event.Event) -> None:
        """Begin to count with the outermost function."""
        self._depth += 1
        if self._depth > 1 or self._said:
            return
        self._began = time.perf_counter()
        self._notice = threading.Timer(max(self._left_s, 0.0), self._tell)
        self._notice.daemon = True
        self._notice.start()

    def on_end(self, event: event.Event) -> None:
        """Stop counting with the outermost function."""
        self._depth -= 1
        if self._depth == 0 and self._notice is not None:
            self._left_s -= time.perf_counter() - self._began
            self._notice.cancel()

    def _tell(self) -> None:
        self._said = True
        self._say()
