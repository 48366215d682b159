"""Spatial equipartitioning (Chiang and Vernon 2001, section 2.5): its twin, its laws, and what is refused."""

from collections.abc import Sequence
from typing import Any

import eq_spatial_twin as twin
import numpy as np
import pytest
from backfill_cases import tiers
from eq_spatial_cases import RULES, Host, Row, by_twin, cases, make_jobs, make_machine, rules, run
from family_cases import for_all

from models.jobs.schedule import Schedule

each_rule = pytest.mark.parametrize("name", RULES)

Case = tuple[list[Row], list[Host]]


def check_equal(made: Schedule, expected: Sequence[twin.Job], exactly: bool) -> None:
    def same(name: str, got: Any, wanted: Any) -> None:
        wanted = np.array([float(value) for value in wanted])
        if exactly:
            np.testing.assert_array_equal(got, wanted, err_msg=name)
        else:
            np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9, err_msg=name)

    for name in ("end", "start", "host"):
        same(name, getattr(made, name), [getattr(job, name) for job in expected])
    same("began", made.began, [job.end if job.placed is None else job.placed for job in expected])
    waits = [job.end - job.submit - job.runtime for job in expected]
    np.testing.assert_allclose(made.delay, np.array(waits, float), rtol=1e-9, atol=1e-8)
    for job in expected:
        its = made.runs.job == job.number
        for column, name in enumerate(("host", "begin", "end", "processors")):
            same(name, getattr(made.runs, name)[its], [piece[column] for piece in job.pieces])


@each_rule
@pytest.mark.parametrize("exactly", [True, False])
@tiers(20, 80)
def test_kernel_is_its_twin(name: str, exactly: bool, n_examples: int) -> None:
    """In floats bit for bit, with many events at one instant; against exact arithmetic to a billionth."""

    def check(case: Case) -> None:
        check_equal(run(*case, **RULES[name]), by_twin(*case, **RULES[name]), exactly)

    for_all(n_examples if exactly else n_examples // 3, check, case=cases(exact=not exactly))


def test_any_number_of_pieces_is_kept() -> None:
    """Some of twenty long jobs change their processors at every start and end of many short ones."""
    rows = [(0, 10_000, 10, 0, 0) for _ in range(20)] + [(10 * i, 3, 10, 0, 0) for i in range(1, 1001)]
    made = run(rows, [(100, 64)])
    assert len(made.runs.job) > 8 * 1000
    area = (made.runs.end - made.runs.begin) * made.runs.processors
    np.testing.assert_allclose(np.bincount(made.runs.job, area), make_jobs(rows).runtime * 10, rtol=1e-9)


def test_memory_that_no_host_has() -> None:
    message = "1 of 2 jobs asks for more memory than any host has: job 2 for 4,195,328 KB; the largest"
    with pytest.raises(ValueError, match=f"{message} host has 4,194,304 KB; leave out such jobs"):
        rules().check(
            make_jobs([(0, 10, 1, 4096, 0), (0, 10, 1, 4097, 0)]), make_machine([(4, 4096), (8, 1024)])
        )
