"""Every testable sentence of chapters 3, 5 and 6, tested on the experiment that has its numbers.

The dissertation gives curves and words of degree, so each word becomes a named number (`margins`). Numbers
without chance in them are facts (`analysis.claims.exact`); simulated ones are compared by paired intervals.
"""

from __future__ import annotations

from functools import cache

from analysis.claims import Claim
from analysis.claims.tester import Tester
from analysis.mccann1994.claims import (
    birth_death,
    efficiency,
    fairness,
    memory,
    schedules,
    simulation,
    speedup,
)
from analysis.mccann1994.labels import BLOW_UP, EFFICIENCY, KEY, LIMITS, MOST_LOADED, REALLOCATIONS, RESPONSE
from analysis.study import Study

SENTENCES = {
    EFFICIENCY: (speedup.claims, efficiency.claims),
    MOST_LOADED: (fairness.claims,),
    RESPONSE: (simulation.claims,),
    BLOW_UP: (birth_death.claims,),
    REALLOCATIONS: (schedules.claims,),
}
"""Functions that each test some sentences, by the first of these metrics that the experiment has."""


@cache
def claims(study: Study) -> tuple[Claim, ...]:
    """Return every claim that the study's metrics can decide, tested under one reading."""
    metric = next((name for name in SENTENCES if name in study.data), None)
    sentences = SENTENCES[metric] if metric else ()
    if metric == RESPONSE and study.varies(LIMITS.name):
        sentences = (memory.claims,)
    test = Tester(study, KEY)
    return tuple(claim for test_some in sentences for claim in test_some(test))
