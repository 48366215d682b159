"""What late jobs get under spatial equipartitioning, against a program written from the paper's sentences."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from eq_spatial_cases import Host, Row, run
from eq_spatial_plain import Plain, System, joined

RULES: dict[str, dict[str, Any]] = {
    "0m": {},
    "5m": {"min_interval": 300},
    "requested": {"quantum_processors": "requested"},
    "kept": {"quantum_processors": "requested", "keep_quantum": True, "min_interval": 90},
    "long": {"min_interval": 60, "long_after": 600},
}
N_CASES = 100


def case(number: int) -> tuple[list[Row], list[Host]]:
    """Draw jobs that contend for memory, at times that never tie."""
    rng = random.Random(number)
    hosts = [(rng.randint(2, 12), 512 * rng.randint(5, 14)) for _ in range(rng.choice([1, 1, 2, 3]))]
    rows: list[Row] = []
    for job in range(rng.randint(6, 22)):
        processors, memory = rng.choice(hosts)
        asked = rng.choice([rng.randint(0, 1024), rng.randint(memory // 3, memory)])
        submit = Fraction(rng.randint(0, 1_800_000) * 31 + job, 31_013)
        runtime = Fraction(rng.choice([rng.randint(1, 40_000), rng.randint(1, 2_000_000)]) * 37 + job, 37_021)
        used = rng.choice([0, 0, asked // 3, asked])
        rows.append((submit, runtime, rng.randint(1, processors), asked, used))
    return sorted(rows, key=lambda row: row[0]), hosts


def by_plain(rows: list[Row], hosts: list[Host], **keys: Any) -> list[Plain]:
    jobs = [Plain(number, *row) for number, row in enumerate(rows)]
    System(jobs, hosts, **keys).run()
    return jobs


FIRST_TIER = ("0m", "kept")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.exhaustive] * (name not in FIRST_TIER)) for name in RULES]
)
def test_kernel_is_what_the_sentences_say(name: str) -> None:
    """Job by job and piece by piece; and late jobs of all kinds are among them."""
    seen = {"late": 0, "caught up": 0, "ended in the quantum": 0, "stopped": 0}
    for number in range(N_CASES):
        rows, hosts = case(number)
        made, plain = run(rows, hosts, **RULES[name]), by_plain(rows, hosts, **RULES[name])
        assert made.began is not None
        message = f"case {number}"
        for got, wanted in (
            (made.end, [job.end for job in plain]),
            (made.start, [job.first for job in plain]),
            (made.began, [job.end if job.placed is None else job.placed for job in plain]),
            (made.host, [job.host for job in plain]),
        ):
            expected = np.array([float(value or 0) for value in wanted])
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-7, err_msg=message)
        for job in plain:
            its = made.runs.job == job.number
            names = ("host", "begin", "end", "processors")
            columns = [getattr(made.runs, column)[its].tolist() for column in names]
            got = np.array(joined(list(zip(*columns, strict=True))))
            expected = np.array(joined(job.pieces), float)
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-7, err_msg=message)
            seen["late"] += job.late
            seen["caught up"] += job.has_caught_up
            seen["ended in the quantum"] += job.placed is None
            seen["stopped"] += job.first_in_trial is not None and job.placed is not None
    assert min(seen.values()) >= 15, seen


@pytest.mark.parametrize("other", [{"catch_up": False}, {"quantum": None}, {"keep_quantum": True}])
def test_the_comparison_would_see_another_treatment_of_late_jobs(other: dict[str, Any]) -> None:
    differs = 0
    for number in range(20):
        rows, hosts = case(number)
        ends = [float(job.end) for job in by_plain(rows, hosts)]
        differs += not np.allclose(run(rows, hosts, **other).end, ends, rtol=1e-9, atol=1e-7)
    assert differs >= 3


def test_the_plain_program_by_hand() -> None:
    """A fills the memory until 100; B waits, would have had half of the host, and has all of it until even.

    B comes at 10, when there is no memory even for a quantum. By 100 it would have had 2 processors for 90 s.
    Alone it has all four, as it would have had. C comes at 100.5: from then on B has 3 instead of 2, and
    makes up for its 180 processor seconds in 180 s.
    """
    rows: list[Row] = [
        (Fraction(0), Fraction(100), 4, 4096, 4096),
        (Fraction(10), Fraction(1000), 4, 2048, 0),
        (Fraction(201, 2), Fraction(10_000), 4, 1024, 0),
    ]
    jobs = by_plain(rows, [(4, 4096)])
    assert joined(jobs[0].pieces) == [(0, 0, 100, 4)]
    assert jobs[1].placed == 100
    alone, catching, equal = joined(jobs[1].pieces)[:3]
    assert alone == (0, 100, Fraction(201, 2), 4)
    assert catching == (0, Fraction(201, 2), Fraction(561, 2), 3)
    assert equal[3] == 2
