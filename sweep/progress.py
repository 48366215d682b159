"""How far a run has got: a bar on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

PLAIN_EVERY_S = 5.0


class Meter:
    """Shows tasks done, jobs simulated a second, and the time left.

    Parameters
    ----------
    console : Console
    total, done : int
        Tasks of the plan, and those done before this run.
    """

    def __init__(self, console: Console, total: int, done: int) -> None:
        self._console = console
        self._total = total
        self._before = self._done = done
        self._jobs = 0
        self._last = time.monotonic()
        self._first: float | None = None
        self._bar: Progress | None = None
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
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif kind is None:
            self._console.print(self._line(), highlight=False)

    def add(self, tasks: int, jobs: int, seconds_left: float | None) -> None:
        """Count finished tasks."""
        self._done += tasks
        now = time.monotonic()
        if self._first is None:
            self._first = now  # the pace counts from here: before it, workers were starting
        else:
            self._jobs += jobs
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, pace=self._pace(seconds_left))
        elif now - self._last >= PLAIN_EVERY_S:
            self._last = now
            self._console.print(self._line(seconds_left), highlight=False)

    def _line(self, seconds_left: float | None = None) -> str:
        return f"{self._done}/{self._total} tasks, {self._pace(seconds_left)}"

    def _pace(self, seconds_left: float | None) -> str:
        elapsed = 0.0 if self._first is None else time.monotonic() - self._first
        pace = f"{self._jobs / elapsed:,.0f} jobs/s" if self._jobs else "pace not known yet"
        return pace if seconds_left is None else f"{pace}, {duration(seconds_left)} left"


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
