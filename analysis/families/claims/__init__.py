"""What the literature says across the families, each sentence tested on the same jobs.

Words of degree are named numbers (`margins`). Where a sentence is on packing in general, the scheme is that
of the grid whose switches have a cost. Ratios are of means over loads at which both keep up; that one of two
keeps up for longer is told by the figures, and by `analysis.families.tables`.
"""

from __future__ import annotations

from functools import cache

from analysis.claims import Claim
from analysis.families.claims import combining, papers
from analysis.families.claims.tester import Tester
from analysis.study import Study


@cache
def claims(study: Study) -> tuple[Claim, ...]:
    """Return every claim that the study's axes can decide, tested under one reading."""
    test = Tester(study)
    return (*combining.claims(test), *papers.claims(test))
