"""Pictures become files, several at a time."""

from __future__ import annotations

import base64
import importlib
import os
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from threading import RLock

from markupsafe import Markup

from analysis.errors import DrawingError
from analysis.figures import style
from analysis.paper import Picture


@dataclass(frozen=True)
class DrawnPicture:
    """A picture and its file, or why there is none."""

    picture: Picture
    svg: Path | None
    skipped: str = ""

    @property
    def source(self) -> Markup:
        """The picture as a data URI, so that the report needs no other file.

        As an image and not as inline SVG: element ids of different figures cannot clash.
        """
        if self.svg is None:
            return Markup()
        return Markup("data:image/svg+xml;base64," + base64.b64encode(self.svg.read_bytes()).decode("ascii"))


def draw_picture(picture: Picture, folder: Path) -> DrawnPicture:
    """Draw a picture and save it in all formats."""
    with style.styled():
        try:
            figure = picture.draw()
        except DrawingError as reason:
            return DrawnPicture(picture, None, str(reason))
        files = style.save(figure, folder, picture.name)
    return DrawnPicture(picture, next(file for file in files if file.suffix == ".svg"))


def draw_pictures(pictures: Sequence[Picture], folder: Path) -> Iterator[DrawnPicture]:
    """Begin to draw pictures side by side, one process a core; return them in their order, as they get ready.

    This process is one of them: once asked for the first picture it draws those that are to be drawn
    `with_claims`, and then what no other has begun. A forked process has the study at hand already, and all
    that matplotlib loads to write a file; where processes cannot be forked safely, this one draws all.
    """
    others = (min(len(os.sched_getaffinity(0)), len(pictures)) if sys.platform == "linux" else 1) - 1
    if others < 1:
        return (draw_picture(picture, folder) for picture in pictures)
    for module in WRITERS:
        importlib.import_module(module)
    _AT_HAND[:] = pictures
    shared = _Shared(pictures, folder, others)
    for _ in range(others):
        shared.begin()
    return _ready(pictures, folder, shared)


class _Shared:
    """Pictures that whoever is free draws, in their order: another process, or this one.

    A process gets its next picture when it has drawn one. A pool that knew of all would give some out ahead,
    and this process would wait for those at the end.
    """

    def __init__(self, pictures: Sequence[Picture], folder: Path, n_processes: int) -> None:
        self.folder = folder
        self.pool = ProcessPoolExecutor(n_processes, mp_context=get_context("fork"))
        self.begun: dict[int, Future[tuple[Path | None, str]]] = {}
        self._waiting = deque(n for n, picture in enumerate(pictures) if not picture.with_claims)
        self._lock = RLock()  # between this thread and that of the pool, which begins the next

    def begin(self, before: Future[tuple[Path | None, str]] | None = None) -> None:
        """Let another process draw the next picture, and then go on."""
        # Where a process has died, the pool tells so while it is locked: to ask it for more would hang.
        if before is not None and (before.cancelled() or before.exception() is not None):
            return
        with self._lock, suppress(IndexError, RuntimeError):  # there is none, or no process any more
            number = self._waiting[0]
            found = self.begun[number] = self.pool.submit(_draw_at_hand, number, self.folder)
            self._waiting.popleft()
            found.add_done_callback(self.begin)

    def take(self) -> int | None:
        """Return the number of the next picture, which is then for this process; None if there is none."""
        with self._lock:
            return self._waiting.popleft() if self._waiting else None

    def end(self) -> None:
        """Begin nothing more, and wait for what has been begun."""
        with self._lock:
            self._waiting.clear()
        self.pool.shutdown(cancel_futures=True)


def _ready(pictures: Sequence[Picture], folder: Path, shared: _Shared) -> Iterator[DrawnPicture]:
    """Yield pictures in their order; while one is not ready draw here what no other process has begun."""
    drawn: dict[int, DrawnPicture] = {}
    alone = iter([n for n, picture in enumerate(pictures) if picture.with_claims])
    try:
        for number, picture in enumerate(pictures):
            while number not in drawn and not (number in shared.begun and shared.begun[number].done()):
                mine = next(alone, None)
                if mine is None:
                    mine = shared.take()
                if mine is None:
                    break
                drawn[mine] = draw_picture(pictures[mine], folder)
            yield drawn[number] if number in drawn else DrawnPicture(picture, *shared.begun[number].result())
    finally:
        shared.end()


WRITERS = (*(f"matplotlib.backends.backend_{name}" for name in ("pdf", "svg", "agg")), "scipy.special")
"""What matplotlib loads with the first file of each format, and what the first interval does."""


_AT_HAND: list[Picture] = []
"""What a forked process is to draw, by number: pictures hold functions, which cannot be sent."""


def _draw_at_hand(number: int, folder: Path) -> tuple[Path | None, str]:
    done = draw_picture(_AT_HAND[number], folder)
    return done.svg, done.skipped
