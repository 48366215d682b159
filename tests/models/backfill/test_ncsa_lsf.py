"""NCSA-LSF (Chiang and Vernon 2001, section 2.1): against a plain twin."""

import pytest
from backfill_cases import tiers
from family_cases import for_all
from ncsa_lsf_cases import CONFIGURATIONS, O2K, assert_agreement, cases, months, of_paper

from models.backfill.ncsa_lsf.rules import NcsaLsf
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine


@tiers(25, 250)
def test_kernel_and_twin_agree(n_examples: int) -> None:
    def check(case: tuple[Jobs, Machine, NcsaLsf]) -> None:
        assert_agreement(*case)

    for_all(n_examples, check, case=cases())


@pytest.mark.parametrize("ties", ["instant", pytest.param("event", marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_kernel_and_twin_agree_on_the_origin_2000(name: str, ties: str) -> None:
    policy = {**of_paper(**CONFIGURATIONS[name]), "ties": ties}
    reservations = 0
    for seed, gap in ((1, 0.4), (2, 0.8)):
        did = assert_agreement(months(110, gap, seed), O2K, NcsaLsf.of(policy))
        reservations += sum(what == "reserves" for _, what, _, _ in did.log)
    assert (reservations > 0) == (name != "never")
