"""Pictures become files, several at a time."""

from __future__ import annotations

import base64
import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
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

    A forked process has the study at hand already, and all that matplotlib loads to write a file; where
    processes cannot be forked safely, one draws all.
    """
    workers = min(len(os.sched_getaffinity(0)), len(pictures)) if sys.platform == "linux" else 1
    if workers < 2:
        return (draw_picture(picture, folder) for picture in pictures)
    for module in WRITERS:
        importlib.import_module(module)
    _AT_HAND[:] = pictures
    stack = ExitStack()
    pool = stack.enter_context(ProcessPoolExecutor(workers, mp_context=get_context("fork")))
    files = pool.map(_draw_at_hand, range(len(pictures)), [folder] * len(pictures))

    def ready() -> Iterator[DrawnPicture]:
        with stack:
            for picture, (svg, skipped) in zip(pictures, files, strict=True):
                yield DrawnPicture(picture, svg, skipped)

    return ready()


WRITERS = tuple(f"matplotlib.backends.backend_{name}" for name in ("pdf", "svg", "agg"))
"""What matplotlib loads with the first file of each format."""


_AT_HAND: list[Picture] = []
"""What a forked process is to draw, by number: pictures hold functions, which cannot be sent."""


def _draw_at_hand(number: int, folder: Path) -> tuple[Path | None, str]:
    done = draw_picture(_AT_HAND[number], folder)
    return done.svg, done.skipped
