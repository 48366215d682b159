"""Every start time as independent programs have it."""

from typing import Any

import numpy as np
import pytest
from backfill_cases import rules
from family_cases import opened_on
from reference_schedules import GENERATED, PROCESSORS, generated_starts, real_jobs, real_starts

from models.backfill.conservative import hosts
from models.backfill.engine import schedule
from models.backfill.priority import reservations
from models.jobs.jobs import Jobs
from models.jobs.machine import pool


@pytest.mark.parametrize("engine", [schedule, reservations.simulate])
def test_easy_on_generated_jobs(engine: Any) -> None:
    opened = opened_on({"model": "swf", "path": GENERATED}, {"processors": None})
    made = engine(opened.jobs, opened.machine, rules("easy"))
    expected = generated_starts() - opened.log.columns["submit"][0]
    np.testing.assert_array_equal(made.start, expected)


@pytest.mark.parametrize(
    ("policy", "ties", "expected", "other"),
    [
        ("easy", "instant", "easy_instant", reservations),
        ("easy", "event", "easy_event", reservations),
        ("conservative", "event", "conservative_event", hosts),
        ("fcfs", "instant", "fcfs", reservations),
        ("fcfs", "event", "fcfs", reservations),
    ],
)
def test_a_real_log(policy: str, ties: str, expected: str, other: Any) -> None:
    """By the kernel that is used here and by the other one."""
    columns, _ = real_jobs()
    jobs = Jobs(*columns.values(), np.zeros(len(columns["submit"]), np.int64))
    how = rules(policy, ties=ties)
    starts = real_starts(expected)
    np.testing.assert_array_equal(schedule(jobs, pool(PROCESSORS), how).start, starts)
    np.testing.assert_array_equal(other.simulate(jobs, pool(PROCESSORS), how).start, starts)
