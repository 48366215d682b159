"""The first start that a waiting job was given: recorded by every kernel, and where it is kept."""

from __future__ import annotations

import numpy as np
import pytest
from backfill_cases import POLICIES, by_priority, by_twin, cases, make_jobs, rules
from hypothesis import given, settings

from models.backfill.engine import schedule
from models.backfill.priority.single_reservation import simulate as on_hosts
from models.backfill.requests import under
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine, pool

steady = settings(derandomize=True, deadline=None, max_examples=40)


@pytest.mark.parametrize("name", POLICIES)
@given(case=cases())
@steady
def test_the_first_promise_is_that_of_the_twin(name: str, case: tuple[Jobs, Machine]) -> None:
    for ties in ("instant", "event"):
        made, (_, scheduler) = schedule(*case, rules(name, ties=ties)), by_twin(*case, rules(name, ties=ties))
        first: dict[int, float] = {}
        for now, job, promise in scheduler.promises:
            if name != "conservative" or promise > now:
                first.setdefault(job.number, promise)
        expected = [first.get(number, np.nan) for number in range(len(made.jobs))]
        np.testing.assert_array_equal(made.promised, expected)


@given(case=cases(hosts=1))
@steady
def test_both_kernels_promise_the_same_on_a_pool(case: tuple[Jobs, Machine]) -> None:
    """The fast kernel looks at its queue less often, which must not make a promise of another moment."""
    jobs, machine = case
    for name, kill in (("easy", True), ("easy", False), ("fcfs", True)):
        how = by_priority(name, kill=kill)
        one = schedule(jobs, pool(machine.largest), how)
        other = on_hosts(under(jobs, how), pool(machine.largest), how)
        np.testing.assert_array_equal(one.promised, other.promised)


@pytest.mark.parametrize("name", ["easy", "sjf_backfill", "conservative"])
@given(case=cases(overruns=False))
@steady
def test_nobody_starts_later_than_promised(name: str, case: tuple[Jobs, Machine]) -> None:
    """One start in order of submission, one that is kept, or all with compression, and requests respected."""
    for ties in ("instant", "event"):
        made = schedule(*case, rules(name, ties=ties))
        given_one = ~np.isnan(made.promised)
        assert (made.start <= made.promised)[given_one].all()
        # With a pass after each event one may wait for an end of the very instant of its submission.
        assert ties == "event" or (made.start > made.jobs.submit)[given_one].all()


def test_a_promise_is_broken_by_a_newcomer_where_starts_are_not_kept() -> None:
    """SJF-backfill's second job has 100, and its third one takes it over."""
    jobs = make_jobs([(0, 100, 100, 4, 0), (1, 60, 60, 4, 0), (2, 20, 20, 4, 0)])
    made = schedule(jobs, pool(4), rules("sjf_backfill", keep_start=False))
    assert made.promised.tolist()[1:] == [100, 100]
    assert made.start.tolist()[1:] == [120, 100]


def test_the_promise_of_a_second_holder_may_be_broken() -> None:
    """The first job ends at 4 instead of 6, so that the first holder moves onto the place of the second."""
    rows = [(0, 4, 6, 1), (0, 1, 2, 5), (1, 3, 3, 2), (3, 1, 1, 4)]
    made = schedule(make_jobs([(*row, 0) for row in rows]), pool(5), rules("easy", reservations=2))
    np.testing.assert_array_equal(made.promised, [np.nan, 6, np.nan, 4])
    assert made.start.tolist() == [0, 4, 1, 5]
