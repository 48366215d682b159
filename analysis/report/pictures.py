"""Pictures become files, several at a time."""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
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
    """Draw pictures side by side, one process a core, and yield them in their order.

    A forked process has the study at hand already; where processes cannot be forked safely, one draws all.
    """
    workers = min(len(os.sched_getaffinity(0)), len(pictures)) if sys.platform == "linux" else 1
    if workers < 2:
        yield from (draw_picture(picture, folder) for picture in pictures)
        return
    _AT_HAND[:] = pictures
    with ProcessPoolExecutor(workers, mp_context=get_context("fork")) as pool:
        files = pool.map(_draw_at_hand, range(len(pictures)), [folder] * len(pictures))
        for picture, (svg, skipped) in zip(pictures, files, strict=True):
            yield DrawnPicture(picture, svg, skipped)


_AT_HAND: list[Picture] = []
"""What a forked process is to draw, by number: pictures hold functions, which cannot be sent."""


def _draw_at_hand(number: int, folder: Path) -> tuple[Path | None, str]:
    done = draw_picture(_AT_HAND[number], folder)
    return done.svg, done.skipped
