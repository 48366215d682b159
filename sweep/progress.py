"""The progress of a run: a bar on a terminal and in a notebook, a plain line every few seconds elsewhere."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Column

from models.counting import counted
from sweep.errors import printable, typable

PLAIN_EVERY_S = 5.0
SILENT_EVERY_S = 60.0
"""Seconds between two lines while results come back, and while none does."""

SILENCE_S = 2.0
"""Seconds without a line after which one reports what is taking long."""

STARTING_S = 10.0
"""Seconds without a result after which workers are no longer said to start: tasks may take minutes."""

UPDATE_EVERY_S = 1.0

NARROWEST = 8
"""Columns that the bar keeps on a narrow terminal."""


class Meter:
    """Shows tasks done, jobs simulated a second, and the time left, also while nothing comes back.

    Parameters
    ----------
    total, done : int
        Tasks of the plan, and those done before this run.
    outlook : callable, optional
        Returns the time left in words; called in a thread of its own.
    counted : str
        What the tasks simulate, in the plural.
    """

    def __init__(
        self, console: Console, total: int, done: int, outlook: Callable[[], str] = lambda: "",
        counted: str = "jobs",
    ) -> None:  # fmt: skip
        self._console = console
        self._total = total
        self._done = done
        self._outlook = outlook
        self._counted = counted
        self._jobs = 0
        self._first: float | None = None
        self._over = threading.Event()
        width = max(NARROWEST, min(40, console.width - 66))
        room = max(1, console.width - width - len(f"{total}/{total} tasks") - 2)
        columns = (
            BarColumn(width, complete_style="cyan", finished_style="green"),
            TextColumn("{task.completed}/{task.total} tasks"),
            TextColumn("{task.fields[pace]}", table_column=Column(no_wrap=True, max_width=room)),
        )
        self._bar = Progress(*columns, console=console, disable=not console.is_terminal)
        self._task = self._bar.add_task("", total=total, completed=done, pace="starting workers")
        self._cell = _Cell(total) if console.is_jupyter and not console.quiet else None

    def __enter__(self) -> Self:
        self._bar.start()
        self._thread = threading.Thread(target=self._watch, name="meter", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self._bar.update(self._task, completed=self._done, pace=self._pace())
        self._bar.stop()
        if self._cell is not None:
            self._cell.update(self._done, self._line())
        elif kind is None and not self._console.is_terminal:
            say(self._console, self._line())

    def add(self, tasks: int, jobs: int) -> None:
        """Count finished tasks."""
        self._done += tasks
        if self._first is None:
            self._first = time.monotonic()  # the pace counts from here: before it, workers were starting
        else:
            self._jobs += jobs
        self._bar.update(self._task, completed=self._done)

    def _watch(self) -> None:
        """Update the bar, or print a line when it is due, until the run is over."""
        begin = last = time.monotonic()
        shown, has_begun = self._done, False
        while not self._over.wait(UPDATE_EVERY_S):
            now = time.monotonic()
            begun = self._first is not None or now - begin >= STARTING_S
            if self._cell is not None:
                line = self._line(self._outlook()) if begun else f"{self._done}/{self._total} tasks, starting"
                self._cell.update(self._done, line)
            elif self._console.is_terminal:
                if begun:
                    self._bar.update(self._task, pace=self._pace(self._outlook()))
            elif not has_begun and now - begin >= SILENCE_S:
                has_begun = True
                if self._first is None:
                    say(self._console, f"{self._done}/{self._total} tasks, starting")
            elif now - last >= (PLAIN_EVERY_S if self._done > shown else SILENT_EVERY_S):
                last, shown = now, self._done
                say(self._console, self._line(self._outlook()))

    def _line(self, outlook: str = "") -> str:
        return f"{self._done}/{self._total} tasks, {self._pace(outlook)}"

    def _pace(self, outlook: str = "") -> str:
        elapsed = 0.0 if self._first is None else time.monotonic() - self._first
        pace = f"{self._jobs / elapsed:,.0f} {self._counted}/s" if self._jobs else "pace unknown so far"
        return f"{pace}, {outlook}" if outlook else pace


class _Cell:
    """A progress bar below the cell of a notebook, in a display of its own that is updated."""

    def __init__(self, total: int) -> None:
        from IPython.display import HTML, display

        self._html, self._total = HTML, total
        self._handle = display(HTML(""), display_id=True)

    def update(self, done: int, line: str) -> None:
        """Show how many tasks are done, and a line beside the bar."""
        bar = f"<progress value={done} max={self._total} style='width: 20em'></progress>"
        self._handle.update(self._html(f"{bar} {escape(line)}"))


@contextmanager
def reporting(console: Console, action: str, total: int, unit: str) -> Iterator[Callable[[int], None]]:
    """Report the progress of something that takes more than a few seconds.

    Yields
    ------
    callable
        To be called with the number of units done.
    """
    whole = counted(total, unit)
    last = time.monotonic()
    notice = threading.Timer(SILENCE_S, lambda: say(console, f"{action} {whole}"))
    notice.daemon = True
    notice.start()

    def report(done: int) -> None:
        nonlocal last
        if time.monotonic() - last > SILENCE_S and done < total:
            last = time.monotonic()
            say(console, f"{action} {done:,}/{whole}")

    try:
        yield report
    finally:
        notice.cancel()


def say(console: Console, line: str, style: str | None = None) -> None:
    """Print a line as it is: unbroken, without colours for numbers, brackets left alone."""
    console.print(typable(printable(line)), style=style, markup=False, highlight=False, soft_wrap=True)


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
