"""The registry of papers: which module speaks for which experiment.

A paper is a module (or a package) in this folder with an attribute ``PAPER``, named in `MODULES`. Nothing
else in the analysis knows of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.axes import Axes
from analysis.errors import AnalysisError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from analysis.claims import Claim
    from analysis.study import Study
    from analysis.table import Table

MODULES = ("analysis.feitelson1996", "analysis.mccann1994", "analysis.chiang2001", "analysis.operators")


@dataclass(frozen=True)
class Picture:
    """One figure of an experiment.

    Parameters
    ----------
    name : str
        File name without its ending.
    title : str
        For the report and its table of contents.
    caption : str
        What is shown, and what a reader must know to read it.
    draw : callable
        Returns a matplotlib Figure, or raises `errors.DrawingError` with the reason.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[], Figure]


@dataclass(frozen=True)
class Drawing:
    """A picture drawn on request, ``python -m analysis draw NAME key=value``.

    Parameters
    ----------
    draw : callable
        Takes the settings, returns a matplotlib Figure.
    settings : dict of str to str
        Keys with their defaults.
    help : str
        One line.
    """

    draw: Callable[[Mapping[str, str]], Figure]
    settings: Mapping[str, str]
    help: str


@dataclass(frozen=True)
class Paper:
    """What a paper's module declares.

    Parameters
    ----------
    key : str
        First author and year, the prefix of its claims' ids.
    citation : str
        Empty for what speaks for no paper: its claims are nobody's sentences.
    experiments : tuple of str
        Names of the experiments for which it speaks.
    pictures : callable
        (study, folder of logs or None) -> pictures in the order of the report.
    claims : callable
        (study under one reading) -> every testable sentence, tested.
    readings : callable
        (study) -> pairs (choice that the paper leaves open, what was taken).
    axes : Axes
        Which axes of its experiments are features, and not readings.
    drawings : dict of str to Drawing
    tables : callable
        (study) -> tables of the report.
    brief : callable
        (study) -> lines for the terminal.
    own_intervals : bool
        Whether it makes all its intervals itself, so that those withheld in the dataset need no warning.
    """

    key: str
    citation: str
    experiments: tuple[str, ...]
    pictures: Callable[[Study, Path | None], Sequence[Picture]]
    claims: Callable[[Study], Sequence[Claim]]
    readings: Callable[[Study], Sequence[tuple[str, str]]]
    axes: Axes = field(default_factory=Axes)
    drawings: Mapping[str, Drawing] = field(default_factory=dict)
    tables: Callable[[Study], Sequence[Table]] = lambda study: ()
    brief: Callable[[Study], Sequence[str]] = lambda study: ()
    own_intervals: bool = False


def papers() -> dict[str, Paper]:
    """Return all papers by key."""
    found = (import_module(module).PAPER for module in MODULES)
    return {paper.key: paper for paper in found}


def paper_for(experiment: str, key: str | None = None) -> Paper:
    """Return the paper that speaks for an experiment.

    Parameters
    ----------
    experiment : str
        Name in the dataset's config.
    key : str, optional
        A paper named by the user, for experiments of their own.
    """
    known = papers()
    if key is not None:
        if key not in known:
            raise AnalysisError(f"paper={key}: no such paper; valid: {', '.join(sorted(known))}")
        return known[key]
    for paper in known.values():
        if experiment in paper.experiments:
            return paper
    offered = "; ".join(f"{paper.key} ({', '.join(paper.experiments)})" for paper in known.values())
    raise AnalysisError(
        f"no paper speaks for the experiment {experiment!r}: add paper=KEY to take one of {offered}"
    )


def axes_of(experiment: str, key: str | None = None) -> Axes:
    """Return the axes of the paper that speaks for an experiment; all are readings where none does.

    Parameters
    ----------
    experiment : str
    key : str, optional
        A paper named by the user.
    """
    known = papers().values()
    if key is None and not any(experiment in paper.experiments for paper in known):
        return Axes()
    return paper_for(experiment, key).axes


def drawings() -> dict[str, Drawing]:
    """Return the drawings of all papers by name."""
    return {name: drawing for paper in papers().values() for name, drawing in paper.drawings.items()}
