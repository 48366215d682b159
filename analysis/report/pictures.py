"""Pictures become files, several at a time."""

import base64
import importlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
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
    shows: str = ""

    @property
    def alternative(self) -> str:
        """What a reader hears in place of the picture: its title, axes, lines and caption."""
        return f"{self.picture.title}. {self.shows} {self.picture.caption}"

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
    return DrawnPicture(
        picture, next(file for file in files if file.suffix == ".svg"), shows=style.described(figure)
    )


def draw_pictures(pictures: Sequence[Picture], folder: Path) -> Iterator[DrawnPicture]:
    """Begin to draw pictures side by side, one process per core; return them in order, as they are finished.

    Pictures that are drawn `with_claims` are drawn in this process, once they are asked for. A forked process
    has the study in memory already, and all that matplotlib loads to write a file; where processes cannot be
    forked safely, this process draws all pictures.
    """
    n_processes = min(len(os.sched_getaffinity(0)), len(pictures)) if sys.platform == "linux" else 1
    if n_processes < 2:
        return (draw_picture(picture, folder) for picture in pictures)
    for module in WRITERS:
        importlib.import_module(module)
    _INHERITED[:] = pictures
    pool = ProcessPoolExecutor(n_processes, mp_context=get_context("fork"))
    begun = {
        number: pool.submit(_draw_inherited, number, folder)
        for number, picture in enumerate(pictures)
        if not picture.with_claims
    }
    return _in_order(pictures, folder, pool, begun)


def _in_order(
    pictures: Sequence[Picture],
    folder: Path,
    pool: ProcessPoolExecutor,
    begun: Mapping[int, Future[tuple[Path | None, str, str]]],
) -> Iterator[DrawnPicture]:
    """Yield pictures in their order; draw those here that no other process draws."""
    try:
        for number, picture in enumerate(pictures):
            if number in begun:
                yield DrawnPicture(picture, *begun[number].result())
            else:
                yield draw_picture(picture, folder)
    finally:
        pool.shutdown(cancel_futures=True)


WRITERS = (*(f"matplotlib.backends.backend_{name}" for name in ("pdf", "svg", "agg")), "scipy.special")
"""Modules that the first file of each format and the first interval load."""

_INHERITED: list[Picture] = []
"""The pictures that a forked process draws, by number: they hold functions, which cannot be pickled."""


def _draw_inherited(number: int, folder: Path) -> tuple[Path | None, str, str]:
    drawn = draw_picture(_INHERITED[number], folder)
    return drawn.svg, drawn.skipped, drawn.shows
