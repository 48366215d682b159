"""Every testable sentence of Chiang and Vernon (2001), tested on the experiment that has its numbers.

The paper has one log of each month and gives words of degree. Here a month is many independent months with
the demands of Table 4, the words are named numbers (`margins`), and policies are compared on the same jobs.
"""

from __future__ import annotations

from functools import cache

from analysis.chiang2001.claims import backfill, equipartition, immediate, lsf, workload, workload_shapes
from analysis.chiang2001.claims.tester import Tester
from analysis.chiang2001.labels import DEMAND
from analysis.claims import Claim
from analysis.study import Study

SENTENCES = {
    "ncsa_lsf": (lsf.claims, backfill.claims),
    "lxf_w_soon": (immediate.claims,),
    "eq_spatial_5m": (equipartition.claims,),
}
"""Functions that each test some sentences, by the policy that these cannot do without."""


@cache
def claims(study: Study) -> tuple[Claim, ...]:
    """Return every claim that the study's policies or metrics can decide, tested under one reading."""
    test = Tester(study)
    sentences = [one for policy, some in SENTENCES.items() if policy in study.policies for one in some]
    if DEMAND in study.data:
        sentences = [workload.claims, workload_shapes.claims]
    return tuple(claim for test_some in sentences for claim in test_some(test))
