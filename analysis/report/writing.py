"""Figures, claims and the report of a study as files."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.claims import Claim
from analysis.errors import AnalysisError
from analysis.paper import Paper
from analysis.report import points
from analysis.report.pictures import DrawnPicture, draw_pictures
from analysis.study import Study

POINTS = "points.csv"
"""The file of all points."""


def figures(
    study: Study, paper: Paper, output: Path, logs: Path | None, named: Sequence[str] | None = None
) -> Iterator[tuple[int, int, DrawnPicture]]:
    """Begin to draw every figure; return number, total and what was drawn as they get ready.

    Parameters
    ----------
    study : Study
        As the paper sees it, see `analysis.registry.opened`.
    output : Path
        Figures go to its folder ``figures``.
    logs : Path or None
        Folder of job logs.
    named : sequence of str, optional
        Draw only these, by their names.

    Raises
    ------
    AnalysisError
        With one line for a name that no figure has.
    """
    pictures = paper.pictures(study, logs)
    if named is not None:
        known = {picture.name: picture for picture in pictures}
        if unknown := [name for name in named if name not in known]:
            raise AnalysisError(f"figures={','.join(unknown)}: no such figure; valid: {', '.join(known)}")
        pictures = [known[name] for name in named]
    output.mkdir(parents=True, exist_ok=True)
    drawing = draw_pictures(pictures, output / "figures")
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
        _replace(
            output / "claims.json",
            json.dumps([c.as_json() for c in made.claims], indent=2, ensure_ascii=False) + "\n",
        )
    _replace(output / POINTS, made.points)
    _replace(output / "report.html", made.page(drawn))


def numbers(study: Study, paper: Paper, output: Path) -> tuple[Path, int] | None:
    """Write the numbers of the figures as ``table.csv``; return its path and number of rows, if any."""
    found = paper.numbers(study)
    if found is None:
        return None
    path = output / "table.csv"
    _replace(path, found.to_csv(index=False))
    return path, len(found)


def _replace(path: Path, text: str) -> None:
    """Write a file in one step: a reader sees the old one or the new one, never half of it."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
