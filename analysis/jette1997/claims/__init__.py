"""Every testable sentence of Jette (1997) on the Cray T3D, tested on the experiment that has its numbers.

The paper reports one machine's log, and its Fig. 1 survives as text only. Here a run is 15 months, or three
weeks, of independent users under each scheduler. Words of degree are named numbers (`margins`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from analysis.claims import Claim
from analysis.jette1997.claims import losses, responsiveness, tradeoff, utilization, workload
from analysis.jette1997.claims.tester import Tester
from analysis.jette1997.labels import CLASS_RUNTIME, GANG, MULTIPLIER, UNICOS_MAX
from analysis.study import Study


@cache
def claims(study: Study) -> tuple[Claim, ...]:
    """Return every claim that the study's axes can decide, tested under one reading."""
    test = Tester(study)
    return tuple(claim for test_some in _sentences(study) for claim in test_some(test))


def _sentences(study: Study) -> list[Callable[[Tester], Iterable[Claim]]]:
    """Return functions that each test some sentences, in the paper's order."""
    if GANG not in study.policies or CLASS_RUNTIME not in study.data:
        return []
    if study.varies(MULTIPLIER):
        return [tradeoff.claims]
    if len(study.data["replication"]) and set(study.policies) - {GANG, UNICOS_MAX, "djm"}:
        return []  # a comparison with other families, in which users do not wait for answers
    return [workload.claims, utilization.claims, responsiveness.claims, losses.claims]
