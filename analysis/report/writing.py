"""Figures, claims and the report of a study as files; several pictures are drawn at a time."""

import dataclasses
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from analysis.claims import Claim
from analysis.errors import AnalysisError, DrawingError
from analysis.figures import style
from analysis.paper import Paper, Picture
from analysis.report import points
from analysis.report.drawn import DrawnPicture
from analysis.study import Study
from sweep.errors import SweepError
from sweep.store.writing import inner, replace

CODE = ("families", "sources")
"""Attributes of a dataset that state by which code it was computed: versions, and hashes of modules."""

POINTS = "points.csv"
"""The file of all points."""


def draw_picture(picture: Picture, folder: Path) -> DrawnPicture:
    """Draw a picture and save it in all formats."""
    with style.styled():
        try:
            figure = picture.draw()
            files = style.save(figure, folder, picture.name, picture.sources)
        except DrawingError as reason:
            return DrawnPicture(picture, None, str(reason))
    return DrawnPicture(
        picture, next(file for file in files if file.suffix == ".svg"), shows=style.described(figure)
    )


def draw_pictures(pictures: Sequence[Picture], folder: Path) -> Iterator[DrawnPicture]:
    """Begin to draw pictures in parallel, one process per core; return them in order as they finish.

    Pictures `with_claims` are drawn in this process when the iterator reaches them. A forked process already
    has the study in memory, and the modules that matplotlib loads to write a file; where processes cannot be
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
    """Yield pictures in their order; draw here the pictures that no other process draws."""
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


def figures(
    study: Study, paper: Paper, output: Path, logs: Path | None, named: Sequence[str] | None = None
) -> Iterator[tuple[int, int, DrawnPicture]]:
    """Begin to draw every figure; return number, total and the drawn picture as they finish.

    Parameters
    ----------
    study : Study
        With the paper's axes, see `analysis.registry.opened`.
    output : Path
        Figures go to its folder ``figures``.
    logs : Path or None
        Folder of job logs.
    named : sequence of str, optional
        Draw only these, by their names.

    Raises
    ------
    AnalysisError
        With one line for an unknown name.
    """
    pictures = paper.pictures(study, logs)
    if named is not None:
        known = {picture.name: picture for picture in pictures}
        if unknown := [name for name in named if name not in known]:
            raise AnalysisError(f"figures={','.join(unknown)}: no such figure; valid: {', '.join(known)}")
        pictures = [known[name] for name in named]
    sources = json.dumps({key: json.loads(study.data.attrs.get(key, "{}")) for key in CODE})
    pictures = [dataclasses.replace(picture, sources=sources) for picture in pictures]
    output.mkdir(parents=True, exist_ok=True)
    try:
        figures = inner(output / "figures")
    except SweepError as error:
        raise AnalysisError(str(error)) from None
    drawing = draw_pictures(pictures, figures)
    return ((number, len(pictures), done) for number, done in enumerate(drawing, start=1))


@dataclass(frozen=True)
class Content:
    """The content of a report except its pictures.

    Parameters
    ----------
    claims : list of Claim
        The tested sentences.
    points : str
        All points as CSV.
    page : callable
        Pictures -> the report as HTML.
    """

    claims: list[Claim]
    points: str
    page: Callable[[Sequence[DrawnPicture]], str]


def content(study: Study, paper: Paper) -> Content:
    """Test the paper's sentences and prepare the report, while other processes draw its pictures."""
    from analysis.report.render import prepared  # imported while other processes draw

    tested = {letter: list(paper.claims(one)) for letter, one in study.readings.items()}
    all_points = points.frame(study)
    page = prepared(study, paper, tested, points.points(study, all_points))
    return Content(
        [claim for found in tested.values() for claim in found], all_points.to_csv(index=False), page
    )


def report(output: Path, made: Content, drawn: Sequence[DrawnPicture]) -> None:
    """Write ``claims.json`` (where there are sentences), ``points.csv`` and ``report.html``."""
    if made.claims:
        claims = json.dumps([c.as_json() for c in made.claims], indent=2, ensure_ascii=False) + "\n"
        replace(output / "claims.json", claims.encode())
    replace(output / POINTS, made.points.encode())
    replace(output / "report.html", made.page(drawn).encode())


def numbers(study: Study, paper: Paper, output: Path) -> tuple[Path, int] | None:
    """Write the numbers of the figures as ``table.csv``; return its path and number of rows, if any."""
    found = paper.numbers(study)
    if found is None:
        return None
    path = output / "table.csv"
    replace(path, found.to_csv(index=False).encode())
    return path, len(found)
