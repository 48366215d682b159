"""Functions of the analysis for searches, and for `sweep.Study` and ``dataset.schedule`` in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from analysis.errors import AnalysisError, DrawingError
from analysis.registry import SEARCH, opened
from analysis.study.study import text
from analysis.study.view import View
from sweep import logs
from sweep.errors import SweepError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from analysis.claims import Claim
    from models.jobs.schedule import Schedule

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def _one_kind_of_error(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Raise errors of the analysis as `sweep.errors.SweepError`, the only exception that notebooks see."""

    @wraps(function)
    def guarded(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        try:
            return function(*arguments, **named)
        except (AnalysisError, DrawingError) as error:
            raise SweepError(str(error)) from None

    return guarded


@_one_kind_of_error
def claims_of(folder: Path) -> list[Claim]:
    """Return every sentence of the paper, tested under each reading."""
    study, paper = opened(folder)
    return [claim for one in study.readings.values() for claim in paper.claims(one)]


@_one_kind_of_error
def figures_of(folder: Path, chosen: Mapping[str, Any]) -> dict[str, Path]:
    """Draw every figure into the folder's ``figures``; return the PNG of each by name."""
    from analysis.report import writing

    study, paper = opened(folder, chosen=_typed(chosen))
    drawn = [done for *_, done in writing.figures(study, paper, folder, logs.folder())]
    return {done.picture.name: done.svg.with_suffix(".png") for done in drawn if done.svg is not None}


@_one_kind_of_error
def report_of(folder: Path, chosen: Mapping[str, Any]) -> Path:
    """Write figures, claims, numbers and the report; return the report's path."""
    from analysis.report import writing

    study, paper = opened(folder, chosen=_typed(chosen))
    drawing = writing.figures(study, paper, folder, logs.folder())
    made = writing.content(study, paper)
    writing.report(folder, made, [done for *_, done in drawing])
    writing.numbers(study, paper, folder)
    return folder / "report.html"


@_one_kind_of_error
def appraised_of(folder: Path, reference: str, best: str | None = None) -> Mapping[str, dict[str, Any]]:
    """Return the result of each policy in a round of a search, see `analysis.paper.Paper`."""
    study, paper = opened(folder, SEARCH)
    return paper.appraised(replace(study, view=View(reference=reference)), best)


def _typed(chosen: Mapping[str, Any]) -> dict[str, str]:
    """Return choices as the command line gives them."""
    return {
        key: ",".join(map(text, value)) if isinstance(value, list | tuple) else text(value)
        for key, value in chosen.items()
    }


@_one_kind_of_error
def gantt_chart(made: Schedule, title: str, first: float | None, last: float | None) -> Figure:
    """Draw a schedule between two times in seconds; by default its first three days."""
    from analysis.drawings.gantt import LONGEST_DEFAULT, draw_gantt
    from analysis.drawings.scene import Scene
    from analysis.figures import style

    begin, until = float(made.jobs.submit.min()), float(made.end.max())
    first = begin if first is None else float(first)
    if first >= until:
        raise AnalysisError(
            f"gantt: first={first}: the schedule ends after {until:g} s; give an earlier time"
        )
    if last is not None and last <= first:
        raise AnalysisError(f"gantt: last={last}: give a time after {first} s, where the picture begins")
    shown = Scene(made, slice(None), begin, until, title)
    try:
        with style.styled():
            return draw_gantt(shown, first, min(until, first + LONGEST_DEFAULT) if last is None else last)
    except AnalysisError as error:
        raise AnalysisError(str(error).replace("from= and to=", "gantt(first, last) in seconds")) from None
