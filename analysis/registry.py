"""The registry of papers: which package speaks for which experiment.

A paper is a package in this folder with an attribute ``PAPER``, named in `PACKAGES`. Nothing else in the
analysis knows of it.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import AnalysisError
from analysis.paper import Drawing, Paper, reads

if TYPE_CHECKING:
    from analysis.study import Study

PACKAGES = (
    "analysis.feitelson1996",
    "analysis.mccann1994",
    "analysis.chiang2001",
    "analysis.operators",
    "analysis.compare",
)


def papers() -> dict[str, Paper]:
    """Return all papers by key."""
    found = (import_module(package).PAPER for package in PACKAGES)
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


def drawings() -> dict[str, Drawing]:
    """Return the drawings of all papers by name."""
    return {name: drawing for paper in papers().values() for name, drawing in paper.drawings.items()}


def opened(where: Path, key: str | None = None) -> tuple[Study, Paper]:
    """Return the study of a results folder as its paper sees it, and that paper.

    Parameters
    ----------
    where : Path
    key : str, optional
        See `paper_for`.
    """
    from analysis.study import open_study

    study = open_study(where)
    paper = paper_for(study.name, key)
    families = tuple(json.loads(study.data.attrs.get("families", "{}")))
    if key is not None and families and not reads(paper, families):
        fitting = ", ".join(name for name, other in papers().items() if reads(other, families))
        raise AnalysisError(
            f"paper={key} reads results of {' and '.join(paper.families)}, and these are of "
            f"{' and '.join(families)}; give one of {fitting}"
        )
    return study.under(paper.axes), paper
