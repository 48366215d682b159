"""Every testable sentence of Chiang and Vernon (2001), tested on the experiment that has its numbers.

The paper has one log of each month and gives words of degree. Here a month is ten independent months with the
demands of Table 4, the words are named numbers (`margins`), and policies are compared on the same jobs.
"""

from __future__ import annotations

from functools import cache

from analysis.chiang2001.claims import backfill, equipartition, immediate, lsf, workload, workload_shapes
from analysis.chiang2001.claims.tester import Tester
from analysis.claims import Claim
from analysis.study import Study

FAMILIES = {
    "ncsa_lsf": (lsf.claims, backfill.claims),
    "lxf_w_soon": (immediate.claims,),
    "eq_spatial_5m": (equipartition.claims,),
}
"""Sentences by the policy that they cannot do without."""


@cache
def claims(study: Study) -> tuple[Claim, ...]:
    """Return every claim that the study's policies or metrics can decide, tested under one reading."""
    test = Tester(study)
    if workload.METRIC in study.data:
        return (*workload.claims(test), *workload_shapes.claims(test))
    return tuple(
        claim
        for policy, families in FAMILIES.items()
        if policy in study.policies
        for family in families
        for claim in family(test)
    )
