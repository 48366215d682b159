"""Every family, each of its policies, every workload that it takes."""

from __future__ import annotations

import family_contract
from family_contract import Contract, every_case


class TestFamilies(Contract):
    cases = every_case()


_a_file_of_sacct = family_contract._a_file_of_sacct
