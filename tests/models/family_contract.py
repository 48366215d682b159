"""What every scheduling family has to keep, with each of its policies, on every workload that it takes.

A class of tests inherits from `Contract` and says which cases there are; `every_case` lists those of a folder
like ``conf``. What a family cannot simulate it refuses with one line that says what to do; where it takes a
case it keeps all the laws of `family_laws`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest

pytest.register_assert_rewrite("family_laws")

import family_laws as laws  # noqa: E402
from family_cases import Case, Run, every_case  # noqa: E402

__all__ = ["Contract", "every_case"]

LAWS = (
    laws.notes_are_lines,
    laws.metrics_are_those_that_are_declared,
    laws.what_is_measured_is_finite,
    laws.the_same_point_gives_the_same_bits,
    laws.replications_differ_where_there_is_chance,
    laws.a_run_ends_at_the_look_that_is_enough,
)
LAWS_OF_SCHEDULES = (
    laws.a_schedule_is_possible,
    laws.every_job_gets_its_work_done,
    laws.a_schedule_is_what_is_measured,
)

WHAT_TO_DO = re.compile(
    r"\b(policy|workload|machine|grid|measures)\.\w+"  # a key
    r"|\b(batch_size|load)=|\b(use|take) .*\b(policy|workload)\b"
)

TOO_MANY_PIECES = re.compile(r"^the schedule has more than [\d,]+ pieces .*\b(policy\.\w+|batch_size)")


class Contract:
    """Tests that every family passes."""

    cases: ClassVar[Sequence[Case]]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "case" in metafunc.fixturenames:
            metafunc.parametrize("case", self.cases, ids=str)
        if "policy" in metafunc.fixturenames:
            metafunc.parametrize("policy", sorted({case.policy for case in self.cases}))

    def test_case(self, case: Case, tmp_path: Path) -> None:
        point, refusals = case.taken()
        for refusal in refusals:
            assert "\n" not in refusal
            assert WHAT_TO_DO.search(refusal), refusal
        if point is None:
            return
        run = Run(case, point)
        for law in LAWS:
            law(run)
        if run.family.schedules:
            try:
                made = run.family.schedule(run.whole)
            except ValueError as refused:  # of a policy that does not keep up, which is measured all the same
                if not TOO_MANY_PIECES.search(str(refused)):
                    raise
                return
            for law_of_schedules in LAWS_OF_SCHEDULES:
                law_of_schedules(run, made)
            laws.a_schedule_is_written_as_a_log(run, made, tmp_path / "schedule.swf")

    def test_each_policy_takes_some_workload(self, policy: str) -> None:
        assert any(case.taken()[0] for case in reversed(self.cases) if case.policy == policy)
