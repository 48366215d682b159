"""The contract of every scheduling family: its policies on the workloads that it takes.

A class of tests inherits from `Contract` and declares its cases; `every_case` lists the cases of a folder
like ``conf``. A family refuses a case that it cannot simulate with one line that names a remedy. In the cases
that it takes it obeys all the laws of `family_laws`: a covering array in the first tier, all in the second.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest

pytest.register_assert_rewrite("family_laws")

import family_laws as laws  # noqa: E402
from family_cases import Case, Run, covering, every_case  # noqa: E402

__all__ = ["Contract", "every_case"]

LAWS = (
    laws.notes_are_lines,
    laws.metrics_are_those_declared,
    laws.measured_values_are_finite,
    laws.the_same_point_gives_the_same_bits,
    laws.replications_differ_if_stochastic,
    laws.a_run_ends_at_the_checkpoint_that_suffices,
)
LAWS_OF_SCHEDULES = (
    laws.a_schedule_is_possible,
    laws.every_job_completes_its_work,
    laws.a_schedule_gives_the_measured_values,
)

REMEDY = re.compile(
    r"\b(policy|workload|machine|grid|measures)\.\w+"  # a key
    r"|\b(batch_size|load)=|\b(use|take) .*\b(policy|workload)\b"
)

TOO_MANY_PIECES = re.compile(r"^the schedule has more than [\d,]+ pieces .*\b(policy\.\w+|batch_size)")


class Contract:
    """Tests that every family passes."""

    cases: ClassVar[Sequence[Case]]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "case" in metafunc.fixturenames:
            first_tier = covering(self.cases)
            params = [
                pytest.param(case, id=str(case), marks=() if case in first_tier else pytest.mark.exhaustive)
                for case in self.cases
            ]
            metafunc.parametrize("case", params)
        if "policy" in metafunc.fixturenames:
            metafunc.parametrize("policy", sorted({case.policy for case in self.cases}))

    def test_case(self, case: Case, tmp_path: Path) -> None:
        point, _ = case.taken()
        if point is None:
            return
        run = Run(case, point)
        for law in LAWS:
            law(run)
        if run.family.schedules:
            try:
                made = run.family.schedule(run.whole)
            except ValueError as refused:  # of a policy that does not keep up, though it can be measured
                if not TOO_MANY_PIECES.search(str(refused)):
                    raise
                return
            for law_of_schedules in LAWS_OF_SCHEDULES:
                law_of_schedules(run, made)
            laws.a_schedule_is_written_as_a_log(run, made, tmp_path / "schedule.swf")

    def test_refusals_name_a_remedy(self, policy: str) -> None:
        cases = [case for case in self.cases if case.policy == policy]
        assert any(case.taken()[0] for case in cases)
        for refusal in {line for case in cases for line in case.taken()[1]}:
            assert "\n" not in refusal
            assert REMEDY.search(refusal), refusal
