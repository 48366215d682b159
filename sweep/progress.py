"""How far a run has got: a bar on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

PLAIN_EVERY_S = 5.0
SILENT_EVERY_S = 60.0
"""Where nothing comes back, a line this often."""

SILENCE_S = 2.0
"""Seconds after which is told what takes so long, and then how far it is, every so many."""

LOOK_EVERY_S = 1.0
"""How often the time left is looked at."""


class Meter:
    """Shows tasks done, jobs simulated a second, and the time left, also while nothing comes back.

    Parameters
    ----------
    console : Console
    total, done : int
        Tasks of the plan, and those done before this run.
    outlook : callable, optional
        Returns the time left in words; called in a thread of its own.
    """

    def __init__(
        self, console: Console, total: int, done: int, outlook: Callable[[], str] = lambda: ""
    ) -> None:
        self._console = console
        self._total = total
        self._before = self._done = done
        self._outlook = outlook
        self._jobs = 0
        self._last = time.monotonic()
        self._first: float | None = None
        self._bar: Progress | None = None
        self._begun = False
        self._over = threading.Event()
        self._lock = threading.Lock()
        if console.is_terminal:
            columns = (
                BarColumn(),
                TextColumn("{task.completed}/{task.total} tasks"),
                TextColumn("{task.fields[pace]}"),
            )
            self._bar = Progress(*columns, console=console)
            self._task = self._bar.add_task("", total=total, completed=done, pace="starting workers")

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        self._thread = threading.Thread(target=self._look, name="meter", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, pace=self._pace())
            self._bar.stop()
        elif kind is None:
            say(self._console, self._line())

    def add(self, tasks: int, jobs: int) -> None:
        """Count finished tasks."""
        with self._lock:
            self._done += tasks
            if self._first is None:
                self._first = time.monotonic()  # the pace counts from here: before it, workers were starting
            else:
                self._jobs += jobs
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done)
        else:
            self._tell_every(PLAIN_EVERY_S)

    def _look(self) -> None:
        while not self._over.wait(LOOK_EVERY_S):
            if self._bar is None:
                self._tell_beginning()
                self._tell_every(SILENT_EVERY_S)
            elif self._first is not None:
                self._bar.update(self._task, pace=self._pace(self._outlook()))

    def _tell_beginning(self) -> None:
        """Tell once, where nothing has come back yet, what takes so long."""
        with self._lock:
            if self._begun or time.monotonic() - self._last < SILENCE_S:
                return
            self._begun = True
            if self._first is not None:
                return
        say(self._console, f"{self._done}/{self._total} tasks, starting")

    def _tell_every(self, seconds: float) -> None:
        with self._lock:
            if (now := time.monotonic()) - self._last < seconds:
                return
            self._last = now
        say(self._console, self._line(self._outlook()))

    def _line(self, outlook: str = "") -> str:
        return f"{self._done}/{self._total} tasks, {self._pace(outlook)}"

    def _pace(self, outlook: str = "") -> str:
        elapsed = 0.0 if self._first is None else time.monotonic() - self._first
        pace = f"{self._jobs / elapsed:,.0f} jobs/s" if self._jobs else "pace not known yet"
        return f"{pace}, {outlook}" if outlook else pace


@contextmanager
def telling(console: Console, doing: str, total: int, what: str) -> Iterator[Callable[[int], None]]:
    """Tell how far something is, where it takes long enough for somebody to wonder.

    Parameters
    ----------
    console : Console
    doing : str
        What is done, e.g. ``writing``.
    total : int
        Of what there is to do.
    what : str
        One of these, e.g. ``schedule``.

    Yields
    ------
    callable
        To be called with how many are done.
    """
    whole = f"{total:,} {what}{'s' * (total != 1)}"
    last = time.monotonic()
    notice = threading.Timer(SILENCE_S, lambda: say(console, f"{doing} {whole}"))
    notice.daemon = True
    notice.start()

    def tell(done: int) -> None:
        nonlocal last
        if time.monotonic() - last > SILENCE_S and done < total:
            last = time.monotonic()
            say(console, f"{doing} {done:,}/{whole}")

    try:
        yield tell
    finally:
        notice.cancel()


def say(console: Console, line: str, style: str | None = None) -> None:
    """Print a line as it is: unbroken, without colours for numbers, brackets left alone."""
    console.print(line, style=style, markup=False, highlight=False, soft_wrap=True)


def duration(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> duration(0.34), duration(42), duration(125), duration(7300)
    ('0.3 s', '42 s', '2 min 5 s', '2 h 1 min')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
