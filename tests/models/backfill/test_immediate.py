"""Backfilling with immediate service: against its twin."""

import numpy as np
import pytest
from backfill_cases import tiers
from family_cases import for_all
from immediate_cases import TICK, cases, pieces_of, policies, twin_of

from models.backfill.engine import schedule
from models.backfill.priority.rules import Priority
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
