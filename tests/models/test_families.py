"""Every family, each of its policies, every workload that it takes."""

from family_contract import Contract, every_case

from sweep.plan import families

CASES = every_case()


def test_all_families_can_stand_in_one_dataset() -> None:
    every = [families.find(package) for package in sorted({case.package for case in CASES})]
    rigid = [
        family for family in every if family.name in ("gang scheduling", "Concurrent Gang", "backfilling")
    ]
    assert len(rigid) == 3
    families.metrics(rigid, {})


class TestFamilies(Contract):
    cases = CASES
