"""Every testable sentence of chapters 3, 5 and 6, tested on the experiment that has its numbers.

The dissertation gives curves and words of degree, so each word becomes a named number (`margins`). Numbers
without chance in them are facts (`exact`); simulated ones are compared by paired intervals.
"""

from __future__ import annotations

from functools import cache

from analysis.claims import Claim
from analysis.mccann1994.claims import (
    birth_death,
    efficiency,
    fairness,
    memory,
    schedules,
    simulation,
    speedup,
)
from analysis.mccann1994.claims.tester import Tester
from analysis.study import Study


@cache
def claims(study: Study) -> tuple[Claim, ...]:
    """Return every claim that the study's metrics can decide, tested under one reading."""
    found = study.data
    if "efficiency_preservation" in found:
        families = [speedup.claims, efficiency.claims]
    elif "most_loaded_ratio" in found:
        families = [fairness.claims]
    elif "response_time" in found:
        families = [memory.claims if study.varies("memory_limit") else simulation.claims]
    elif "blow_up" in found:
        families = [birth_death.claims]
    elif "reallocations" in found:
        families = [schedules.claims]
    else:
        families = []
    test = Tester(study)
    return tuple(claim for family in families for claim in family(test))
