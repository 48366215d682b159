"""Every family, each of its policies, every workload that it takes."""

from family_contract import Contract, every_case


class TestFamilies(Contract):
    cases = every_case()
