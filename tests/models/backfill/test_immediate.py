"""Backfilling with immediate service: against its twin."""

import numpy as np
import pytest
from backfill_cases import tiers
from family_cases import for_all
from immediate_cases import TICK, cases, pieces_of, policies, twin_of

from models.backfill.engine import schedule
from models.backfill.job_table import NO_JOB
from models.backfill.priority.quanta import no_residents
from models.backfill.priority.rules import Priority
from models.backfill.priority.victims import next_victim
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine


@pytest.mark.parametrize("kind", ["preempt", "soon"])
@tiers(60, 300)
def test_kernel_and_twin(kind: str, n_examples: int) -> None:
    def check(case: tuple[Jobs, Machine], how: Priority) -> None:
        made = schedule(*case, how)
        twin = twin_of(made.jobs, case[1], how)
        twin.run(how.ties)
        jobs = twin.jobs
        pieces = sorted((j.number, h, a * TICK, b * TICK) for j in jobs for h, a, b in j.pieces)
        assert pieces_of(made) == pieces
        assert made.start.tolist() == [job.first * TICK for job in jobs]
        assert made.full_start.tolist() == [min(job.began, job.end) * TICK for job in jobs]
        assert made.end.tolist() == [job.end * TICK for job in jobs]
        assert made.host.tolist() == [job.host for job in jobs]
        assert made.preempted.tolist() == [job.was_preempted for job in jobs]
        first = {job.number: when * TICK for _, job, when in reversed(twin.promises)}
        promised = [first.get(job.number, np.nan) for job in jobs]
        np.testing.assert_array_equal(made.promised, promised)

    for_all(n_examples, check, case=cases(), how=policies(kind))


def test_victims_come_by_slowdown_and_number_each_once() -> None:
    """Of the second of two hosts, three of whose jobs tie and one is not eligible."""
    residents = no_residents(2, 5)
    residents.job[5:] = 5, 2, 9, 3, 1
    residents.slowdown[5:] = 1.5, 1.5, 1.5, 1.2, np.inf
    residents.n[1] = 5
    above, after, taken = -np.inf, NO_JOB, []
    for _ in range(5):
        if (i := next_victim.py_func(residents, 1, above, after)) != NO_JOB:
            above, after = residents.slowdown[i], residents.job[i]
            taken.append(int(after))
    assert taken == [3, 2, 5, 9]
