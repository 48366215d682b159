"""Every testable sentence of Silva and Scherson (1999), tested on the experiment that has its numbers.

The paper shows one run of each scheduler and gives words of degree. Here a run is many independent sequences
of jobs, the same for all schedulers and horizons, the words are named numbers (`margins`), and a sentence on
a figure is asked of every horizon that the figure has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from analysis.claims import Claim
from analysis.silva1999.claims import coordinated, intensive, phases, scale, summary
from analysis.silva1999.claims.tester import Tester
from analysis.silva1999.labels import CENTRAL_COST, GANG, HORIZON, PRIORITIES, PROCESSORS
from analysis.study import Study


@cache
def claims(study: Study) -> tuple[Claim, ...]:
    """Return every claim that the study's axes can decide, tested under one reading."""
    test = Tester(study)
    return tuple(claim for test_some in _sentences(study) for claim in test_some(test))


def _sentences(study: Study) -> list[Callable[[Tester], Iterable[Claim]]]:
    """Return functions that each test some sentences, in the paper's order."""
    if study.varies(PROCESSORS) and study.values_of(CENTRAL_COST):
        return [scale.claims]
    if not {GANG, PRIORITIES} <= set(study.policies):
        return []
    found: list[Callable[[Tester], Iterable[Claim]]] = [intensive.claims, coordinated.claims, summary.claims]
    # What the engine does with a change of phase does not depend on a grid's assumptions.
    return [*found, phases.claims] if study.values_of(HORIZON) else found
