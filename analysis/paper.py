"""The declaration of a paper: its experiments, figures, drawings, claims, readings and axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.study.axes import Axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from analysis.claims import Claim
    from analysis.drawings.views import View
    from analysis.report.table import Table
    from analysis.study import Study


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
        What the figure shows, and how to read it.
    draw : callable
        Returns a matplotlib Figure, or raises `errors.DrawingError` with the reason.
    with_claims : bool
        The figure shares data with the tests of the sentences, so it is drawn in the process that runs them.
    sources : str
        The code that computed the dataset, for the metadata of the PNG.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[], Figure]
    with_claims: bool = False
    sources: str = ""

    def marked(self, mark: str, words: str) -> Picture:
        """Return the picture as one of several: a mark in its name and title, words before its caption."""
        return replace(
            self,
            name=f"{self.name}-{mark}",
            title=f"{self.title} ({mark})",
            caption=f"{words}. {self.caption}",
        )


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
    """The attributes of a paper's package.

    Parameters
    ----------
    key : str
        First author and year, the prefix of its claims' ids.
    citation : str
        Empty for a package that belongs to no paper and has no claims.
    experiments : tuple of str
        Names of the experiments that it covers.
    pictures : callable
        (study, folder of logs or None) -> pictures in the order of the report.
    claims : callable
        (study under one reading) -> every testable sentence, tested.
    readings : callable
        (study) -> pairs (choice that the paper leaves open, value taken).
    axes : Axes
        Which axes of its experiments are features rather than readings.
    families : tuple of str
        Packages whose results it reads, including their subpackages; empty for results of any package.
    needs : tuple of str
        Metrics that it needs; a study without them is drawn as a user's own study.
    tables : callable
        (study) -> tables of the report.
    brief : callable
        (study) -> lines for the terminal.
    summary : callable
        (study) -> sentences on the findings, for the beginning of the report.
    lead : callable
        (study) -> headings and sentences before all others of the report; its first table follows them.
    own_intervals : bool
        Whether it computes all its intervals itself, so intervals withheld in the dataset need no warning.
    options : tuple of str
        Choices of `analysis.study.view.OPTIONS` that it supports.
    numbers : callable
        (study) -> numbers of its figures, one row per number, for a separate file; None for no file.
    commands : dict of str to callable
        Name -> function of the arguments after ``python -m analysis NAME``.
    appraised : callable
        (study, the best policy so far or None) -> the result of each policy in a round of a search; see
        `analysis.tuning.appraising`.
    views : dict of str to View
        Name -> picture of one point for the explorer.
    """

    key: str
    citation: str
    experiments: tuple[str, ...]
    pictures: Callable[[Study, Path | None], Sequence[Picture]]
    claims: Callable[[Study], Sequence[Claim]]
    readings: Callable[[Study], Sequence[tuple[str, str]]]
    axes: Axes = field(default_factory=Axes)
    drawings: Mapping[str, Drawing] = field(default_factory=dict)
    families: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    tables: Callable[[Study], Sequence[Table]] = lambda study: ()
    brief: Callable[[Study], Sequence[str]] = lambda study: ()
    summary: Callable[[Study], Sequence[str]] = lambda study: ()
    lead: Callable[[Study], Sequence[tuple[str, Sequence[str]]]] = lambda study: ()
    own_intervals: bool = False
    options: tuple[str, ...] = ()
    numbers: Callable[[Study], pd.DataFrame | None] = lambda study: None
    commands: Mapping[str, Callable[[Sequence[str]], None]] = field(default_factory=dict)
    appraised: Callable[[Study, str | None], Mapping[str, dict[str, Any]]] = lambda study, best: {}
    views: Mapping[str, View] = field(default_factory=dict)


@cache
def content(file: Path) -> Any:
    """Return the content of a paper's YAML file."""
    import yaml  # type: ignore[import-untyped] # types only by another package

    return yaml.load(file.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def reads(paper: Paper, families: Iterable[str]) -> bool:
    """Whether a paper reads results of any of these families."""
    return not paper.families or any(
        family == known or family.startswith(f"{known}.") for family in families for known in paper.families
    )


def of_each_reading(study: Study, figures: Callable[[Study], Iterable[Picture]]) -> list[Picture]:
    """Return the figures of a study; if there are several readings, of each, with its letter."""
    if len(study.readings) == 1:
        return list(figures(study.readings["A"]))
    return [
        picture.marked(letter, f"Reading {letter}: {one.label}")
        for letter, one in study.readings.items()
        for picture in figures(one)
    ]
