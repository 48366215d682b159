"""Every testable sentence of sections 4.2 and 5, tested.

The paper gives curves without numbers, so each of its words of degree becomes a named number (`margins`).
Loads are compared in the ranges of the paper's words; a metric is averaged over the loads of a range batch by
batch before its interval is made (`analysis.study.curve.Curve.over`), so that what the loads share cancels.
"""

from __future__ import annotations

from functools import cache

from analysis.claims import Claim
from analysis.feitelson1996.claims import features, mechanisms, performance
from analysis.feitelson1996.claims.tester import Tester
from analysis.study import Study

SENTENCES = (
    performance.slowdowns,
    performance.utilization,
    mechanisms.load_based,
    mechanisms.example,
    mechanisms.buddy_and_migration,
    features.features,
    performance.conclusions,
)
"""Functions that each test some sentences, in the paper's order."""


@cache
def claims(study: Study) -> tuple[Claim, ...]:
    """Return every claim, tested on a study under one reading."""
    test = Tester(study)
    return tuple(claim for test_some in SENTENCES for claim in test_some(test))
