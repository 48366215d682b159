"""The registry of papers: experiment -> package.

A paper is a package in this folder with an attribute ``PAPER``, named in `PACKAGES`, or one that a plug-in
names (`sweep.plugins`). ``paper=`` takes the dotted name of any other. No other module of the analysis
depends on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import AnalysisError
from analysis.paper import Drawing, Paper, reads
from models import dotted
from sweep import plugins
from sweep.errors import closest, unknown

if TYPE_CHECKING:
    from analysis.study import Study

FURTHER = ("logs", "output", "paper")
"""Further keys, which choose files and the paper."""

PACKAGES = (
    "analysis.feitelson1996",
    "analysis.mccann1994",
    "analysis.chiang2001",
    "analysis.silva1999",
    "analysis.jette1997",
    "analysis.families",
    "analysis.operators",
    "analysis.tuning",
    "analysis.compare",
)


ANY = "compare"
"""Key of the paper that draws any study."""

SEARCH = "tuning"
"""Key of the paper of a search and its rounds, whatever the experiment is called."""


def papers() -> dict[str, Paper]:
    """Return all papers by key."""
    return {paper.key: paper for paper in _each()}


def _each() -> Iterator[Paper]:
    """Load the papers one by one, so that a search loads only what it needs; plug-ins come last."""
    for package in PACKAGES:
        yield import_module(package).PAPER
    for plugin in plugins.installed():
        try:
            for package in getattr(import_module(plugin), "PAPERS", ()):
                yield named(package)
        except Exception as error:
            raise AnalysisError(f"plug-in {plugin}: {dotted.reason(error)}") from error


def named(package: str) -> Paper:
    """Return the paper of a dotted name that a user or a plug-in gives.

    Raises
    ------
    AnalysisError
        With one line if there is none.
    """
    try:
        paper = import_module(package).PAPER
    except Exception as error:
        where = "; modules=FOLDER names the folder that holds it" * isinstance(error, ModuleNotFoundError)
        raise AnalysisError(f"paper={package} cannot be imported ({dotted.reason(error)}){where}") from error
    if not isinstance(paper, Paper):
        raise AnalysisError(f"paper={package}: its PAPER is not an analysis.paper.Paper")
    return paper


def paper_for(experiment: str, key: str | None = None) -> Paper:
    """Return the paper of an experiment; for a user's own study, the paper that draws any study.

    Parameters
    ----------
    experiment : str
        Name in the dataset's config.
    key : str, optional
        A paper named by the user: its key, or the dotted name of its package.
    """
    if key is not None and "." in key:
        return named(key)
    if key is not None:
        known = papers()
        if key not in known:
            raise AnalysisError(
                f"paper={key}: no such paper; valid: {', '.join(sorted(known))}, or the dotted name "
                "of a package with a PAPER"
            )
        return known[key]
    found = next((paper for paper in _each() if experiment in paper.experiments), None)
    return papers()[ANY] if found is None else found


def drawings() -> dict[str, Drawing]:
    """Return the drawings of all papers by name."""
    return {name: drawing for paper in papers().values() for name, drawing in paper.drawings.items()}


def commands() -> dict[str, Callable[[Sequence[str]], None]]:
    """Return the papers' further commands by name."""
    return {name: command for paper in papers().values() for name, command in paper.commands.items()}


def opened(
    where: Path, key: str | None = None, chosen: Mapping[str, str] | None = None
) -> tuple[Study, Paper]:
    """Return the study of a results folder, with its paper's axes, and that paper.

    Parameters
    ----------
    key : str, optional
        See `paper_for`.
    chosen : dict of str to str, optional
        Choices of the user, see `analysis.study.view`: options, and values of axes.
    """
    from analysis.study import open_study
    from analysis.study.view import OPTIONS, View

    study, chosen = open_study(where), chosen or {}
    reference = chosen.get("reference")
    for name in chosen:
        if name not in OPTIONS and name not in study.selectable:
            valid = [*FURTHER, *OPTIONS, *study.selectable]
            meant = closest(name, valid)
            hint = f" did you mean {meant}={chosen[name]}?" if meant else ""
            raise AnalysisError(
                f"unknown argument '{name}={chosen[name]}';{hint} valid: {', '.join(f'{k}=' for k in valid)}"
            )
    if at := {axis: value for axis, value in chosen.items() if axis not in OPTIONS}:
        whole, study = study, study.selected(at)
        for axis, value in at.items():
            if reference in whole.values_of(axis) and reference not in study.values_of(axis):
                raise AnalysisError(
                    f"reference={reference}: {axis}={value} excludes it; give {axis}={value},{reference}"
                )
    study = replace(study, view=View.of(chosen))
    if reference and not any(reference in study.values_of(axis) for axis in study.selectable):
        raise AnalysisError(f"reference={reference}: {unknown('name', reference, study.policies)}")
    usual = ANY if study.is_program else SEARCH if study.settings.get("searched") else None
    paper = paper_for(study.name, key or usual)
    families = tuple(json.loads(study.data.attrs.get("families", "{}")))
    if key is not None and families and not reads(paper, families):
        fitting = ", ".join(name for name, other in papers().items() if reads(other, families))
        raise AnalysisError(
            f"paper={key} reads results of {' and '.join(paper.families)}, but this dataset is "
            f"from {' and '.join(families)}; give one of {fitting}"
        )
    if any(name not in study.data for name in paper.needs):
        if key is not None:
            raise AnalysisError(
                f"paper={key} needs {' and '.join(paper.needs)}, which these policies do not measure; "
                f"give paper={ANY}"
            )
        paper = papers()[ANY]
    for name in chosen:
        if name in OPTIONS and name not in paper.options:
            raise AnalysisError(
                f"{name}={chosen[name]}: {paper.key} does not support {name}=; add paper={ANY}, which draws "
                "any study"
            )
    return study.under(paper.axes), paper
