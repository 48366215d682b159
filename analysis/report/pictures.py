"""Pictures become files, several at a time."""

from __future__ import annotations

import base64
import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

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
    pool = ProcessPoolExecutor(others, mp_context=get_context("fork"))
    begun = {
        number: pool.submit(_draw_at_hand, number, folder)
        for number, picture in enumerate(pictures)
        if not picture.with_claims
    }
    return _ready(pictures, folder, pool, begun)


def _ready(
    pictures: Sequence[Picture],
    folder: Path,
    pool: ProcessPoolExecutor,
    begun: dict[int, Future[tuple[Path | None, str]]],
) -> Iterator[DrawnPicture]:
    """Yield pictures in their order; while one is not ready draw here what no other process has begun."""
    drawn: dict[int, DrawnPicture] = {}
    # What is for this process alone comes first, and then the last ones: others begin with the first.
    own = iter([n for n in range(len(pictures)) if n not in begun] + [*reversed(begun)])
    try:
        for number, picture in enumerate(pictures):
            while number not in drawn and not (number in begun and begun[number].done()):
                mine = next((n for n in own if n not in begun or begun[n].cancel()), None)
                if mine is None:
                    break
                drawn[mine] = draw_picture(pictures[mine], folder)
            yield drawn[number] if number in drawn else DrawnPicture(picture, *begun[number].result())
    finally:
        pool.shutdown(cancel_futures=True)


WRITERS = tuple(f"matplotlib.backends.backend_{name}" for name in ("pdf", "svg", "agg"))
"""What matplotlib loads with the first file of each format."""


_AT_HAND: list[Picture] = []
"""What a forked process is to draw, by number: pictures hold functions, which cannot be sent."""


def _draw_at_hand(number: int, folder: Path) -> tuple[Path | None, str]:
    done = draw_picture(_AT_HAND[number], folder)
    return done.svg, done.skipped
